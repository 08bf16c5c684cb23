// usage: node code_test.mjs SOURCE BUILD
// daedalus serve --allow-code: C and Fortran of clients, first of honest ones, then of those who try what they should not. Each of
// these is stopped or gets nothing, and the server and other runs do not notice.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { check, finish } from './browser.mjs';
import { ask, folder, run, startServer } from './client.mjs';

const [source, build] = process.argv.slice(2, 4).map((p) => path.resolve(p)), program = path.join(build, 'daedalus');
const there = (name) => { try { execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }); return true; } catch { return false; } };
if (!fs.existsSync(path.join(build, 'daedalus-serve')) || !there('bwrap') || process.env.DAEDALUS_SANITIZED) {
  console.log('skipped: daedalus-serve was not built, is too large with sanitizers, or there is no bubblewrap');
  process.exit(77);
}
const read = (name) => fs.readFileSync(path.join(source, 'examples/own-problem', name), 'utf8');
const secret = path.join(folder, 'secret.txt');
fs.writeFileSync(secret, 'SECRET-5551');
fs.chmodSync(folder, 0o755);
fs.chmodSync(secret, 0o644);

const server = await startServer(program, ['--allow-code', '--max-seconds', '1', '--max-memory', '300', '--jobs', '2']);
const facts = await ask(server, 'GET', '/api/v1');
check(facts.json.allow_code === true, 'the server says that it takes code');

// ---- Honest programs give what the command line gives.
for (const name of ['kinetics.c', 'pollution.f']) {
  if (name.endsWith('.f') && !there('gfortran')) continue;
  const object = path.join(folder, name.replace(/\..*/, '.so'));
  execFileSync(program, ['build', path.join(source, 'examples/own-problem', name), '--out', object]);
  const native = JSON.parse(execFileSync(program, ['run', object, '--json', '--rtol', '1e-7'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, OPENBLAS_NUM_THREADS: '1' } }));
  const r = await run(server, { name, text: read(name), options: { rtol: 1e-7 }, csv: true });
  check(r.state === 'done' && JSON.stringify(r.json?.y) === JSON.stringify(native.y) && r.json.steps === native.steps, `${name}: ${r.state} ${r.message} ${r.log}`);
  check(r.csv?.startsWith('t,') && r.csv.split('\n').length > 20, `${name}: the table`);
}
const wrong = await run(server, { name: 'x.c', text: 'int main( {' });
check(wrong.state === 'failed' && /could not be compiled/.test(wrong.message) && /error/.test(wrong.log), `a mistake: ${wrong.message} ${wrong.log}`);
const other = await run(server, { command: 'check', name: 'x.c', text: 'int x;' });
check(other.refused === 400, 'code is run, not checked');
check((await run(server, { name: '../x.c', text: 'int x;' })).refused === 400, 'names are plain');

// ---- Programs that try things when they are loaded.
const evil = (body) => `#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>
#include <dirent.h>
static void try_file(const char *name) { char b[64] = ""; int f = open(name, O_RDONLY); if (f >= 0 && read(f, b, 63) > 0) fprintf(stderr, "LEAK %s %s\\n", name, b); }
static void try_write(const char *name) { int f = open(name, O_WRONLY | O_CREAT, 0600); if (f >= 0 && write(f, "x", 1) == 1) fprintf(stderr, "WROTE %s\\n", name); }
__attribute__((constructor)) static void evil(void) { fprintf(stderr, "began\\n"); ${body} fprintf(stderr, "went on\\n"); }
${read('kinetics.c')}`;
const quote = (s) => JSON.stringify(s);
const cases = {
  'reads files of others': { body: [secret, '/etc/passwd', '/etc/shadow', '/proc/1/environ', server.store].map((f) => `try_file(${quote(f)});`).join(' '), goesOn: true },
  'looks for the store': { body: `DIR *d = opendir(${quote(server.store)}); if (d) fprintf(stderr, "LEAK\\n"); d = opendir("/"); struct dirent *e; while (d && (e = readdir(d))) if (strstr("root home etc_passwd work var srv", e->d_name) && e->d_name[0] != '.') fprintf(stderr, "LEAK %s\\n", e->d_name);`, stopped: true },
  'writes to the store and the system': { body: [`${server.store}/x`, '/usr/x', '/x', '/job/x', '/dev/x', '/dev/shm/x'].map((f) => `try_write(${quote(f)});`).join(' '), goesOn: true },
  'opens a socket': { body: 'socket(AF_INET, SOCK_STREAM, 0);', stopped: true },
  'forks without end': { body: 'for (;;) fork();', stopped: true },
  'traces others': { body: 'ptrace(PTRACE_ATTACH, 1, 0, 0);', stopped: true },
  'kills others': { body: 'extern int kill(int, int); kill(-1, 9);', stopped: true },
  'starts a shell': { body: 'execl("/bin/sh", "sh", "-c", "cat /etc/passwd; (echo WROTE; true) & wait", (char *)0);', stopped: true },
  'fills the disk': { body: 'long n = 0; char b[65536]; memset(b, 1, sizeof b); for (int i = 0; i < 100; i++) { char name[40]; sprintf(name, "/tmp/f%d", i); int f = open(name, O_WRONLY | O_CREAT, 0600); long k; while (f >= 0 && (k = write(f, b, sizeof b)) > 0) n += k; close(f); } fprintf(stderr, "filled %ld\\n", n);', goesOn: true },
  'wants 10 GiB': { body: 'char *p = malloc(10ul << 30); if (!p) { fprintf(stderr, "refused\\n"); } else { memset(p, 1, 10ul << 30); fprintf(stderr, "LEAK\\n"); }', goesOn: true },
  'never ends': { body: 'for (volatile long i = 0;; i++) continue;', stopped: /seconds/ },
  'sleeps for ever': { body: 'for (;;) sleep(1000);', stopped: /seconds/ },
  'talks without end': { body: 'for (;;) { write(1, "{{{{{{{{{{{{{{{{", 16); write(2, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\\n", 39); }', stopped: /seconds/ },
  'fills the pipe of the table': { body: 'char b[65536] = {0}; for (;;) write(5, b, sizeof b);', stopped: /seconds/, drowned: true },
  'crashes': { body: '*(volatile int *)0 = 1;', stopped: /crashed/ },
};
await Promise.all(Object.entries(cases).map(async ([what, c]) => {
  const r = await run(server, { name: 'evil.c', text: evil(c.body), csv: true }), log = r.log ?? '';
  check(c.drowned || /began/.test(log), `${what}: it was loaded: ${r.state} ${r.message} ${log}`);
  check(!/LEAK|WROTE|SECRET|root:/.test(log + JSON.stringify(r.json) + r.csv), `${what}: ${log}`);
  if (c.stopped) check(r.state === 'failed' && !/went on/.test(log) && (c.stopped === true || c.stopped.test(r.message)), `${what}: ${r.state} ${r.message} ${log.slice(0, 300)}`);
  if (c.goesOn) check(r.state === 'done' && r.json?.status === 'ok', `${what}: ${r.state} ${r.message} ${log.slice(0, 300)}`);
  if (/filled/.test(log)) check(Number(/filled (\d+)/.exec(log)[1]) <= 64 << 20, `${what}: ${log}`);
  if (what === 'wants 10 GiB') check(/refused/.test(log), `${what}: ${log}`);
}));
const short = await run(server, { problem: 'hires' });
check(short.state === 'done' && short.json.status === 'ok', 'the server goes on');
check(fs.readFileSync(secret, 'utf8') === 'SECRET-5551' && !fs.existsSync(path.join(server.store, 'x')), 'nothing was changed');

// ---- The server is killed: its runs go with it.
const long = await ask(server, 'POST', '/api/v1/runs', { name: 'evil.c', text: evil('for (;;) sleep(1000);') });
const plain = await ask(server, 'POST', '/api/v1/runs', { problem: 'vdpol-mu', options: { solver: 'bs23', set: { mu: 1e5 }, 'max-steps': 0 } });
check(long.status === 202 && plain.status === 202, 'two runs are going on');
await new Promise((resolve) => setTimeout(resolve, 1000));
const family = (pid) => fs.readdirSync('/proc').filter((p) => /^\d+$/.test(p)).flatMap((p) => {
  try {
    const stat = fs.readFileSync(`/proc/${p}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid ? [Number(p), ...family(Number(p))] : [];
  } catch {
    return [];
  }
});
const running = family(server.child.pid);
check(running.length >= 3, `processes: ${running}`);
server.child.kill('SIGKILL');
await server.ended;
await new Promise((resolve) => setTimeout(resolve, 500));
check(running.every((p) => !fs.existsSync(`/proc/${p}`) || /State:\s+Z/.test(fs.readFileSync(`/proc/${p}/status`, 'utf8'))), `left behind: ${running.filter((p) => fs.existsSync(`/proc/${p}`))}`);

// ---- Without bubblewrap there is no such server; without the option no code.
const bare = path.join(folder, 'bin');
fs.mkdirSync(bare);
const refused = await startServer(program, ['--allow-code'], path.join(folder, 'bare'), { PATH: bare }).then(() => null, (error) => error.message);
check(/ended with 2.*bubblewrap/s.test(refused ?? ''), `without bubblewrap: ${refused}`);
const without = await startServer(program, [], path.join(folder, 'without'));
check((await run(without, { name: 'x.c', text: 'int x;' })).refused === 400, 'code is off by default');
without.child.kill('SIGTERM');
await without.ended;
fs.rmSync(folder, { recursive: true, force: true });
finish();
