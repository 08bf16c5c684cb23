// The page around a view: play, time line with events, speed, traces, arrows, bodies to hide, signals, picture and video. It reads
// its scene from the element with the id "model" and builds itself into the element with the id "viewer".
import { Viewer } from './viewer.js';
import { isNoise, range, share, SignalPlot } from './signals.js';

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const KEYS = 'Space plays; ← and → step, with Shift by ten; Home and End go to the ends; + and − change the speed; 1, 2, 3 look from the front, the side, '
  + 'the top; R resets the view; O orthographic; C follows the mechanism; G grid; T traces; F forces; J reactions; D dark. Drag turns, wheel or pinch zooms, right button or two fingers move.';

function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, '');
    else if (value !== false && value !== null) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((c) => c !== null));
  return node;
}

function save(name, blob) {
  const a = h('a', { download: name, href: URL.createObjectURL(blob) });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

export class Player {
  constructor(root, scene) {
    this.root = root;
    this.scene = scene;
    this.t0 = scene.t[0];
    this.t1 = scene.t[scene.t.length - 1];
    this.clock = this.t0;
    this.speed = this.firstSpeed();
    this.dark = matchMedia('(prefers-color-scheme: dark)').matches;
    this.build();
    this.viewer = new Viewer(this.stage);
    this.viewer.load(scene);
    this.on.c = this.viewer.follow;
    this.follow.setAttribute('aria-pressed', String(this.on.c));
    this.setDark(this.dark);
    this.plot?.choose(this.chosen);
    new ResizeObserver(() => this.plot?.paint()).observe(this.root);
    this.seek(this.t0);
    this.setPlaying(this.t1 > this.t0 && !matchMedia('(prefers-reduced-motion: reduce)').matches);
    root.addEventListener('keydown', (e) => this.key(e));
    document.addEventListener('keydown', (e) => e.target === document.body && this.key(e));
    requestAnimationFrame((now) => this.tick(now));
    document.body.dataset.ready = String(scene.t.length);
  }

  // Real time, unless all of it were over in less than 3 s or took more than 30.
  firstSpeed() {
    const length = this.t1 - this.t0;
    if (length >= 3 && length <= 30) return 1;
    return SPEEDS.reduce((best, s) => (Math.abs(Math.log(length / s / 8)) < Math.abs(Math.log(length / best / 8)) ? s : best), 1);
  }

  toggle(name, key, on, action) {
    const button = h('button', { type: 'button', 'aria-pressed': String(on), title: `${name} (${key})`, onclick: () => set(!this.on[key]) }, name);
    const set = (value) => {
      this.on[key] = value;
      button.setAttribute('aria-pressed', String(value));
      action(value);
    };
    (this.on ??= {})[key] = on;
    (this.set ??= {})[key] = () => set(!this.on[key]);
    return button;
  }

  build() {
    const { scene } = this, button = (name, title, onclick) => h('button', { type: 'button', title, onclick }, name);
    this.stage = h('div', { class: 'stage' });
    this.playButton = h('button', { type: 'button', class: 'primary', onclick: () => this.setPlaying(!this.playing) });
    this.slider = h('input', { type: 'range', min: this.t0, max: this.t1, step: 'any', value: this.t0, 'aria-label': 'Time', oninput: () => { this.setPlaying(false); this.seek(Number(this.slider.value)); } });
    this.time = h('output', { class: 'time' });
    this.speeds = h('select', { 'aria-label': 'Speed', onchange: () => { this.speed = Number(this.speeds.value); } }, SPEEDS.map((s) => h('option', { value: s, selected: s === this.speed }, `× ${s}`)));
    const marks = h('div', { class: 'marks' }, this.eventGroups().map((group) => {
      const [e] = group, words = `${group.slice(0, 4).map((g) => g.name).join(', ')}${group.length > 4 ? ` and ${group.length - 4} more` : ''} at ${e.t} s`;
      const mark = button('', words, () => { this.setPlaying(false); this.seek(e.t); });
      mark.setAttribute('aria-label', `Go to ${words}`);
      mark.style.left = `${100 * (e.t - this.t0) / (this.t1 - this.t0 || 1)}%`;
      return mark;
    }));
    this.video = button('Video', 'Record one pass as a WebM video', () => this.record());
    const kinds = new Set((scene.arrows ?? []).map((a) => a.kind));
    const tools = h('div', { class: 'tools', role: 'toolbar', 'aria-label': 'View' },
      button('Reset view', 'Reset the view (R)', () => this.viewer.home()),
      this.toggle('Orthographic', 'o', false, (on) => this.viewer.setProjection(on)),
      this.follow = this.toggle('Follow', 'c', false, (on) => this.viewer.setFollow(on)),
      this.toggle('Grid', 'g', true, (on) => this.viewer.setGrid(on)),
      kinds.has('force') ? this.toggle('Forces', 'f', false, (on) => this.viewer.setArrows('force', on)) : null,
      kinds.has('reaction') ? this.toggle('Reactions', 'j', false, (on) => this.viewer.setArrows('reaction', on)) : null,
      this.toggle('Dark', 'd', this.dark, (on) => this.setDark(on)),
      button('Picture', 'Save a PNG picture', async () => save(`${scene.name}.png`, await this.viewer.picture())), this.video);
    const bodies = h('details', { open: scene.bodies.length <= 12 }, h('summary', {}, `Bodies (${scene.bodies.length})`), h('div', { class: 'checks', role: 'group', 'aria-label': 'Bodies shown' },
      scene.bodies.map((name, i) => h('label', {}, h('input', { type: 'checkbox', checked: true, onchange: (e) => this.viewer.setHidden(i, !e.target.checked) }), name))),
    h('label', { class: 'field' }, 'Path of ', this.tracer = h('select', { onchange: () => this.viewer.trace(this.tracer.value === '' ? NaN : Number(this.tracer.value)) },
      h('option', { value: '' }, 'none'), scene.bodies.map((name, i) => h('option', { value: i }, name)))));
    this.root.append(
      h('div', { class: 'head' }, h('h1', {}, scene.name), tools),
      h('div', { class: 'panes' }, h('div', { class: 'main' }, this.stage,
        h('div', { class: 'transport' }, this.playButton, h('div', { class: 'line' }, this.slider, marks), this.time, this.speeds)),
      h('div', { class: 'side' }, bodies, this.signalList(), h('details', {}, h('summary', {}, 'Keys and pointer'), h('p', {}, KEYS)))));
  }

  // Events that would lie on each other on the time line are one mark.
  eventGroups() {
    const near = 0.012 * (this.t1 - this.t0), groups = [];
    for (const e of this.scene.events ?? []) {
      const last = groups[groups.length - 1];
      if (last && e.t - last[0].t < near) last.push(e);
      else groups.push([e]);
    }
    return groups;
  }

  // Sensors of the model are drawn first; else the reaction that changes most, if any changes beside what there is of its unit.
  signalList() {
    const signals = this.scene.signals ?? [];
    if (!signals.length) return null;
    const moving = signals.map((s, i) => [s, i]).filter(([s]) => !isNoise(s, signals)), sensors = moving.filter(([s]) => s.kind === 'sensor');
    const most = moving.filter(([s]) => share(s, signals) > 1e-3).sort(([a], [b]) => range(b) - range(a));
    this.chosen = (sensors.length ? sensors.slice(0, 3) : most.slice(0, 1)).map(([, i]) => i);
    this.plot = new SignalPlot(this.scene, (t) => { this.setPlaying(false); this.seek(t); });
    this.readings = h('p', { class: 'readings' });
    const boxes = signals.map((s, i) => h('label', {}, h('input', { type: 'checkbox', checked: this.chosen.includes(i), onchange: (e) => this.pick(i, e.target.checked) }), s.name));
    this.stage.after(this.plot.canvas, this.readings);
    return h('details', { open: signals.length <= 12 }, h('summary', {}, `Signals (${signals.length})`), h('div', { class: 'checks', role: 'group', 'aria-label': 'Signals in the plot' }, boxes));
  }

  pick(i, on) {
    this.chosen = on ? [...this.chosen, i] : this.chosen.filter((k) => k !== i);
    this.plot.choose(this.chosen);
    this.seek(this.clock);
  }

  setDark(dark) {
    this.dark = dark;
    this.root.dataset.theme = dark ? 'dark' : 'light';
    this.viewer?.setTheme(dark);
    this.plot?.paint();
  }

  setPlaying(playing) {
    this.playing = playing;
    if (playing && this.clock >= this.t1) this.clock = this.t0;
    this.playButton.textContent = playing ? 'Pause' : 'Play';
  }

  seek(t) {
    this.clock = Math.min(this.t1, Math.max(this.t0, t));
    this.viewer.show(this.clock);
    this.slider.value = String(this.clock);
    this.time.textContent = `${this.clock.toFixed(this.t1 - this.t0 < 1 ? 4 : 3)} s`;
    if (!this.plot) return;
    this.plot.cursor(this.clock);
    this.readings.textContent = this.plot.reading(this.clock).join('   ');
  }

  tick(now) {
    const passed = Math.min(0.1, (now - (this.last ?? now)) / 1000);
    this.last = now;
    if (this.playing) {
      const t = this.clock + passed * this.speed;
      this.seek(t > this.t1 && !this.recorder ? this.t0 : t);
      if (this.recorder && this.clock >= this.t1) this.recorder.stop();
    }
    requestAnimationFrame((next) => this.tick(next));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inside = event.target.closest?.('select, textarea, button, summary, a, input'), key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (inside && inside !== this.slider && (event.key === ' ' || event.key.startsWith('Arrow') || inside.matches('select'))) return;
    const by = (this.t1 - this.t0) / 200 * (event.shiftKey ? 10 : 1), go = (t) => { this.setPlaying(false); this.seek(t); };
    const faster = (d) => {
      this.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(this.speed) + d))];
      this.speeds.value = String(this.speed);
    };
    const actions = {
      ' ': () => this.setPlaying(!this.playing), ArrowRight: () => go(this.clock + by), ArrowLeft: () => go(this.clock - by), Home: () => go(this.t0), End: () => go(this.t1),
      '+': () => faster(1), '-': () => faster(-1), r: () => this.viewer.home(), 1: () => this.viewer.home('front'), 2: () => this.viewer.home('side'), 3: () => this.viewer.home('top'),
      t: () => { this.tracer.value = this.tracer.value === '' ? '0' : ''; this.tracer.dispatchEvent(new Event('change')); },
    };
    const action = actions[key] ?? this.set[key];
    if (!action) return;
    action();
    event.preventDefault();
  }

  // One pass from the start as a video; a second press ends it.
  record() {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    const parts = [];
    this.recorder = new MediaRecorder(this.viewer.stream(), { mimeType: 'video/webm' });
    this.recorder.ondataavailable = (e) => parts.push(e.data);
    this.recorder.onstop = () => {
      this.recorder = null;
      this.video.textContent = 'Video';
      this.setPlaying(false);
      save(`${this.scene.name}.webm`, new Blob(parts, { type: 'video/webm' }));
    };
    this.recorder.start();
    this.video.textContent = 'Stop video';
    this.seek(this.t0);
    this.setPlaying(true);
  }
}

globalThis.daedalusPlayer = new Player(document.getElementById('viewer'), JSON.parse(document.getElementById('model').textContent));
