#!/usr/bin/env python3
"""usage: faults.py DAEDALUS STARVE_LIBRARY SOURCE_DIR [--stride N] [--all] [--from K] [--only RE] [--seconds S]

Every command with allocation k failing, for k = 1, 1 + N, ..., once and from k on, until it is not reached any more. Each must end in
the answer that it has with enough memory, or in exit status 1 with one message about memory; no signal, no hang, no leak that a
sanitizer tells, no file that is half. tests/faults/starve.c says how the program is run; STARVE_LIBRARY is "-" for a program that has it
in it. --all: also the studies, and every solver. --seconds: no further command is begun after so many."""
import argparse
import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

TINY = """model tiny "decay"
param k = 0.7
var y = 1
y' = 1 - k*y
solve t = 0 .. 1, rtol = 1e-4
"""
SWING = """model swing "a mass on a rod: constraints, several states"
param m = 2, L = 1
var x ~ 0.9, y = -0.3, vx = 0, vy ~ 0, lam
x' = vx
y' = vy
m*vx' = -lam*x
m*vy' = -lam*y - 9.81*m
x^2 + y^2 = L^2
solve t = 0 .. 0.2, rtol = 1e-3
"""
MASS = """model mass "M(p) y' = f"
param m = 2, k = 3
var x = 1, v = 0, q = 0
x' = v
m*v' + k*q' = -x
k*v' + 9*q' = -q
solve t = 0 .. 0.5, rtol = 1e-3
"""
CORNER = """model corner "a corner in a stiff equation"
var y = 0, z = 0
y' = -1000*(y - abs(t - 0.3))
z' = max(y, 0.1) - z
solve t = 0 .. 1, rtol = 1e-4
"""
REFUSED = {
    "units.deq": """model units
param k = 0.7 [1/s], L = 2 [m]
var y = 1 [m]
y' = 1 [m/s] - k*y*L
solve t = 0 .. 1
""",
    "units.json": """{ "daedalus": 1, "kind": "mechanism", "name": "units", "dimension": 2, "parameters": { "L": "1[m]" },
  "bodies": [ { "name": "rod", "mass": "L/4", "inertia": 0.1, "r": ["L/2", 0] } ], "simulation": { "t1": 1 } }
""",
    "signals.json": """{ "daedalus": 1, "kind": "mechanism", "name": "signals", "dimension": 2,
  "bodies": [ { "name": "rod", "mass": 1, "inertia": 0.1 } ],
  "sensors": [ { "name": "height", "value": "rod.y", "unit": "rad" } ], "simulation": { "t1": 1 } }
""",
    "misspelt.json": """{ "daedalus": 1, "kind": "mechanism", "name": "misspelt", "dimension": 2,
  "bodies": [ { "name": "rod", "mass": 1, "inretia": 0.1 } ], "simulation": { "t1": 1 } }
"""}
NUMBER = re.compile(rb"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
FILES = ["models/pendulum.json", "models/four_bar.json", "models/heater.deq", "models/ambient.csv", "models/pendulum.deq", "models/ball.deq",
         "examples/fitting/enzyme.deq", "examples/fitting/enzyme.csv", "examples/steady/reactor.deq",
         "examples/steady/brusselator.deq", "tests/multibody/robots/kr5.urdf", "models/spherical_pendulum.json",
         "models/slider_crank.json", "models/drag_sled.json", "models/parallel_four_bar.json", "models/spring_mass_damper.json",
         "models/cart_control.json", "examples/equations/chemostat.deq",
         "examples/equations/crane.deq", "examples/equations/pole.json"]
SHORT = """run hires --quiet --out new.csv
run hires --quiet --json
run pendulum.json --quiet --out new.csv --animate new.html
run four_bar.json --json --quiet
run pendulum.json --resume first.check --quiet --out new.csv
run rober --quiet --dump new.sol --checkpoint new.check
check four_bar.json
check pendulum.json --json
analyze four_bar.json
analyze four_bar.json --json
sample first.sol --points 5
sample first.sol --points 3 --json
eval hires --state state.json
list solvers
list problems --json
info radau5
info hires --json
workprec hires --solvers radau5 --range 4:5:1 --reps 1 --quiet --out new.jsonl
sweep cable-drum --vary mu=0:0.5:3 --jobs 1 --out new --quiet
help run
completion bash
new newly
check heater.deq
check pendulum.deq --json
run heater.deq --quiet --json
run pendulum.deq --tend 1 --quiet
run ball.deq --quiet --tend 0.3
export heater.deq --to c --out new.c
import kr5.urdf --out new.json
plot table.csv --out new.svg
run swing.deq --formulation statespace --quiet --json
analyze spherical_pendulum.json --about turning --what modes
check units.json
check signals.json --json
check misspelt.json
check units.deq
run spring_mass_damper.json --event spring.force=3 --tend 0.3 --quiet --json
run corner.deq --solver radau --quiet --json
run parallel_four_bar.json --formulation index1 --solver dopri5 --rtol 1e-4 --tend 1.3 --quiet --json
run spring.json --integral deflection^2 --quiet --json
run chemostat.deq --solver radau5 --rtol 3e-2 --quiet --out new.csv"""
LONG = """run chemostat.deq --quiet --json
run chemostat.deq --solver dop853 --rtol 3e-2 --quiet --json
run cart_control.json --tend 0.2 --quiet --out new.csv --animate new.html
compare pendulum.json --solvers hht,genalpha --tend 0.05 --format json --quiet
run corner.deq --solver dopri5 --quiet --out new.csv
check spring_mass_damper.json --json
run spring.json --quiet --out new.csv --plot new.svg
run spring.json --components deflection --quiet --out new.csv
run enzyme.deq --sens Vm --quiet --plot new.svg
run spring.json --sens k --quiet --json
sweep spring.json --vary k=100:200:2 --record deflection --jobs 1 --out new --quiet
optimize spring.json --minimize final(deflection) --free c[3..5] --tolerance 0.5 --quiet
run four_bar.json --tend 0.2 --quiet --plot new.svg
run enzyme.deq --sens Vm --quiet --json
run hires --sens k1 --quiet --json
run enzyme.deq --integral S --quiet --json
steady reactor.deq --json
steady tiny.deq
continue tiny.deq --free k[0.6..0.8] --points 1 --json
periodic brusselator.deq --set B=3 --json
fit tiny.deq --data tiny.csv --free k --quiet
optimize tiny.deq --minimize final(y) --free k[0.6..0.8] --tolerance 0.5 --quiet
report tiny.deq --solvers radau5 --range 4:4:1 --repeat 1 --out new --quiet
table hires --solvers radau5 --format json --quiet
reference tiny.deq --fresh --quiet
reference rober --fresh --quiet
compare pendulum.json --solvers radau5/index2 --tend 0.05 --format json --quiet
scale insulator-chain --set N=4,8 --solvers mexx --reps 1 --quiet
matrix --problems rober --solvers radau5 --every 50 --quiet --out new.jsonl
sweep tiny.deq --saltelli k=0.5:1:2 --jobs 1 --out new --quiet
analyze pendulum.json --what modes
run tiny.deq --explain
run swing.deq --formulation statespace --sens m,L --quiet --json
run swing.deq --formulation index1 --sens L --quiet --json
run swing.deq --formulation projected --sens L --quiet --json
run swing.deq --formulation descriptor --quiet --json
run swing.deq --solver dassl --quiet --json
run mass.deq --sens m --quiet --json
run crane.deq --tend 0.1 --event target=0.001 --quiet --out new.csv
run mass.deq --integral x^2 --sens k --quiet --json
analyze chain.json --what equilibrium
analyze chain.json --what modes --json
analyze spherical_pendulum.json --about turning --what equilibrium --json
run slider_crank.json --tend 0.05 --quiet --json
run slider_crank.json --tend 0.02 --sens L1 --quiet --json
run drag_sled.json --tend 0.2 --quiet --json
run slider_crank.json --tend 0.02 --formulation ggl --solver radau5 --quiet --json"""
TAILS = {"mexx": "pendulum.json --tend 0.2", "phem56": "pendulum.json --tend 0.2", "genalpha": "pendulum.json --tend 0.2",
         "hht": "pendulum.json --tend 0.2", "rattle": "pendulum.deq --tend 0.1", "rkn8": "plei --tend 0.1", "rkn12": "plei --tend 0.1"}


def steady(text):
    """What is the same from run to run: without times."""
    text = re.sub(rb'"(cpu_seconds|user_seconds|linalg_seconds|wall_seconds)": ?[^,}\n]*', rb'"\1":0', text)
    text = re.sub(rb'"(h_last|h_smallest|h_largest|position|velocity|acceleration|work|imbalance|allowed|relative)": ?[^,}\n]*', rb'"\1":0', text)  # what rounding decides
    text = re.sub(rb"[0-9.]+(e-[0-9]+)? ?(s|ms|us|\xc2\xb5s|seconds)( |$)", b"T ", text, flags=re.M)
    text = re.sub(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", b"DATE", text)
    if b"went through a singular pose" in text:  # there two motions cross, and rounding decides which one follows
        text = re.sub(rb"[-+0-9.e]+|\([^)]*\)", b"", text)
    return re.sub(rb"CPU.*", b"", text)


def same(a, b):
    """The same words, and numbers that agree to 6 digits: another factorization that needed less memory may round otherwise."""
    if a == b:
        return True
    if NUMBER.sub(b"#", a) != NUMBER.sub(b"#", b):
        return False
    return all(abs(float(x) - float(y)) <= 1e-6 * abs(float(x)) + 1e-9 for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))


def same_shape(a, b):
    """The same words and as many numbers: the rows of a sweep have times of the CPU in them."""
    return NUMBER.sub(b"#", a) == NUMBER.sub(b"#", b)


def content(name):
    with open(name, "rb") as f:
        return f.read()


class Starved:
    """One command, loaded once."""

    def __init__(self, program, library, words, slow):
        self.orders, self.answers = os.pipe(), os.pipe()
        env = dict(os.environ, STARVE_IN=str(self.orders[0]), STARVE_OUT=str(self.answers[1]), STARVE_SECONDS=str(60 * slow))
        if library != "-":
            env["LD_PRELOAD"] = library
        self.process = subprocess.Popen([program] + words, env=env, pass_fds=[self.orders[0], self.answers[1]], stdin=subprocess.DEVNULL)
        os.close(self.orders[0])
        os.close(self.answers[1])
        self.reader = os.fdopen(self.answers[0], "r")

    def run(self, k, on):
        for f in glob.glob("new*"):
            shutil.rmtree(f) if os.path.isdir(f) else os.remove(f)
        os.write(self.orders[1], b"%d %d\n" % (k, on))
        status, count, failed = (int(x) for x in self.reader.readline().split())
        return status, count, failed

    def end(self):
        os.close(self.orders[1])
        self.reader.close()
        self.process.wait()


def main():
    a = argparse.ArgumentParser()
    a.add_argument("program")
    a.add_argument("library")
    a.add_argument("source")
    a.add_argument("--stride", type=int, default=1)
    a.add_argument("--all", action="store_true")
    a.add_argument("--from", type=int, default=1, dest="begin")
    a.add_argument("--only", default="")
    a.add_argument("--seconds", type=float, default=0)
    o = a.parse_args()
    program, library, source = os.path.abspath(o.program), o.library, os.path.abspath(o.source)
    library = library if library == "-" else os.path.abspath(library)
    work = tempfile.mkdtemp()
    os.chdir(work)
    os.environ.update(XDG_CACHE_HOME=work + "/cache", OPENBLAS_NUM_THREADS="1", MALLOC_PERTURB_="165", LC_ALL="C.UTF-8")
    for f in FILES:
        shutil.copy(os.path.join(source, f), ".")
    with open("table.csv", "w", encoding="utf-8") as f:
        f.write("a,b\n1,2\n3,4\n5,7\n")
    with open("tiny.csv", "w", encoding="utf-8") as f:
        f.write("t,y\n0,1\n0.5,1.12\n1,1.2\n")
    with open("tiny.deq", "w", encoding="utf-8") as f:
        f.write(TINY)
    with open("swing.deq", "w", encoding="utf-8") as f:
        f.write(SWING)
    with open("mass.deq", "w", encoding="utf-8") as f:
        f.write(MASS)
    with open("corner.deq", "w", encoding="utf-8") as f:
        f.write(CORNER)
    with open("spring_mass_damper.json", encoding="utf-8") as f, open("spring.json", "w", encoding="utf-8") as to:
        to.write(f.read().replace('"t1": 2,', '"t1": 0.02,'))
    for name, text in REFUSED.items():
        with open(name, "w", encoding="utf-8") as f:
            f.write(text)
    with open("chain.json", "w", encoding="utf-8") as f:  # 60 velocities: sparse factors in analyses
        subprocess.run([sys.executable, os.path.join(source, "tools/make_chain.py"), "20"], stdout=f, check=True)
    with open("state.json", "w", encoding="utf-8") as f:
        f.write('{"t":0,"y":[1,0,0,0,0,0,0,0.0057]}')
    subprocess.run([program, "run", "pendulum.json", "--quiet", "--out", "first.csv", "--dump", "first.sol", "--checkpoint", "first.check",
                    "--max-steps", "8"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    commands = SHORT.split("\n")
    if o.all:
        commands += LONG.split("\n")
        names = subprocess.run([program, "list", "solvers"], stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")[1:]
        for s in (x.split()[0] for x in names if x.strip()):
            if s in ("ida",) or s.startswith("cvode"):
                continue  # SUNDIALS does not survive a failing allocation, and allocates as it likes
            line = "run %s --solver %s --quiet" % (TAILS.get(s, "rober --tend 0.01"), s)
            if subprocess.run([program] + line.split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
                commands.append(line + " --json --checkpoint new.check")
    runs, bad, begin = 0, 0, time.time()
    for line in commands:
        if not re.search(o.only, line):
            continue
        if o.seconds and time.time() - begin > o.seconds:
            print("not begun: daedalus " + line)
            continue
        r, b = starve(program, library, line, o)
        runs, bad = runs + r, bad + b
    print("%d runs, %d wrong" % (runs, bad))
    shutil.rmtree(work, ignore_errors=True)
    return bad > 0


def starve(program, library, line, o):
    served = Starved(program, library, line.split(), 10 if library == "-" else 1)
    whole, total, _ = served.run(0, 0)
    right, said, runs, bad = steady(content("out")), content("err"), 0, 0
    ends = (2,) if set(line.split()) & set(REFUSED) else (0, 4)  # 4: a limit was hit, as asked for

    def wrong(k, on, text):
        nonlocal bad
        bad += 1
        if bad <= 12:
            print("FAILED: daedalus %s (allocation %d, %s): %s\n%s" %
                  (line, k, "all from it on" if on else "once", text, (content("out")[:200] + content("err")[:300 if library != "-" else 3000]).decode(errors="replace")), flush=True)
    if whole not in ends:
        wrong(0, 0, "exit status %d with all memory" % whole)
    rows = content("new/runs.csv") if os.path.exists("new/runs.csv") else b""
    for f in glob.glob("new*"):
        if os.path.isfile(f):
            shutil.copy(f, "keep_" + f)
    for on in (0, 1):
        k = o.begin
        while k <= total + 50 and whole in ends:
            status, _, reached = served.run(k, on)
            runs += 1
            told = content("err")
            if status == whole:
                if not same(right, steady(content("out"))):
                    wrong(k, on, "the exit status of success and another answer")
                if whole == 2 and told != said:
                    wrong(k, on, "another complaint")
                if not same_shape(rows, content("new/runs.csv") if rows else b""):
                    wrong(k, on, "exit status 0 and other rows of the sweep")
                for f in glob.glob("keep_new*"):
                    new = f[5:]
                    if not os.path.exists(new) or not os.path.getsize(new):
                        wrong(k, on, "exit status 0 and no " + new)
                    elif not new.endswith((".jsonl", ".check")) and not filecmp.cmp(f, new, False) and not same(steady(content(f)), steady(content(new))):
                        wrong(k, on, "exit status 0 and another " + new)
            elif status != 1:
                wrong(k, on, "exit status %d" % status)
            elif b"memory" not in (content("out") + told).lower():
                wrong(k, on, "no message about memory")
            if b"Sanitizer" in told or b"runtime error" in told:
                wrong(k, on, "the sanitizer has something to say")
            if not reached and status == whole:
                break
            k += o.stride
    for f in glob.glob("keep_new*"):
        os.remove(f)
    served.end()
    print("daedalus %s: %d allocations, %d runs, %d wrong" % (line, total, runs, bad), flush=True)
    return runs, bad


sys.exit(main())
