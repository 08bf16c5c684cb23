// Plots: uPlot on a canvas with a caption, a legend of its own, the numbers as a table on demand, and downloads.
import uPlot from 'uplot';
import { download, h, replace, short, table } from './dom.js';
import { plotSvg } from './plot_svg.js';

// Okabe and Ito's colours (distinguishable with every kind of colour vision), darker or lighter by theme.
const LIGHT = ['#0062a8', '#b34700', '#00755a', '#a3307c', '#6a5d00', '#7a3fbf', '#555555', '#c0143c'];
const DARK = ['#6cb8f5', '#ff9d5c', '#4fd1a5', '#ef8ecb', '#e6d65c', '#c3a3ff', '#c8c8c8', '#ff8a9b'];
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4]];
const MOST_POINTS = 3000;

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

export function color(i) {
  const list = isDark() ? DARK : LIGHT;
  return list[i % list.length];
}

export function dash(i) {
  return DASHES[i % DASHES.length];
}

// At most about `most` points, the smallest and the largest of each bin, so that peaks stay.
export function thin(x, y, most = MOST_POINTS) {
  const n = x.length;
  if (n <= most) return [x, y];
  const bins = most >> 1, xs = [], ys = [];
  for (let b = 0; b < bins; b++) {
    const from = Math.floor(b * n / bins), to = Math.max(from + 1, Math.floor((b + 1) * n / bins));
    let low = from, high = from;
    for (let i = from; i < to; i++) {
      if (y[i] < y[low]) low = i;
      if (y[i] > y[high]) high = i;
    }
    for (const i of low < high ? [low, high] : low > high ? [high, low] : [low]) {
      if (xs.length && x[i] <= xs[xs.length - 1]) continue;
      xs.push(x[i]);
      ys.push(y[i]);
    }
  }
  return [xs, ys];
}

function positive(values) {
  return values.map((v) => (v > 0 ? v : null));
}

// uPlot wants one abscissa for all series: joined where they differ.
function align(series, logX, logY) {
  const tables = series.map((s) => {
    let [x, y] = s.scatter ? [s.x, s.y] : thin(s.x, s.y);
    if (logX) {
      const keep = x.map((v) => v > 0);
      x = x.filter((_, i) => keep[i]);
      y = y.filter((_, i) => keep[i]);
    }
    return [Float64Array.from(x), logY ? positive(Array.from(y)) : Array.from(y)];
  });
  if (!tables.length) return [[], []];
  return uPlot.join(tables, tables.map(() => [1]));
}

export class Plot {
  // options: { caption, name, xLabel, yLabel, logX, logY, series: [{ label, x, y, color, dash, points }], height, onTime,
  // marks: values of x with a line up }
  constructor(options) {
    this.canvas = h('div', { class: 'plot-canvas' });
    this.legend = h('ul', { class: 'legend' });
    this.data = h('details', { class: 'plot-data' }, h('summary', {}, 'Numbers'), this.numbers = h('div'));
    this.data.addEventListener('toggle', () => this.data.open && this.fillTable());
    this.caption = h('figcaption', {});
    this.element = h('figure', { class: 'plot' }, this.caption, this.canvas, this.legend,
      h('div', { class: 'buttons' },
        h('button', { type: 'button', class: 'small', onclick: () => this.saveSvg() }, 'SVG'),
        h('button', { type: 'button', class: 'small', onclick: () => this.savePng() }, 'PNG'),
        h('button', { type: 'button', class: 'small', onclick: () => this.saveCsv() }, 'CSV')), this.data);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.canvas);
    this.set(options);
  }

  set(options) {
    this.options = { height: 260, name: 'plot', series: [], ...options };
    this.caption.textContent = this.options.caption;
    for (const button of this.element.querySelectorAll('button')) button.setAttribute('aria-label', `${button.textContent} of: ${this.options.caption}`);
    replace(this.legend, this.options.series.map((s) => h('li', {}, sample(s), s.label)));
    this.draw();
    if (this.data.open) this.fillTable();
  }

  draw() {
    this.chart?.destroy();
    this.chart = null;
    const { series, logX, logY, xLabel, yLabel, height, xy } = this.options;
    const width = this.canvas.clientWidth;
    if (!width || !series.length) return;
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue('--ink').trim(), grid = style.getPropertyValue('--line').trim();
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid }, font: '12px system-ui', labelFont: '12px system-ui', labelSize: 18 };
    const options = {
      width, height,
      legend: { show: false },
      cursor: { sync: this.options.sync ? { key: this.options.sync } : undefined, drag: { x: true, y: false } },
      scales: { x: { time: false, distr: logX ? 3 : 1 }, y: { distr: logY ? 3 : 1 } },
      axes: [{ ...axis, label: xLabel, values: (u, ticks) => ticks.map((v) => (v === null ? '' : short(v, 6))) }, { ...axis, label: yLabel, size: 64, values: (u, ticks) => ticks.map((v) => (v === null ? '' : short(v, 4))) }],
      series: [{}, ...series.map((s) => ({
        label: s.label, stroke: s.color, width: s.points ? 0 : 1.6, dash: s.dash, spanGaps: !s.points,
        points: { show: !!s.points, size: 7, fill: s.color, stroke: s.color }, paths: s.points && !s.line ? () => null : undefined,
      }))],
      hooks: { draw: [(u) => this.drawMarks(u, ink)], setCursor: [(u) => this.options.onTime?.(u.cursor.left >= 0 ? u.posToVal(u.cursor.left, 'x') : null)] },
    };
    if (xy) {
      // A curve in a plane: x is not sorted, so it is drawn against its parameter.
      this.drawPlane(width, ink, grid);
      return;
    }
    this.chart = new uPlot(options, align(series, logX, logY), this.canvas);
    this.chart.root.setAttribute('role', 'img');
    this.chart.root.setAttribute('aria-label', `${this.options.caption}: ${series.map((s) => s.label).join(', ')}`);
  }

  drawMarks(u, ink) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = ink;
    ctx.globalAlpha = 0.45;
    ctx.setLineDash([2, 4]);
    for (const x of this.options.marks ?? []) {
      const at = Math.round(u.valToPos(x, 'x', true)) + 0.5;
      if (!(at >= bbox.left && at <= bbox.left + bbox.width)) continue;
      ctx.beginPath();
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  drawPlane(width) {
    const picture = plotSvg({ ...this.options, width, ink: getComputedStyle(document.documentElement).getPropertyValue('--ink').trim(),
      grid: getComputedStyle(document.documentElement).getPropertyValue('--line').trim(), bare: true });
    const holder = new DOMParser().parseFromString(picture, 'image/svg+xml').documentElement;
    holder.setAttribute('role', 'img');
    holder.setAttribute('aria-label', this.options.caption);
    const root = h('div', {}, holder);
    this.canvas.replaceChildren(root);
    this.chart = { destroy: () => root.remove(), setSize: () => {} };
  }

  resize() {
    if (!this.chart || this.options.xy) this.draw();
    else if (Math.abs(this.chart.width - this.canvas.clientWidth) > 1) this.chart.setSize({ width: this.canvas.clientWidth, height: this.options.height });
  }

  // A line at time t, for the viewer's clock.
  setTime(t) {
    if (!this.chart?.valToPos) return;
    const left = this.chart.valToPos(t, 'x');
    this.chart.setCursor({ left, top: 10 }, false);
  }

  fillTable() {
    const rows = [];
    for (const s of this.options.series) {
      const every = Math.max(1, Math.ceil(s.x.length / 100));
      for (let i = 0; i < s.x.length; i += every) rows.push([s.label, String(s.x[i]), String(s.y[i])]);
    }
    replace(this.numbers, table(`${this.options.caption} (at most 100 points of each curve)`, ['curve', this.options.xLabel ?? 'x', this.options.yLabel ?? 'y'], rows));
  }

  saveSvg() {
    download(`${this.options.name}.svg`, plotSvg(this.options), 'image/svg+xml');
  }

  saveCsv() {
    const lines = ['curve,x,y'];
    for (const s of this.options.series) {
      for (let i = 0; i < s.x.length; i++) lines.push(`"${s.label.replaceAll('"', '""')}",${s.x[i]},${s.y[i]}`);
    }
    download(`${this.options.name}.csv`, `${lines.join('\n')}\n`, 'text/csv');
  }

  savePng() {
    const image = new Image();
    const url = URL.createObjectURL(new Blob([plotSvg({ ...this.options, width: 800, height: 500 })], { type: 'image/svg+xml' }));
    image.onload = () => {
      URL.revokeObjectURL(url);
      const canvas = h('canvas', { width: 1600, height: 1000 });
      canvas.getContext('2d').drawImage(image, 0, 0, 1600, 1000);
      canvas.toBlob((blob) => download(`${this.options.name}.png`, blob));
    };
    image.src = url;
  }

  destroy() {
    this.observer.disconnect();
    this.chart?.destroy();
  }
}

function sample(s) {
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  line.setAttribute('width', '28');
  line.setAttribute('height', '10');
  line.setAttribute('aria-hidden', 'true');
  const stroke = document.createElementNS('http://www.w3.org/2000/svg', 'line');
  for (const [key, value] of Object.entries({ x1: 1, x2: 27, y1: 5, y2: 5, stroke: s.color, 'stroke-width': 2.5, 'stroke-dasharray': (s.dash ?? []).join(' ') })) stroke.setAttribute(key, value);
  line.append(stroke);
  return line;
}
