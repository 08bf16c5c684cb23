// A plot as an SVG file: for downloads, for curves in a plane, and for the pictures of the cards.
import { range } from './table.js';

const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

// About `count` round numbers between low and high.
export function ticks(low, high, count = 6) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count, size = 10 ** Math.floor(Math.log10(raw));
  const step = size * ([1, 2, 5, 10].find((f) => f * size >= raw) ?? 10), list = [];
  for (let x = Math.ceil(low / step) * step; x <= high + step * 1e-9; x += step) list.push(Math.abs(x) < step * 1e-9 ? 0 : Number(x.toPrecision(12)));
  return list;
}

function scale(values, log, from, to) {
  const good = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
  let [low, high] = range(good.length ? good : [0, 1]);
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
  const f = log ? Math.log10 : (x) => x;
  const a = f(low), b = f(high), pad = 0.03 * (b - a);
  const at = (x) => from + (to - from) * (f(x) - (a - pad)) / (b - a + 2 * pad);
  const marks = log ? ticks(Math.ceil(a), Math.floor(b), 8).filter(Number.isInteger).map((e) => 10 ** e) : ticks(low, high);
  return { at, marks };
}

const text = (x) => (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5) ? x.toExponential().replace('e+', 'e') : String(Number(x.toPrecision(6))));

// The same options as Plot.
export function plotSvg({ caption, xLabel = '', yLabel = '', series, marks = [], logX, logY, width = 800, height = 420, ink = '#1a1a1a', grid = '#d0d0d0', bare }) {
  const left = 78, right = width - 14, top = bare ? 10 : 34, bottom = height - 46 - (bare ? 0 : 20 * Math.ceil(series.length / 3));
  const x = scale(series.flatMap((s) => Array.from(s.x)), logX, left, right), y = scale(series.flatMap((s) => Array.from(s.y)), logY, bottom, top);
  const parts = [];
  for (const v of x.marks) {
    parts.push(`<path d="M${x.at(v).toFixed(1)} ${top}V${bottom}" stroke="${grid}"/>`,
      `<text x="${x.at(v).toFixed(1)}" y="${bottom + 16}" text-anchor="middle">${text(v)}</text>`);
  }
  for (const v of y.marks) {
    parts.push(`<path d="M${left} ${y.at(v).toFixed(1)}H${right}" stroke="${grid}"/>`,
      `<text x="${left - 6}" y="${(y.at(v) + 4).toFixed(1)}" text-anchor="end">${text(v)}</text>`);
  }
  for (const v of marks.filter((m) => !logX || m > 0)) parts.push(`<path class="mark" d="M${x.at(v).toFixed(1)} ${top}V${bottom}" stroke="${ink}" stroke-opacity="0.45" stroke-dasharray="2 4"/>`);
  series.forEach((s, i) => {
    let path = '', pen = 'M';
    const dots = [];
    for (let k = 0; k < s.x.length; k++) {
      const bad = !Number.isFinite(s.y[k]) || !Number.isFinite(s.x[k]) || (logY && !(s.y[k] > 0)) || (logX && !(s.x[k] > 0));
      if (bad) {
        pen = 'M';
        continue;
      }
      const px = x.at(s.x[k]).toFixed(1), py = y.at(s.y[k]).toFixed(1);
      path += `${pen}${px} ${py}`;
      pen = 'L';
      if (s.points) dots.push(`<circle cx="${px}" cy="${py}" r="3.5" fill="${s.color}"/>`);
    }
    const dashes = s.dash?.length ? ` stroke-dasharray="${s.dash.join(' ')}"` : '';
    if (!s.points || s.line) parts.push(`<path d="${path}" fill="none" stroke="${s.color}" stroke-width="1.6" stroke-linejoin="round"${dashes}/>`);
    parts.push(...dots);
    if (!bare) {
      const lx = left + (i % 3) * ((right - left) / 3), ly = bottom + 48 + 18 * Math.floor(i / 3);
      parts.push(`<path d="M${lx} ${ly - 4}h24" stroke="${s.color}" stroke-width="2.5"${dashes}/>`, `<text x="${lx + 30}" y="${ly}">${escape(s.label)}</text>`);
    }
  });
  const labels = `<text x="${(left + right) / 2}" y="${bottom + 34}" text-anchor="middle">${escape(xLabel)}</text>`
    + `<text transform="translate(14 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">${escape(yLabel)}</text>`;
  const title = bare ? '' : `<text x="${left}" y="20" font-weight="600">${escape(caption)}</text>`;
  const back = bare ? '' : '<rect width="100%" height="100%" fill="#ffffff"/>';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" fill="${ink}">${back}${title}${parts.join('')}<path d="M${left} ${top}V${bottom}H${right}" fill="none" stroke="${ink}"/>${labels}</svg>\n`;
}
