// What came out of one run or several: tables, plots of every kind, downloads, the same run elsewhere.
import { download, field, h, replace, select, short, table } from './dom.js';
import { cProgram, commandLine, pythonLine } from './request.js';
import { color, dash, Plot } from './plot.js';
import { parseSteps, parseTable, worthDrawing } from './table.js';

const MOST_CURVES = 8;

const label = (r) => [r.json.solver ?? r.run.solver ?? 'auto', r.json.formulation, r.json.rtol ? `rtol ${short(r.json.rtol, 3)}` : null].filter(Boolean).join(' · ');

export class Results {
  constructor(tools) {
    this.tools = tools;
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
      this.chosen = { names: names.join(), curves: new Set(worthDrawing(this.first.table)), phase: [1, Math.min(2, names.length - 1)] };
    }
    this.build();
    this.drawPlots();
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
    const fill = () => replace(boxes, names.slice(1).map((name, i) => [name, i + 1]).filter(([name]) => name.toLowerCase().includes(filter.value.toLowerCase())).slice(0, 60)
      .map(([name, k]) => h('label', {}, h('input', { type: 'checkbox', checked: this.chosen.curves.has(k), onchange: (e) => {
        if (e.target.checked && this.chosen.curves.size >= MOST_CURVES) this.chosen.curves.delete([...this.chosen.curves][0]);
        if (e.target.checked) this.chosen.curves.add(k);
        else this.chosen.curves.delete(k);
        fill();
        this.drawSolution();
      } }), name)));
    filter.addEventListener('input', fill);
    fill();
    const logs = (key, text) => h('label', {}, h('input', { type: 'checkbox', checked: !!this.chosen[key], onchange: (e) => { this.chosen[key] = e.target.checked; this.drawSolution(); } }), text);
    return h('details', { open: names.length <= 12 }, h('summary', {}, 'Components'), names.length > 12 ? field('Find a component', filter) : null, boxes,
      h('div', { class: 'checks' }, logs('logX', 'logarithmic time'), logs('logY', 'logarithmic values')));
  }

  phaseChoice() {
    const options = this.first.table.names.map((name, k) => [String(k), name]);
    const choose = (i, text) => {
      const control = select(options, String(this.chosen.phase[i]));
      control.addEventListener('change', () => { this.chosen.phase[i] = Number(control.value); this.drawPhase(); });
      return field(text, control);
    };
    return h('div', { class: 'two' }, choose(0, 'Across'), choose(1, 'Up'));
  }

  build() {
    this.destroyPlots();
    this.plots = { solution: new Plot({ caption: '' }), phase: new Plot({ caption: '' }), steps: new Plot({ caption: '' }), order: new Plot({ caption: '' }) };
    const phase = h('details', {}, h('summary', {}, 'Phase plot'), this.phaseChoice(), this.plots.phase.element);
    const steps = h('details', {}, h('summary', {}, 'Step sizes and orders'), this.plots.steps.element, this.plots.order.element);
    replace(this.element, this.summary(), this.downloads(), this.plots.solution.element, this.curves(), this.endPoint(), this.drift(), this.events(), phase, steps, this.elsewhere());
  }

  drawPlots() {
    if (!this.first) return;
    this.drawSolution();
    this.drawPhase();
    this.drawSteps();
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
    this.plots.solution.set({ caption: `Solution of ${this.name()}`, name: `${this.name()}-solution`, xLabel: units[0] ? `t [${units[0]}]` : 't', yLabel: unit.length === 1 && unit[0] ? `[${unit[0]}]` : '', series, logX: this.chosen.logX, logY: this.chosen.logY, height: 320 });
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
