// usage: node viewer_test.mjs SOURCE BUILD [SCREENSHOTS]
// The viewer of `run --animate` in a real browser, opened as a file: it plays, is dragged, hides, follows its plot, exports; on hostile
// names, in the report, with 64 bodies, on a telephone. Exit 77: nothing to test with.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { accessible, check, finish, open, start } from './browser.mjs';

const [source, build, pictures] = process.argv.slice(2).map((p) => path.resolve(p));
const npm = path.join(build, 'web-build/npm'), program = path.join(build, 'daedalus');
if (!fs.existsSync(path.join(build, 'viewer/viewer.c')) || !fs.existsSync(process.env.CHROMIUM ?? '/usr/bin/chromium')) {
  console.log('skipped: needs `make viewer` and chromium');
  process.exit(77);
}
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'daedalus-viewer-'));
const daedalus = (...args) => execFileSync(program, args, { encoding: 'utf8', cwd: work, env: { ...process.env, OPENBLAS_NUM_THREADS: '1' }, stdio: ['ignore', 'pipe', 'inherit'] });
const animate = (model, name, ...more) => {
  daedalus('run', model, '--quiet', '--animate', `${name}.html`, ...more);
  return `file://${work}/${name}.html`;
};
const model = (name) => path.join(source, 'models', `${name}.json`);

async function ready(page, address) {
  await page.goto(address);
  await page.waitForFunction(() => document.body.dataset.ready);
}
const ask = (page, code) => page.evaluate(code);
// What the canvas shows, as a number that changes with it.
const look = (page) => page.evaluate(() => {
  const { viewer } = globalThis.daedalusPlayer;
  viewer.drawNow();
  const text = viewer.canvas.toDataURL();
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) | 0;
  return sum;
});
async function changes(page, what, action) {
  const before = await look(page);
  await action();
  check(await look(page) !== before, `${what} changes the picture`);
}
async function saved(page, name) {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name, exact: true }).click()]);
  const at = path.join(work, file.suggestedFilename());
  await file.saveAs(at);
  return fs.readFileSync(at);
}
async function picture(page, name) {
  if (!pictures) return;
  fs.mkdirSync(pictures, { recursive: true });
  await page.waitForTimeout(300);
  await page.screenshot({ path: path.join(pictures, `${name}.png`) });
}
const halt = (page, share) => page.evaluate((s) => {
  const p = globalThis.daedalusPlayer;
  p.setPlaying(false);
  p.seek(p.t0 + s * (p.t1 - p.t0));
}, share);

async function fourBar(page) {
  await ready(page, animate(model('four_bar'), 'four_bar'));
  check(await ask(page, 'daedalusPlayer.playing'), 'it starts playing');
  const t = await ask(page, 'daedalusPlayer.clock');
  await page.waitForFunction((from) => globalThis.daedalusPlayer.clock !== from, t);
  await page.getByRole('button', { name: 'Pause' }).click();
  check(!await ask(page, 'daedalusPlayer.playing'), 'the button stops it');
  await halt(page, 0.5);
  check(await page.locator('.time').textContent() === '0.500 s', 'the clock shows the time');
  check(/rocker_angle = [\d.]+ rad/.test(await page.locator('.readings').textContent()), 'the sensor is read at the time');
  // Positions between two frames are those of the run: the far end of the coupler at t = 0.5 against the table.
  const [names, , row] = (() => { daedalus('run', model('four_bar'), '--quiet', '--at', '0.5', '--out', 'f.csv', '--points', '3'); return fs.readFileSync(path.join(work, 'f.csv'), 'utf8').split('\n').map((l) => l.split(',')); })();
  const middle = fs.readFileSync(path.join(work, 'f.csv'), 'utf8').trim().split('\n')[3]?.split(',').map(Number) ?? row.map(Number);
  const x = middle[names.indexOf('coupler.x')], here = await ask(page, 'daedalusPlayer.viewer.now[1].r.x');
  check(Math.abs(here - x) < 1e-3, `the coupler is where the run says: ${here} for ${x}`);
  const box = await page.locator('.stage canvas').boundingBox(), at = [box.x + box.width * 0.85, box.y + box.height * 0.2];
  await changes(page, 'a drag', async () => {
    await page.mouse.move(...at);
    await page.mouse.down();
    await page.mouse.move(at[0] - 120, at[1] + 50, { steps: 4 });
    await page.mouse.up();
  });
  await changes(page, 'the wheel', async () => { await page.mouse.wheel(0, -300); await page.waitForTimeout(50); });
  await changes(page, 'resetting the view', () => page.keyboard.press('r'));
  await changes(page, 'hiding a body', () => page.getByRole('checkbox', { name: 'coupler' }).uncheck());
  await page.getByRole('checkbox', { name: 'coupler' }).check();
  await changes(page, 'the orthographic camera', () => page.getByRole('button', { name: 'Orthographic' }).click());
  await page.getByRole('button', { name: 'Orthographic' }).click();
  await changes(page, 'the arrows of reactions', () => page.getByRole('button', { name: 'Reactions' }).click());
  await changes(page, 'a trace', () => page.getByRole('combobox', { name: 'Path of' }).selectOption('1'));
  await picture(page, 'four-bar');
  await changes(page, 'dark colours', () => page.getByRole('button', { name: 'Dark' }).click());
  await page.locator('.stage canvas').focus();
  await page.keyboard.press('Home');
  await changes(page, 'an arrow key', () => page.keyboard.press('ArrowRight'));
  await page.keyboard.press('End');
  check(await ask(page, 'daedalusPlayer.clock === daedalusPlayer.t1'), 'End goes to the end');
  const plot = await page.locator('canvas.plot').boundingBox();
  await page.mouse.click(plot.x + 64 + (plot.width - 76) / 2, plot.y + 50);
  check(Math.abs(await ask(page, 'daedalusPlayer.clock') - 0.5) < 0.02, 'a press on the plot seeks');
  // A name under the pointer: somewhere over the coupler's middle.
  const seen = await page.evaluate(() => {
    const { viewer } = globalThis.daedalusPlayer, p = viewer.now[1].r.clone().project(viewer.camera), b = viewer.canvas.getBoundingClientRect();
    return [b.left + (p.x + 1) / 2 * b.width, b.top + (1 - p.y) / 2 * b.height];
  });
  await page.mouse.move(seen[0] - 3, seen[1]);
  await page.mouse.move(...seen);
  await page.waitForFunction(() => !document.querySelector('.viewer-tip').hidden);
  check(await page.locator('.viewer-tip').textContent() === 'coupler', `the body under the pointer is named: ${await page.locator('.viewer-tip').textContent()}`);
  await accessible(page, npm, 'viewer');
  const png = await saved(page, 'Picture');
  check(png.subarray(1, 4).toString() === 'PNG' && png.length > 5000, 'the picture is a PNG');
  await page.getByRole('combobox', { name: 'Speed' }).selectOption('1');
  const webm = await saved(page, 'Video');
  check(webm.readUInt32BE(0) === 0x1a45dfa3 && webm.length > 1000, 'the video is a WebM');
}

async function shown(page) {
  await ready(page, animate(model('hmmwv'), 'hmmwv'));
  await halt(page, 0.15);
  check(await ask(page, 'daedalusPlayer.viewer.follow'), 'the camera goes with what travels');
  await changes(page, 'forces', () => page.getByRole('button', { name: 'Forces' }).click());
  check(await ask(page, 'daedalusPlayer.viewer.links.length > 8 && daedalusPlayer.scene.ground.length >= 1'), 'springs, dampers and the road are drawn');
  await picture(page, 'hmmwv');
  await ready(page, animate(model('newtons_cradle'), 'cradle'));
  check(await page.locator('.marks button').count() > 0, 'events are on the time line');
  await halt(page, 0.2);
  await page.locator('.marks button').first().click();
  const event = await ask(page, 'daedalusPlayer.scene.events[0].t');
  check(Math.abs(await ask(page, 'daedalusPlayer.clock') - event) < 1e-9, 'a press on an event goes there');
  await picture(page, 'cradle');
  await ready(page, animate(path.join(source, 'examples/mechanisms/dropped.json'), 'dropped'));
  await halt(page, 0.55);
  check(await ask(page, 'daedalusPlayer.viewer.scene.shapes.length') === 6, 'shapes that collide and their floor are drawn');
  await picture(page, 'collisions');
  await ready(page, animate(model('truck'), 'truck'));
  await halt(page, 0.4);
  await page.keyboard.press('f');
  await page.keyboard.press('d');
  await picture(page, 'truck-dark');
}

async function hostile(browser) {
  const text = fs.readFileSync(model('pendulum'), 'utf8').replace('"name": "pendulum"', '"name": "</script><script>document.body.dataset.hurt=1</script><img src=x onerror=document.body.dataset.hurt=2>"');
  fs.writeFileSync(path.join(work, 'hostile.json'), text);
  animate(path.join(work, 'hostile.json'), 'hostile');
  fs.appendFileSync(path.join(work, 'hostile.html'), '<script>document.body.dataset.hurt=3</script>');
  const page = await (await browser.newContext()).newPage();
  await ready(page, `file://${work}/hostile.html`);
  check(!await ask(page, 'document.body.dataset.hurt'), 'nothing but the viewer runs, whatever the names are');
  await page.context().close();
}

async function report(page) {
  daedalus('report', model('slider_crank'), '--out', 'report', '--quiet');
  await ready(page, `file://${work}/report/slider_crank.html`);
  check(await page.getByRole('heading', { name: 'Motion' }).count() === 1, 'the report has the motion');
  await page.waitForFunction(() => globalThis.daedalusPlayer.clock > globalThis.daedalusPlayer.t0);
  check(await ask(page, 'daedalusPlayer.scene.signals.some((s) => s.kind === "reaction")'), 'with sensors and reactions');
  await halt(page, 0.3);
  await page.locator('#viewer').scrollIntoViewIfNeeded();
  await picture(page, 'report');
}

// What the first look shows: all of the mechanism at any time, and into a box of walls; a signal that only shows rounding is not drawn.
async function firstLook(page) {
  await ready(page, animate(path.join(source, 'bench/stiff_wishbone.json'), 'wishbone'));
  const outside = await page.evaluate(() => {
    const { viewer, scene } = globalThis.daedalusPlayer;
    viewer.camera.updateMatrixWorld();
    const inFront = (p) => viewer.pointAt(p, viewer.now, viewer.center.clone()).project(viewer.camera);
    return scene.points.map(inFront).filter(({ x, y }) => !(Math.abs(x) < 0.98 && Math.abs(y) < 0.98)).length;
  });
  check(outside === 0, `all points are in view, ${outside} are not`);
  const wall = (x) => `{"kind":"plane","size":[2],"r":[${x},0,0],"q":[0.7071067811865476,0,${x < 0 ? '' : '-'}0.7071067811865476,0]}`;
  fs.writeFileSync(path.join(work, 'box.json'), `{"daedalus":1,"kind":"mechanism","name":"box","dimension":3,
    "shapes":[${wall(-0.5)},${wall(0.5)}],"bodies":[{"name":"ball","r":[0,0,0],"v":[0,0.01,0],"shapes":[{"kind":"sphere","size":[0.2],"mass":1}]}],
    "sensors":[{"name":"high","value":"5[m] + 0.01*ball.y"}],"simulation":{"t1":0.5}}`);
  await ready(page, animate(path.join(work, 'box.json'), 'box'));
  await halt(page, 0);
  const hit = await page.evaluate(() => { // in the middle of the picture, from the side of a wall
    const { viewer } = globalThis.daedalusPlayer;
    viewer.home('side');
    viewer.drawNow();
    const copy = document.createElement('canvas');
    copy.width = viewer.canvas.width;
    copy.height = viewer.canvas.height;
    const pen = copy.getContext('2d');
    pen.drawImage(viewer.canvas, 0, 0);
    const [red, , blue] = pen.getImageData(Math.floor(copy.width / 2), Math.floor(copy.height / 2), 1, 1).data;
    return blue - red;
  });
  check(hit > 40, `the wall is glass from behind: the blue ball is seen, ${hit}`);
  check(await ask(page, 'daedalusPlayer.chosen.length === 0'), 'a sensor that changes in its last digits is not drawn first');
}

// The telephone: one column, a touch turns.
async function small(browser) {
  const page = await open(browser, `file://${work}`, { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
  await ready(page, `file://${work}/four_bar.html`);
  check(await ask(page, 'document.documentElement.scrollWidth <= 392'), 'nothing is wider than the telephone');
  await page.getByRole('button', { name: 'Pause' }).tap();
  check(!await ask(page, 'daedalusPlayer.playing'), 'a tap stops it');
  await picture(page, 'telephone');
  await page.context().close();
}

const browser = await start(npm), page = await open(browser, `file://${work}`, { viewport: pictures ? { width: 1200, height: 800 } : { width: 760, height: 560 } });
if (pictures) await page.addInitScript(() => { globalThis.daedalusFullQuality = true; });
await fourBar(page);
await shown(page);
await hostile(browser);
await firstLook(page);
await report(page);
await small(browser);
await browser.close();
fs.rmSync(work, { recursive: true });
finish();
