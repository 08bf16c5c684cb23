// A request is what a run is asked for: { command, problem | text + name, options }. The same object becomes the
// command line of the module in the page, the body of the server's API, and the lines that are shown to copy.

// Options in the order in which they are shown. `set` is an object of parameters.
const ORDER = ['vary', 'saltelli', 'solvers', 'range', 'solver', 'formulation', 'project', 'rtol', 'atol', 'h0', 't0', 'tend', 'index', 'set', 'opt', 'at', 'event', 'sens', 'drift',
  'points', 'per-step', 'max-gap', 'repeat', 'budget', 'max-seconds', 'max-steps', 'linear-algebra'];

export function optionList(options) {
  const list = [];
  for (const name of ORDER) {
    const value = options[name];
    if (value === undefined || value === null || value === '' || value === false) continue;
    if (name === 'set' || name === 'opt') {
      for (const [key, x] of Object.entries(value)) list.push([`--${name}`, `${key}=${x}`]);
    } else if (Array.isArray(value)) {
      for (const x of value) list.push([`--${name}`, String(x)]);
    } else if (value === true) list.push([`--${name}`]);
    else list.push([`--${name}`, String(value)]);
  }
  return list;
}

export function fileName(request) {
  return request.text === undefined ? null : request.name || 'model.json';
}

export function argumentsOf(request, extra = []) {
  return [request.command, fileName(request) ?? request.problem, ...optionList(request.options ?? {}).flat(), ...extra];
}

function quote(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function commandLine(request) {
  const extra = { sweep: ['--out', 'sweep'], report: ['--out', 'report'] }[request.command] ?? (request.options?.drift || request.options?.sens ? ['--out', `${request.problem ?? 'run'}.csv`] : []);
  return ['daedalus', ...argumentsOf(request, extra)].map(quote).join(' ');
}

function pythonValue(x) {
  if (x === true) return 'True';
  if (typeof x === 'object') return `{${Object.entries(x).map(([k, v]) => `${JSON.stringify(k)}: ${pythonValue(v)}`).join(', ')}}`;
  return typeof x === 'number' || (typeof x === 'string' && x !== '' && !Number.isNaN(Number(x))) ? String(x) : JSON.stringify(x);
}

export function pythonLine(request) {
  const what = JSON.stringify(fileName(request) ?? request.problem);
  const given = ORDER.filter((name) => {
    const value = request.options?.[name];
    return value !== undefined && value !== null && value !== '' && value !== false && !(typeof value === 'object' && !Object.keys(value).length);
  }).map((name) => `${name.replaceAll('-', '_')}=${pythonValue(request.options[name])}`);
  return `import daedalus\nsol = daedalus.run(${[what, ...given].join(', ')})\nprint(sol.y[:, -1], sol.stats)`;
}

export function cProgram(request) {
  const o = request.options ?? {};
  const settings = Object.entries(o.set ?? {});
  const lines = ['#include <daedalus/daedalus.h>', '#include <stdio.h>', '', 'int main(void)', '{', '    dae_error err = {0};'];
  if (settings.length) {
    lines.push(`    const dae_setting set[] = {${settings.map(([k, v]) => `{${JSON.stringify(k)}, ${JSON.stringify(String(v))}}`).join(', ')}};`);
  }
  const set = settings.length ? `set, ${settings.length}` : 'NULL, 0';
  lines.push(`    dae_problem *p = dae_problem_open(${JSON.stringify(fileName(request) ?? request.problem)}, ${set}, &err);`);
  lines.push('    if (!p) return fprintf(stderr, "%s\\n", err.text), 1;', '    dae_run_options opt = dae_run_options_default(p);');
  if (o.solver) lines.push(`    opt.options.method = ${JSON.stringify(o.solver)};`);
  if (o.formulation) lines.push(`    opt.options.formulation = ${JSON.stringify(o.formulation)};`);
  for (const [name, key] of [['rtol', 'rtol'], ['atol', 'atol'], ['h0', 'h0']]) {
    if (o[name]) lines.push(`    opt.options.${key} = ${Number(o[name])};`);
  }
  if (o.tend) lines.push(`    opt.t_end = ${Number(o.tend)};`);
  lines.push('    dae_run_result *r = dae_run(p, &opt, &err);', '    if (!r) return fprintf(stderr, "%s\\n", err.text), 1;',
    '    printf("t = %g, y[0] = %.12g, %ld steps\\n", r->last.t, r->last.y[0], r->stats.steps);', '    dae_run_destroy(r);');
  lines.push('    dae_problem_destroy(p);', '    return 0;', '}');
  return lines.join('\n');
}
