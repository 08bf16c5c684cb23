// What came out of one run or several: tables, plots of every kind, downloads, the same run elsewhere.
import { download, field, h, replace, select, short, table } from './dom.js';
import { cProgram, commandLine, pythonLine } from './request.js';
import { color, dash, Plot } from './plot.js';
import { parseSteps, parseTable, worthDrawing } from './table.js';

const MOST_CURVES = 8, MOST_MARKS = 60;
const LEAST_DRIFT = 1e-17; // below it is rounding, and 0 has no place on a logarithmic axis

const label = (r) => [r.json.solver ?? r.run.solver ?? 'auto', r.json.formulation, r.json.rtol ? `rtol ${short(r.json.rtol, 3)}` : null].filter(Boolean).join(' · ');

// Columns of --drift: drawn apart.
const isBalance = (name) => /^(energy|drift)\.\w+$/.test(name);

export class Results {
  // view: the part of the address that says what is drawn; changed: it is another now.
  constructor(tools, view = '', changed = () => {}) {
    this.tools = tools;
    this.view = view;
    this.changed = changed;
    this.runs = [];
    this.plots = {};
    this.element = h('div', { class: 'results' });
    this.redraw = () => this.runs.length && this.drawPlots();
    document.addEventListener('theme', this.redraw);
  }

  empty(run) {
    replace(this.element, h('div', { class: 'empty' }, h('p', {}, 'Nothing has been run yet.'), h('button', { type: 'button', onclick: run }, 'Run with the defaults')));
  }

  show(runs, problem, engine) {
    this.runs = runs;
    this.problem = problem;
    this.engine = engine;
    for (const r of runs) {
      r.table ??= r.csv ? parseTable(r.csv) : null;
      r.steps ??= parseSteps(r.log ?? '');
    }
    this.first = runs.find((r) => r.table) ?? null;
    if (!this.first) {
      this.destroyPlots();
      replace(this.element, this.summary(), this.elsewhere());
      return;
    }
    const names = this.first.table.names;
    if (!this.chosen || this.chosen.names !== names.join()) {
      this.chosen = { names: names.join(), curves: new Set(worthDrawing(this.first.table)), phase: [1, Math.min(2, names.length - 1)], ...this.restored(names.length) };
      this.view = '';
    }
    this.build();
    this.drawPlots();
  }

  // What is drawn, for the address: "curves 1.2 phase 1.3 logX logY open phase"; "" where it is what is drawn anyway.
  state() {
    if (!this.chosen) return this.view;
    const usual = [...worthDrawing(this.first.table)].join('.'), curves = [...this.chosen.curves].join('.'), parts = [];
    if (curves !== usual) parts.push(`c${curves}`);
    if (this.chosen.phase.join('.') !== `1.${Math.min(2, this.first.table.names.length - 1)}`) parts.push(`p${this.chosen.phase.join('.')}`);
    for (const [key, letter] of [['logX', 'x'], ['logY', 'y']]) if (this.chosen[key]) parts.push(letter);
    for (const name of this.chosen.open ?? []) parts.push(`o${name}`);
    return parts.join('_');
  }

  restored(count) {
    const found = {}, numbers = (text) => text.split('.').map(Number).filter((k) => Number.isInteger(k) && k >= 0 && k < count);
    for (const part of this.view.split('_')) {
      if (part[0] === 'c') found.curves = new Set(numbers(part.slice(1)).slice(0, MOST_CURVES));
      if (part[0] === 'p' && numbers(part.slice(1)).length === 2) found.phase = numbers(part.slice(1));
      if (part === 'x') found.logX = true;
      if (part === 'y') found.logY = true;
      if (part[0] === 'o') (found.open ??= new Set()).add(part.slice(1));
    }
    return found;
  }

  // A part that can be opened; which are open is in the address.
  part(name, title, ...content) {
    const element = h('details', { open: !!this.chosen.open?.has(name) }, h('summary', {}, title), content);
    element.addEventListener('toggle', () => {
      const open = this.chosen.open ??= new Set();
      if (open.has(name) === element.open) return;
      if (element.open) open.add(name);
      else open.delete(name);
      this.changed();
    });
    return element;
  }

  summary() {
    const rows = this.runs.map((r) => {
      const j = r.json;
      return [label(r), j.status ?? '–', short(j.scd, 3), short(j.mescd, 3), short(j.steps), short(j.accepted), short(j.rejected), short(j.f), short(j.jac), short(j.lu),
        j.cpu_seconds === undefined ? '–' : short(j.cpu_seconds, 3)];
    });
    const notes = this.runs.map((r) => r.json.reason).filter(Boolean);
    return h('div', {}, table('Run characteristics', ['run', 'status', 'scd', 'mescd', 'steps', 'accepted', 'rejected', 'f', 'Jac', 'LU', 'CPU s'], rows, { class: 'numbers' }),
      notes.length ? h('p', { class: 'hint' }, `Chosen because: ${[...new Set(notes)].join('; ')}`) : null,
      this.runs.filter((r) => r.json.message && !['ok', 'event'].includes(r.json.status)).map((r) => h('pre', { class: 'failure' }, r.json.message)));
  }

  endPoint() {
    const names = this.first.table.names.slice(1), units = this.first.table.units.slice(1);
    const rows = names.map((name, i) => [name, ...this.runs.map((r) => (r.table ? String(r.table.columns[i + 1]?.at(-1) ?? '') : '–')), units[i]]);
    return h('details', {}, h('summary', {}, `Solution at the end, t = ${short(this.first.json.t)}`),
      table('Solution at the end', ['component', ...this.runs.map(label), 'unit'], rows, { class: 'numbers' }));
  }

  drift() {
    const rows = this.runs.filter((r) => r.json.constraint || r.json.energy).map((r) => {
      const c = r.json.constraint ?? {}, e = r.json.energy ?? {};
      return [label(r), short(c.position, 3), short(c.velocity, 3), short(c.acceleration, 3), short(e.start), short(e.end), short(e.work, 4), short(e.imbalance, 3)];
    });
    if (!rows.length) return null;
    return table('Drift and energy: largest residuals of the constraints, balance of energy', ['run', '|g|', '|G v|', '|G a + …|', 'energy at start', 'at end', 'work', 'imbalance'], rows, { class: 'numbers' });
  }

  events() {
    const rows = this.runs.flatMap((r) => (r.json.events ?? []).slice(0, 200).map((e) => [label(r), e.name, String(e.t)]));
    return rows.length ? h('details', {}, h('summary', {}, `Events (${rows.length})`), table('Events', ['run', 'event', 't'], rows, { class: 'numbers' })) : null;
  }

  // dx/dp at the end, of the first run that has them.
  sensitivities() {
    const r = this.runs.find((x) => x.json.sensitivity), s = r?.json.sensitivity;
    if (!s) return null;
    const names = Object.keys(s), components = this.first.table.names.slice(1, 1 + (s[names[0]]?.length ?? 0));
    return this.part('sens', 'Derivatives of the solution', table(`Derivatives at the end, ${label(r)}`, ['component', ...names.map((name) => `d/d ${name}`)], components.map((c, i) => [c, ...names.map((name) => String(s[name][i]))]), { class: 'numbers' }));
  }

  downloads() {
    const name = this.runs[0].json.problem ?? 'run';
    const button = (text, action) => h('button', { type: 'button', class: 'small', onclick: action }, text);
    return h('div', { class: 'buttons', role: 'group', 'aria-label': 'Downloads' },
      button('Trajectory (CSV)', () => download(`${name}.csv`, this.first.csv, 'text/csv')),
      button('Results (JSON)', () => download(`${name}.json`, `${JSON.stringify(this.runs.length > 1 ? this.runs.map((r) => r.json) : this.runs[0].json, null, 1)}\n`, 'application/json')),
      this.engine?.served && this.first.id && this.engine.facts.hdf5 ? button('Trajectory (HDF5)', async () => {
        const answer = await this.engine.call('GET', `runs/${this.first.id}/result.h5`);
        download(`${name}.h5`, await answer.blob());
      }) : null);
  }

  elsewhere() {
    const request = this.runs[0].request;
    const block = (title, text) => h('div', {}, h('h3', {}, title), h('pre', { class: 'code', tabindex: '0' }, text),
      h('button', { type: 'button', class: 'small', 'aria-label': `Copy: ${title}`, onclick: async () => { await navigator.clipboard?.writeText(text); this.tools.announce('Copied.'); } }, 'Copy'));
    return h('details', { class: 'elsewhere' }, h('summary', {}, 'The same elsewhere: command line, Python, C'),
      this.runs.map((r) => block(this.runs.length > 1 ? `Command line, ${label(r)}` : 'Command line', commandLine(r.request))), block('Python', pythonLine(request)), block('C', cProgram(request)));
  }

  curves() {
    const { names } = this.first.table;
    const filter = h('input', { type: 'search' });
    const boxes = h('div', { class: 'checks', role: 'group', 'aria-label': 'Components drawn' });
    const fill = () => replace(boxes, names.map((name, i) => [name, i]).slice(1).filter(([name]) => !isBalance(name) && name.toLowerCase().includes(filter.value.toLowerCase())).slice(0, 60)
      .map(([name, k]) => h('label', {}, h('input', { type: 'checkbox', checked: this.chosen.curves.has(k), onchange: (e) => {
        if (e.target.checked && this.chosen.curves.size >= MOST_CURVES) this.chosen.curves.delete([...this.chosen.curves][0]);
        if (e.target.checked) this.chosen.curves.add(k);
        else this.chosen.curves.delete(k);
        fill();
        this.drawSolution();
        this.changed();
      } }), name)));
    filter.addEventListener('input', fill);
    fill();
    const logs = (key, text) => h('label', {}, h('input', { type: 'checkbox', checked: !!this.chosen[key], onchange: (e) => { this.chosen[key] = e.target.checked; this.drawSolution(); this.changed(); } }), text);
    const few = names.filter((name) => !isBalance(name)).length <= 12;
    return h('details', { open: few }, h('summary', {}, 'Components'), !few ? field('Find a component', filter) : null, boxes,
      h('div', { class: 'checks' }, logs('logX', 'logarithmic time'), logs('logY', 'logarithmic values')));
  }

  phaseChoice() {
    const options = this.first.table.names.map((name, k) => [String(k), name]);
    const choose = (i, text) => {
      const control = select(options, String(this.chosen.phase[i]));
      control.addEventListener('change', () => { this.chosen.phase[i] = Number(control.value); this.drawPhase(); this.changed(); });
      return field(text, control);
    };
    return h('div', { class: 'two' }, choose(0, 'Across'), choose(1, 'Up'));
  }

  build() {
    this.destroyPlots();
    this.plots = Object.fromEntries(['solution', 'phase', 'steps', 'order', 'energy', 'drift'].map((name) => [name, new Plot({ caption: '' })]));
    const phase = this.part('phase', 'Phase plot', this.phaseChoice(), this.plots.phase.element);
    const steps = this.part('steps', 'Step sizes and orders', this.plots.steps.element, this.plots.order.element);
    const balance = this.first.table.names.some(isBalance) ? this.part('balance', 'Energy and drift over time', this.plots.energy.element, this.plots.drift.element) : null;
    replace(this.element, this.summary(), this.downloads(), this.plots.solution.element, this.curves(), this.endPoint(), this.drift(), balance, this.events(), this.sensitivities(), phase, steps, this.elsewhere());
  }

  drawPlots() {
    if (!this.first) return;
    this.drawSolution();
    this.drawPhase();
    this.drawSteps();
    this.drawBalance();
  }

  // Energies, and how far the constraints are missed, of every run.
  drawBalance() {
    const several = this.runs.length > 1;
    for (const [kind, options] of [['energy', { caption: 'Energy', yLabel: 'J' }], ['drift', { caption: 'Drift: largest residuals of the constraints', yLabel: '', logY: true }]]) {
      const series = this.runs.flatMap((r, i) => (r.table?.names ?? []).map((name, k) => [name, k]).filter(([name]) => name.startsWith(`${kind}.`)).map(([name, k], c) => ({
        label: `${name.slice(kind.length + 1)}${several ? ` (${label(r)})` : ''}`, x: r.table.columns[0], y: kind === 'drift' ? r.table.columns[k].map((v) => Math.max(v, LEAST_DRIFT)) : r.table.columns[k], color: color(c), dash: dash(i) })));
      this.plots[kind].element.hidden = !series.length;
      this.plots[kind].set({ ...options, name: `${this.name()}-${kind}`, xLabel: 't', series });
    }
  }

  name() {
    return this.first.json.problem ?? 'run';
  }

  drawSolution() {
    const several = this.runs.length > 1, series = [], { names, units } = this.first.table;
    this.runs.forEach((r, i) => {
      if (!r.table) return;
      for (const k of this.chosen.curves) {
        if (!r.table.columns[k]) continue;
        series.push({ label: several ? `${names[k]} (${label(r)})` : names[k], x: r.table.columns[0], y: r.table.columns[k], color: color([...this.chosen.curves].indexOf(k)), dash: dash(i) });
      }
    });
    const unit = [...new Set([...this.chosen.curves].map((k) => units[k]))];
    this.plots.solution.set({ caption: `Solution of ${this.name()}`, name: `${this.name()}-solution`, xLabel: units[0] ? `t [${units[0]}]` : 't', yLabel: unit.length === 1 && unit[0] ? `[${unit[0]}]` : '', series, logX: this.chosen.logX, logY: this.chosen.logY, height: 320,
      marks: [...new Set(this.runs.flatMap((r) => (r.json.events ?? []).map((e) => e.t)))].slice(0, MOST_MARKS) });
  }

  drawPhase() {
    const [a, b] = this.chosen.phase, { names, units } = this.first.table, unit = (k) => `${names[k]}${units[k] ? ` [${units[k]}]` : ''}`;
    const series = this.runs.filter((r) => r.table).map((r, i) => ({ label: label(r), x: r.table.columns[a], y: r.table.columns[b], color: color(i), dash: dash(i) }));
    this.plots.phase.set({ caption: `${names[b]} over ${names[a]}`, name: `${this.name()}-phase`, xLabel: unit(a), yLabel: unit(b), series, xy: true, height: 340 });
  }

  drawSteps() {
    const line = (key) => this.runs.filter((r) => r.steps.t.length).map((r, i) => ({ label: label(r), x: r.steps.t, y: r.steps[key], color: color(i), dash: dash(i) }));
    this.plots.steps.set({ caption: 'Size of the steps', name: `${this.name()}-steps`, xLabel: 't', yLabel: 'h', series: line('h'), logY: true });
    const orders = line('order').filter((s) => s.y.some((v) => v !== null));
    this.plots.order.element.hidden = !orders.length;
    this.plots.order.set({ caption: 'Order of the method', name: `${this.name()}-order`, xLabel: 't', yLabel: 'order', series: orders, height: 160 });
  }

  destroyPlots() {
    for (const plot of Object.values(this.plots)) plot.destroy();
    this.plots = {};
  }

  destroy() {
    document.removeEventListener('theme', this.redraw);
    this.destroyPlots();
  }
}
