// usage: node serve_test.mjs SOURCE BUILD [load SECONDS | hostile COUNT]
// The server as its clients see it: results equal to the program's, progress, cancel, limits, hostile requests, kill -9,
// SIGTERM, restart; with chromium also the page that it serves. load and hostile are the long versions.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { check, finish, open, start } from './browser.mjs';
import { ask, folder, run, startServer } from './client.mjs';

const [source, build] = process.argv.slice(2, 4).map((p) => path.resolve(p)), [what, amount] = process.argv.slice(4);
const program = path.join(build, 'daedalus');
if (!fs.existsSync(path.join(build, 'daedalus-serve'))) {
  console.log('skipped: daedalus-serve was not built');
  process.exit(77);
}
const native = (...args) => JSON.parse(execFileSync(program, [...args, '--json'], { encoding: 'utf8', env: { ...process.env, OPENBLAS_NUM_THREADS: '1' }, stdio: ['ignore', 'pipe', 'ignore'] }));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const model = (name) => fs.readFileSync(path.join(source, 'models', `${name}.json`), 'utf8');
const LONG = { problem: 'vdpol-mu', options: { solver: 'bs23', set: { mu: 1e5 }, 'max-steps': 0 } }; // hours
const same = (a, b) => {
  const strip = ({ cpu_seconds, user_seconds, linalg_seconds, ...rest }) => JSON.stringify(rest);
  return strip(a) === strip(b);
};

async function answers(server) {
  const facts = await ask(server, 'GET', '/api/v1');
  check(facts.json.api === 1 && facts.json.limits.max_seconds > 0, 'facts of the server');
  for (const name of ['hires', 'andrews']) {
    const r = await run(server, { problem: name }), c = await run(server, { problem: name, csv: true });
    check(r.state === 'done' && same(r.json, native('run', name)), `${name}: the answer is what the program prints`);
    check(c.csv.startsWith('t,') && c.csv.split('\n').length > 50, `${name}: CSV`);
  }
  const own = await run(server, { command: 'run', name: 'four_bar.json', text: model('four_bar'), options: { set: { a: '1.1[m]' }, points: 50 }, scene: true, steps: true });
  const there = native('run', path.join(source, 'models/four_bar.json'), '--set', 'a=1.1[m]', '--points', '50');
  check(own.json?.steps === there.steps && own.json.y[3] === there.y[3], `own text: ${own.message}`);
  check(JSON.parse(own.scene).frames.length === 50 && /^step /m.test(own.log), 'scene and steps');
  const checked = await run(server, { command: 'check', name: 'x.json', text: model('four_bar').replace('"rho*b"', '"rho*bb"') });
  check(checked.status === 2 && /bb/.test(JSON.stringify(checked.json)), 'check tells the mistake');
}

// Studies: the answers are what the program prints, but for times and dates; tables and pages can be had as files.
async function studies(server) {
  const lines = (...args) => execFileSync(program, [...args, '--json', '--quiet'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim().split('\n').map((l) => JSON.parse(l));
  const timeless = (x) => JSON.stringify(x, (key, value) => (/seconds$|^provenance$/.test(key) ? undefined : value));
  const { hdf5, reports } = (await ask(server, 'GET', '/api/v1')).json;
  const part = (r, ending) => ask(server, 'GET', `/api/v1/runs/${r.id}/result.${ending}`);
  const holds = (file, x) => file.bytes.includes(Buffer.from(new Float64Array([x]).buffer));
  const drawn = (file, name) => {
    const at = path.join(folder, `${name}.h5`);
    fs.writeFileSync(at, file.bytes);
    execFileSync(program, ['plot', at, '--out', path.join(folder, `${name}.svg`)], { stdio: 'ignore' });
    return fs.readFileSync(path.join(folder, `${name}.svg`), 'utf8').includes('<path');
  };

  const one = await run(server, { problem: 'hires', csv: true, h5: hdf5 });
  if (hdf5) {
    const file = await part(one, 'h5');
    check(file.status === 200 && file.headers['content-type'] === 'application/x-hdf5' && holds(file, one.json.y[7]) && drawn(file, 'run'), 'HDF5 of a run is read back');
    check((await part(await run(server, { problem: 'hires' }), 'h5')).status === 404, 'no HDF5 where none was wanted');
  }

  const vary = ['mu=1:100:5:log'];
  const bad = await run(server, { command: 'sweep', problem: 'vdpol-mu', options: { vary, sample: ['nu~uniform(0,1):2'] } });
  check(bad.status === 2 && /nu/.test(bad.json.message), `a mistake in a sweep is told: ${JSON.stringify(bad.json)}`);
  const sweep = await run(server, { command: 'sweep', problem: 'vdpol-mu', options: { vary, tend: 20, points: 4, rtol: 1e-8 }, csv: true, h5: hdf5 });
  const out = path.join(folder, 'sweep');
  const there = native('sweep', 'vdpol-mu', '--vary', 'mu=1:100:5:log', '--tend', '20', '--points', '4', '--rtol', '1e-8', '--out', out, '--quiet');
  check(timeless(sweep.json) === timeless(there) && sweep.json.runs === 5, `sweep: ${timeless(sweep.json).slice(0, 200)}`);
  const kept = fs.readFileSync(path.join(out, 'runs.csv'), 'utf8').split('\n'), got = sweep.csv.split('\n');
  const cells = (line) => line.split(',').filter((_, i) => !/seconds/.test(kept[0].split(',')[i])).join();
  check(got.length === kept.length && got.every((line, i) => line[0] === '#' || cells(line) === cells(kept[i])), 'runs of the sweep as the program writes them');
  if (hdf5) check(drawn(await part(sweep, 'h5'), 'sweep'), 'HDF5 of a sweep');

  const saltelli = ['mu=1:3:8'], mattering = await run(server, { command: 'sweep', problem: 'vdpol-mu', options: { saltelli, tend: 2 } });
  const those = native('sweep', 'vdpol-mu', '--saltelli', 'mu=1:3:8', '--tend', '2', '--out', path.join(folder, 'indices'), '--quiet');
  check(mattering.json.runs === 24 && mattering.json.indices.y1.mu.local === 1 && timeless(mattering.json) === timeless(those), `variance-based indices: ${timeless(mattering.json).slice(0, 200)}`);

  const ladder = { solvers: 'radau5,vode', range: '4:6:1', repeat: 1 };
  const diagram = await run(server, { command: 'workprec', problem: 'orego', options: ladder, csv: true });
  const asked = ['--solvers', 'radau5,vode', '--range', '4:6:1', '--repeat', '1'];
  check(timeless(diagram.json) === timeless(lines('workprec', 'orego', ...asked)) && diagram.json.length === 6, 'workprec');
  check(diagram.csv.split('\n').length >= 7, `its table: ${diagram.csv}`);
  const own = await run(server, { command: 'workprec', name: 'p.json', text: model('pendulum'), options: { solvers: 'radau5', range: '4:5:1', repeat: 1 } });
  check(own.json.length === 2 && own.json[1].scd > 3, 'workprec of a text: its reference is computed');
  const compared = await run(server, { command: 'compare', problem: 'andrews', options: { solvers: 'phem56,radau5/index2', repeat: 1 } });
  check(timeless(compared.json) === timeless(native('compare', 'andrews', '--solvers', 'phem56,radau5/index2', '--repeat', '1', '--quiet')), 'compare');
  const modes = await run(server, { command: 'analyze', name: 'p.json', text: model('pendulum') });
  check(timeless(modes.json) === timeless(native('analyze', path.join(source, 'models/pendulum.json'))), 'analyze');

  if (!reports) return;
  const page = await run(server, { command: 'report', problem: 'hires', options: ladder });
  check(page.state === 'done' && page.json[0].name === 'hires' && page.json[0].run.steps === native('run', 'hires').steps, `report: ${page.message} ${page.log}`);
  const html = await part(page, 'html');
  check(/<!doctype html>/i.test(html.text) && (html.text.match(/data:image.svg/g) ?? []).length >= 2, 'the page has its pictures');
  check(/^sandbox /.test(html.headers['content-security-policy']) && !/allow-same-origin/.test(html.headers['content-security-policy']), 'it is nobody\'s page');
  const named = model('pendulum').replace(/"name": *"[^"]*"/, '"name": "</script><img src=x onerror=alert(1)>"');
  const evil = await run(server, { command: 'report', name: 'e.json', text: named, options: { solvers: 'radau5', range: '4:4:1', repeat: 1 } });
  check(evil.state === 'done' && !(await part(evil, 'html')).text.includes('<img src=x'), `script in a name: ${evil.message} ${evil.log}`);
}

async function control(server) {
  const posted = await ask(server, 'POST', '/api/v1/runs', LONG);
  await pause(900);
  const state = await ask(server, 'GET', `/api/v1/runs/${posted.json.id}`);
  check(state.json.state === 'running' && state.json.progress?.steps > 0, `progress: ${state.text}`);
  check((await ask(server, 'GET', `/api/v1/runs/${posted.json.id}/result`)).status === 409, 'no result before the end');
  const stopped = await ask(server, 'DELETE', `/api/v1/runs/${posted.json.id}`);
  check(stopped.json.state === 'cancelled', 'cancelled');
  for (const command of ['sweep', 'report']) {
    const many = command === 'sweep' ? { vary: ['mu=1e2:1e5:50:log'], solver: 'bs23', 'max-steps': 0 } : {};
    const study = await ask(server, 'POST', '/api/v1/runs', { command, problem: 'vdpol-mu', options: many });
    if (study.status !== 202) continue; // no bubblewrap here
    let state = null; // a sweep tells how far it is
    for (let k = 0; k < 100 && command === 'sweep' && !state?.progress; k++) await pause(100), state = (await ask(server, 'GET', `/api/v1/runs/${study.json.id}`)).json;
    if (command === 'sweep') check(state.progress?.of === 50, `progress of a sweep: ${JSON.stringify(state)}`);
    const began = performance.now(), ended = await ask(server, 'DELETE', `/api/v1/runs/${study.json.id}`);
    check(ended.json.state === 'cancelled', `${command}: cancelled after ${Math.round(performance.now() - began)} ms`);
  }
  // kill -9 of a worker is one failed run with a reason.
  const victim = await ask(server, 'POST', '/api/v1/runs', LONG);
  await pause(300);
  const workers = fs.readdirSync('/proc').filter((p) => /^\d+$/.test(p)).filter((p) => {
    try {
      const stat = fs.readFileSync(`/proc/${p}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === server.child.pid;
    } catch {
      return false;
    }
  });
  check(workers.length === 1, `one worker: ${workers}`);
  for (const pid of workers) process.kill(Number(pid), 'SIGKILL');
  await pause(300);
  const killed = await ask(server, 'GET', `/api/v1/runs/${victim.json.id}`);
  check(killed.json.state === 'failed' && /killed/.test(killed.json.message), `killed: ${killed.text}`);
  check((await run(server, { problem: 'rober' })).state === 'done', 'the next run does not notice');
}

// Runs that want too much are stopped and told why.
async function limits() {
  const server = await startServer(program, ['--max-seconds', '1', '--max-memory', '300'], path.join(folder, 'limits'));
  const endless = await run(server, { ...LONG, options: { ...LONG.options, 'max-seconds': 1000 } });
  check(endless.state === 'failed' && /seconds of processor time/.test(endless.message), `never ends: ${endless.state} ${endless.message}`);
  const polite = await run(server, LONG);
  check(polite.state === 'done' && polite.json.status === 'limit', `limit of the run itself: ${polite.json?.status}`);
  const big = await run(server, { problem: 'insulator-chain', options: { set: { N: 4096 }, solver: 'radau5', formulation: 'index2', 'linear-algebra': 'dense' } });
  check(big.state !== 'done' || big.json.status !== 'ok', `wants 10 GiB: ${big.state}`);
  check(/memory/i.test(`${big.message} ${JSON.stringify(big.json)}`), `told why: ${big.message} ${JSON.stringify(big.json).slice(0, 200)}`);
  const study = await run(server, { command: 'sweep', problem: 'vdpol-mu', options: { vary: ['mu=1,2,100000'], solver: 'bs23', 'max-steps': 0 }, csv: true });
  check(study.state === 'failed' && /what was finished is kept/.test(study.message) && study.json?.status.ok === 2, `sweep that is too long: ${study.message} ${JSON.stringify(study.json).slice(0, 200)}`);
  server.child.kill('SIGTERM');
  check((await server.ended).code === 0, 'the server ends by SIGTERM');
}

function raw(server, text, wait = 500) {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(server.url), socket = net.connect(Number(port), hostname);
    let said = '';
    socket.on('data', (d) => { said += d; });
    socket.on('error', () => resolve(said));
    socket.on('close', () => resolve(said));
    socket.write(text);
    setTimeout(() => { socket.destroy(); resolve(said); }, wait);
  });
}

const SCRIPT = '<script>alert(1)</script>';
const tricks = [
  ['GET', '/../../../../etc/passwd'], ['GET', '/%2e%2e/%2e%2e/etc/passwd'], ['GET', '/api/v1/runs/../../../etc/passwd'], ['GET', `/${SCRIPT}`],
  ['GET', `/api/v1/runs/${'a'.repeat(32)}`], ['GET', `/api/v1/runs/${'A'.repeat(32)}/result`], ['POST', '/api/v1'], ['PUT', '/index.html'], ['DELETE', '/api/v1/runs/1'],
  ['POST', '/api/v1/runs', '{'], ['POST', '/api/v1/runs', '[]'], ['POST', '/api/v1/runs', '"x"'], ['POST', '/api/v1/runs', ''], ['POST', '/api/v1/runs', '['.repeat(100000)],
  ['POST', '/api/v1/runs', { problem: '../etc/passwd' }], ['POST', '/api/v1/runs', { problem: SCRIPT }], ['POST', '/api/v1/runs', { problem: 'hires', options: { out: '/tmp/x' } }],
  ['POST', '/api/v1/runs', { problem: 'hires', options: { solver: { a: 1 } } }], ['POST', '/api/v1/runs', { problem: 'hires', options: { [SCRIPT]: 1 } }],
  ['POST', '/api/v1/runs', { command: 'serve', problem: 'hires' }], ['POST', '/api/v1/runs', { command: ['run'], problem: 'hires' }],
  ['POST', '/api/v1/runs', { command: 'sweep', problem: 'hires', options: { list: '/etc/passwd' } }], ['POST', '/api/v1/runs', { command: 'report', problem: 'hires', options: { records: '/etc' } }],
  ['POST', '/api/v1/runs', { command: 'sweep', problem: 'hires', options: { vary: Array(1000).fill('k1=1:2:2') } }], ['GET', `/api/v1/runs/${'a'.repeat(32)}/result.h5`], ['GET', '/api/v1/runs/%2e%2e%2f/result.html'], ['POST', '/api/v1/runs', { text: '{}', name: '../x.json' }], ['POST', '/api/v1/runs', { text: 5 }],
  ['POST', '/api/v1/runs', { problem: 'hires', options: { rtol: 'x'.repeat(5000) } }], ['POST', '/api/v1/runs', Buffer.from([0xff, 0xfe, 0, 1, 2])],
];

async function hostile(server, count) {
  const seen = {};
  let done = 0;
  const worker = async () => {
    while (done < count) {
      const [method, where, body] = tricks[done++ % tricks.length];
      const answer = await ask(server, method, where, body).catch((error) => ({ status: error.code ?? 0, text: '', headers: {} }));
      seen[answer.status] = (seen[answer.status] ?? 0) + 1;
      if (answer.text.includes(SCRIPT) && !/json/.test(answer.headers['content-type'])) check(false, `script came back from ${where}`);
      if (answer.status >= 500 && answer.status !== 503) check(false, `${method} ${where}: ${answer.status}`);
      if (/root:/.test(answer.text)) check(false, `a file of the system came back from ${where}`);
    }
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  console.log(`hostile requests: ${JSON.stringify(seen)}`);
  check(!seen[200] && !seen[202], 'no hostile request is taken');
}

async function manners(server) {
  check((await ask(server, 'POST', '/api/v1/runs', 'x'.repeat(2 << 20))).status === 413, 'huge bodies are refused');
  check((await ask(server, 'POST', '/api/v1/runs', { problem: 'hires', plugin: './euler.so' })).status === 400, 'own methods are refused');
  check((await ask(server, 'GET', '/api/v1', undefined, { Host: 'evil.example' })).status === 403, 'another host name is refused');
  check((await ask(server, 'POST', '/api/v1/runs', { problem: 'hires' }, { Origin: 'http://evil.example' })).status === 403, 'another origin is refused');
  check((await ask(server, 'POST', '/api/v1/runs', { problem: 'hires' }, { 'Content-Type': 'text/plain' })).status === 415, 'only JSON is taken');
  const slow = Array.from({ length: 50 }, () => raw(server, 'POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{', 400));
  check((await run(server, { problem: 'hires' })).state === 'done', 'slow senders hold up nobody');
  await Promise.all(slow);
  const page = await ask(server, 'GET', '/');
  check(page.status === 404 || /daedalus-served/.test(page.text), 'the page knows that it is served');
  check(/wasm-unsafe-eval/.test(page.headers['content-security-policy']) && !/unsafe-inline|unsafe-eval'.*unsafe-eval/.test(page.headers['content-security-policy']), 'policy');
  check(!page.headers['set-cookie'], 'no cookies');
}

async function tokens() {
  const server = await startServer(program, ['--host', '0.0.0.0'], path.join(folder, 'tokens'));
  server.url = server.url.replace('0.0.0.0', '127.0.0.1');
  check(/^[0-9a-f]{48}$/.test(server.token), 'a token is made for other addresses');
  check((await ask(server, 'GET', '/api/v1')).status === 401, 'without the token: 401');
  check((await ask(server, 'GET', '/api/v1', undefined, { Authorization: `Bearer ${server.token.replace(/.$/, 'g')}` })).status === 401, 'with a wrong one: 401');
  check((await run(server, { problem: 'hires' }, { Authorization: `Bearer ${server.token}` })).state === 'done', 'with the token');
  server.child.kill('SIGTERM');
  await server.ended;
}

// SIGTERM lets runs end; a new server on the same store has the results.
async function restart(server) {
  const kept = await run(server, { problem: 'orego' });
  const last = await ask(server, 'POST', '/api/v1/runs', { problem: 'ringmod' });
  server.child.kill('SIGTERM');
  const { code } = await server.ended;
  check(code === 0, 'SIGTERM: status 0');
  const again = await startServer(program, [], server.store);
  check(same((await ask(again, 'GET', `/api/v1/runs/${kept.id}/result`)).json.json, kept.json), 'a result outlives the server');
  check((await ask(again, 'GET', `/api/v1/runs/${last.json.id}`)).json.state === 'done', 'a run that was going on was finished');
  const events = await ask(again, 'GET', `/api/v1/runs/${last.json.id}/events`);
  check(/event: done/.test(events.text), 'its stream ends at once');
  again.child.kill('SIGTERM');
  await again.ended;
}

async function page(server) {
  const npm = path.join(build, 'web-build/npm');
  if (!fs.existsSync(path.join(build, 'web/app.js')) || !fs.existsSync('/usr/bin/chromium')) return;
  const browser = await start(npm), tab = await open(browser, server.url);
  await tab.goto(`${server.url}/#/run?p=hires&r=~~~~`);
  await tab.waitForFunction(() => globalThis.daedalusPage?.results?.runs.length > 0);
  const [json, served] = await tab.evaluate(() => [globalThis.daedalusPage.results.runs[0].json, globalThis.daedalusPage.results.engine.served]);
  check(served && json.steps === native('run', 'hires').steps && json.y[0] === native('run', 'hires').y[0], 'the page takes the native run');
  await tab.evaluate(() => { location.hash = '#/write?m=four_bar'; });
  await tab.getByText('No mistakes').waitFor();
  await tab.evaluate(() => { location.hash = '#/watch?m=double_pendulum'; });
  await tab.waitForFunction(() => globalThis.daedalusPage?.viewer && globalThis.daedalusPage.clock > 0.2);
  await tab.evaluate(() => { location.hash = '#/run?p=vdpol-mu&r=dopri5~~1e-12~~&set.mu=100000'; });
  await tab.getByRole('button', { name: 'Cancel' }).and(tab.locator(':enabled')).waitFor();
  await pause(600);
  await tab.getByRole('button', { name: 'Cancel' }).click();
  await tab.getByText('Cancelled.').waitFor();
  await browser.close();
}

// Clients with a short run every 5 s; every tenth also one of 10 s and more.
async function load(server, seconds, clients = 200, longest = 10) {
  const waits = [], end = Date.now() + 1000 * seconds;
  const long = { done: 0, running: 0 };
  let failed = 0;
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))[1]) / 1024;
  const began = memory();
  await Promise.all(Array.from({ length: clients }, async (_, k) => {
    await pause(5000 * (k / clients));
    const extra = k % 10 ? null : (await ask(server, 'POST', '/api/v1/runs', { ...LONG, options: { ...LONG.options, 'max-seconds': longest } })).json;
    while (Date.now() < end) {
      const next = Date.now() + 5000, r = await run(server, { problem: 'hires' }).catch((error) => ({ state: String(error) }));
      if (r.json?.status !== 'ok') failed++, console.log(`short run: ${r.state} ${r.message} ${r.refused}`);
      else waits.push(r.wait);
      await pause(Math.max(0, Math.min(next, end) - Date.now()));
    }
    if (!extra) return;
    const state = (await ask(server, 'GET', `/api/v1/runs/${extra.id}`)).json; // ended, or still at work in the slow lane
    if (state?.state === 'done' || state?.state === 'running') long[state.state]++;
    else failed++, console.log(`long run: ${JSON.stringify(state)}`);
    await ask(server, 'DELETE', `/api/v1/runs/${extra.id}`);
  }));
  waits.sort((a, b) => a - b);
  const at = (q) => waits[Math.min(waits.length - 1, Math.floor(q * waits.length))].toFixed(3);
  console.log(`${clients} clients, ${seconds} s: ${waits.length} short runs, median ${at(0.5)} s, 99 % ${at(0.99)} s, longest ${at(1)} s; long ones: ${long.done} done, ${long.running} still running; ${failed} failed; memory ${began.toFixed(1)} -> ${memory().toFixed(1)} MiB`);
  check(failed === 0, 'no run failed');
  check(waits.length > 0 && memory() < began + 100, 'memory is bounded');
}

const server = await startServer(program, what ? ['--rate', '5000'] : []);
const steps = what === 'load' ? [(s) => load(s, Number(amount))] : what === 'hostile' ? [(s) => hostile(s, Number(amount))]
  : [answers, studies, control, manners, page, (s) => hostile(s, 600), (s) => load(s, 4, 20, 1), ...(process.env.DAEDALUS_SANITIZED ? [] : [limits]), tokens];
for (const step of steps) {
  const began = Date.now();
  try {
    await step(server);
  } catch (error) {
    check(false, `${step.name}: ${error.stack}`);
  }
  console.log(`${step.name || 'step'}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
}
check((await run(server, { problem: 'hires' }).catch(() => ({}))).state === 'done', 'the server still serves');
if (!what) await restart(server);
else {
  server.child.kill('SIGTERM');
  await server.ended;
}
fs.rmSync(folder, { recursive: true, force: true });
finish();
