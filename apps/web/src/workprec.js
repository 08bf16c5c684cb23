// A work-precision study: solvers over a ladder of tolerances, the points drawn as they come.
import { solvers, takes } from './catalog.js';
import { download, h, replace, short, table } from './dom.js';
import { engine } from './engine/index.js';
import { color, dash, Plot } from './plot.js';

const LADDER = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10];
const FIRST = ['radau5', 'dop853', 'dopri5', 'dassl', 'lsoda', 'phem56', 'mexx'];
const SECONDS = 10; // the most that one run may take

export class WorkPrecision {
  constructor(request, problem, tools) {
    this.request = request;
    this.problem = problem;
    this.tools = tools;
    this.points = [];
    const able = problem ? solvers.filter((s) => takes(s, problem)) : [];
    const first = FIRST.filter((name) => able.some((s) => s.name === name)).slice(0, problem?.stiff ? 1 : 3);
    if (problem?.stiff) first.push(...['radau', 'dassl', 'mebdfdae', 'bimd'].filter((name) => able.some((s) => s.name === name)).slice(0, 2));
    this.boxes = able.map((s) => h('input', { type: 'checkbox', value: s.name, checked: first.includes(s.name) }));
    this.plot = new Plot({ caption: '' });
    this.plot.element.hidden = true;
    this.table = h('div');
    this.element = h('details', { class: 'workprec', hidden: !problem?.reference_digits }, h('summary', {}, 'Work-precision study'),
      h('p', { class: 'hint' }, 'Every chosen solver at relative tolerances 1e-3 … 1e-10: digits reached against time used.'),
      h('div', { class: 'checks', role: 'group', 'aria-label': 'Solvers of the study' }, this.boxes.map((box) => h('label', {}, box, box.value))),
      h('div', { class: 'buttons' }, h('button', { type: 'button', onclick: () => this.start() }, 'Start the study'),
        this.stop = h('button', { type: 'button', disabled: true, onclick: () => this.cancel() }, 'Stop')),
      this.state = h('p', { class: 'hint', role: 'status' }), this.plot.element, this.table);
  }

  cancel() {
    this.working?.abort();
  }

  async start() {
    this.cancel();
    const working = this.working = new AbortController();
    this.points = [];
    this.stop.disabled = false;
    const chosen = this.boxes.filter((box) => box.checked).map((box) => box.value);
    const base = this.request(), e = await engine(), total = chosen.length * LADDER.length;
    let done = 0;
    await Promise.all(chosen.flatMap((solver) => LADDER.map(async (rtol) => {
      const request = { ...base, options: { ...base.options, solver, rtol, atol: '', 'max-seconds': SECONDS } };
      try {
        const { json } = await e.request(request, { signal: working.signal });
        if (working !== this.working) return;
        done++;
        if (json.status === 'ok' && Number.isFinite(json.mescd)) this.points.push({ solver, rtol, ...json, rtol });
        this.state.textContent = `${done} of ${total} runs`;
        this.draw();
      } catch (error) {
        if (error.name !== 'AbortError') this.state.textContent = error.message;
      }
    })));
    if (working === this.working) this.stop.disabled = true;
  }

  draw() {
    const names = [...new Set(this.points.map((p) => p.solver))];
    const series = names.map((name, i) => {
      const list = this.points.filter((p) => p.solver === name).sort((a, b) => a.mescd - b.mescd);
      return { label: name, x: list.map((p) => p.mescd), y: list.map((p) => Math.max(p.cpu_seconds, 1e-5)), color: color(i), dash: dash(i), points: true, line: true };
    });
    this.plot.element.hidden = false;
    this.plot.set({ caption: `Work and precision of ${this.problem?.name ?? 'the model'}`, name: 'work-precision', xLabel: 'mescd, digits', yLabel: 'CPU s', logY: true, series, xy: true, height: 340 });
    const rows = [...this.points].sort((a, b) => a.solver.localeCompare(b.solver) || b.rtol - a.rtol)
      .map((p) => [p.solver, short(p.rtol), short(p.scd, 3), short(p.mescd, 3), p.steps, p.f, p.jac, p.lu, short(p.cpu_seconds, 3)]);
    replace(this.table, table('Work-precision study', ['solver', 'rtol', 'scd', 'mescd', 'steps', 'f', 'Jac', 'LU', 'CPU s'], rows, { class: 'numbers' }),
      h('button', { type: 'button', class: 'small', onclick: () => download('work-precision.csv', `solver,rtol,scd,mescd,steps,f,jac,lu,cpu_seconds\n${rows.map((r) => r.join(',')).join('\n')}\n`, 'text/csv') }, 'Table (CSV)'));
  }
}
