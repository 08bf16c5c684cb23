// Watch: a mechanism in motion; parameters and pushes take part while it runs, plots follow.
import { model, models } from '../catalog.js';
import { debounce, download, field, h, loadScript, replace, select, short } from '../dom.js';
import { Live } from '../live.js';
import { parameterFields } from '../parameters.js';
import { color, isDark, Plot } from '../plot.js';
import { worthDrawing } from '../table.js';
import { unpack } from '../url.js';
import * as url from '../url.js';

const PUSH_EVERY = 80; // ms between runs while the pointer pushes

class WatchPage {
  constructor(main, query, tools) {
    Object.assign(this, { main, query, tools });
    this.clock = 0;
    this.speed = Number(query.get('speed')) || 1;
    this.playing = !matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.push = null;
  }

  async open() {
    const { query } = this;
    this.name = query.get('m') ?? (query.get('text') ? 'text' : 'four_bar');
    let source = null;
    if (query.get('text')) {
      try {
        source = { name: query.get('file') ?? 'model.json', text: await unpack(query.get('text')) };
      } catch {
        this.tools.announce('The text in the address could not be read.');
      }
    }
    const known = model(this.name) ?? models[0];
    source ??= { name: known.file, text: known.text };
    try {
      this.live = new Live(source);
    } catch (error) {
      replace(this.main, h('h1', {}, 'Watch'), h('p', { class: 'message', role: 'alert' }, `This is no mechanism: ${error.message}`));
      return;
    }
    this.draw(source);
    if (!globalThis.DaedalusViewer) await loadScript('viewer.js');
    if (this.gone) return;
    this.viewer = new globalThis.DaedalusViewer.Viewer(this.stage, { onPush: (push) => this.pushed(push), onPick: (body) => this.tools.announce(`${this.live.scene.bodies[body]}`) });
    this.viewer.setTheme(isDark());
    document.addEventListener('theme', this.themed = () => { this.viewer.setTheme(isDark()); this.drawPlot(); });
    await this.start();
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  draw(source) {
    this.parameters = parameterFields(null, source, {}, debounce(60, () => this.reset()));
    this.stage = h('div', { class: 'stage' });
    this.plot = new Plot({ caption: '' });
    this.slider = h('input', { type: 'range', min: '0', max: '1', step: 'any', value: '0', 'aria-label': 'Time', oninput: () => { this.setPlaying(false); this.seek(Number(this.slider.value)); } });
    this.time = h('output', { class: 'time' });
    this.playButton = h('button', { type: 'button', class: 'primary', onclick: () => this.setPlaying(!this.playing) });
    const speeds = select([['0.1', '× 0.1'], ['0.25', '× 0.25'], ['0.5', '× 0.5'], ['1', '× 1'], ['2', '× 2'], ['4', '× 4']], String(this.speed), { onchange: (e) => { this.speed = Number(e.target.value); this.save(); } });
    const chooser = h('select', { onchange: (e) => { location.hash = url.link('watch', { m: e.target.value }); } },
      models.map((m) => h('option', { value: m.name, selected: m.name === this.name }, `${m.name}: ${m.title}`)), this.name === 'text' ? h('option', { selected: true, value: 'text' }, source.name) : null);
    replace(this.main, h('h1', {}, 'Watch'),
      h('div', { class: 'split watch' },
        h('section', { 'aria-label': 'View' }, this.stage,
          h('div', { class: 'transport' }, this.playButton, this.slider, this.time),
          h('p', { class: 'hint' }, 'Drag a body to push it; drag elsewhere to turn, wheel to zoom, right button or two fingers to move. Space plays, arrows step.'),
          this.plot.element),
        h('section', { 'aria-label': 'Settings' }, field('Mechanism', chooser), field('Speed', speeds), this.parameters.element,
          this.signals = h('details', {}, h('summary', {}, 'Signals in the plot')),
          this.bodies = h('details', {}, h('summary', {}, 'Bodies')),
          h('div', { class: 'buttons' },
            h('button', { type: 'button', onclick: () => this.again() }, 'From the start'),
            h('button', { type: 'button', onclick: () => this.viewer?.home() }, 'Reset the view'),
            this.arrowButton('Forces', 'force'), this.arrowButton('Reactions', 'reaction'),
            this.projection = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => this.project() }, 'Orthographic'),
            h('button', { type: 'button', onclick: async () => download(`${this.live.scene.name}.png`, await this.viewer.picture()) }, 'Picture'),
            this.videoButton = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => this.video() }, 'Record a video')),
          this.message = h('p', { class: 'message', role: 'alert' }), this.facts = h('p', { class: 'hint' }))));
    this.setPlaying(this.playing);
    document.addEventListener('keydown', this.keys = (e) => this.key(e));
  }

  // Shows the arrows of a kind, or not.
  arrowButton(name, kind) {
    return h('button', { type: 'button', 'aria-pressed': 'false', onclick: (e) => {
      const on = e.target.getAttribute('aria-pressed') !== 'true';
      e.target.setAttribute('aria-pressed', String(on));
      this.viewer?.setArrows(kind, on);
    } }, name);
  }

  key(event) {
    if (event.target.closest('input, select, textarea, button, summary, a') && event.target !== this.slider) return;
    if (event.key === ' ') this.setPlaying(!this.playing);
    else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      this.setPlaying(false);
      this.seek(this.clock + (event.key === 'ArrowRight' ? 1 : -1) * this.live.span / 100);
    } else return;
    event.preventDefault();
  }

  setPlaying(playing) {
    this.playing = playing;
    this.playButton.textContent = playing ? 'Pause' : 'Play';
  }

  async start() {
    await this.attempt(() => this.live.run());
    if (!this.live.scene || this.gone) return;
    this.clock = this.live.scene.t[0];
    this.viewer.load(this.live.scene);
    this.chosen = new Set(this.firstSignals());
    this.fill();
    this.refresh();
  }

  // Sensors of the model first, then what varies.
  firstSignals() {
    const sensors = (this.live.model.sensors ?? []).map((s) => this.live.table.names.indexOf(s.name)).filter((k) => k > 0).slice(0, 3);
    return sensors.length ? sensors : worthDrawing(this.live.table, 3);
  }

  fill() {
    const { names } = this.live.table;
    replace(this.signals, h('summary', {}, 'Signals in the plot'), h('div', { class: 'checks', role: 'group', 'aria-label': 'Signals in the plot' }, names.slice(1, 80).map((name, i) =>
      h('label', {}, h('input', { type: 'checkbox', checked: this.chosen.has(i + 1), onchange: (e) => { if (e.target.checked) this.chosen.add(i + 1); else this.chosen.delete(i + 1); this.drawPlot(); } }), name))));
    replace(this.bodies, h('summary', {}, 'Bodies'), h('div', { class: 'checks', role: 'group', 'aria-label': 'Bodies shown' }, this.live.scene.bodies.map((name, i) =>
      h('label', {}, h('input', { type: 'checkbox', checked: true, onchange: (e) => this.viewer.setHidden(i, !e.target.checked) }), name))),
    field('Path of', select([['', 'none'], ...this.live.scene.bodies.map((name, i) => [String(i), name])], '', { onchange: (e) => { this.traced = e.target.value === '' ? NaN : Number(e.target.value); this.viewer.trace(this.traced); } })));
  }

  // One run at a time; what is asked meanwhile is done after it, once.
  async attempt(action) {
    try {
      await action();
      this.message.textContent = '';
    } catch (error) {
      if (error.name !== 'AbortError') this.message.textContent = error.message;
    }
  }

  async rerun(t, push) {
    if (!this.live.movable) t = null; // from the beginning, the clock goes on
    if (this.busy) {
      this.pending = [t, push];
      return;
    }
    this.busy = true;
    await this.attempt(() => this.live.run(t, push));
    this.busy = false;
    if (this.gone) return;
    this.viewer.load(this.live.scene, true);
    if (this.traced >= 0) this.viewer.trace(this.traced);
    this.refresh();
    if (this.pending) {
      const [, next] = this.pending;
      this.pending = null;
      this.rerun(this.clock, next);
    }
  }

  reset() {
    this.live.settings = this.parameters.values();
    this.rerun(this.clock, null);
  }

  again() {
    this.live.table = null;
    this.attempt(() => this.live.run()).then(() => {
      this.clock = this.live.scene.t[0];
      this.viewer.load(this.live.scene, true);
      this.refresh();
    });
  }

  pushed(push) {
    if (!this.live.movable) {
      this.message.textContent = 'This mechanism has controllers, motors, assemblies or drivers in space: it can be steered by its parameters, not pushed.';
      return;
    }
    this.push = push;
    if (!push) {
      this.rerun(this.clock, null);
      return;
    }
    const now = performance.now();
    if (now - (this.lastPush ?? 0) < PUSH_EVERY) return;
    this.lastPush = now;
    this.rerun(this.clock, push);
  }

  refresh() {
    this.slider.min = String(this.live.scene.t[0]);
    this.slider.max = String(this.live.end);
    const j = this.live.json;
    this.facts.textContent = `${j.solver}${j.formulation ? ` · ${j.formulation}` : ''} · ${j.steps} steps in ${short(j.cpu_seconds * 1000, 3)} ms · |g| ${short(j.constraint?.position, 2)} · imbalance of energy ${short(j.energy?.imbalance, 2)}`;
    if (this.live.stopped) this.message.textContent = this.live.stopped;
    this.drawPlot();
  }

  drawPlot() {
    if (!this.live?.table) return;
    const { names, units, columns } = this.live.table;
    this.plot.set({ caption: 'Signals', name: this.live.scene.name, xLabel: 't [s]', yLabel: '', height: 200,
      series: [...this.chosen].map((k, i) => ({ label: `${names[k]}${units[k] ? ` [${units[k]}]` : ''}`, x: columns[0], y: columns[k], color: color(i) })) });
    this.plot.setTime(this.clock);
  }

  seek(t) {
    const [low, high] = [this.live.scene.t[0], this.live.end];
    this.clock = Math.min(high, Math.max(low, t));
    this.viewer.show(this.clock);
    this.plot.setTime(this.clock);
    this.slider.value = String(this.clock);
    this.time.textContent = `${this.clock.toFixed(3)} s`;
  }

  tick(now) {
    if (this.gone) return;
    const passed = Math.min(0.1, (now - (this.last ?? now)) / 1000);
    this.last = now;
    if (this.playing && this.live.scene) {
      const began = performance.now();
      this.seek(this.clock + passed * this.speed);
      if (!this.live.stopped && this.live.movable && !this.busy && this.live.end - this.clock < 0.25 * this.live.span) this.goOn();
      if ((this.live.stopped || !this.live.movable) && this.clock >= this.live.end) this.seek(this.live.scene.t[0]);
      this.scriptMilliseconds = performance.now() - began;
    }
    this.frame = requestAnimationFrame((next) => this.tick(next));
  }

  // The next span, before the present one has been shown.
  async goOn() {
    this.busy = true;
    await this.attempt(() => this.live.run(this.live.end));
    this.busy = false;
    if (this.gone) return;
    this.viewer.load(this.live.scene, true);
    if (this.traced >= 0) this.viewer.trace(this.traced);
    this.refresh();
  }

  project() {
    const on = this.projection.getAttribute('aria-pressed') !== 'true';
    this.projection.setAttribute('aria-pressed', String(on));
    this.viewer.setProjection(on);
  }

  video() {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    const parts = [];
    this.recorder = new MediaRecorder(this.viewer.stream(), { mimeType: 'video/webm' });
    this.recorder.ondataavailable = (e) => parts.push(e.data);
    this.recorder.onstop = () => {
      this.recorder = null;
      this.videoButton.setAttribute('aria-pressed', 'false');
      this.videoButton.textContent = 'Record a video';
      download(`${this.live.scene.name}.webm`, new Blob(parts, { type: 'video/webm' }));
    };
    this.recorder.start();
    this.videoButton.setAttribute('aria-pressed', 'true');
    this.videoButton.textContent = 'Stop and save';
    this.setPlaying(true);
  }

  save() {
    const query = new URLSearchParams(this.query);
    query.set('speed', String(this.speed));
    url.write('watch', query);
  }

  close() {
    this.gone = true;
    cancelAnimationFrame(this.frame);
    document.removeEventListener('keydown', this.keys);
    document.removeEventListener('theme', this.themed);
    this.plot?.destroy();
    this.viewer?.destroy();
  }
}

export function watchPage(main, query, tools) {
  const page = new WatchPage(main, query, tools);
  page.open();
  globalThis.daedalusPage = page; // for tests and measurements
  return () => page.close();
}
