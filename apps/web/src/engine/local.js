// The engine in the page: workers with the WebAssembly module. A worker runs one command; cancelling ends the worker.
import workerSource from 'worker-source';
import { loadScript } from '../dom.js';
import { argumentsOf, fileName } from '../request.js';

const LONG = new Set(['run', 'sweep', 'workprec', 'compare']); // what tells its progress
const MOST_WORKERS = Math.max(1, Math.min(4, (navigator.hardwareConcurrency || 2)));

async function compile() {
  if (location.protocol !== 'file:') {
    const answer = await fetch('daedalus.wasm');
    if (!answer.ok) throw new Error(`daedalus.wasm: ${answer.status}`);
    return WebAssembly.compile(await answer.arrayBuffer());
  }
  await loadScript('module.js'); // files cannot be fetched; the same bytes as a script
  const bytes = Uint8Array.from(atob(globalThis.DAEDALUS_MODULE), (c) => c.charCodeAt(0));
  delete globalThis.DAEDALUS_MODULE;
  return WebAssembly.compile(bytes);
}

export class LocalEngine {
  constructor() {
    this.name = 'in this page';
    this.served = false;
    this.idle = [];
    this.count = 0;
    this.queue = [];
    this.ids = 0;
    this.ready = null;
    this.source = null;
  }

  // Begins to compile; called when the page has been drawn.
  warm() {
    this.ready ??= compile();
    return this.ready;
  }

  async start() {
    const module = await this.warm();
    this.source ??= URL.createObjectURL(new Blob([workerSource], { type: 'text/javascript' }));
    const worker = new Worker(this.source);
    worker.postMessage({ module });
    return worker;
  }

  // Resolves with { status, stdout, stderr, files, seconds }; rejects with an AbortError when cancelled.
  command(job, { signal, progress } = {}) {
    return new Promise((resolve, reject) => {
      const entry = { job: { ...job, id: ++this.ids }, resolve, reject, progress, worker: null };
      signal?.addEventListener('abort', () => this.cancel(entry));
      if (signal?.aborted) return reject(new DOMException('cancelled', 'AbortError'));
      this.queue.push(entry);
      this.next();
    });
  }

  async next() {
    if (!this.queue.length) return;
    if (!this.idle.length && this.count >= MOST_WORKERS) return;
    const entry = this.queue.shift();
    try {
      if (!this.idle.length) {
        this.count++;
        try {
          entry.worker = await this.start();
        } catch (error) {
          this.count--;
          throw error;
        }
        if (entry.cancelled) return this.release(entry.worker);
      } else entry.worker = this.idle.pop();
      this.hand(entry);
    } catch (error) {
      entry.reject(error);
    }
  }

  hand(entry) {
    const { worker } = entry;
    worker.onmessage = ({ data }) => {
      if (data.id !== entry.job.id) return;
      if (data.progress) return entry.progress?.(JSON.parse(data.progress));
      this.release(worker);
      entry.done = true;
      entry.resolve(data.result);
    };
    worker.onerror = (event) => {
      worker.terminate();
      this.count--;
      entry.reject(new Error(event.message || 'the worker failed'));
      this.next();
    };
    worker.postMessage(entry.job);
  }

  release(worker) {
    this.idle.push(worker);
    this.next();
  }

  cancel(entry) {
    if (entry.done || entry.cancelled) return;
    entry.cancelled = true;
    const waiting = this.queue.indexOf(entry);
    if (waiting >= 0) this.queue.splice(waiting, 1);
    else if (entry.worker) {
      entry.worker.terminate();
      this.count--;
      this.next();
    }
    entry.reject(new DOMException('cancelled', 'AbortError'));
  }

  // A request (request.js) with the files it shall leave: { csv, scene, steps }.
  async request(request, { csv, scene, steps, h5, ...rest } = {}) { // h5: on servers only
    const extra = request.command === 'import' ? [] : ['--json'], want = [], file = fileName(request);
    if (csv) extra.push('--out', 'out.csv'), want.push('out.csv');
    if (request.command === 'sweep') extra.push('--jobs', '0'); // a page has no processes
    if (scene) extra.push('--animate', 'scene.json'), want.push('scene.json');
    if (steps) extra.push('--log', 'step');
    if (LONG.has(request.command)) extra.push('--progress', 'json');
    const job = { args: argumentsOf(request, extra), files: file ? { [file]: request.text } : {}, want };
    const r = await this.command(job, rest);
    if (r.failure) throw new Error(r.failure);
    return { ...r, json: parse(r), csv: r.files['out.csv'], scene: r.files['scene.json'], log: r.stderr };
  }
}

// The answer of --json; where the program printed none, what it said instead.
export function parse(r) {
  try {
    return JSON.parse(r.stdout);
  } catch {
    const lines = r.status === 0 ? r.stdout.trim().split('\n') : [];
    if (lines.length > 1 && lines.every((line) => line[0] === '{')) return lines.map((line) => JSON.parse(line));
    const said = r.stderr.split('\n').filter((line) => line && !/^(step|info|iter) /.test(line)).slice(-3).join('\n');
    return { status: 'failed', message: said || `the program ended with status ${r.status}` };
  }
}
