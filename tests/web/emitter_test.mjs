// usage: node emitter_test.mjs SOURCE BUILD
// Programs of equation files as WebAssembly beside the library: a run gives the same numbers, to the last bit, as where the page's policy
// refuses new modules and the levels run.
import fs from 'node:fs';
import path from 'node:path';
import { check, finish, open, serve, start } from './browser.mjs';
import { run } from './module.mjs';

const [source, build] = process.argv.slice(2, 4).map((p) => path.resolve(p));
if (!fs.existsSync(path.join(build, 'web-build/wasm/daedalus.wasm'))) {
  console.log('skipped: make web has not been run');
  process.exit(77);
}
// Functions of one and two numbers, powers, curves, tables, comparisons: what is called, and what has code.
const functions = `var x = 1, y = 0.5, z = 0.2
param a = 0.3
let c = table(t, 0,0, 10,1, 100,2) + spline(x, -2,1, 0,0.5, 2,1.5)
x' = y*cos(t) - a*x + 0.1*tanh(x)*atan2(y, 2 + z^2) + 0.01*c
y' = -x + 0.2*sin(z)*exp(-x^2) - 0.1*y*hypot(x, 1) + 0.1*cbrt(z) + 0.01*log10(2 + x^2)
z' = -z + 0.1*min(x, y) + 0.1*max(x, y)*abs(z) + 0.1*mod(t, 3) + 0.05*pow(2 + cos(x), 1.5) + 0.001*(x/3)^11 + 0.1*floor(t/10)
solve t = 0 .. 100, rtol = 1e-9`;
const read = (name) => fs.readFileSync(path.join(source, 'problems', name), 'utf8');
const cases = [['hires.deq', read('hires.deq'), ['--rtol', '1e-9']], ['medakzo.deq', read('medakzo.deq'), []],
  ['ringmod.deq', read('ringmod.deq'), []], ['plei.deq', read('plei.deq'), ['--rtol', '1e-9']], ['functions.deq', functions, []]];
const strip = (text) => { const j = JSON.parse(text); return JSON.stringify([j.status, j.steps, j.evaluations, j.f_evals, j.y, j.scd, j.scd_components]); };
for (const [name, text, options] of cases) {
  const command = ['run', name, '--json', ...options], files = { [name]: text };
  const code = await run(build, 'daedalus', command, { files }), levels = await run(build, 'daedalus', command, { files, refuse: true });
  check(code.status === 0 && levels.status === 0, `${name}: ${code.status} ${levels.status} ${code.stderr} ${levels.stderr}`);
  check(code.modules > 0 && levels.modules === 0, `${name}: ${code.modules} modules made, ${levels.modules} under the policy`);
  if (code.status === 0) check(strip(code.stdout) === strip(levels.stdout), `${name}: other numbers than the levels:\n${strip(code.stdout)}\n${strip(levels.stdout)}`);
}
// A short run does not pay for a module.
const short = await run(build, 'daedalus', ['run', 'pollu.deq', '--json'], { files: { 'pollu.deq': read('pollu.deq') } });
check(short.status === 0 && short.modules === 0, `pollu at its own tolerance: ${short.modules} modules`);

// The page's own worker under the page's own policy may make modules too.
const site = path.join(build, 'web');
if (fs.existsSync(path.join(site, 'index.html')) && fs.existsSync(process.env.CHROMIUM ?? '/usr/bin/chromium')) {
  const browser = await start(path.join(build, 'web-build/npm')), server = await serve(site), page = await open(browser, server.url);
  await page.goto(`${server.url}#/run?p=hires`);
  await page.waitForFunction(() => globalThis.daedalusPage?.form);
  const ask = (text) => page.evaluate(async (t) => {
    const { engine } = await globalThis.daedalusPage.tools.engine();
    return (await engine.request({ command: 'run', name: 'medakzo.deq', text: t, options: {} }, {})).json;
  }, text);
  await ask(read('medakzo.deq')); // the worker has started
  for (const worker of page.workers()) {
    await worker.evaluate(() => {
      const Module = WebAssembly.Module;
      self.made = 0;
      WebAssembly.Module = class extends Module { constructor(bytes) { super(bytes); self.made++; } };
    });
  }
  const there = await ask(read('medakzo.deq')), here = JSON.parse((await run(build, 'daedalus', ['run', 'medakzo.deq', '--json'], { files: { 'medakzo.deq': read('medakzo.deq') } })).stdout);
  const made = (await Promise.all(page.workers().map((worker) => worker.evaluate(() => self.made)))).reduce((a, b) => a + b, 0);
  check(made > 0, `${made} modules made in the worker of the page`);
  check(JSON.stringify([there.steps, there.y]) === JSON.stringify([here.steps, here.y]), 'the page and node give the same numbers');
  await browser.close();
  server.close();
}
finish();
