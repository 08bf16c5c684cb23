// Runs one command at a time in a fresh instance of the module: the program starts clean, as from a shell.
// createDaedalus comes from the glue that the build puts in front of this file.
/* global createDaedalus */
let compiled = null;

class Output {
  constructor(onLine) {
    this.bytes = new Uint8Array(4096);
    this.length = 0;
    this.start = 0;
    this.onLine = onLine;
  }

  put(byte) {
    if (byte === null || byte === undefined) return;
    if (this.length === this.bytes.length) {
      const more = new Uint8Array(2 * this.length);
      more.set(this.bytes);
      this.bytes = more;
    }
    this.bytes[this.length++] = byte < 0 ? byte + 256 : byte;
    if (byte === 10 && this.onLine) {
      if (this.bytes[this.start] === 123) this.onLine(this.text(this.start)); // a line of JSON
      this.start = this.length;
    }
  }

  text(from = 0) {
    return new TextDecoder().decode(this.bytes.subarray(from, this.length));
  }
}

async function run({ args, files, want }, progress) {
  const out = new Output(), err = new Output(progress);
  const module = await createDaedalus({
    stdin: () => null,
    stdout: (c) => out.put(c),
    stderr: (c) => err.put(c),
    quit: (status, error) => { throw error; },
    instantiateWasm: (imports, ready) => {
      WebAssembly.instantiate(compiled, imports).then((instance) => ready(instance, compiled));
      return {};
    },
  });
  for (const [name, content] of Object.entries(files ?? {})) module.FS.writeFile(name, content);
  const began = performance.now();
  let status, failure = '';
  try {
    status = module.callMain(args);
  } catch (error) {
    if (error?.name === 'ExitStatus') status = error.status;
    else {
      status = 70;
      failure = /memory|allocation/i.test(String(error)) ? 'the page has no memory for a run of this size; the command line program has' : String(error);
    }
  }
  const seconds = (performance.now() - began) / 1000, found = {};
  for (const name of want ?? []) {
    try {
      found[name] = module.FS.readFile(name, { encoding: 'utf8' });
    } catch {
      // a failed run leaves no file
    }
  }
  return { status, failure, stdout: out.text(), stderr: err.text(), files: found, seconds };
}

self.onmessage = async ({ data }) => {
  if (data.module) {
    compiled = data.module instanceof WebAssembly.Module ? data.module : await WebAssembly.compile(data.module);
    return;
  }
  const result = await run(data, (line) => self.postMessage({ id: data.id, progress: line }));
  self.postMessage({ id: data.id, result });
};
