// What the build wrote into data.js: problems, solvers, formulations, models, pages, pictures of solutions.
const data = globalThis.DAEDALUS_DATA;

export const problems = data.problems; // as `info NAME --json`, with `curve`: the picture
export const solvers = data.solvers;
export const formulations = data.formulations;
export const models = data.models; // { name, title, text, bodies, joints, curve, parameters }
export const examples = data.examples; // { name, title, text }: equation files
export const pages = data.pages; // { name, title, group, html }
export const version = data.version;

export const problem = (name) => problems.find((p) => p.name === name || (p.aliases ?? '').split(' ').includes(name));
export const model = (name) => models.find((m) => m.name === name);
export const solver = (name) => solvers.find((s) => s.name === name);

// Whether a solver takes a problem. A mechanism can be given any form, so every solver takes it.
export function takes(s, p) {
  if (p.kind === 'mechanical' || p.index === 3) return true;
  return s.kinds.includes(p.kind) && s.max_index >= p.index;
}

// An example as the runs of a page name it: "model:four_bar", "example:lorenz".
export function starting(name) {
  const [kind, rest] = name.split(':');
  const found = (kind === 'model' ? models : examples).find((m) => m.name === rest);
  return found ? { name: found.file, text: found.text } : null;
}
