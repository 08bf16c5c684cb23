// Starts `daedalus serve` on a free port with a store of its own, and speaks to it.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

export const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daedalus-serve-'));

export function startServer(program, args = [], store = path.join(folder, 'store'), variables = {}) {
  fs.mkdirSync(store, { recursive: true });
  const child = spawn(program, ['serve', '--port', '0', '--store', store, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, OPENBLAS_NUM_THREADS: '1', ...variables } });
  const server = { child, store, said: '', ended: new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal }))) };
  return new Promise((resolve, reject) => {
    const hear = (data) => {
      server.said += data;
      const found = /serves (http:\/\/\S+?)\/?\n/.exec(server.said);
      if (found && !server.url) {
        server.url = found[1];
        server.token = /token\s+(\w+)/.exec(server.said)?.[1];
        setTimeout(() => resolve(server), 10);
      }
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    server.ended.then(({ code }) => reject(new Error(`the server ended with ${code}: ${server.said}`)));
  });
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 400 });

export function ask(server, method, where, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const request = http.request(`${server.url}${where}`, { method, agent, headers: { ...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }), ...headers } }, (answer) => {
      const parts = [];
      answer.on('data', (d) => parts.push(d));
      answer.on('end', () => {
        const bytes = Buffer.concat(parts), said = bytes.toString();
        let json = null;
        try {
          json = JSON.parse(said);
        } catch {
          // not every answer is JSON
        }
        resolve({ status: answer.statusCode, headers: answer.headers, text: said, bytes, json });
      });
      answer.on('error', reject);
    });
    request.on('error', reject);
    request.end(text);
  });
}

// A run from the request to its result; `wait` is the time until it was done.
export async function run(server, body, headers) {
  const began = performance.now();
  const posted = await ask(server, 'POST', '/api/v1/runs', body, headers);
  if (posted.status !== 202) return { refused: posted.status, message: posted.json?.message };
  const events = await ask(server, 'GET', `/api/v1/runs/${posted.json.id}/events`, undefined, headers);
  const done = /event: done\ndata: (.*)\n/.exec(events.text);
  const result = await ask(server, 'GET', `/api/v1/runs/${posted.json.id}/result`, undefined, headers);
  return { id: posted.json.id, done: done ? JSON.parse(done[1]) : null, wait: (performance.now() - began) / 1000, ...result.json, progress: (events.text.match(/event: progress/g) ?? []).length };
}
