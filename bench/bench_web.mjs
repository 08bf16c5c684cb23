// usage: node bench_web.mjs SOURCE BUILD: sizes and speeds of the web page (docs/web.md), measured in chromium.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { open, serve, start } from '../tests/web/browser.mjs';
import { run } from '../tests/web/module.mjs';

const [source, build] = process.argv.slice(2).map((p) => path.resolve(p));
const site = path.join(build, 'web'), npm = path.join(build, 'web-build/npm'), program = path.join(build, 'daedalus');
const native = (...args) => JSON.parse(execFileSync(program, ['run', ...args, '--repeat', '5', '--json'], { encoding: 'utf8', env: { ...process.env, OPENBLAS_NUM_THREADS: '1' }, stdio: ['ignore', 'pipe', 'ignore'] }));
const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
const ms = (x) => (x >= 100 ? x.toFixed(0) : x.toFixed(1));
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

console.log('Sizes, kB\n');
row('file', 'bytes / 1024', 'gzipped');
row('---', '---', '---');
for (const name of fs.readdirSync(site).filter((f) => f !== 'licenses.txt').sort()) {
  const data = fs.readFileSync(path.join(site, name));
  row(name, (data.length / 1024).toFixed(0), (zlib.gzipSync(data, { level: 9 }).length / 1024).toFixed(0));
}

const browser = await start(npm), times = { usable: [], first: [], cancel: [], file: [] };
const server = await serve(site);
for (let k = 0; k < 5; k++) {
  for (const [key, base] of [['usable', server.url], ['file', `file://${site}/index.html`]]) {
    const page = await open(browser, base.slice(0, 5)), began = performance.now();
    await page.goto(`${base}#/problems`);
    await page.locator('.card').first().waitFor();
    times[key].push(performance.now() - began);
    if (key === 'file') {
      await page.evaluate(() => { location.hash = '#/run?p=hires'; });
      await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
      await page.waitForTimeout(1500); // the module has been compiled
      times.first.push(await page.evaluate(() => new Promise((resolve) => {
        const began = performance.now(), watch = () => (globalThis.daedalusPage.results.runs.length ? resolve(performance.now() - began) : setTimeout(watch, 1));
        document.querySelector('.run-form').requestSubmit();
        watch();
      })));
    }
    await page.context().close();
  }
}
console.log('\nTimes, ms (median of 5)\n');
row('what', 'ms');
row('---', '---');
row('page usable, cold, from a file', ms(median(times.file)));
row('page usable, cold, from a server', ms(median(times.usable)));
row('first result of hires after the click', ms(median(times.first)));

// Script per frame of the viewer with 64 bodies (a chain): poses, plots and the calls that draw.
const chain = execFileSync('python3', [path.join(source, 'tools/make_chain.py'), '64'], { encoding: 'utf8' });
const watch = await open(browser, 'file:');
await watch.goto(`file://${site}/index.html`);
const packed = zlib.deflateRawSync(chain).toString('base64url');
await watch.evaluate((text) => { location.hash = `#/watch?file=chain.json&text=${text}`; }, packed);
await watch.waitForFunction(() => globalThis.daedalusPage?.viewer && globalThis.daedalusPage.clock > 0.2, undefined, { timeout: 120000 });
const frames = await watch.evaluate(async () => {
  const list = [], p = globalThis.daedalusPage;
  for (let k = 0; k < 200; k++) {
    await new Promise(requestAnimationFrame);
    list.push(p.scriptMilliseconds + (p.viewer.lastMilliseconds ?? 0));
    p.viewer.lastMilliseconds = 0;
  }
  return list.sort((a, b) => a - b);
});
row('script per frame of the viewer, 64 bodies, median', ms(frames[100]));
row('the same, 95 %', ms(frames[190]));

console.log('\nRuns: ms of CPU in the page against native: the first run (code as the browser translates it at once), and the best of 16 (optimised code)\n');
row('problem', 'steps', 'native', 'page, first', 'page, best', 'best / native');
row('---', '---', '---', '---', '---', '---');
const page = await open(browser, 'file:');
await page.goto(`file://${site}/index.html`);
for (const name of ['hires', 'andrews', 'medakzo', 'beam', 'tba', 'plei', 'hmmwv']) {
  const there = native(name);
  await page.evaluate((n) => { globalThis.daedalusPage = null; location.hash = `#/run?p=${n}`; }, name);
  await page.waitForFunction(() => globalThis.daedalusPage?.form);
  const [first, seconds] = await page.evaluate(async (n) => {
    const { engine } = await globalThis.daedalusPage.tools.engine(), list = [];
    for (let k = 0; k < 16; k++) list.push((await engine.request({ command: 'run', problem: n, options: {} }, {})).json);
    const times = list.map((j) => j.cpu_seconds);
    return [times[0], Math.min(...times)];
  }, name);
  row(name, there.steps, ms(1000 * there.cpu_seconds), ms(1000 * first), ms(1000 * seconds), (seconds / there.cpu_seconds).toFixed(1));
}
await browser.close();
server.close();

console.log('\nEquations in WebAssembly (node): ns per f and per Jacobian, hand-written C, code written by the library, the levels; ratios to C\n');
execFileSync('cmake', ['--build', path.join(build, 'web-build/wasm'), '--target', 'bench_equations_web'], { stdio: 'ignore' });
const problems = path.join(source, 'problems'), names = fs.readdirSync(problems).filter((f) => f.endsWith('.deq'));
console.log((await run(build, 'bench_equations', [], { files: Object.fromEntries(names.map((f) => [`problems/${f}`, fs.readFileSync(path.join(problems, f))])) })).stdout);
