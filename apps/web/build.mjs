// Makes the site: node build.mjs SOURCE BUILD NPM [bundles]. Bundles from apps/web, the module from BUILD/web-build/wasm, the
// catalogue from what the native program says. Everything goes to BUILD/web; with the
// word bundles only the scripts are made again.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [source, build, npm] = process.argv.slice(2).map((p) => path.resolve(p));
const require = createRequire(path.join(npm, 'package.json'));
const esbuild = require('esbuild');
const web = path.join(source, 'apps/web'), out = path.join(build, 'web'), wasm = path.join(build, 'web-build/wasm');
fs.mkdirSync(out, { recursive: true });

const common = { bundle: true, minify: true, format: 'iife', target: 'es2022', nodePaths: [path.join(npm, 'node_modules')], logLevel: 'error', legalComments: 'none', charset: 'utf8' };

// The worker is the module's glue and our part, as text inside the page: a page from a file has no other way.
async function workerSource() {
  const ours = await esbuild.build({ ...common, entryPoints: [path.join(web, 'src/engine/worker.js')], write: false });
  return `${fs.readFileSync(path.join(wasm, 'daedalus.js'), 'utf8')}\n${ours.outputFiles[0].text}`;
}

async function bundles() {
  const worker = await workerSource();
  const plugin = {
    name: 'worker-source',
    setup(b) {
      b.onResolve({ filter: /^worker-source$/ }, () => ({ path: 'worker-source', namespace: 'text' }));
      b.onLoad({ filter: /.*/, namespace: 'text' }, () => ({ contents: worker, loader: 'text' }));
    },
  };
  await Promise.all([
    esbuild.build({ ...common, entryPoints: [path.join(web, 'src/main.js')], outfile: path.join(out, 'app.js'), plugins: [plugin] }),
    esbuild.build({ ...common, entryPoints: [path.join(web, 'src/editor.js')], outfile: path.join(out, 'editor.js'), globalName: 'DaedalusEditor' }),
    esbuild.build({ ...common, entryPoints: [path.join(source, 'apps/viewer/viewer.js')], outfile: path.join(out, 'viewer.js'), globalName: 'DaedalusViewer' }),
  ]);
  const styles = fs.readFileSync(path.join(npm, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8') + fs.readFileSync(path.join(web, 'style.css'), 'utf8');
  fs.writeFileSync(path.join(out, 'style.css'), (await esbuild.transform(styles, { loader: 'css', minify: true })).code);
  for (const name of ['index.html', 'favicon.svg']) fs.copyFileSync(path.join(web, name), path.join(out, name));
}

function module_() {
  const bytes = fs.readFileSync(path.join(wasm, 'daedalus.wasm'));
  fs.writeFileSync(path.join(out, 'daedalus.wasm'), bytes);
  fs.writeFileSync(path.join(out, 'module.js'), `globalThis.DAEDALUS_MODULE="${bytes.toString('base64')}";\n`); // for pages from files
}

const program = path.join(build, 'daedalus');
const environment = { ...process.env, OPENBLAS_NUM_THREADS: '1' };
const say = (...args) => execFileSync(program, args, { env: environment, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
const tell = (...args) => JSON.parse(say(...args));

// Up to three curves in units of the picture, 90 points each, from the trajectory of a run.
function curve(args, logTime) {
  const file = path.join(build, 'web-build/curve.csv');
  try {
    say('run', ...args, '--quiet', '--out', file);
  } catch {
    return [];
  }
  const lines = fs.readFileSync(file, 'utf8').trim().split('\n').filter((l) => l[0] !== '#');
  const rows = lines.slice(1).map((l) => l.split(',').map(Number)), columns = lines[0].split(',').map((_, k) => rows.map((r) => r[k]));
  const time = columns[0].map((t) => (logTime ? Math.log10(Math.max(t, 1e-8)) : t)), t0 = Math.min(...time), t1 = Math.max(...time);
  const shown = columns.slice(1, 60).map((c) => ({ c, low: Math.min(...c), high: Math.max(...c) })).filter((x) => Number.isFinite(x.high - x.low) && x.high - x.low > 1e-9 * Math.max(Math.abs(x.low), Math.abs(x.high))).slice(0, 3);
  return shown.map(({ c, low, high }) => {
    const points = [], every = Math.max(1, rows.length / 240);
    for (let i = 0; i < rows.length; i += every) {
      const k = Math.floor(i);
      points.push(Number(((time[k] - t0) / (t1 - t0 || 1)).toFixed(3)), Number(((c[k] - low) / (high - low)).toFixed(3)));
    }
    return points;
  });
}

const LOG_TIME = new Set(['rober', 'e5']);
const markdown = (file) => execFileSync(path.join(build, 'markdown_html'), [file], { encoding: 'utf8' });
const GUIDES = ['modelling', 'equations', 'equation-examples', 'viewer', 'web', 'server', 'sweeps', 'sensitivities', 'fitting', 'design', 'python', 'octave', 'own-problem', 'own-solver', 'comparison', 'reliability', 'performance', 'testset-deviations', 'testset-results', 'testset-matrix', 'truck-study', 'hmmwv-tables', 'reference-extended', 'architecture'];

// Names of fields and the words that they take, for completion.
function schemaWords(schema) {
  const keys = new Set(), types = new Set();
  const walk = (x) => {
    if (!x || typeof x !== 'object') return;
    for (const key of Object.keys(x.properties ?? {})) keys.add(key);
    for (const word of [...(x.enum ?? []), x.const]) if (typeof word === 'string') types.add(word);
    for (const part of Object.values(x)) walk(part);
  };
  walk(schema);
  return { keys: [...keys].filter((key) => /^[a-z]\w*$/.test(key)).sort(), types: [...types].filter((word) => /^\w+$/.test(word)).sort() };
}

function catalogue() {
  const { problems, solvers, formulations } = tell('list', '--json');
  const data = { version: say('--version').trim().replace(/^daedalus\s*/, ''), problems: [], solvers: [], formulations: [], models: [], examples: [], pages: [] }, texts = {};
  const add = (name, group, short, title, html) => {
    data.pages.push({ name, short, title, group });
    texts[name] = html; // in a file of their own, loaded when one reads
  };
  const page = (group, info) => add(`${group}/${info.name}`, group, info.name, info.title, info.html);
  for (const name of GUIDES) {
    const file = path.join(source, 'docs', `${name}.md`);
    if (!fs.existsSync(file)) continue;
    const html = markdown(file), title = /<h1[^>]*>(.*?)<\/h1>/s.exec(html)?.[1].replace(/<[^>]*>/g, '') ?? name;
    add(`guide/${name}`, 'guide', title, title, html);
  }
  for (const p of problems) {
    const { doc, html, ...info } = tell('info', p.name, '--json');
    page('problem', { ...info, html });
    data.problems.push({ ...info, curve: curve([p.name, '--points', '1500'], LOG_TIME.has(p.name)) });
  }
  for (const s of solvers) {
    const { doc, html, ...info } = tell('info', s.name, '--json');
    page('method', { ...info, html });
    if (!/^(cvode|ida)/.test(s.name)) data.solvers.push(info); // SUNDIALS is not in the module
  }
  for (const f of formulations) {
    const { doc, html, ...info } = tell('info', f.name, '--json');
    page('formulation', { ...info, html });
    data.formulations.push(info);
  }
  for (const file of fs.readdirSync(path.join(source, 'models')).filter((f) => f.endsWith('.json')).sort()) {
    const at = path.join(source, 'models', file), text = fs.readFileSync(at, 'utf8'), model = JSON.parse(text);
    if (model.kind !== 'mechanism') continue;
    const check = tell('check', at, '--json');
    data.models.push({ name: path.basename(file, '.json'), file, title: model.name.replaceAll('_', ' '), doc: model.doc ?? '', bodies: check.bodies, joints: check.joints, n: 2 * check.coordinates, text, curve: curve([at, '--points', '400']) });
  }
  for (const folder of ['examples', 'models', 'examples/equations', 'models/equations']) {
    const full = path.join(source, folder);
    for (const file of fs.existsSync(full) ? fs.readdirSync(full).filter((f) => f.endsWith('.deq')).sort() : []) {
      const text = fs.readFileSync(path.join(full, file), 'utf8');
      data.examples.push({ name: path.basename(file, '.deq'), file, title: /^\s*model\s+\w+\s+"([^"]*)"/m.exec(text)?.[1] ?? path.basename(file, '.deq'), text });
    }
  }
  data.words = schemaWords([JSON.parse(fs.readFileSync(path.join(source, 'docs/model.schema.json'), 'utf8')), tell('info', 'joints', '--json'), tell('info', 'forces', '--json'), tell('info', 'blocks', '--json')]);
  fs.writeFileSync(path.join(out, 'data.js'), `globalThis.DAEDALUS_DATA=${JSON.stringify(data)};\n`);
  fs.writeFileSync(path.join(out, 'pages.js'), `globalThis.DAEDALUS_PAGES=${JSON.stringify(texts)};\n`);
}

// The licences of everything that is inside the site.
function licenses() {
  const parts = [['Daedalus', path.join(source, 'LICENSE')], ['jansson', path.join(build, 'web-build/third/jansson-2.14/LICENSE')]];
  for (const name of ['uplot', 'three', '@codemirror/view', '@lezer/highlight', 'style-mod', 'w3c-keyname', 'crelt']) {
    const file = path.join(npm, 'node_modules', name, 'LICENSE');
    if (fs.existsSync(file)) parts.push([name, file]);
  }
  const klu = 'KLU, AMD, COLAMD, BTF (SuiteSparse 5.12): KLU and BTF under the GNU LGPL 2.1 or later, AMD and COLAMD under the BSD 3-clause licence; sources: the Debian source package suitesparse.';
  fs.writeFileSync(path.join(out, 'licenses.txt'), `${parts.map(([name, file]) => `== ${name} ==\n${fs.readFileSync(file, 'utf8').trim()}`).join('\n\n')}\n\n== SuiteSparse ==\n${klu}\n\nThe C library of the module is musl (MIT) as shipped with emscripten (MIT).\n`);
}

await bundles();
if (process.argv[5] !== 'bundles') {
  module_();
  catalogue();
  licenses();
}
for (const file of fs.readdirSync(out).sort()) console.log(`web: ${file.padEnd(16)} ${(fs.statSync(path.join(out, file)).size / 1024).toFixed(0).padStart(6)} kB`);
