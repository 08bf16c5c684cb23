// Starts Debian's chromium for the tests of the page; fails on console errors and on requests to other origins.
import http from 'node:http';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

export const failures = [];
let checks = 0;

export function check(condition, text) {
  checks++;
  if (!condition) {
    failures.push(text);
    console.log(`FAILED: ${text}`);
  }
}

export function finish() {
  console.log(`${checks} checks, ${failures.length} failed`);
  process.exit(failures.length ? 1 : 0);
}

export async function start(npm) {
  const { chromium } = createRequire(path.join(npm, 'package.json'))('playwright-core');
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage', '--enable-unsafe-swiftshader', '--disable-gpu-sandbox'] });
}

// The browser may ask for the icon of a file only when about:blank is shown already, and then refuses itself.
const LATE_ICON = /^Not allowed to load local resource: file:.*\/favicon\.svg$/;

// A page that notes what it must not do. allowed: the beginning of addresses that it may ask.
export async function open(browser, allowed, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  page.on('pageerror', (e) => check(false, `error in the page: ${e.stack}`));
  page.on('console', (m) => m.type() === 'error' && !LATE_ICON.test(m.text()) && check(false, `console: ${m.text()}`));
  page.on('request', (r) => {
    const url = r.url();
    if (!url.startsWith(allowed) && !/^(blob|data):/.test(url)) check(false, `request to ${url}`);
  });
  return page;
}

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css', '.wasm': 'application/wasm', '.txt': 'text/plain; charset=utf-8', '.svg': 'image/svg+xml' };

// A file server as simple as any, with the policy that `daedalus serve` sends.
export const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function serve(folder) {
  return new Promise((resolve) => {
    const server = http.createServer((request, answer) => {
      const name = path.basename(new URL(request.url, 'http://localhost').pathname) || 'index.html', file = path.join(folder, name);
      if (!fs.existsSync(file)) return answer.writeHead(404).end();
      answer.writeHead(200, { 'Content-Type': TYPES[path.extname(name)] ?? 'application/octet-stream', 'Content-Security-Policy': POLICY });
      return fs.createReadStream(file).pipe(answer);
    }).listen(0, '127.0.0.1', () => resolve({ url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() }));
  });
}

// Findings of axe-core on what is shown now.
export async function accessible(page, npm, where) {
  const source = fs.readFileSync(path.join(npm, 'node_modules/axe-core/axe.min.js'), 'utf8');
  const found = await page.evaluate(`${source}; axe.run(document, { resultTypes: ['violations'], preload: false })`);
  for (const v of found.violations) check(false, `${where}: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`);
  check(found.passes.length > 5, `${where}: axe-core looked at something`);
}
