#!/usr/bin/env python3
"""usage: command_lines.py DAEDALUS SOURCE_DIR [COUNT [SEED]]

COUNT command lines made of commands, options, names and numbers at random. Each must end in time with a documented exit status, no
signal, no report of a sanitizer; one that fails says why on standard error."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 300
DRAW = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
COMMANDS = ["run", "check", "analyze", "sample", "list", "info", "eval", "plot", "help", "completion", "--version", "new", "nothing"]
THINGS = ["hires", "rober", "pendulum.json", "model.deq", "table.csv", "run.sol", "radau5", "solvers", "bash", "no-such", "", "-", "--", ".",
          "vdpol-mu"]
OPTIONS = ["--solver", "--rtol", "--atol", "--tend", "--t0", "--set", "--init", "--json", "--quiet", "--at", "--max-steps", "--out", "--plot",
           "--opt", "--formulation", "--index", "--points", "--x", "--y", "--event", "--help", "--fixed-step", "--h0", "--nothing", "--json=1"]
VALUES = ["radau5", "dopri5", "mexx", "1e-4", "0", "-1", "nan", "1e999", "0.1", "a=1", "mu=10", "=", "1,2,3", "new.csv", "new.svg",
          "/no/such/place", "x" * 300, "\u00e4\u00f6", "'", "\"", "%s%n", "$(id)", "index2", "1e-3,1e-4", ""]


def main():
    work, bad = tempfile.mkdtemp(), 0
    os.chdir(work)
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1", XDG_CACHE_HOME=work)
    shutil.copy(os.path.join(SOURCE, "models", "pendulum.json"), ".")
    shutil.copy(os.path.join(SOURCE, "models", "spring_mass_damper.deq"), "model.deq")
    with open("table.csv", "w", encoding="utf-8") as f:
        f.write("a,b\n1,2\n3,4\n")
    subprocess.run([PROGRAM, "run", "rober", "--quiet", "--dump", "run.sol"], env=env, check=True, stdout=subprocess.DEVNULL)
    for k in range(COUNT):
        words = [DRAW.choice(COMMANDS)]
        for _ in range(DRAW.randrange(5)):
            words.append(DRAW.choice(THINGS if DRAW.random() < 0.4 else OPTIONS if DRAW.random() < 0.6 else VALUES))
        if words[0] in ("run", "analyze"):
            words += ["--max-seconds", "1"]
        try:
            r = subprocess.run([PROGRAM] + words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                               timeout=60, check=False)
            status, err = r.returncode, r.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            status, err = 124, "did not end in 60 s"
        silent = status != 0 and not err and "--json" not in words and not r.stdout
        if status not in (0, 1, 2, 3, 4) or "Sanitizer" in err or "runtime error" in err or silent:
            bad += 1
            print("FAILED: exit status %d: %r: %s" % (status, words, err[:200]), flush=True)
    print("%d command lines, %d wrong" % (COUNT, bad))
    shutil.rmtree(work, ignore_errors=True)
    return bad > 0


sys.exit(main())
