// The plot of signals under the view: one panel per unit, a cursor at the time, a press or drag seeks.
import { locate } from './poses.js';

const INK = ['#2f6fb5', '#c0641c', '#2c8a5b', '#a3418a', '#7d7216', '#6c54b8'], DASH = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

const span = (values) => {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (v !== null) low = Math.min(low, v), high = Math.max(high, v);
  return [low, high];
};

const largest = (signal) => Math.max(...span(signal.value).map(Math.abs));
export const range = (signal) => { const [low, high] = span(signal.value); return high - low; };

// Its change, of the largest value of its unit.
export const share = (signal, all) => range(signal) / Math.max(...all.filter((s) => s.unit === signal.unit).map(largest));

// A signal that only shows rounding: its change is nothing, 1e-9 of the largest value of its unit, or too few units of the last of the six digits
// that the scene has of it.
export const isNoise = (signal, all) => !(share(signal, all) > 1e-9 && range(signal) > 2e-4 * largest(signal));

const step = (range, count) => {
  const rough = range / count, power = 10 ** Math.floor(Math.log10(rough)), m = rough / power;
  return (m > 5 ? 10 : m > 2 ? 5 : m > 1 ? 2 : 1) * power;
};

// m/s^2 as it is written.
const written = (unit) => unit.replace(/\^(-?[0-9])/g, (_, n) => [...n].map((c) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)]).join(''));

// Numbers that are `by` apart, with so many digits that they differ.
function short(x, by) {
  if (Math.abs(x) < 1e-9 * by) return '0';
  const digits = Math.min(15, Math.max(1, Math.ceil(Math.log10(Math.abs(x) / by) + 1e-9) + 1));
  return Math.abs(x) >= 1e6 || Math.abs(x) < 1e-3 ? x.toExponential(Math.max(1, digits - 1)) : String(Number(x.toPrecision(Math.max(4, digits))));
}

export class SignalPlot {
  constructor(scene, onSeek) {
    this.t = scene.t_signal ?? scene.t;
    this.signals = scene.signals ?? [];
    this.chosen = [];
    this.canvas = document.createElement('canvas');
    this.canvas.className = 'plot';
    this.canvas.setAttribute('role', 'img');
    const seek = (e) => {
      const box = this.canvas.getBoundingClientRect(), s = (e.clientX - box.left - this.left) / (this.width - this.left - 12);
      onSeek(this.t[0] + Math.min(1, Math.max(0, s)) * (this.t[this.t.length - 1] - this.t[0]));
    };
    this.canvas.addEventListener('pointerdown', (e) => { this.canvas.setPointerCapture(e.pointerId); seek(e); });
    this.canvas.addEventListener('pointermove', (e) => e.buttons && seek(e));
    this.left = 64;
  }

  choose(list) {
    this.chosen = list;
    this.canvas.setAttribute('aria-label', `Plot of ${list.map((k) => this.signals[k].name).join(', ')} against time`);
    this.paint();
  }

  panels() {
    const units = [...new Set(this.chosen.map((k) => this.signals[k].unit))];
    return units.map((unit) => ({ unit, list: this.chosen.filter((k) => this.signals[k].unit === unit) }));
  }

  // The curves, into a picture of their own: the cursor moves over it.
  paint() {
    const panels = this.panels(), ratio = Math.min(2, devicePixelRatio);
    this.width = Math.max(200, this.canvas.clientWidth || 600);
    this.canvas.style.height = `${Math.max(60, 118 * panels.length)}px`;
    this.height = Math.max(60, 118 * panels.length);
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    this.layer = document.createElement('canvas');
    this.layer.width = this.canvas.width;
    this.layer.height = this.canvas.height;
    const pen = this.layer.getContext('2d'), style = getComputedStyle(this.canvas);
    this.ratio = ratio;
    this.ink = style.color;
    pen.scale(ratio, ratio);
    pen.font = '11px system-ui, sans-serif';
    this.spans = panels.map((p, i) => this.panel(pen, p, 118 * i, i === panels.length - 1));
    this.cursor(this.time ?? this.t[0]);
  }

  panel(pen, { unit, list }, top, last) {
    const right = this.width - 12, bottom = top + (last ? 96 : 104), upper = top + 20, t0 = this.t[0], t1 = this.t[this.t.length - 1];
    let [low, high] = span(list.flatMap((k) => span(this.signals[k].value)));
    if (!(high > low)) low -= 1, high += 1;
    const room = 0.06 * (high - low), x = (t) => this.left + (t - t0) / (t1 - t0 || 1) * (right - this.left), y = (v) => bottom - (v - low + room) / (high - low + 2 * room) * (bottom - upper);
    pen.strokeStyle = pen.fillStyle = this.ink;
    pen.lineWidth = 1;
    pen.setLineDash([]);
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    const rough = step(high - low, 4), dx = step(t1 - t0 || 1, 8);
    const dy = Math.floor(high / rough) > Math.ceil(low / rough) ? rough : step(high - low, 6); // one number tells no scale
    for (let v = Math.ceil(low / dy) * dy; v <= high; v += dy) {
      pen.globalAlpha = 0.18;
      pen.beginPath(), pen.moveTo(this.left, y(v)), pen.lineTo(right, y(v)), pen.stroke();
      pen.globalAlpha = 0.85;
      pen.fillText(short(v, dy), this.left - 6, y(v));
    }
    pen.textAlign = 'center';
    for (let v = Math.ceil(t0 / dx) * dx; v <= t1 + 1e-9 * dx; v += dx) {
      pen.globalAlpha = 0.18;
      pen.beginPath(), pen.moveTo(x(v), upper), pen.lineTo(x(v), bottom), pen.stroke();
      pen.globalAlpha = 0.85;
      const text = `${short(v, dx)}${v + dx > t1 ? ' s' : ''}`;
      if (last) pen.fillText(text, Math.min(x(v), this.width - pen.measureText(text).width / 2 - 1), bottom + 12); // whole, at the right end too
    }
    pen.textAlign = 'left';
    let at = this.left;
    list.forEach((k, i) => {
      const { name, value } = this.signals[k];
      pen.globalAlpha = 1;
      pen.strokeStyle = INK[i % INK.length];
      pen.fillStyle = this.ink;
      pen.lineWidth = 1.8;
      pen.setLineDash(DASH[Math.floor(i / 1) % DASH.length]);
      pen.beginPath(), pen.moveTo(at, top + 10), pen.lineTo(at + 22, top + 10), pen.stroke();
      const text = `${name}${unit ? ` [${written(unit)}]` : ''}`;
      pen.fillText(text, at + 27, top + 10);
      at += 45 + pen.measureText(text).width;
      pen.beginPath();
      let begun = false;
      for (let j = 0; j < value.length; j++) {
        if (value[j] === null) begun = false;
        else if (begun) pen.lineTo(x(this.t[j]), y(value[j]));
        else pen.moveTo(x(this.t[j]), y(value[j])), begun = true;
      }
      pen.stroke();
    });
    pen.setLineDash([]);
    return [upper, bottom];
  }

  cursor(t) {
    this.time = t;
    if (!this.layer) return;
    const pen = this.canvas.getContext('2d'), t0 = this.t[0], t1 = this.t[this.t.length - 1];
    const x = (this.left + (t - t0) / (t1 - t0 || 1) * (this.width - 12 - this.left)) * this.ratio;
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.layer, 0, 0);
    pen.strokeStyle = '#e5484d';
    pen.lineWidth = 1.5 * this.ratio;
    for (const [upper, bottom] of this.spans) pen.beginPath(), pen.moveTo(x, (upper - 3) * this.ratio), pen.lineTo(x, (bottom + 3) * this.ratio), pen.stroke();
  }

  // The values at a time, in words.
  reading(t) {
    const [k, s] = locate(this.t, t);
    return this.chosen.map((i) => {
      const { name, unit, value } = this.signals[i], a = value[k], b = value[k + 1] ?? a;
      return a === null ? `${name}: –` : `${name} = ${Number((a + s * (b - a)).toPrecision(5))}${unit ? ` ${written(unit)}` : ''}`;
    });
  }
}
