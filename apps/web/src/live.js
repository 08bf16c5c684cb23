// A mechanism that goes on while one watches: runs over a span of time, each from where the last one stood; a changed
// parameter or a push begins a new run at the present moment.
import { engine } from './engine/index.js';
import { parseTable, rowAt } from './table.js';

const FRAMES_PER_SECOND = 60, FEWEST = 120, MOST = 1500;
const STIFFNESS = 60; // of a push, 1/s²: a body follows the pointer within about half a second
const MOST_ROWS = 6000; // of the past that is kept

const PLANAR = [['r', ['x', 'y']], ['angle', 'angle'], ['v', ['vx', 'vy']], ['omega', 'omega']];
const SPATIAL = [['r', ['x', 'y', 'z']], ['q', ['q.w', 'q.x', 'q.y', 'q.z']], ['v', ['vx', 'vy', 'vz']], ['omega', ['omega.x', 'omega.y', 'omega.z']]];

export class Live {
  constructor(source) {
    this.source = source;
    this.model = JSON.parse(source.text);
    this.planar = this.model.dimension === 2;
    this.span = Number(this.model.simulation?.t1 ?? 1) - Number(this.model.simulation?.t0 ?? 0) || 1;
    // In space joint coordinates count from the described pose: a text with the bodies elsewhere is another mechanism
    // where forces or drivers use them. Such a one is run from its beginning only.
    const m = this.model, jointed = (m.drivers ?? []).length || (m.forces ?? []).some((f) => f.joint) || (m.joints ?? []).some((j) => j.friction || j.type === 'gear');
    // Nor can bodies that the text does not name be put elsewhere, or states of controllers and motors.
    const hidden = m.assemblies || m.include || (m.blocks ?? []).length || (m.forces ?? []).some((f) => f.type === 'motor') || (m.bodies ?? []).some((b) => b.repeat);
    this.movable = !hidden && (this.planar || !jointed);
    this.settings = {};
    this.table = null;
    this.scene = null;
  }

  get end() {
    return this.table.columns[0].at(-1);
  }

  // The text with its bodies where they are at time t, and with a push.
  textAt(t, push) {
    const model = structuredClone(this.model);
    if (t !== null) {
      const row = rowAt(this.table, t), at = new Map(this.table.names.map((name, k) => [name, row[k]]));
      for (const body of model.bodies) {
        delete body.fix;
        for (const [key, names] of this.planar ? PLANAR : SPATIAL) {
          const values = [names].flat().map((name) => at.get(`${body.name}.${name}`));
          if (values.every(Number.isFinite)) body[key] = Array.isArray(names) ? values : values[0];
        }
      }
      model.simulation = { ...model.simulation, t0: t, t1: t + this.span };
    }
    if (push) this.addPush(model, push);
    return JSON.stringify(model);
  }

  addPush(model, push) {
    const body = model.bodies[push.body], n = this.planar ? 2 : 3, mass = Number(body.mass) > 0 ? Number(body.mass) : 1;
    const speeds = ['vx', 'vy', 'vz'];
    const value = Array.from({ length: n }, (_, i) => `${(STIFFNESS * mass * (push.target[i] - push.from[i])).toPrecision(9)} - ${(2 * Math.sqrt(STIFFNESS) * mass).toPrecision(9)}*${body.name}.${speeds[i]}`);
    (model.points ??= []).push({ name: 'pushed_here', body: body.name, r: push.inside.slice(0, n) });
    (model.forces ??= []).push({ name: 'push_of_the_pointer', type: 'force', b: 'pushed_here', value });
  }

  // Runs from time t (null: from the beginning) and puts the answer behind what happened before.
  async run(t = null, push = null, signal = undefined) {
    const e = await engine();
    const points = Math.min(MOST, Math.max(FEWEST, Math.round(this.span * FRAMES_PER_SECOND)));
    const request = { command: 'run', name: this.source.name, text: this.textAt(t, push), options: { set: this.settings, points } };
    const answer = await e.request(request, { csv: true, scene: true, signal });
    if (!answer.csv || !answer.scene) throw new Error(answer.json.message ?? 'the run gave nothing to show');
    this.json = answer.json;
    this.join(parseTable(answer.csv), JSON.parse(answer.scene), t);
    if (!['ok', 'event'].includes(answer.json.status)) this.stopped = answer.json.message;
    else this.stopped = answer.json.status === 'event' && answer.json.t < (t ?? 0) + 0.99 * this.span ? 'an event of the model ended the run' : null;
  }

  join(table, scene, t) {
    if (t === null || !this.table) {
      this.table = table;
      this.scene = scene;
      return;
    }
    const keep = (times) => {
      const found = times.findIndex((x) => x >= t - 1e-12);
      const to = found < 0 ? times.length : found;
      return [Math.max(0, to - MOST_ROWS), to];
    };
    const [a, b] = keep(this.table.columns[0]), [c, d] = keep(this.scene.t);
    this.table = { ...table, columns: table.names.map((name) => {
      const old = this.table.names.indexOf(name), now = table.columns[table.names.indexOf(name)];
      return old < 0 ? [...Array(b - a).fill(NaN), ...now] : [...this.table.columns[old].slice(a, b), ...now];
    }) };
    const before = this.scene, [e, f] = keep(before.t_signal ?? []);
    const joined = (list, old) => (list ?? []).map((x) => {
      if (x.columns) return x; // its values are those of signals
      const past = (old ?? []).find((o) => o.name === x.name && o.kind === x.kind)?.value.slice(e, f) ?? Array(f - e).fill(null);
      return { ...x, value: [...past, ...x.value] };
    });
    this.scene = { ...scene, t: [...before.t.slice(c, d), ...scene.t], frames: [...before.frames.slice(c, d), ...scene.frames],
      t_signal: [...(before.t_signal ?? []).slice(e, f), ...(scene.t_signal ?? [])], signals: joined(scene.signals, before.signals), arrows: joined(scene.arrows, before.arrows) };
  }
}
