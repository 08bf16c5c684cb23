// usage: node browser_test.mjs SOURCE BUILD [SCREENSHOTS]
// The page in a real browser, opened as a file: every page, every built-in problem against the native program, mistakes
// at their column, a dropped mechanism, cancel, shared addresses, downloads, accessibility. Exit 77: nothing to test with.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { accessible, check, finish, open, serve, start } from './browser.mjs';

const [source, build, pictures] = process.argv.slice(2).map((p) => path.resolve(p));
const npm = path.join(build, 'web-build/npm'), site = path.join(build, 'web'), program = path.join(build, 'daedalus');
if (!fs.existsSync(path.join(site, 'app.js')) || !fs.existsSync(process.env.CHROMIUM ?? '/usr/bin/chromium')) {
  console.log('skipped: needs `make web` and chromium');
  process.exit(77);
}
const address = `file://${site}/index.html`, work = fs.mkdtempSync(path.join(os.tmpdir(), 'daedalus-web-'));
const native = (...args) => JSON.parse(execFileSync(program, [...args, '--json'], { encoding: 'utf8', env: { ...process.env, OPENBLAS_NUM_THREADS: '1' }, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 }));

// Sums are rounded otherwise by another compiler and C library. Where the solution, or the choice of steps, magnifies
// that: problem -> how far values may be apart, relative to the tolerances of the run, and whether steps may differ.
const SENSITIVE = JSON.parse(fs.readFileSync(path.join(source, 'tests/web/sensitive.json'), 'utf8'));

// Runs what the address says and waits for the answer.
async function run(page, hash) {
  await page.evaluate((h) => { globalThis.daedalusPage = null; location.hash = h; }, hash);
  await page.waitForFunction(() => globalThis.daedalusPage?.results?.runs.length > 0);
  return page.evaluate(() => globalThis.daedalusPage.results.runs.map((r) => r.json));
}

async function go(page, hash, heading) {
  await page.evaluate((h) => { location.hash = h; }, hash);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
}

async function saved(page, button, name) {
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const at = path.join(work, name ?? file.suggestedFilename());
  await file.saveAs(at);
  return fs.readFileSync(at);
}

async function everyPage(page) {
  await page.goto(address);
  await page.getByRole('heading', { level: 1, name: 'Problems' }).waitFor();
  const cards = await page.locator('.card').count(), count = native('list', 'problems').problems.length;
  check(cards === count + fs.readdirSync(path.join(source, 'models')).filter((f) => f.endsWith('.json')).length, `a card for every problem and model: ${cards}`);
  await page.getByRole('combobox', { name: 'Index' }).selectOption('3');
  await page.getByRole('combobox', { name: 'Stiff' }).selectOption('no');
  check(await page.locator('.card').count() < cards / 2, 'filters leave fewer cards');
  check(await page.getByRole('link', { name: "Andrews' squeezing mechanism", exact: true }).count() === 1, 'Andrews is not stiff and of index 3');
  check((await page.evaluate(() => location.hash)).includes('index=3'), 'filters are in the address');
  await accessible(page, npm, 'problems');
  for (const [hash, heading] of [['#/learn?page=guide/modelling', 'Modelling mechanisms'], ['#/learn?page=method/radau5', /radau5/]]) {
    await go(page, hash, heading);
    await accessible(page, npm, hash);
  }
  await go(page, '#/learn?page=problem/hires', /hires/);
  const live = page.getByRole('button', { name: /^Run: daedalus run/ }).first();
  if (await live.count()) {
    await live.click();
    await page.waitForFunction(() => /scd|digits/.test(document.querySelector('.output')?.textContent ?? ''));
  }
}

async function everyProblem(page) {
  for (const { name } of native('list', 'problems').problems) {
    const [here] = await run(page, `#/run?p=${name}&r=~~~~`), there = native('run', name), rule = SENSITIVE[name];
    check(here.status === 'ok', `${name}: ${here.status} ${here.message}`);
    check(here.solver === there.solver, `${name}: ${here.solver} for ${there.solver}`);
    if (!rule?.steps) check(here.steps === there.steps, `${name}: ${here.steps} steps for ${there.steps}`);
    let worst = 0;
    there.y.forEach((y, i) => { worst = Math.max(worst, Math.abs(here.y[i] - y) / (rule ? there.atol + there.rtol * Math.abs(y) : Math.abs(y) || 1)); });
    check(worst <= (rule?.tolerances ?? 1e-10), `${name}: values differ by ${worst}`);
  }
}

async function overlays(page) {
  // The address of two runs with a parameter and another end, opened afresh: the same state.
  await page.goto('about:blank');
  await page.goto(`${address}#/run?p=vdpol-mu&r=radau5~~1e-6~~&r=dassl~~1e-8~~&tend=100&set.mu=50`);
  await page.waitForFunction(() => globalThis.daedalusPage?.results?.runs.length === 2);
  const [a, b] = await page.evaluate(() => globalThis.daedalusPage.results.runs.map((r) => r.json));
  const there = native('run', 'vdpol-mu', '--solver', 'dassl', '--rtol', '1e-8', '--tend', '100', '--set', 'mu=50');
  check(a.solver === 'radau5' && a.t === 100, 'first run of the address');
  check(b.steps === there.steps && Math.abs(b.y[0] - there.y[0]) < 1e-10, 'second run of the address is that of the program');
  check(await page.getByRole('textbox', { name: 'mu', exact: true }).inputValue() === '50', 'the parameter is restored');
  check(await page.getByRole('table', { name: 'Run characteristics' }).getByRole('row').count() === 3, 'a row for each run');
  await page.getByText('Step sizes and orders').click();
  await page.getByText('Phase plot').click();
  await accessible(page, npm, 'run');
  const csv = (await saved(page, page.getByRole('button', { name: 'Trajectory (CSV)' }))).toString().trim().split('\n');
  check(csv[0] === 't,y1,y2' && Math.abs(Number(csv.at(-1).split(',')[1]) - a.y[0]) === 0, 'CSV ends with the solution');
  const json = JSON.parse(await saved(page, page.getByRole('button', { name: 'Results (JSON)' })));
  check(json.length === 2 && json[1].solver === 'dassl', 'JSON of both runs');
  const svg = (await saved(page, page.getByRole('button', { name: 'SVG of: Solution of vdpol-mu' }))).toString();
  check(svg.startsWith('<svg ') && (svg.match(/<path /g) ?? []).length > 6 && svg.includes('radau5'), 'SVG has curves and a legend');
  const png = await saved(page, page.getByRole('button', { name: 'PNG of: Solution of vdpol-mu' }));
  check(png.subarray(1, 4).toString() === 'PNG' && png.length > 5000, 'PNG is a picture');
  await page.getByText('The same elsewhere').click();
  const line = await page.locator('.elsewhere pre').first().textContent();
  check(line === 'daedalus run vdpol-mu --solver radau5 --rtol 1e-6 --tend 100 --set mu=50', `command line: ${line}`);
}

async function study(page) {
  await go(page, '#/run?p=orego', 'Run');
  await page.getByText('Work-precision study').click();
  for (const box of await page.locator('.workprec input[type=checkbox]').all()) await box.setChecked(['radau5', 'dassl'].includes(await box.inputValue()));
  await page.getByRole('button', { name: 'Start the study' }).click();
  await page.getByText('16 of 16 runs').waitFor();
  const rows = await page.getByRole('table', { name: 'Work-precision study' }).getByRole('row').allTextContents();
  check(rows.length >= 15, `points of the study: ${rows.length}`);
}

async function cancel(page) {
  await go(page, '#/run?p=ringmod&r=', 'Run');
  await page.getByRole('combobox', { name: 'Solver' }).selectOption('dopri5');
  await page.getByRole('textbox', { name: 'Relative tolerance' }).fill('1e-12');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForTimeout(400);
  const took = await page.evaluate(() => {
    const began = performance.now();
    [...document.querySelectorAll('button')].find((b) => b.textContent === 'Cancel').click();
    return new Promise((resolve) => {
      const look = () => (document.querySelector('.message').textContent === 'Cancelled.' ? resolve(performance.now() - began) : setTimeout(look, 1));
      look();
    });
  });
  console.log(`cancelled in ${took.toFixed(0)} ms`);
  const [after] = await run(page, '#/run?p=rober&r=~~~~');
  check(after.status === 'ok', 'a run after a cancelled one');
}

async function write(page) {
  await go(page, '#/write?m=four_bar', 'Write');
  const editor = page.getByRole('textbox', { name: 'Text of the model' });
  await editor.waitFor();
  await page.getByText('No mistakes').waitFor();
  await accessible(page, npm, 'write');
  const text = await page.evaluate(() => globalThis.daedalusPage.editor.get());
  await page.evaluate((t) => globalThis.daedalusPage.editor.set(t), text.replace('"rho*b"', '"rho*bb"'));
  await page.locator('.faults .error').first().waitFor();
  const said = await page.locator('.faults .error').first().textContent();
  check(/bb/.test(said), `the mistake names what is unknown: ${said}`);
  const broken = text.replace('"gravity": [0, -9.81],', '"gravity": [0, -9.81]');
  await page.evaluate((t) => globalThis.daedalusPage.editor.set(t), broken);
  await page.getByRole('button', { name: /^line \d+, column \d+/ }).first().waitFor();
  await page.locator('.cm-lintRange-error').first().waitFor();
  check(await page.locator('.cm-lintRange-error').count() >= 1, 'a squiggle under the mistake');
  await page.evaluate((t) => globalThis.daedalusPage.editor.set(t), text.replace('"1[m]"', '"1.1[m]"'));
  await page.getByText('No mistakes').waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForFunction(() => globalThis.daedalusPage?.results?.runs.length > 0);
  const json = await page.evaluate(() => globalThis.daedalusPage.results.runs[0].json);
  const there = native('run', path.join(source, 'models/four_bar.json'), '--set', 'a=1.1[m]');
  check(json.steps === there.steps && Math.abs(json.y[2] - there.y[2]) < 1e-9, 'own text runs as the program does');
}

async function equations(page) {
  const file = path.join(source, 'tests/web/lorenz.deq');
  try {
    native('check', file);
  } catch {
    console.log('equation files: not in this program yet');
    return;
  }
  const text = fs.readFileSync(file, 'utf8');
  await go(page, '#/write', 'Write');
  await page.getByRole('textbox', { name: 'Text of the model' }).waitFor();
  await page.evaluate((t) => globalThis.daedalusPage.editor.set(t), text.replace('rho - z', 'rhoo - z'));
  const row = text.split('\n').findIndex((l) => l.includes('rho - z')) + 1, column = text.split('\n')[row - 1].indexOf('rho - z') + 1;
  await page.getByRole('button', { name: `line ${row}, column ${column}` }).waitFor();
  await page.evaluate((t) => globalThis.daedalusPage.editor.set(t), text);
  await page.getByText('No mistakes').waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForFunction(() => globalThis.daedalusPage?.results?.runs.length > 0);
  const json = await page.evaluate(() => globalThis.daedalusPage.results.runs[0].json), there = native('run', file);
  check(json.steps === there.steps && Math.abs(json.y[0] - there.y[0]) < 1e-9, 'equations run as the program does');
}

async function watch(page) {
  await go(page, '#/write', 'Write');
  await page.getByRole('textbox', { name: 'Text of the model' }).waitFor();
  const text = fs.readFileSync(path.join(source, 'models/double_pendulum.json'), 'utf8');
  const data = await page.evaluateHandle((content) => {
    const d = new DataTransfer();
    d.items.add(new File([content], 'dropped.json', { type: 'application/json' }));
    return d;
  }, text);
  await page.dispatchEvent('main', 'drop', { dataTransfer: data });
  await page.waitForFunction(() => globalThis.daedalusPage.name === 'dropped.json');
  await page.getByText('No mistakes').waitFor();
  await page.getByRole('button', { name: 'Watch' }).click();
  await page.waitForFunction(() => globalThis.daedalusPage?.viewer && globalThis.daedalusPage.clock > 0.3);
  const turned = () => page.evaluate(() => globalThis.daedalusPage.viewer.bodies[0].quaternion.z);
  const a = await turned();
  await page.waitForTimeout(300);
  check(a !== await turned(), 'the mechanism moves');
  await page.getByRole('button', { name: 'Pause' }).click();
  const b = await turned();
  await page.waitForTimeout(150);
  check(b === await turned(), 'the mechanism pauses');
  await accessible(page, npm, 'watch');
  // A push: the first body is dragged; the energy of the mechanism changes.
  const before = await page.evaluate(() => globalThis.daedalusPage.live.json.energy.start);
  const at = await page.evaluate(() => {
    const p = globalThis.daedalusPage, v = p.viewer, c = v.bodies[0].position.clone().project(v.camera), box = v.canvas.getBoundingClientRect();
    v.canvas.scrollIntoView();
    const now = v.canvas.getBoundingClientRect();
    return { x: now.left + (c.x + 1) / 2 * box.width, y: now.top + (1 - c.y) / 2 * box.height };
  });
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 60, at.y - 40, { steps: 4 });
  await page.waitForFunction(() => globalThis.daedalusPage.push && !globalThis.daedalusPage.busy);
  await page.getByRole('button', { name: 'Play' }).evaluate((button) => button.click());
  await page.waitForTimeout(500);
  await page.mouse.move(at.x + 80, at.y - 60, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => !globalThis.daedalusPage.busy && !globalThis.daedalusPage.push);
  const after = await page.evaluate(() => globalThis.daedalusPage.live.json.energy.start);
  check(Math.abs(after - before) > 1e-3 * Math.abs(before), `a push changes the energy: ${before} ${after}`);
  const png = await saved(page, page.getByRole('button', { name: 'Picture' }));
  check(png.subarray(1, 4).toString() === 'PNG', 'a picture of the view');
}

async function served(browser) {
  const server = await serve(site), page = await open(browser, server.url);
  await page.goto(`${server.url}#/problems`);
  const [json] = await run(page, '#/run?p=hires&r=~~~~');
  check(json.steps === native('run', 'hires').steps, 'hires from a file server with the strict policy');
  await go(page, '#/write?m=pendulum', 'Write');
  await page.getByText('No mistakes').waitFor();
  await page.context().close();
  server.close();
}

const VIEWS = [['problems', '#/problems', '.card'], ['run', '#/run?p=andrews&r=~~~~&r=radau5~~1e-9~~', 'table'], ['write', '#/write?m=slider_crank', '.facts-list'], ['watch', '#/watch?m=four_bar', '.legend li'], ['learn', '#/learn?page=problem/andrews', '.doc h2']];

async function screenshots(browser) {
  fs.mkdirSync(pictures, { recursive: true });
  for (const [name, options] of [['light', {}], ['dark', { colorScheme: 'dark' }], ['phone', { viewport: { width: 390, height: 844 } }]]) {
    const page = await open(browser, 'file:', options);
    await page.goto(address);
    for (const [view, hash, wait] of VIEWS) {
      await page.evaluate((h) => { location.hash = h; }, hash);
      await page.locator(wait).first().waitFor();
      await page.waitForTimeout(view === 'watch' ? 1500 : 400);
      await page.screenshot({ path: path.join(pictures, `${view}-${name}.jpg`), type: 'jpeg', quality: 70 });
    }
    await page.context().close();
  }
}

const browser = await start(npm);
const steps = pictures ? [] : [everyPage, everyProblem, overlays, study, cancel, write, equations, watch];
const page = await open(browser, 'file:');
for (const step of steps) {
  const began = Date.now();
  try {
    await step(page);
  } catch (error) {
    check(false, `${step.name}: ${error.stack}`);
  }
  console.log(`${step.name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
}
if (pictures) await screenshots(browser);
else {
  const dark = await open(browser, 'file:', { colorScheme: 'dark' });
  await dark.goto(address);
  await run(dark, '#/run?p=hires&r=~~~~');
  await accessible(dark, npm, 'run, dark');
  await served(browser);
}
await browser.close();
fs.rmSync(work, { recursive: true });
finish();
