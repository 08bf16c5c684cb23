#!/usr/bin/env python3
"""usage: corrupt.py DAEDALUS SOURCE_DIR [COUNT [SEED]]

Every kind of file that the program reads, with bytes changed, COUNT times each: checkpoint, continuous solution, CSV, HDF5, model,
equation file, robot, data and log of a fit, state, cached reference solution, records of workprec, matrix and scale, logs of a sweep. Each run must end in time, without a signal and without a report of a
sanitizer; a checkpoint with a changed byte must be refused. What a sanitizer finds inside the HDF5 library is not ours
(docs/reliability.md): a child reads such files first."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 200
DRAW = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
ENV = dict(os.environ, OPENBLAS_NUM_THREADS="1")


def run(*words, seconds=60):
    try:
        r = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV,
                           timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return 124, "", "did not end in %d s" % seconds
    return r.returncode, r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace")


def change(data):
    """One to three changes: a bit, a byte, a cut, a piece doubled, eight bytes of a large number."""
    data = bytearray(data)
    for _ in range(DRAW.randint(1, 3)):
        if not data:
            break
        at = DRAW.randrange(min(len(data), 512) if DRAW.random() < 0.5 else len(data))
        what = DRAW.randrange(6)
        if what <= 1:
            data[at] ^= 1 << DRAW.randrange(8)
        elif what == 2:
            data[at] = DRAW.randrange(256)
        elif what == 3:
            del data[at:]
        elif what == 4:
            data[at:at] = data[at:at + DRAW.randint(1, 40)]
        else:
            data[at:at + 8] = DRAW.choice([b"\xff" * 8, b"\0" * 8, b"\x7f" * 8])
    return bytes(data)


def content(name):
    with open(name, "rb") as f:
        return f.read()


def make_files():
    """The files, and the command that reads each ({} is its place)."""
    model = os.path.join(SOURCE, "models", "four_bar.json")
    shutil.copy(model, "model.json")
    shutil.copy(os.path.join(SOURCE, "models", "heater.deq"), "model.deq")
    shutil.copy(os.path.join(SOURCE, "models", "ambient.csv"), "ambient.csv")
    assert run("run", "rober", "--quiet", "--max-steps", "20", "--checkpoint", "run.check")[0] == 4
    assert run("run", "hires", "--quiet", "--dump", "run.sol", "--out", "run.csv")[0] == 0
    assert run("workprec", "hires", "--solvers", "radau5", "--range", "4:5:1", "--reps", "1", "--quiet", "--out", "w.jsonl")[0] == 0
    for name in ("enzyme.deq", "enzyme.csv"):
        shutil.copy(os.path.join(SOURCE, "examples", "fitting", name), name)
    shutil.copy(os.path.join(SOURCE, "tests", "multibody", "robots", "kr5.urdf"), "robot.urdf")
    with open("state.json", "w", encoding="utf-8") as f:
        f.write('{"t":0,"y":[1,0,0,0,0,0,0,0.0057]}')
    matrix = ("matrix", "--problems", "rober", "--solvers", "radau5", "--every", "50", "--quiet", "--out")
    scale = ("scale", "insulator-chain", "--set", "N=4,8", "--solvers", "mexx", "--reps", "1", "--quiet", "--out")
    fit = ("fit", "enzyme.deq", "--free", "Vm", "--quiet", "--data")
    assert run(*matrix, "m.jsonl")[0] == 0 and run(*scale, "s.jsonl")[0] == 0
    assert run(*fit, "enzyme.csv", "--log", "fit.jsonl")[0] == 0
    files = [("run.check", ("run", "rober", "--quiet", "--resume", "{}")),
             ("run.sol", ("sample", "{}", "--points", "3")),
             ("run.csv", ("plot", "{}", "--out", "picture.svg")),
             ("model.json", ("check", "{}")),
             ("model.deq", ("check", "{}")),
             ("robot.urdf", ("check", "{}")),
             ("state.json", ("eval", "hires", "--state", "{}")),
             ("enzyme.csv", fit + ("{}",)),
             ("fit.jsonl", fit + ("enzyme.csv", "--log", "{}")),
             ("m.jsonl", matrix + ("{}",)),
             ("s.jsonl", scale + ("{}",)),
             ("w.jsonl", ("workprec", "hires", "--solvers", "radau5", "--range", "4:5:1", "--reps", "1", "--quiet", "--out", "{}"))]
    if run("run", "hires", "--quiet", "--out", "run.h5")[0] == 0:
        files.append(("run.h5", ("plot", "{}", "--out", "picture.svg")))
    return files


def make_sweep():
    """A sweep that was interrupted: a log of a worker."""
    words = ("sweep", "cable-drum", "--vary", "mu=0:0.5:3", "--jobs", "1", "--quiet", "--out")
    assert run(*words, "sweep")[0] == 0
    return [os.path.join("sweep", f) for f in sorted(os.listdir("sweep")) if os.path.isfile(os.path.join("sweep", f))], words


def make_reference():
    """A reference solution in the cache of references, and a command that takes it."""
    assert run("reference", "model.json", "--quiet")[0] == 0
    (folder, _, names), = [w for w in os.walk(os.path.join(ENV["XDG_CACHE_HOME"], "daedalus")) if w[2]]
    return os.path.join(folder, names[0]), ("compare", "model.json", "--solvers", "mexx", "--tend", "1", "--quiet")


def main():
    work, bad, runs = tempfile.mkdtemp(), 0, 0
    ENV["XDG_CACHE_HOME"] = work
    os.chdir(work)

    def judge(name, k, status, out, err):
        found = ("Sanitizer" in err or "runtime error" in err) and "libhdf5" not in err
        wrong = status < 0 or status >= 124 or found
        refused = name != "run.check" or status == 2
        if wrong or not refused:
            shutil.copy("changed", "/tmp/corrupt-%s-%d" % (os.path.basename(name), k))
            print("FAILED: %s, change %d: exit status %d: %s" % (name, k, status, err[:300]), flush=True)
            return 1
        return 0

    for name, words in make_files():
        whole = content(name)
        for k in range(COUNT):
            changed = change(whole)
            if changed == whole:
                continue
            with open("changed", "wb") as f:
                f.write(changed)
            ending, place = os.path.splitext(name)[1], "changed"
            if ending in (".deq", ".json", ".h5", ".csv", ".jsonl", ".urdf"):
                place += ending
                shutil.copy("changed", place)
            bad += judge(name, k, *run(*(w.format(place) for w in words)))
            runs += 1
        print("%s: %d runs so far, %d wrong" % (name, runs, bad), flush=True)
    name, words = make_reference()
    whole = content(name)
    for k in range(COUNT):
        changed = change(whole)
        for copy in ("changed", name):
            with open(copy, "wb") as f:
                f.write(changed)
        bad += judge(name, k, *run(*words))
        runs += 1
    print("%s: %d runs so far, %d wrong" % (name, runs, bad), flush=True)
    places, words = make_sweep()
    for k in range(COUNT):
        shutil.rmtree("again", ignore_errors=True)
        shutil.copytree("sweep", "again")
        name = DRAW.choice(places)
        changed = change(content(name))
        for copy in ("changed", name.replace("sweep", "again", 1)):
            with open(copy, "wb") as f:
                f.write(changed)
        bad += judge(name, k, *run(*words, "again"))
        runs += 1
    print("%d runs, %d wrong" % (runs, bad))
    shutil.rmtree(work, ignore_errors=True)
    return bad > 0


sys.exit(main())
