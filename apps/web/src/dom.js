// Building elements. Text always becomes a text node: what a user wrote is never read as HTML.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') Object.assign(element.style, value);
    else if (name in element && typeof value !== 'string') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  append(element, children);
  return element;
}

let labels = 0;

// A field with its label; `control` is an input or select.
export function field(label, control, hint) {
  const id = control.id || `field-${++labels}`;
  control.id = id;
  let note = null;
  if (hint) {
    note = h('span', { class: 'hint', id: `${id}-hint` }, hint);
    control.setAttribute('aria-describedby', note.id);
  }
  return h('div', { class: 'field' }, h('label', { for: id }, label), control, note);
}

export function select(options, value, attributes = {}) {
  return h('select', attributes, options.map((option) => {
    const [key, text] = Array.isArray(option) ? option : [option, option];
    return h('option', { value: key, selected: key === value }, text);
  }));
}

// A table with header cells; cells may be nodes.
export function table(caption, head, rows, attributes = {}) {
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', attributes, h('caption', {}, caption),
      h('thead', {}, h('tr', {}, head.map((cell) => h('th', { scope: 'col' }, cell)))),
      h('tbody', {}, rows.map((row) => h('tr', {}, row.map((cell, i) =>
        i === 0 ? h('th', { scope: 'row' }, cell) : h('td', {}, cell)))))));
}

export function download(name, content, type = 'text/plain') {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const url = URL.createObjectURL(blob);
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export function debounce(ms, action) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...args), ms);
  };
}

export function loadScript(source) {
  return new Promise((resolve, reject) => {
    const script = h('script', { src: source });
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error(`${source} could not be loaded`)));
    document.head.append(script);
  });
}

// 12345.678 as 12345.7, 1e-9 as 1e-9, null as a dash.
export function short(x, digits = 6) {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  if (typeof x !== 'number') return String(x);
  if (Number.isInteger(x) && Math.abs(x) < 1e9) return String(x);
  const size = Math.abs(x);
  return size >= 1e-3 && size < 1e6 ? String(Number(x.toPrecision(digits))) : x.toExponential(digits - 1).replace(/\.?0+e/, 'e');
}
