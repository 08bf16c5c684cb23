// Studies beside single runs: a sweep over a parameter, a comparison of the ways to integrate a mechanism, a report. They are
// commands of the program: in the page the module does them, on a server the API.
import { download, field, h, replace, select, short, table } from './dom.js';
import { engine } from './engine/index.js';
import { commandLine } from './request.js';
import { color, dash, Plot } from './plot.js';
import { parseTable } from './table.js';

const KEPT = ['solver', 'formulation', 'rtol', 'atol', 'h0', 'tend', 'set']; // options of a run that a sweep takes too

// What all have: buttons, progress, cancel, a message, the command line.
class Study {
  constructor(page, title, hint, ...controls) {
    this.page = page;
    this.plots = [];
    this.element = h('details', { class: 'study' }, h('summary', {}, title), h('p', { class: 'hint' }, hint), controls,
      h('div', { class: 'buttons' }, this.startButton = h('button', { type: 'button', onclick: () => this.start() }, this.verb()),
        this.stopButton = h('button', { type: 'button', disabled: true, 'aria-label': `Stop: ${title}`, onclick: () => this.cancel() }, 'Stop')),
      this.progress = h('progress', { max: 1, value: 0, 'aria-label': `Progress: ${title}`, hidden: true }),
      this.state = h('p', { class: 'hint', role: 'status' }), this.answer = h('div'));
  }

  cancel() {
    this.working?.abort();
  }

  async start() {
    this.cancel();
    const working = this.working = new AbortController(), request = this.request();
    this.stopButton.disabled = false;
    this.progress.hidden = false;
    this.progress.removeAttribute('value');
    this.state.textContent = commandLine(request);
    try {
      const e = await engine(), result = await e.request(request, { ...this.wants(e), signal: working.signal, progress: (x) => this.progressed(x) });
      if (working !== this.working) return;
      if (result.json?.message && result.json.status !== undefined && typeof result.json.status === 'string') throw new Error(result.json.message);
      this.show(result, e, request);
      this.state.textContent = commandLine(request);
    } catch (error) {
      if (working === this.working) this.state.textContent = error.name === 'AbortError' ? 'Stopped.' : error.message;
    } finally {
      if (working === this.working) {
        this.stopButton.disabled = true;
        this.progress.hidden = true;
      }
    }
  }

  progressed({ done, of, at }) {
    if (!(of > 0)) return;
    this.progress.value = done / of;
    this.state.textContent = `${done} of ${of} runs${at ? `, ${at}` : ''}`;
  }

  base(command, options) {
    const run = this.page.request(this.page.read());
    return { ...run, command, options: { ...Object.fromEntries(Object.entries(run.options).filter(([key]) => KEPT.includes(key))), ...options } };
  }

  wants() {
    return { csv: true };
  }

  downloads(result, e, name) {
    return h('div', { class: 'buttons', role: 'group', 'aria-label': `Downloads: ${name}` },
      result.csv ? h('button', { type: 'button', class: 'small', onclick: () => download(`${name}.csv`, result.csv, 'text/csv') }, 'Table (CSV)') : null,
      h('button', { type: 'button', class: 'small', onclick: () => download(`${name}.json`, `${JSON.stringify(result.json, null, 1)}\n`, 'application/json') }, 'Result (JSON)'),
      e.served && e.facts.hdf5 && result.id ? h('button', { type: 'button', class: 'small', onclick: async () => download(`${name}.h5`, await (await e.call('GET', `runs/${result.id}/result.h5`)).blob()) }, 'Table (HDF5)') : null);
  }

  redraw() {
    for (const plot of this.plots) plot.draw();
  }

  destroy() {
    this.cancel();
    for (const plot of this.plots) plot.destroy();
  }
}

export class Sweep extends Study {
  constructor(page, parameters, query) {
    const list = parameters.filter((q) => Number.isFinite(q.value) && !q.choices);
    const [name, from, to, count, log] = (query ?? '').split('~'), first = list.find((q) => q.name === name) ?? list[0];
    const number = (value) => h('input', { type: 'text', inputmode: 'decimal', value, autocomplete: 'off' });
    const parameter = select(list.map((q) => [q.name, `${q.name}${q.unit ? ` [${q.unit}]` : ''}`]), first?.name);
    const fields = { parameter, from: number(from ?? ''), to: number(to ?? ''), count: number(count || '21'), log: h('input', { type: 'checkbox', checked: log === '1' }) };
    super(page, 'Sweep over a parameter', 'The run of above for many values of a parameter: how the end depends on it.',
      h('div', { class: 'two' }, field('Parameter', parameter), field('Number of values', fields.count)),
      h('div', { class: 'two' }, field('First value', fields.from), field('Last value', fields.to)),
      h('label', {}, fields.log, 'equal ratios'));
    Object.assign(this, { list, fields });
    this.element.hidden = !list.length;
    this.element.open = !!query;
    const suggest = () => {
      const q = list.find((x) => x.name === parameter.value);
      fields.from.value = short(Math.max(q.min ?? -Infinity, q.value ? 0.5 * q.value : -1), 4);
      fields.to.value = short(Math.min(q.max ?? Infinity, q.value ? 1.5 * q.value : 1), 4);
    };
    if (first && !query) suggest();
    parameter.addEventListener('change', suggest);
    if (query && list.length) this.start();
  }

  verb() {
    return 'Start the sweep';
  }

  wants(e) {
    return { csv: true, h5: e.served && e.facts.hdf5 };
  }

  request() {
    const { parameter, from, to, count, log } = this.fields, q = this.list.find((x) => x.name === parameter.value);
    this.page.saveStudy('sweep', [q.name, from.value, to.value, count.value, log.checked ? '1' : ''].join('~'));
    const request = this.base('sweep', { vary: [`${q.name}=${q.text?.includes('[') ? this.values(q.unit) : `${from.value.trim()}:${to.value.trim()}:${count.value.trim()}${log.checked ? ':log' : ''}`}`] });
    if (request.options.set) delete (request.options.set = { ...request.options.set })[q.name];
    return request;
  }

  // A parameter that has a unit in the text: each value with it.
  values(unit) {
    const { from, to, count, log } = this.fields, [a, b, n] = [from, to, count].map((x) => Number(x.value));
    if (!(n >= 1 && n <= 200) || !Number.isFinite(a) || !Number.isFinite(b)) return `${from.value}:${to.value}:${count.value}`; // the program says what is wrong
    return Array.from({ length: n }, (_, i) => (n === 1 ? a : log.checked ? a * (b / a) ** (i / (n - 1)) : a + (b - a) * i / (n - 1))).map((x) => `${Number(x.toPrecision(7))}[${unit}]`).join();
  }

  show(result, e, request) {
    const t = parseTable(result.csv ?? ''), name = this.fields.parameter.value, over = t.names.indexOf(name), from = t.names.indexOf('t');
    const ends = t.names.map((n, k) => [n, k]).filter(([n, k]) => k > from && from >= 0 && !n.includes('@') && !/^(steps|accepted|f|jac|lu|cpu_seconds|scd|mescd)$/.test(n));
    const failed = Object.entries(result.json?.status ?? {}).filter(([word]) => !['ok', 'event'].includes(word)).map(([word, n]) => `${n} ${word}`);
    const chosen = new Set(ends.slice(0, 3).map(([, k]) => k)), plot = this.plot ??= new Plot({ caption: '' });
    this.plots = [plot];
    const draw = () => plot.set({ caption: `The end over ${name}`, name: `sweep-${name}`, xLabel: name, yLabel: '', logX: this.fields.log.checked, height: 300,
      series: [...chosen].map((k, i) => ({ label: t.names[k], x: t.columns[over], y: t.columns[k], color: color(i), dash: dash(i), points: t.columns[over].length <= 60, line: true })) });
    const columns = Object.entries(result.json?.columns ?? {}).map(([n, c]) => [n, short(c.mean), short(c.sd, 3), short(c.min), short(c.median), short(c.max)]);
    replace(this.answer, h('p', {}, `${result.json?.runs ?? 0} runs${failed.length ? `, of which ${failed.join(', ')}` : ', all ended well'}.`), plot.element,
      h('div', { class: 'checks', role: 'group', 'aria-label': 'Components of the sweep' }, ends.slice(0, 60).map(([n, k]) => h('label', {}, h('input', { type: 'checkbox', checked: chosen.has(k), onchange: (event) => {
        if (event.target.checked) chosen.add(k);
        else chosen.delete(k);
        draw();
      } }), n))),
      this.downloads(result, e, 'sweep'), h('details', {}, h('summary', {}, 'Statistics'), table('Statistics of the sweep', ['column', 'mean', 'deviation', 'least', 'median', 'largest'], columns, { class: 'numbers' })));
    draw();
    this.result = { ...result, request };
  }
}

// How much of what varies at the end each parameter makes (sweep --saltelli).
export class Indices extends Study {
  constructor(page, parameters) {
    const list = parameters.filter((q) => Number.isFinite(q.value) && q.value !== 0 && !q.choices && !q.integer && !q.text?.includes('['));
    const input = (value) => h('input', { type: 'text', inputmode: 'decimal', value, autocomplete: 'off' });
    const chosen = new Set(list.slice(0, 3).map((q) => q.name)), fields = { points: input('64'), percent: input('10') };
    super(page, 'Which parameters matter', 'Runs with the parameters varied together: how much of the variance of the end each of them makes, alone and with the others. At most 8.',
      h('div', { class: 'checks', role: 'group', 'aria-label': 'Parameters that vary' }, list.slice(0, 60).map((q) => h('label', {}, h('input', { type: 'checkbox', checked: chosen.has(q.name), onchange: (event) => chosen[event.target.checked ? 'add' : 'delete'](q.name) }), q.name))),
      h('div', { class: 'two' }, field('Variation in percent', fields.percent), field('Points', fields.points)));
    Object.assign(this, { list, fields, chosen });
    this.element.hidden = !list.length;
  }

  verb() {
    return 'Find what matters';
  }

  request() {
    const part = Number(this.fields.percent.value) / 100, points = this.fields.points.value.trim();
    const ends = (q) => [q.value * (1 - part), q.value * (1 + part)].sort((a, b) => a - b).map((x, i) => Number((i ? Math.min(x, q.max ?? Infinity) : Math.max(x, q.min ?? -Infinity)).toPrecision(12)));
    const request = this.base('sweep', { saltelli: this.list.filter((q) => this.chosen.has(q.name)).map((q) => `${q.name}=${ends(q).join(':')}:${points}`) });
    if (request.options.set) request.options.set = Object.fromEntries(Object.entries(request.options.set).filter(([name]) => !this.chosen.has(name)));
    return request;
  }

  show(result, e, request) {
    const rows = Object.entries(result.json?.indices ?? {}).flatMap(([quantity, by]) => Object.entries(by).map(([name, x]) => [`${quantity} by ${name}`, short(x.first, 3), short(x.total, 3), short(x.local, 3)]));
    replace(this.answer, h('p', {}, `${result.json?.runs ?? 0} runs. First: the part of the variance that the parameter makes alone; total: with all that it does together with others; local: what the derivatives in the middle say.`),
      table('Parts of the variance', ['component by parameter', 'first', 'total', 'local'], rows, { class: 'numbers' }), this.downloads(result, e, 'indices'));
    this.result = { ...result, request };
  }
}

export class Compare extends Study {
  constructor(page, mechanical) {
    super(page, mechanical ? 'Compare the ways to integrate it' : 'Compare solvers', mechanical ? 'Formulations and methods for mechanisms: cost, drift from the constraints, energy, digits.' : 'All solvers that take it, at these tolerances: cost and digits.');
  }

  verb() {
    return 'Start the comparison';
  }

  wants(e) {
    return { csv: true, h5: e.served && e.facts.hdf5 };
  }

  request() {
    const { formulation, solver, h0, ...options } = this.base('compare', {}).options;
    return { ...this.base('compare', {}), options: { ...options, repeat: 1, 'max-seconds': 5 } };
  }

  show(result, e) {
    const rows = result.json.map((r) => [r.solver, r.status, short(r.cpu_seconds, 3), r.steps, r.f, r.jac, r.lu, short(r.position_residual, 2), short(r.velocity_residual, 2), short(r.energy_error, 2), short(r.scd, 3), short(r.mescd, 3)]);
    replace(this.answer, table('Comparison', ['solver', 'status', 'CPU s', 'steps', 'f', 'Jac', 'LU', '|g|', '|G v|', 'energy', 'scd', 'mescd'], rows, { class: 'numbers' }), this.downloads(result, e, 'comparison'));
    this.result = result;
  }
}

// A page with everything: only where gnuplot and processes are, on a server.
export class Report extends Study {
  constructor(page) {
    super(page, 'Report', 'A page of its own with the description, the solution, the run characteristics and a work-precision diagram, to keep or to send.');
    this.element.hidden = true;
    engine().then((e) => { this.element.hidden = !(e.served && e.facts.reports); });
  }

  verb() {
    return 'Make the report';
  }

  wants() {
    return {};
  }

  request() {
    const { problem, name, text } = this.base('report', {});
    return { command: 'report', ...(text === undefined ? { problem } : { name, text }), options: { range: '::1', repeat: 1, budget: 2 } };
  }

  show(result, e) {
    const address = `runs/${result.id}/result.html`, name = result.json[0]?.name ?? 'report';
    replace(this.answer, h('div', { class: 'buttons' },
      e.token ? null : h('a', { class: 'button', href: `api/v1/${address}`, target: '_blank', rel: 'noopener' }, 'Open the report'),
      h('button', { type: 'button', onclick: async () => download(`${name}.html`, await (await e.call('GET', address)).blob()) }, 'Save the report')));
    this.result = result;
  }
}
