// The engine behind `daedalus serve`: the same requests as JSON over HTTP, progress by one stream of server-sent events.
const API = 'api/v1';

export class RemoteEngine {
  constructor(facts) {
    this.name = `on the server (${facts.version})`;
    this.served = true;
    this.facts = facts;
    this.token = sessionStorage.getItem('daedalus-token') ?? '';
  }

  warm() {
    return Promise.resolve();
  }

  headers() {
    const headers = { 'Content-Type': 'application/json' };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    return headers;
  }

  async call(method, path, body, signal) {
    const answer = await fetch(`${API}/${path}`, {
      method, headers: this.headers(), body: body === undefined ? undefined : JSON.stringify(body), signal,
    });
    if (answer.status === 401) {
      const token = window.prompt('This server wants its token:');
      if (token) {
        this.token = token;
        sessionStorage.setItem('daedalus-token', token);
        return this.call(method, path, body, signal);
      }
    }
    if (!answer.ok) {
      const said = await answer.json().catch(() => ({}));
      throw new Error(said.message ?? `the server answered ${answer.status}`);
    }
    return answer;
  }

  async request(request, { csv, scene, steps, h5, signal, progress } = {}) {
    const began = performance.now();
    const body = { command: request.command, options: request.options ?? {}, csv: !!csv, scene: !!scene, steps: !!steps, h5: !!h5 && this.facts.hdf5 };
    if (request.text === undefined) body.problem = request.problem;
    else Object.assign(body, { name: request.name, text: request.text });
    const { id } = await (await this.call('POST', 'runs', body)).json();
    const stop = () => this.call('DELETE', `runs/${id}`).catch(() => {});
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    const done = await this.wait(id, progress, signal);
    signal?.removeEventListener('abort', stop);
    if (done.state === 'cancelled') throw new DOMException('cancelled', 'AbortError');
    const result = await (await this.call('GET', `runs/${id}/result`, undefined, signal)).json();
    if (done.state === 'failed' && result.json && typeof result.json === 'object' && /is kept/.test(done.message)) return { id, ...result, stopped: done.message, log: result.log ?? '', stderr: '' };
    if (done.state === 'failed') throw new Error(/the log/.test(done.message) ? `${done.message}:\n${result.log}` : done.message);
    return { id, status: result.status, json: result.json, csv: result.csv, scene: result.scene, log: result.log ?? '',
      stderr: result.log ?? '', seconds: (performance.now() - began) / 1000 };
  }

  // Follows the events of a run until `done`; without a stream (a token cannot be sent with it) by asking.
  wait(id, progress, signal) {
    if (this.token || !globalThis.EventSource) return this.poll(id, progress, signal);
    return new Promise((resolve, reject) => {
      const stream = new EventSource(`${API}/runs/${id}/events`);
      stream.addEventListener('progress', (event) => progress?.(JSON.parse(event.data)));
      stream.addEventListener('done', (event) => {
        stream.close();
        resolve(JSON.parse(event.data));
      });
      signal?.addEventListener('abort', () => {
        stream.close();
        reject(new DOMException('cancelled', 'AbortError'));
      });
    });
  }

  async poll(id, progress, signal) {
    for (let pause = 20; ; pause = Math.min(500, 1.5 * pause)) {
      if (signal?.aborted) throw new DOMException('cancelled', 'AbortError');
      const state = await (await this.call('GET', `runs/${id}`, undefined)).json();
      if (state.progress) progress?.(state.progress);
      if (!['queued', 'running'].includes(state.state)) return state;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
