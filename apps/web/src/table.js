// Tables of numbers as the program writes them: names, a line of units, numbers.

export function parseTable(text) {
  const lines = text.split('\n');
  const names = lines[0].split(',');
  const columns = names.map(() => []);
  let units = names.map(() => '');
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i];
    if (!line) continue;
    if (line[0] === '#') {
      const cells = line.replace(/^#\s*(units:)?\s*/, '').split(',');
      if (cells.length === names.length) units = cells;
      continue;
    }
    const cells = line.split(',');
    for (let k = 0; k < names.length; k++) columns[k].push(cells[k] === '' ? NaN : Number(cells[k].replace(/\[.*\]$/, ''))); // a sweep's values may have units
  }
  return { names, units, columns };
}

export function writeTable({ names, units, columns }) {
  const lines = [names.join(','), `# units: ${units.join(',')}`];
  for (let i = 0; i < columns[0].length; i++) lines.push(columns.map((c) => String(c[i])).join(','));
  return `${lines.join('\n')}\n`;
}

// Smallest and largest finite value.
export function range(values) {
  let low = Infinity, high = -Infinity;
  for (const x of values) {
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return [low, high];
}

// What is worth drawing first: columns that vary, at most `most` of them, not orders of magnitude apart.
export function worthDrawing(table, most = 4) {
  const found = [];
  for (let k = 1; k < table.names.length; k++) {
    if (/^(energy|drift)\.|^d.*\/d/.test(table.names[k])) continue; // beside the solution
    const [low, high] = range(table.columns[k]);
    if (high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high)) && high > low) found.push({ k, size: high - low });
  }
  if (!found.length) return table.names.length > 1 ? [1] : [];
  const unit = table.units[found[0].k];
  const alike = found.filter((c) => table.units[c.k] === unit && c.size > 0.02 * found[0].size && c.size < 50 * found[0].size);
  return alike.slice(0, most).map((c) => c.k);
}

// The values of all columns at time t, between two rows on the straight line.
export function rowAt(table, t) {
  const time = table.columns[0];
  let low = 0, high = time.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle] <= t) low = middle;
    else high = middle;
  }
  const width = time[high] - time[low];
  const s = width > 0 ? Math.min(1, Math.max(0, (t - time[low]) / width)) : 0;
  return table.columns.map((c) => c[low] + s * (c[high] - c[low]));
}

// The accepted steps from the lines of --log step: { t, h, order }.
export function parseSteps(text) {
  const t = [], h = [], order = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('step ') || line.includes('outcome=rejected')) continue;
    const found = {};
    for (const [, key, value] of line.matchAll(/(\w+)=(\S+)/g)) found[key] = Number(value);
    if (!Number.isFinite(found.t) || !Number.isFinite(found.h)) continue;
    if (t.length && found.t <= t[t.length - 1]) continue;
    t.push(found.t);
    h.push(Math.abs(found.h));
    order.push(found.order ?? null);
  }
  return { t, h, order };
}
