// Run: a problem or a text of one's own, with several runs over each other.
import { examples, formulations, models, problem, problems, solvers, starting, takes } from '../catalog.js';
import { debounce, field, h, replace, select, short } from '../dom.js';
import { engine } from '../engine/index.js';
import { pack, unpack } from '../url.js';
import * as url from '../url.js';
import { parameterFields } from '../parameters.js';
import { Results } from '../results.js';
import { Compare, Indices, Report, Sweep } from '../studies.js';
import { WorkPrecision } from '../workprec.js';

const FIELDS = ['solver', 'formulation', 'rtol', 'atol', 'h0'];

// One run in the address: solver~formulation~rtol~atol~h0.
const writeRun = (o) => FIELDS.map((name) => o[name] ?? '').join('~');
const readRun = (text) => Object.fromEntries(text.split('~').slice(0, FIELDS.length).map((value, i) => [FIELDS[i], value]).filter(([, v]) => v));

function chooser(value) {
  const group = (label, list) => h('optgroup', { label }, list.map(([key, text]) => h('option', { value: key, selected: key === value }, text)));
  return h('select', { name: 'p' },
    group('Test set', problems.map((p) => [p.name, `${p.name}: ${p.title}`])),
    group('Mechanisms', models.map((m) => [`model:${m.name}`, `${m.name}: ${m.title}`])),
    examples.length ? group('Equation files', examples.map((e) => [`example:${e.name}`, `${e.name}: ${e.title}`])) : null,
    value === 'text' ? h('option', { value: 'text', selected: true }, 'your own text') : null);
}

class RunPage {
  constructor(main, query, tools) {
    this.query = query;
    this.tools = tools;
    this.main = main;
    this.name = query.get('p') ?? 'hires';
    this.settings = {};
    for (const [key, value] of query) if (key.startsWith('set.')) this.settings[key.slice(4)] = value;
    this.runs = query.getAll('r').map(readRun);
    this.results = new Results(tools, query.get('view') ?? '', () => this.save());
    this.sens = query.get('sens') ?? '';
    this.studyState = {};
    this.gone = new AbortController();
  }

  async open() {
    this.source = null;
    if (this.name === 'text') {
      try {
        this.source = { name: this.query.get('file') ?? 'model.json', text: await unpack(this.query.get('text') ?? '') };
      } catch {
        this.source = { name: 'model.json', text: '' };
      }
    } else if (this.name.includes(':')) this.source = starting(this.name);
    this.problem = this.source ? null : problem(this.name) ?? problem('hires');
    if (!this.source) this.name = this.problem.name;
    this.draw();
    if (this.runs.length) await this.runAll();
  }

  draw() {
    const p = this.problem, first = this.runs[0] ?? {};
    const able = solvers.filter((s) => !p || takes(s, p)).map((s) => [s.name, `${s.name}: ${s.title}`]);
    const number = (name, value, hint) => h('input', { type: 'text', inputmode: 'decimal', name, value: value ?? '', placeholder: hint, autocomplete: 'off', spellcheck: 'false' });
    const defaults = p ?? {};
    this.parameters = parameterFields(p ? p.parameters : null, this.source, this.settings, debounce(250, () => this.changed()));
    this.form = h('form', { class: 'run-form', 'aria-label': 'What is run', onsubmit: (e) => { e.preventDefault(); this.run(false); } },
      field('Problem', chooser(this.name)),
      this.source ? h('p', {}, h('a', { href: '#/write', onclick: (e) => this.toEditor(e) }, 'Open in the editor')) : h('p', { class: 'hint' }, `${p.kind}, n = ${p.n}, index ${p.index}, t = ${short(p.t0)} … ${short(p.t_end)} ${p.time_unit ?? ''} · `, h('a', { href: url.link('learn', { page: `problem/${p.name}` }) }, 'about it')),
      h('div', { class: 'two' },
        field('Solver', select([['', 'auto: choose for me'], ...able], first.solver ?? '', { name: 'solver' })),
        field('Formulation', select([['', 'auto'], ...formulations.map((f) => [f.name, `${f.name}: ${f.title}`])], first.formulation ?? '', { name: 'formulation', disabled: !!p && p.kind !== 'mechanical' && p.index !== 3 }))),
      h('div', { class: 'two' },
        field('Relative tolerance', number('rtol', first.rtol, defaults.rtol ? short(defaults.rtol) : '1e-6')),
        field('Absolute tolerance', number('atol', first.atol, defaults.atol ? short(defaults.atol) : 'as the relative'))),
      h('div', { class: 'two' },
        field('First step', number('h0', first.h0, defaults.h0 ? short(defaults.h0) : 'automatic')),
        field('End of the interval', number('tend', this.query.get('tend'), p ? short(p.t_end) : 'as in the text'))),
      h('div', { class: 'two' },
        field('Start of the interval', number('t0', this.query.get('t0'), p ? short(p.t0) : 'as in the text')),
        field('Derivatives by', h('input', { type: 'text', name: 'sens', value: this.sens, autocomplete: 'off', spellcheck: 'false', placeholder: 'parameters, y(0)' }), 'names, separated by commas')),
      this.parameters.element,
      h('div', { class: 'buttons' },
        h('button', { type: 'submit', class: 'primary' }, 'Run'),
        h('button', { type: 'button', onclick: () => this.run(true) }, 'Add to the plots'),
        this.cancelButton = h('button', { type: 'button', disabled: true, onclick: () => this.cancel() }, 'Cancel')),
      this.progress = h('progress', { max: 1, value: 0, 'aria-label': 'Progress of the run', hidden: true }),
      this.message = h('p', { class: 'message', role: 'alert' }));
    this.form.elements.p.addEventListener('change', (e) => { location.hash = url.link('run', { p: e.target.value }); });
    this.workprec = new WorkPrecision(() => this.request(this.read()), p, this.tools, this.query.get('wp'));
    this.studies = [new Sweep(this, this.parameters.list, this.query.get('sweep')), new Compare(this, this.mechanical()), new Report(this), new Indices(this, this.parameters.list)];
    replace(this.main, h('h1', {}, 'Run'), h('div', { class: 'split' }, h('section', { 'aria-label': 'Settings' }, this.form), h('section', { 'aria-label': 'Results' }, this.results.element, this.workprec.element, this.studies.map((s) => s.element))));
    if (!this.runs.length) this.results.empty(() => this.run(false));
  }

  read() {
    const data = new FormData(this.form);
    const options = Object.fromEntries(FIELDS.map((name) => [name, (data.get(name) ?? '').trim()]).filter(([, v]) => v));
    return options;
  }

  // Constraints to drift from, and an energy.
  mechanical() {
    return this.source ? /"kind"\s*:\s*"mechanism"/.test(this.source.text) : this.problem.kind === 'mechanical';
  }

  saveStudy(key, value) {
    this.studyState[key] = value;
    this.save();
  }

  request(run) {
    const set = this.parameters.values(), given = Object.fromEntries(['t0', 'tend', 'sens'].map((name) => [name, this.form.elements[name].value.trim()]).filter(([, v]) => v));
    const request = { command: 'run', options: { ...run, ...given, ...(this.mechanical() ? { drift: true } : {}), ...(Object.keys(set).length ? { set } : {}) } };
    if (this.source) Object.assign(request, this.source);
    else request.problem = this.name;
    return request;
  }

  async save() {
    const query = new URLSearchParams({ p: this.name });
    for (const run of this.runs) query.append('r', writeRun(run));
    for (const name of ['t0', 'tend', 'sens']) {
      const value = this.form.elements[name].value.trim();
      if (value) query.set(name, value);
    }
    for (const [key, value] of Object.entries(this.studyState)) query.set(key, value);
    const view = this.results.state();
    if (view) query.set('view', view);
    for (const [key, value] of Object.entries(this.parameters.values())) query.set(`set.${key}`, value);
    if (this.name === 'text') {
      query.set('file', this.source.name);
      query.set('text', await pack(this.source.text));
    }
    url.write('run', query);
  }

  run(add) {
    const run = this.read();
    if (add && this.runs.some((r) => writeRun(r) === writeRun(run))) {
      this.message.textContent = 'This run is already there: change the solver or a tolerance, then add it.';
      return Promise.resolve();
    }
    this.runs = add ? [...this.runs, run] : [run];
    return this.runAll(add ? this.runs.length - 1 : 0);
  }

  changed() {
    if (this.runs.length) this.runAll();
  }

  cancel() {
    this.working?.abort();
  }

  async runAll(from = 0) {
    this.cancel();
    const working = this.working = new AbortController();
    this.message.textContent = '';
    this.cancelButton.disabled = false;
    this.form.setAttribute('aria-busy', 'true');
    const slow = setTimeout(() => { this.progress.hidden = false; }, 300);
    this.save();
    try {
      const e = await engine();
      const kept = from ? this.results.runs.slice(0, from) : [];
      const now = await Promise.all(this.runs.slice(from).map(async (run) => {
        const request = this.request(run);
        const answer = await e.request(request, { csv: true, steps: true, h5: true, signal: working.signal, progress: (x) => this.progressed(x) });
        return { run, request, ...answer };
      }));
      if (working !== this.working || this.gone.signal.aborted) return;
      this.results.show([...kept, ...now], this.problem, e);
      const last = now[now.length - 1].json;
      if (last.status === 'ok' || last.status === 'event') this.tools.announce(`Done: ${last.steps} steps, ${short(last.mescd)} digits.`);
      else this.message.textContent = last.message ?? last.status;
    } catch (error) {
      if (working !== this.working) return;
      this.message.textContent = error.name === 'AbortError' ? 'Cancelled.' : error.message;
    } finally {
      clearTimeout(slow);
      if (working === this.working) {
        this.progress.hidden = true;
        this.progress.value = 0;
        this.cancelButton.disabled = true;
        this.form.removeAttribute('aria-busy');
      }
    }
  }

  progressed(x) {
    if (Number.isFinite(x.t1 ?? x.t_end) && Number.isFinite(x.t)) this.progress.value = x.t / (x.t1 ?? x.t_end);
  }

  async toEditor(event) {
    event.preventDefault();
    location.hash = url.link('write', { file: this.source.name, text: await pack(this.source.text) });
  }

  close() {
    this.gone.abort();
    this.cancel();
    this.workprec?.cancel();
    for (const study of this.studies ?? []) study.destroy();
    this.results.destroy();
  }
}

export function runPage(main, query, tools) {
  const page = new RunPage(main, query, tools);
  page.open();
  globalThis.daedalusPage = page; // for tests and measurements
  return () => page.close();
}
