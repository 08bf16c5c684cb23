// The frame of the page: navigation, theme, and which page is shown.
import { h, replace } from './dom.js';
import { engine } from './engine/index.js';
import { version } from './catalog.js';
import * as url from './url.js';
import { problemsPage } from './pages/problems.js';
import { runPage } from './pages/run.js';
import { writePage } from './pages/write.js';
import { watchPage } from './pages/watch.js';
import { learnPage } from './pages/learn.js';

const PAGES = {
  problems: ['Problems', problemsPage],
  run: ['Run', runPage],
  write: ['Write', writePage],
  watch: ['Watch', watchPage],
  learn: ['Learn', learnPage],
};

let leave = null; // what the page that is shown wants done when it goes

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem('daedalus-theme', theme);
  const button = document.getElementById('theme');
  button.textContent = theme === 'dark' ? 'Light' : 'Dark';
  button.setAttribute('aria-label', `${button.textContent} colours`);
  document.dispatchEvent(new CustomEvent('theme'));
}

function startTheme() {
  const kept = localStorage.getItem('daedalus-theme');
  setTheme(kept ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
  document.getElementById('theme').addEventListener('click', () =>
    setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
}

export function announce(text) {
  document.getElementById('status').textContent = text;
}

function show() {
  const { page, query } = url.read();
  const name = page in PAGES ? page : 'problems';
  const main = document.getElementById('main');
  leave?.();
  replace(main);
  document.title = `${PAGES[name][0]} – Daedalus`;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.page === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  leave = PAGES[name][1](main, query, { announce, engine: async () => ({ engine: await engine() }) }) ?? null;
}

replace(document.querySelector('nav'), Object.entries(PAGES).map(([name, [title]]) =>
  h('a', { href: url.link(name), 'data-page': name }, title)));
document.getElementById('version').textContent = `daedalus ${version}`;
startTheme();
window.addEventListener('hashchange', () => {
  show();
  window.scrollTo(0, 0);
});
show();
engine().then((e) => {
  document.getElementById('engine').textContent = `computes ${e.name}`;
  requestAnimationFrame(() => e.warm().catch((error) => {
    document.getElementById('engine').textContent = `cannot compute: ${error.message}`;
  }));
});
