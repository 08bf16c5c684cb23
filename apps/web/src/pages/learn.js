// Learn: the documentation; commands and models in it run where they stand.
import { examples, models, pages } from '../catalog.js';
import { field, h, loadScript, replace } from '../dom.js';
import { engine, local } from '../engine/index.js';
import { pack } from '../url.js';
import * as url from '../url.js';

const GROUPS = [['guide', 'Guides'], ['problem', 'Problems'], ['method', 'Solvers'], ['formulation', 'Formulations']];

// Words of a command line as a shell splits them; only plain words and quotes.
function words(line) {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c);
}

const SHOWN = new Set(['run', 'list', 'info', 'check', 'eval', 'analyze', 'compare', 'workprec']);

// A file of the repository that the page has: models/four_bar.json, examples/equations/lorenz.deq.
function known(name) {
  const found = /^(?:models|examples\/equations)\/(\w+\.(?:json|deq))$/.exec(name);
  return found ? [...models, ...examples].find((m) => m.file === found[1]) : null;
}

// The commands in a block that this page can run: without files of the reader's machine.
function commandsOf(text) {
  return text.split('\n').map((line) => line.replace(/^\s*\$?\s*/, '').replace(/\s+#.*$/, '')).filter((line) => line.startsWith('daedalus '))
    .map((line) => words(line).slice(1)).filter((args) => SHOWN.has(args[0]) && !args.some((a) => (/\.(json|jsonl|deq|svg|png|pdf|csv|h5|html|ckpt|so|c|f)$/.test(a) && !known(a)) || /[|>]/.test(a) || a === '--all'));
}

// A block that is a whole model: { name, text }, or null.
function modelIn(text) {
  if (/^\s*\{/.test(text) && /"kind"\s*:\s*"mechanism"/.test(text)) return { name: 'model.json', text: text.trim() };
  if (/^\s*var\s/m.test(text) && /[\w)]'+\s*=|=\s*[^=]/.test(text) && !/^\s*(\$|daedalus )/m.test(text) && !/…|\.\.\.$/m.test(text)) return { name: 'model.deq', text: text.trim() };
  return null;
}

function runner(block, args, files = {}) {
  const out = h('pre', { class: 'code output', tabindex: '0', hidden: true, 'aria-label': 'Output' });
  const button = h('button', { type: 'button', class: 'small', 'aria-label': `Run: daedalus ${args.join(' ')}`, onclick: async () => {
    button.disabled = true;
    out.hidden = false;
    out.textContent = '…';
    try {
      const given = Object.fromEntries(args.map(known).filter(Boolean).map((m) => [m.file, m.text]));
      const r = await local.command({ args: args.map((a) => known(a)?.file ?? a), files: { ...given, ...files } });
      out.textContent = (r.stdout + r.stderr) || 'done';
    } catch (error) {
      out.textContent = error.message;
    }
    button.disabled = false;
  } }, `Run: daedalus ${args.join(' ')}`);
  block.after(h('div', { class: 'runner' }, button, out));
}

function enliven(article) {
  for (const block of article.querySelectorAll('pre')) {
    block.tabIndex = 0;
    const text = block.textContent;
    const own = modelIn(text);
    if (own) {
      block.after(h('div', { class: 'runner' }, h('button', { type: 'button', class: 'small', onclick: async () => {
        location.hash = url.link('write', { file: own.name, text: await pack(own.text) });
      } }, 'Open in the editor')));
      runner(block, ['run', own.name], { [own.name]: own.text });
    } else for (const args of commandsOf(text).slice(0, 6).reverse()) runner(block, args);
  }
  [...article.querySelectorAll('table')].forEach((element, i) => {
    const box = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Table ${i + 1}` });
    element.replaceWith(box);
    box.append(element);
  });
  for (const a of article.querySelectorAll('a[href]')) {
    const found = /([\w-]+)\.md(#.*)?$/.exec(a.getAttribute('href'));
    const page = found && pages.find((p) => p.name.endsWith(`/${found[1]}`));
    if (page) a.href = url.link('learn', { page: page.name });
    else if (!/^https?:/.test(a.getAttribute('href'))) a.replaceWith(...a.childNodes);
  }
}

export function learnPage(main, query) {
  const name = query.get('page') ?? pages[0].name;
  const page = pages.find((p) => p.name === name) ?? pages[0];
  const article = h('article', { class: 'doc' });
  const fillArticle = () => {
    article.innerHTML = globalThis.DAEDALUS_PAGES[page.name]; // the project's own pages; their writer escapes what is HTML in them
    enliven(article);
    if (!article.querySelector('h1')) article.prepend(h('h1', {}, page.title));
  };
  if (globalThis.DAEDALUS_PAGES) fillArticle();
  else loadScript('pages.js').then(fillArticle, (error) => replace(article, h('p', { class: 'message' }, error.message)));
  const search = h('input', { type: 'search' });
  const list = h('nav', { 'aria-label': 'Documentation' }), wide = matchMedia('(min-width: 800px)').matches; // on a telephone the page itself comes first
  const fill = () => replace(list, GROUPS.map(([key, title]) => {
    const found = pages.filter((p) => p.group === key && `${p.name} ${p.title}`.toLowerCase().includes(search.value.toLowerCase()));
    return found.length ? h('details', { open: (key === page.group && wide) || !!search.value }, h('summary', {}, title), h('ul', {}, found.map((p) =>
      h('li', {}, h('a', { href: url.link('learn', { page: p.name }), 'aria-current': p === page ? 'page' : null }, p.short))))) : null;
  }));
  search.addEventListener('input', fill);
  fill();
  const run = page.group === 'problem' ? h('p', {}, h('a', { class: 'button', href: url.link('run', { p: page.short, r: '~~~~' }) }, `Run ${page.short}`)) : null;
  replace(main, h('div', { class: 'split learn' }, h('aside', { 'aria-label': 'Contents' }, field('Find a page', search), list), h('div', {}, run, article)));
  engine();
}
