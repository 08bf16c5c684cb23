// Fields and sliders for the parameters of a problem (with units and ranges) or of a mechanism's text.
import { field, h, short } from './dom.js';

// Parameters of a mechanism as its text has them: { name: "150[mm]" } or numbers.
export function textParameters(source) {
  if (!source) return [];
  try {
    const model = JSON.parse(source.text);
    return Object.entries(model.parameters ?? {}).map(([name, value]) => {
      const [, number, unit] = /^\s*([-+\d.eE]+)\s*(?:\[([^\]]*)\])?\s*$/.exec(String(value)) ?? [];
      return { name, value: number === undefined ? NaN : Number(number), text: String(value), unit: unit ?? '', min: null, max: null };
    });
  } catch {
    return (source.text.match(/^\s*param\s+.*$/gm) ?? []).flatMap((line) => line.replace(/#.*/, '').replace(/^\s*param\s+/, '').split(/[,;]/))
      .map((part) => /^\s*(\w+)\s*=\s*([-+\d.eE]+)\s*(?:\[([^\]]*)\])?/.exec(part)).filter(Boolean)
      .map(([, name, value, unit]) => ({ name, value: Number(value), text: value, unit: unit ?? '', min: null, max: null }));
  }
}

// The slider's span: the range of the parameter where it is not too wide, else a factor around its value.
function span(q) {
  const size = Math.abs(q.value) || 1;
  const narrow = q.min !== null && q.max !== null && q.max - q.min <= 100 * size;
  return narrow ? [q.min, q.max] : [Math.max(q.min ?? -Infinity, q.value < 0 ? 3 * q.value : q.value === 0 ? -1 : 0), Math.min(q.max ?? Infinity, q.value > 0 ? 3 * q.value : 1)];
}

export function parameterFields(parameters, source, given, changed) {
  const list = parameters ?? textParameters(source);
  const inputs = new Map();
  const element = h('fieldset', { class: 'parameters', hidden: !list.length }, h('legend', {}, 'Parameters'));
  for (const q of list) {
    if (q.choices) {
      const fallback = q.choices[q.value] ?? q.choices[0];
      const control = h('select', {}, q.choices.map((c) => h('option', { value: c, selected: c === (given[q.name] ?? fallback) }, c)));
      control.addEventListener('change', changed);
      inputs.set(q.name, { read: () => control.value, fallback });
      element.append(field(q.name, control, q.help));
      continue;
    }
    const text = h('input', { type: 'text', inputmode: 'decimal', class: 'number', value: given[q.name] ?? (Number.isNaN(q.value) ? q.text : short(q.value)), 'aria-label': `${q.name}${q.unit ? ` in ${q.unit}` : ''}` });
    inputs.set(q.name, { read: () => text.value.trim(), fallback: Number.isNaN(q.value) ? q.text : short(q.value), unit: q.text?.includes('[') ? `[${q.unit}]` : '' });
    text.addEventListener('change', changed);
    const bounds = q.min !== null && q.max !== null ? `${short(q.min)} … ${short(q.max)}` : '';
    if (Number.isNaN(q.value)) {
      element.append(field(q.name, text, q.help));
      continue;
    }
    const [low, high] = span(q);
    const slider = h('input', { type: 'range', min: String(low), max: String(high), step: q.whole ? '1' : String((high - low) / 200), value: String(given[q.name] ?? q.value), name: `set.${q.name}` });
    slider.addEventListener('input', () => {
      text.value = short(Number(slider.value), 5);
      changed();
    });
    text.addEventListener('input', () => { if (Number.isFinite(Number(text.value))) slider.value = text.value; });
    element.append(h('div', { class: 'parameter' }, field(q.name, slider, [q.help, bounds].filter(Boolean).join('; ')), text, h('span', { class: 'unit' }, q.unit ?? '')));
  }
  // Only what differs from the default; a number in a text keeps its unit.
  const values = () => Object.fromEntries([...inputs].filter(([, i]) => i.read() !== '' && i.read() !== i.fallback)
    .map(([name, i]) => [name, /^[-+\d.eE]+$/.test(i.read()) && i.unit ? `${i.read()}${i.unit}` : i.read()]));
  return { element, values, list };
}
