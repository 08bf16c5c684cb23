// Write: an editor for mechanisms and equation files, checked while one types.
import { examples, models, starting } from '../catalog.js';
import { debounce, download, field, h, loadScript, replace, short } from '../dom.js';
import { engine } from '../engine/index.js';
import { pack, unpack } from '../url.js';
import * as url from '../url.js';

const KEPT = 'daedalus-text';
const LARGEST = 2e6; // bytes of a dropped file

// Problems in the format of the test set report, which a server compiles if it was started so.
const isCode = (name) => /\.(c|f|for|f90)$/.test(name ?? '');

// JSON with one line per element of a list, as models are written by hand.
function pretty(model) {
  const inline = (x) => JSON.stringify(x, null, 1).replace(/\n\s*/g, ' '); // line ends in texts are escaped: these are layout
  const lines = Object.entries(model).map(([key, value]) => (Array.isArray(value) && value.some((x) => typeof x === 'object' && x)
    ? `  ${JSON.stringify(key)}: [\n${value.map((x) => `    ${inline(x)}`).join(',\n')}\n  ]` : `  ${JSON.stringify(key)}: ${inline(value)}`));
  return `{\n${lines.join(',\n')}\n}\n`;
}

// What the text is decides its name: mechanisms are JSON.
export const nameOf = (text, old) => (isCode(old) ? old : /^\s*\{/.test(text) ? (old?.endsWith('.json') ? old : 'model.json') : old && !old.endsWith('.json') ? old : 'model.deq');

// "model.json:12:7: text" or "line 12, column 7: text" anywhere in a message.
function place(message) {
  const found = /:(\d+):(\d+):/.exec(message) ?? /line (\d+)(?:,? column (\d+))?/i.exec(message);
  return found ? { line: Number(found[1]), column: Number(found[2] ?? 1) } : {};
}

// The faults in an answer of check --json.
export function faultsOf(json) {
  const list = (json.errors ?? []).map((e) => ({ line: e.line, column: e.column, text: e.text ?? e.message, severity: 'error' }));
  for (const w of json.warnings ?? []) {
    const text = typeof w === 'string' ? w : w.text;
    list.push({ ...place(text), ...(typeof w === 'string' ? {} : { line: w.line ?? w.where?.line, column: w.column ?? w.where?.column }), text, severity: 'warning' });
  }
  if (!list.some((f) => f.severity === 'error') && json.status && json.status !== 'ok' && json.message) list.unshift({ ...place(json.message), text: json.message, severity: 'error' });
  return list;
}

class WritePage {
  constructor(main, query, tools) {
    this.tools = tools;
    this.query = query;
    this.main = main;
    this.check = debounce(150, () => this.checkNow());
    this.number = 0;
  }

  async open() {
    const { query } = this;
    let start = null;
    if (query.get('text')) {
      try {
        start = { name: query.get('file') ?? 'model.json', text: await unpack(query.get('text')) };
      } catch {
        this.tools.announce('The text in the address could not be read.');
      }
    } else if (query.get('m')) start = starting(`model:${query.get('m')}`) ?? starting(`example:${query.get('m')}`);
    start ??= JSON.parse(localStorage.getItem(KEPT) ?? 'null') ?? starting('model:four_bar') ?? starting(`model:${models[0].name}`);
    this.name = start.name;
    this.draw();
    if (!globalThis.DaedalusEditor) await loadScript('editor.js');
    if (this.gone) return;
    this.editor = globalThis.DaedalusEditor.create(this.holder, start.text, (text) => this.changed(text), 'Text of the model');
    this.changed(start.text);
  }

  draw() {
    const start = h('select', { onchange: (e) => this.take(starting(e.target.value)) }, h('option', { value: '' }, 'choose …'),
      h('optgroup', { label: 'Mechanisms' }, models.map((m) => h('option', { value: `model:${m.name}` }, `${m.name}: ${m.title}`))),
      examples.length ? h('optgroup', { label: 'Equation files' }, examples.map((e) => h('option', { value: `example:${e.name}` }, `${e.name}: ${e.title}`))) : null);
    this.holder = h('div', { class: 'editor' });
    this.report = h('div', { class: 'report', 'aria-label': 'What the check says' });
    const file = h('input', { type: 'file', accept: '.json,.deq,.txt,.urdf,.xml,.mjcf,.c,.f,.for,.f90', class: 'visually-hidden', id: 'open-file', onchange: (e) => this.read(e.target.files[0]) });
    replace(this.main, h('h1', {}, 'Write'), h('p', { class: 'lead' }, 'A mechanism as JSON or equations as text. It is checked while you type and kept in this browser; files can be dropped here, robots (URDF, MJCF) too.'),
      h('div', { class: 'split write' },
        h('section', { 'aria-label': 'Editor' },
          h('div', { class: 'two' }, field('Start from', start), this.nameField = field('File name', h('input', { type: 'text', value: this.name, onchange: (e) => this.rename(e.target.value) }))),
          this.holder,
          h('div', { class: 'buttons' },
            h('button', { type: 'button', class: 'primary', onclick: () => this.go('run') }, 'Run'),
            this.watch = h('button', { type: 'button', onclick: () => this.go('watch') }, 'Watch'),
            h('button', { type: 'button', onclick: () => download(this.name, this.editor.get()) }, 'Save as a file'),
            file, h('label', { for: 'open-file', class: 'button' }, 'Open a file'),
            h('button', { type: 'button', onclick: () => this.share() }, 'Copy a link'))),
        h('section', { 'aria-label': 'Check' }, h('h2', {}, 'Check'), this.report)));
    this.main.addEventListener('dragover', this.over = (e) => { e.preventDefault(); this.holder.classList.add('drop'); });
    this.main.addEventListener('dragleave', this.out = () => this.holder.classList.remove('drop'));
    this.main.addEventListener('drop', this.drop = (e) => { e.preventDefault(); this.out(); this.read(e.dataTransfer.files[0]); });
  }

  take(start) {
    if (!start) return;
    this.notes = '';
    this.rename(start.name);
    this.editor.set(start.text);
  }

  rename(name) {
    this.name = name.replace(/[^\w.-]/g, '_') || 'model.json';
    this.nameField.querySelector('input').value = this.name;
    this.keep();
  }

  async read(file) {
    if (!file) return;
    if (file.size > LARGEST) {
      this.tools.announce(`${file.name} is too large: ${short(file.size)} bytes, at most ${LARGEST}.`);
      return;
    }
    const text = await file.text();
    if (/^\s*(<\?xml[^>]*>\s*)?(<!--[^]*?-->\s*)*<(robot|mujoco)\b/.test(text)) return this.importRobot(file.name, text);
    this.rename(file.name);
    this.editor.set(text);
    this.tools.announce(`${file.name} was read.`);
  }

  // A robot (URDF, MJCF) becomes a mechanism; what was guessed or left out is told.
  async importRobot(name, text) {
    const e = await engine(), plain = name.replace(/[^\w.-]/g, '_').replace(/(\.(urdf|xml))?$/, /<mujoco\b/.test(text) ? '.xml' : '.urdf').replace(/\.(?=.*\.)/g, '_');
    try {
      const { json, log, stderr } = await e.request({ command: 'import', name: plain, text, options: {} }, {});
      if (json.status && json.message) throw new Error(json.message);
      this.rename(plain.replace(/\.\w+$/, '.json'));
      this.editor.set(pretty(json));
      this.notes = (log || stderr || '').trim();
      this.tools.announce(`${name} was made a mechanism.${this.notes ? ` ${this.notes}` : ''}`);
    } catch (error) {
      replace(this.report, h('p', { class: 'message', role: 'alert' }, `${name}: ${error.message}`));
    }
  }

  keep() {
    try {
      localStorage.setItem(KEPT, JSON.stringify({ name: this.name, text: this.editor?.get() ?? '' }));
    } catch {
      // no room: the text is still in the editor
    }
  }

  changed(text) {
    const name = nameOf(text, this.name);
    if (name !== this.name) this.rename(name);
    this.watch.disabled = !name.endsWith('.json');
    this.keep();
    this.check();
  }

  async checkNow() {
    const number = ++this.number, text = this.editor.get();
    this.working?.abort();
    const working = this.working = new AbortController();
    try {
      const e = await engine();
      if (isCode(this.name)) {
        this.editor.mark([]);
        replace(this.report, h('p', { role: 'status' }, e.facts?.allow_code ? 'C or Fortran with the routines of the test set report: it is compiled and run on the server, in a sandbox, when you press Run.'
          : 'C and Fortran are compiled by a server that was started with `daedalus serve --allow-code`, or on your machine with `daedalus build`; this page cannot.'));
        return;
      }
      const { json } = await e.request({ command: 'check', name: this.name, text, options: {} }, { signal: working.signal });
      if (number !== this.number || this.gone) return;
      const faults = faultsOf(json);
      this.editor.mark(faults.filter((f) => f.line));
      this.show(json, faults);
    } catch (error) {
      if (error.name !== 'AbortError') replace(this.report, h('p', { class: 'message' }, error.message));
    }
  }

  show(json, faults) {
    const skip = new Set(['status', 'code', 'message', 'errors', 'warnings']);
    const value = (x) => (Array.isArray(x) ? (x.length ? x.map((y) => (typeof y === 'object' && y ? Object.values(y).join(' ') : String(y))).join(', ') : 'none') : typeof x === 'object' && x ? JSON.stringify(x) : typeof x === 'number' ? short(x) : String(x));
    const errors = faults.filter((f) => f.severity === 'error');
    replace(this.report,
      h('p', { class: errors.length ? 'verdict bad' : 'verdict good', role: 'status' }, errors.length ? `${errors.length} ${errors.length === 1 ? 'mistake' : 'mistakes'}` : 'No mistakes'),
      this.notes ? h('details', { class: 'notes' }, h('summary', {}, 'What the import guessed or left out'), h('pre', { tabindex: '0' }, this.notes)) : null,
      faults.length ? h('ul', { class: 'faults' }, faults.map((f) => h('li', { class: f.severity },
        f.line ? h('button', { type: 'button', class: 'small', onclick: () => this.editor.go(f.line, f.column ?? 1) }, `line ${f.line}${f.column ? `, column ${f.column}` : ''}`) : null, ` ${f.text}`))) : null,
      h('dl', { class: 'facts-list' }, Object.entries(json).filter(([key, x]) => !skip.has(key) && x !== null && x !== '').map(([key, x]) => [h('dt', {}, key.replaceAll('_', ' ')), h('dd', {}, value(x))])));
  }

  async go(page) {
    const query = { file: this.name, text: await pack(this.editor.get()) };
    location.hash = url.link(page, page === 'run' ? { p: 'text', ...query, r: '~~~~' } : query);
  }

  async share() {
    url.write('write', { file: this.name, text: await pack(this.editor.get()) });
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    this.tools.announce('The address of this page now holds the text.');
  }

  close() {
    this.gone = true;
    this.working?.abort();
    this.main.removeEventListener('dragover', this.over);
    this.main.removeEventListener('dragleave', this.out);
    this.main.removeEventListener('drop', this.drop);
    this.editor?.destroy();
  }
}

export function writePage(main, query, tools) {
  const page = new WritePage(main, query, tools);
  page.open();
  globalThis.daedalusPage = page; // for tests and measurements
  return () => page.close();
}
