// A module of the page run by node, as the page's worker runs it: a fresh instance, files in its memory, one command.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url), compiled = new Map();
const Module = WebAssembly.Module;
process.setMaxListeners(0); // every instance listens for what nobody catches

// { status, stdout, stderr, modules: how many the library made of its programs }. refuse: none may be made, as under a policy without
// 'wasm-unsafe-eval'; files: { name: text }.
export async function run(build, name, args, { files = {}, refuse = false } = {}) {
  const folder = path.join(build, 'web-build/wasm'), text = { stdout: [], stderr: [] };
  let modules = 0, status;
  if (!compiled.has(name)) compiled.set(name, await WebAssembly.compile(fs.readFileSync(path.join(folder, `${name}.wasm`))));
  const instance = await require(path.join(folder, `${name}.js`))({
    stdin: () => null,
    stdout: (c) => text.stdout.push(c),
    stderr: (c) => text.stderr.push(c),
    quit: (code, error) => { throw error; },
    instantiateWasm: (imports, ready) => {
      WebAssembly.instantiate(compiled.get(name), imports).then((i) => ready(i, compiled.get(name)));
      return {};
    },
  });
  for (const [file, content] of Object.entries(files)) {
    if (file.includes('/')) instance.FS.mkdirTree(path.dirname(file));
    instance.FS.writeFile(file, content);
  }
  WebAssembly.Module = class extends Module {
    constructor(bytes) {
      if (refuse) throw new WebAssembly.CompileError('refused by the policy of the page');
      super(bytes);
      modules++;
    }
  };
  try {
    status = instance.callMain(args);
  } catch (error) {
    if (error?.name !== 'ExitStatus') throw error;
    status = error.status;
  } finally {
    WebAssembly.Module = Module;
  }
  const read = (bytes) => Buffer.from(Uint8Array.from(bytes)).toString('utf8');
  return { status, modules, stdout: read(text.stdout), stderr: read(text.stderr) };
}
