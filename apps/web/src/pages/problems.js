// Problems: everything that can be run at once, as cards with a picture of the solution.
import { models, problems } from '../catalog.js';
import { field, h, replace, select, svg } from '../dom.js';
import * as url from '../url.js';

const WIDTH = 240, HEIGHT = 96;

// curve: [[x, y, x, y, ...], ...] in units of the picture, 0 .. 1.
function picture(item) {
  const lines = (item.curve ?? []).map((points, i) => {
    let path = '';
    for (let k = 0; k < points.length; k += 2) {
      path += `${k ? 'L' : 'M'}${(points[k] * WIDTH).toFixed(1)} ${((1 - points[k + 1]) * (HEIGHT - 8) + 4).toFixed(1)}`;
    }
    return svg('path', { d: path, fill: 'none', class: `curve curve-${i}` });
  });
  return svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', class: 'thumbnail', role: 'img', 'aria-label': `Picture of the solution of ${item.name}` }, ...lines);
}

function card(item) {
  const run = url.link('run', { p: item.run });
  return h('article', { class: 'card' },
    h('h2', {}, h('a', { href: run }, item.title)),
    picture(item),
    h('p', { class: 'facts' }, h('code', {}, item.name), ` · ${item.facts}`),
    item.origin ? h('p', { class: 'hint' }, item.origin) : null,
    h('p', { class: 'links' },
      h('a', { href: run, 'aria-label': `Run ${item.title}` }, 'Run'),
      item.page ? h('a', { href: url.link('learn', { page: item.page }), 'aria-label': `Read about ${item.title}` }, 'Read') : null,
      item.watch ? h('a', { href: url.link('watch', { m: item.watch }), 'aria-label': `Watch ${item.title}` }, 'Watch') : null,
      item.write ? h('a', { href: url.link('write', { m: item.write }), 'aria-label': `Change ${item.title}` }, 'Change') : null));
}

const items = [
  ...problems.map((p) => ({
    name: p.name, title: p.title, kind: p.kind, index: p.index, stiff: p.stiff, n: p.n, curve: p.curve, origin: p.origin,
    facts: `${p.kind}, n = ${p.n}${p.index ? `, index ${p.index}` : ''}, ${p.stiff ? 'stiff' : 'not stiff'}`,
    run: p.name, page: `problem/${p.name}`, words: `${p.name} ${p.aliases ?? ''} ${p.title} ${p.origin}`.toLowerCase(),
  })),
  ...models.map((m) => ({
    name: m.name, title: m.title, kind: 'model', index: 3, stiff: null, n: m.n, curve: m.curve, origin: m.doc,
    facts: `mechanism, ${m.bodies} ${m.bodies === 1 ? 'body' : 'bodies'}, ${m.joints} ${m.joints === 1 ? 'joint' : 'joints'}`,
    run: `model:${m.name}`, watch: m.name, write: m.name, words: `${m.name} ${m.title} ${m.doc} model mechanism`.toLowerCase(),
  })),
];

const SIZES = { small: (n) => n <= 10, medium: (n) => n > 10 && n <= 50, large: (n) => n > 50 };

function fits(item, f) {
  return (!f.kind || item.kind === f.kind) && (!f.index || String(item.index) === f.index)
    && (!f.stiff || (item.stiff !== null && (f.stiff === 'yes') === item.stiff)) && (!f.size || SIZES[f.size](item.n))
    && (!f.q || f.q.toLowerCase().split(/\s+/).every((word) => item.words.includes(word)));
}

export function problemsPage(main, query) {
  const grid = h('div', { class: 'cards' });
  const count = h('p', { class: 'hint', role: 'status' });
  const filter = h('form', { class: 'filters', role: 'search', onsubmit: (e) => e.preventDefault() },
    field('Search', h('input', { type: 'search', name: 'q', value: query.get('q') ?? '' })),
    field('Kind', select([['', 'all'], ['ODE', 'ODE'], ['DAE', 'DAE'], ['IDE', 'IDE'], ['mechanical', 'mechanical problem'], ['model', 'mechanism model']], query.get('kind') ?? '', { name: 'kind' })),
    field('Index', select([['', 'all'], '0', '1', '2', '3'], query.get('index') ?? '', { name: 'index' })),
    field('Stiff', select([['', 'all'], ['yes', 'stiff'], ['no', 'not stiff']], query.get('stiff') ?? '', { name: 'stiff' })),
    field('Size', select([['', 'all'], ['small', 'up to 10'], ['medium', '11 to 50'], ['large', 'more than 50']], query.get('size') ?? '', { name: 'size' })));
  const update = () => {
    const chosen = Object.fromEntries([...new FormData(filter)].filter(([, value]) => value));
    const found = items.filter((item) => fits(item, chosen));
    replace(grid, found.map(card));
    count.textContent = `${found.length} of ${items.length}`;
    url.write('problems', chosen);
  };
  filter.addEventListener('input', update);
  replace(main,
    h('h1', {}, 'Problems'),
    h('p', { class: 'lead' }, 'The test set for initial value problems and a collection of mechanisms. Choose one and it is solved ', document.querySelector('meta[name="daedalus-served"]') ? 'by the program that serves this page.' : 'in this page: nothing is sent anywhere.'),
    filter, count, grid);
  update();
}
