#!/usr/bin/env python3
"""How strong the tests are: one-line bugs, one at a time, each built and tested.

    tools/mutants.py [--build DIR] [--count 0] [--seed 20] [--only RE] [--max-seconds S] [--fresh] [--list] [--again]

The bugs are those of tools/mutants.txt: some that once survived, and 110 that were drawn by a seeded generator from the lines of src/
and apps/cli/, half of them in multibody, driver and young code. --count N draws N others by --seed. A bug is an operator, a constant, an
index or a sign that is another one.
The objects of a build that is there (--reference build) are used: a bug costs one compilation, and one link of each test that is run.
The tests that are named like a file come first, all of them, those of its layer next, then others and the scripts of the program, until
so many seconds of CPU are used up (--near, --others); the first that fails, crashes or does not end kills the bug, if it passes without it. What
survives is listed with its line: each is a test that is missing, or a bug that changes nothing (tools/mutants.txt names those:
"equivalent", with the reason). Results are kept in DIR (--build, build-mutants) by the text of the changed file: the next run goes on.
--again tries the survivors once more, after a test was written (build it first)."""
import argparse
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

YOUNG = ("src/multibody/", "src/method/driver.c", "src/method/events.c", "src/method/switches.c", "src/method/checkpoint.c",
         "src/method/nonnegative.c", "src/method/moving_mass.c", "src/method/leap.c", "src/method/poles.c", "src/method/choose.c",
         "src/method/refine.c", "src/equations/", "src/simulation/", "src/catalog/", "src/sensitivity/", "src/language/", "src/fit/",
         "src/steady/", "src/study/", "src/table/", "apps/cli/")
# layers whose tests tell about another one, and scripts of the command line that do
NEAR = {"language": ("equations", "multibody"), "mechanics": ("method", "formulation", "multibody"), "core": ("method",), "cli": ("table", "study"),
        "experiment": ("simulation", "study"), "study": ("experiment",), "problem": ("experiment", "simulation"), "catalog": ("simulation",)}
SCRIPTS = {"cli": ("",), "equations": ("equations",), "language": ("equations",), "multibody": ("model",), "fit": ("fit",), "study": ("workprec", "sweep"),
           "table": ("cli", "report"), "sensitivity": ("sensitivity",), "steady": ("steady",), "catalog": ("cli", "model"), "experiment": ("cli", "model"),
           "simulation": ("cli", "model"), "problem": ("cli", "own")}
# tests of another layer that are about a file
ABOUT = {"src/method/leap.c": "singular", "src/equations/form_tangent.c": "test_models"}
# what is wrong with a line: pattern, replacement
RULES = [(r"(?<=[\w\])]) \+ (?=[\w(*])", " - "), (r"(?<=[\w\])]) - (?=[\w(*])", " + "), (r"(?<=[\w\])]) \* (?=[\w(])", " / "),
         (r"(?<=[\w\])]) / (?=[\w(])", " * "), (r" < (?=[\w(-])", " >= "), (r" > (?=[\w(-])", " <= "), (r" >= (?=[\w(-])", " < "),
         (r" <= (?=[\w(-])", " > "), (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "), (r"\bfmin\(", "fmax("),
         (r"\bfmax\(", "fmin("), (r"\bsin\(", "cos("), (r"\bcos\(", "sin("), (r" \+= ", " -= "), (r" -= ", " += "), (r"= -(?=[\w(])", "= "),
         (r"\[0\]", "[1]"), (r"\[1\]", "[0]"), (r"\b0\.5\b", "0.6"), (r"\bi \+ 1\b", "i"), (r"\(!(?=\w)", "("), (r"return -1;", "return 0;"),
         (r"return 1;", "return 0;"), (r"return DAE_ERR_\w+;", "return DAE_OK;"), (r"\+\+;", "+= 2;")]
SKIP = re.compile(r"^\s*(//|/\*|\*|#|case |static const|const char|typedef|\}|\{|assert)|printf|dae_fail|DAE_PRINTF|dae_log|wrong\(|"
                  r"^\s*\"|DAE_ERR_MEMORY|!\w+ \|\| |arena|alloc|sizeof|for \(")


def shell(words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **more)


class Tree:
    """A build that is there: each bug is one compilation, and one link of each test that is run. The object with the bug stands before
    the archive, so that the linker takes it in place of the archive's own."""

    def __init__(self, source, reference, build):
        self.source, self.reference, self.build = source, reference, build
        with open(os.path.join(reference, "compile_commands.json"), encoding="utf-8") as f:
            commands = json.load(f)
        self.objects, self.tests, self.program = {}, {}, []
        for c in commands:
            path = os.path.relpath(os.path.join(c["directory"], c["file"]), source)
            words = shlex.split(c["command"])
            out = os.path.join(c["directory"], words[words.index("-o") + 1])
            if re.search(r"/(daedalus_objects|cli_objects|daedalus)\.dir/", out):
                self.objects[path] = words
                if path.startswith("apps/"):
                    self.program.append((path, out))
            elif re.match(r"tests/\w+/test_\w+\.c$", path) and os.path.exists(out):
                self.tests[path] = out
        with open(os.path.join(reference, "build.ninja"), encoding="utf-8") as f:
            text = f.read()
        line = re.search(r"LINK_LIBRARIES = (.*?libdaedalus\.a *.*cmocka.*)", text)
        self.libraries = shlex.split(line.group(1))
        self.know_tests()
        self.record = os.path.join(build, "seconds.json")
        self.seconds = {}
        if os.path.exists(self.record):
            with open(self.record, encoding="utf-8") as f:
                self.seconds = json.load(f)

    def know_tests(self):
        """Where ctest runs each test; the scripts that are given the program are tests, too."""
        out = shell(["ctest", "--test-dir", self.reference, "--show-only=json-v1"]).stdout.decode()
        self.where, self.scripts = {}, {}
        program = os.path.join(self.reference, "daedalus")
        for t in json.loads(out[out.index("{"):])["tests"]:
            p = {x["name"]: x["value"] for x in t.get("properties", [])}
            path = "tests/" + t["name"] + ".c"
            if path in self.tests:
                self.where[path] = p.get("WORKING_DIRECTORY", self.reference)
                if "slow" in p.get("LABELS", []):
                    del self.tests[path]
            elif t["name"].startswith("cli/") and program in t.get("command", []):
                self.scripts["tests/" + t["name"]] = t["command"]
        # inputs at random tell little for their time
        for path in list(self.tests):
            if "fuzz" in path:
                del self.tests[path]
        for name in ("signals_test", "sweep_mpi_test"):
            self.scripts.pop("tests/cli/" + name, None)

    def run(self, path, bug):
        """True if the test passes. Limits are seconds of CPU: the machine may be busy."""
        limit = int(10 + 10 * self.seconds.get(path, 10))
        place = os.path.join(self.build, "work")
        os.makedirs(place, exist_ok=True)
        command, where = [os.path.join(place, "program")], place
        if path in self.scripts:
            command = [os.path.join(place, "program") if w == os.path.join(self.reference, "daedalus") else w for w in self.scripts[path]]
            objects = [bug[1] if bug and bug[0] == p else o for p, o in self.program] + ["-rdynamic"]
        else:
            objects, where = [self.tests[path]], self.where.get(path) or self.source
        if path.endswith(("/test_faults.c", "/test_open_faults.c")):
            objects += ["-Wl,--wrap=malloc", "-Wl,--wrap=calloc", "-Wl,--wrap=realloc"]
        if bug and not bug[0].startswith("apps/"):
            objects.append(bug[1])
        r = shell(["cc", "-fuse-ld=gold", "-o", os.path.join(place, "program")] + objects +
                  [x for x in self.libraries if path not in self.scripts or "cmocka" not in x] + ["-lm", "-ldl", "-lpthread"],
                  cwd=self.reference)
        if r.returncode:
            return None
        env = dict(os.environ, OPENBLAS_NUM_THREADS="1", FUZZ_INPUTS="2000", LC_ALL="C.UTF-8", TMPDIR=place)

        def bounds():
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            with subprocess.Popen(command, cwd=where, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=bounds) as p:
                try:
                    status = p.wait(timeout=60 + 30 * limit)
                finally:
                    try:
                        os.killpg(p.pid, signal.SIGKILL)  # what it left behind
                    except OSError:
                        pass
        except subprocess.TimeoutExpired:
            status = 124
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        shutil.rmtree(place, ignore_errors=True)
        if status == 0:
            self.seconds[path] = max(used, 0.01)
        return status == 0

    def passes_without(self, path):
        """A test that fails without the bug, too, tells nothing: it is left out from then on."""
        key = "sound " + path
        if key not in self.seconds:
            self.seconds[key] = 1 if self.run(path, None) else 0
        return self.seconds[key] == 1

    def order(self, path):
        """Tests by relevance: the same name, the same layer, the rest by their time. Tests of one method say nothing about another."""
        parts = path.split("/")
        layer, stem = parts[1], re.sub(r"^cmd_", "", os.path.splitext(parts[-1])[0])
        own = {stem, parts[2]} if len(parts) > 3 else {stem}
        own.add(ABOUT.get(path, stem))
        methods = {os.path.splitext(p.split("/")[2])[0] for p in self.objects if p.startswith("src/method/")
                   and (p.count("/") > 2 or "_method_" in open(os.path.join(self.source, p), encoding="utf-8").read())} - {"method", "driver"}

        def foreign(name):
            return layer == "method" and any(m in name for m in methods - own) and not any(m in name for m in own)

        def rank(t):
            name = os.path.basename(t)
            if any(m in name for m in own):
                return 0
            if t in self.scripts:
                return 1 if any(name.startswith(w) for w in SCRIPTS.get(layer, ())) else 3
            return 1 if t.split("/")[1] in NEAR.get(layer, ()) + (layer,) else 2
        every = [t for t in list(self.tests) + list(self.scripts) if self.seconds.get("sound " + t, 1) and not foreign(os.path.basename(t))]
        return [(rank(t), t) for t in sorted(every, key=lambda t: (rank(t), self.seconds.get(t, 1)))]

    def remember(self):
        with open(self.record, "w", encoding="utf-8") as f:
            json.dump(self.seconds, f, indent=0)


def candidates(source, path):
    with open(os.path.join(source, path), encoding="utf-8") as f:
        lines = f.read().split("\n")
    out, depth = [], 0
    for k, text in enumerate(lines):
        if depth > 0 and not SKIP.search(text):
            for number, (pattern, _) in enumerate(RULES):
                for m in re.finditer(pattern, text):
                    out.append((path, k, number, m.start()))
        code = re.sub(r'"(\\.|[^"\\])*"|\'.\'', "", text)
        depth += code.count("{") - code.count("}")
    return out


def draw(tree, count, seed):
    dice = random.Random(seed)
    every = [c for p in sorted(tree.objects) if not re.search(r"data|coefficients|/serve|/extended", p) for c in candidates(tree.source, p)]
    young = [c for c in every if c[0].startswith(YOUNG)]
    old = [c for c in every if not c[0].startswith(YOUNG) and not c[0].startswith("src/testset/")]
    picked, files = [], {}
    for pool, share in ((young, count // 2), (old, count - count // 2)):
        dice.shuffle(pool)
        taken = 0
        for c in pool:
            if taken == share:
                break
            if files.get(c[0], 0) < 3:
                files[c[0]] = files.get(c[0], 0) + 1
                picked.append(c)
                taken += 1
    return picked


def changed_text(source, bug):
    path, k, number, at = bug
    with open(os.path.join(source, path), encoding="utf-8") as f:
        lines = f.read().split("\n")
    pattern, to = RULES[number]
    before = lines[k]
    m = re.compile(pattern).search(before, at)
    lines[k] = before[:m.start()] + to + before[m.end():]
    return "\n".join(lines), before.strip(), lines[k].strip()


def listed(source):
    """tools/mutants.txt: FILE, old piece, new piece in three lines ($: a new line), an empty line between bugs."""
    place = os.path.join(source, "tools", "mutants.txt")
    text = open(place, encoding="utf-8").read() if os.path.exists(place) else ""
    bugs = []
    for block in re.split(r"\n\s*\n", text):
        lines = [x for x in block.split("\n") if x and not x.startswith("#")]
        if len(lines) == 3:
            bugs.append(tuple(x.replace("$", "\n") for x in lines))
    return bugs


def equivalent(source):
    """Blocks of four lines in tools/mutants.txt: "equivalent: REASON", FILE, old line, new line."""
    place = os.path.join(source, "tools", "mutants.txt")
    found = {}
    for block in re.split(r"\n\s*\n", open(place, encoding="utf-8").read()):
        lines = [x for x in block.split("\n") if x and not x.startswith("#")]
        if len(lines) == 4 and lines[0].startswith("equivalent: "):
            found[(lines[1], lines[2].strip(), lines[3].strip())] = lines[0][12:]
    return found


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--reference", default="build")
    a.add_argument("--build", default="build-mutants")
    a.add_argument("--count", type=int, default=0)
    a.add_argument("--seed", type=int, default=20)
    a.add_argument("--only", default="")
    a.add_argument("--max-seconds", type=float, default=0, help="begin no further bug after this; 0: all")
    a.add_argument("--near", type=float, default=120, help="seconds of tests of the bug's layer, at most")
    a.add_argument("--others", type=float, default=40, help="seconds of other tests, at most")
    a.add_argument("--again", action="store_true", help="try the survivors once more")
    a.add_argument("--fresh", action="store_true", help="those that are drawn only, without tools/mutants.txt")
    a.add_argument("--list", action="store_true")
    o = a.parse_args()
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    tree = Tree(source, os.path.abspath(o.reference), os.path.abspath(o.build))
    bugs = draw(tree, o.count, o.seed)
    work = []
    for path, old, new in () if o.fresh else listed(source):
        with open(os.path.join(source, path), encoding="utf-8") as f:
            text = f.read()
        if text.count(old) != 1:
            print("gone     %s: \"%s\" is there %d times" % (path, old.strip()[:70], text.count(old)))
            continue
        work.append((path, 0, text.replace(old, new), old, new))
    for b in bugs:
        text, old, new = changed_text(source, b)
        work.append((b[0], b[1] + 1, text, old, new))
    work = [w for w in work if re.search(o.only, w[0])]
    if o.list:
        for path, line, _, old, new in work:
            print("%s:%d: %s  ->  %s" % (path, line, old, new))
        return 0
    os.makedirs(tree.build, exist_ok=True)
    record = os.path.join(tree.build, "record.jsonl")
    done = {}
    if os.path.exists(record):
        for x in open(record, encoding="utf-8"):
            d = json.loads(x)
            done[d["key"]] = d
    begin, killed, survived, invalid, same = time.time(), 0, [], 0, 0
    excuses = equivalent(source)
    for path, line, text, old, new in work:
        key = hashlib.sha1((path + text).encode()).hexdigest()
        excuse = excuses.get((path, old.strip(), new.strip()))
        if excuse:
            same += 1
            print("%-8s %s:%d  %s  ->  %s  (%s)" % ("same", path, line, old[:70], new[:70], excuse), flush=True)
            continue
        if key not in done or (o.again and done[key]["result"] == "survived"):
            if o.max_seconds and time.time() - begin > o.max_seconds:
                break
            done[key] = dict(judge(tree, path, text, o.near, o.others), key=key, path=path, line=line, old=old, new=new)
            with open(record, "a", encoding="utf-8") as f:
                f.write(json.dumps(done[key]) + "\n")
            tree.remember()
        d = done[key]
        killed += d["result"] == "killed"
        invalid += d["result"] == "invalid"
        if d["result"] == "survived":
            survived.append(d)
        print("%-8s %s:%d  %s  ->  %s%s" % (d["result"], path, line, old[:70], new[:70], "  (" + d["by"] + ")" if d.get("by") else ""),
              flush=True)
    total = killed + len(survived)
    print("\n%d bugs: %d killed, %d survived (%.1f %% killed), %d change nothing, %d do not compile, %d not tried" %
          (total, killed, len(survived), 100 * killed / max(1, total), same, invalid, len(work) - total - same - invalid))
    return 0 if total and killed >= 0.95 * total else 1


def judge(tree, path, text, near, others):
    twin = os.path.join(tree.build, "mutant_" + os.path.basename(path))
    try:
        with open(twin, "w", encoding="utf-8") as f:
            f.write(text)
        words = ["-O1" if w in ("-O3", "-O2") else w for w in tree.objects[path] if w != "-Werror"]
        place = [i for i, w in enumerate(words) if os.path.abspath(os.path.join(tree.reference, w)) == os.path.join(tree.source, path)]
        words[place[-1]] = twin
        words[words.index("-o") + 1] = twin + ".o"
        if shell(words + ["-w", "-I" + os.path.dirname(os.path.join(tree.source, path))], cwd=tree.reference).returncode:
            return {"result": "invalid"}
        used = [0.0, 0.0]
        for rank, t in tree.order(path):
            far = rank > 1
            if used[far] + tree.seconds.get(t, 0) > (others if far else near) and rank > 0:
                continue
            passed = tree.run(t, (path, twin + ".o"))
            if passed is None:
                continue  # this test includes the file itself
            if not passed and tree.passes_without(t):
                return {"result": "killed", "by": t}
            used[far] += tree.seconds.get(t, 1) if rank > 0 else 0
        return {"result": "survived"}
    finally:
        for name in (twin, twin + ".o"):
            if os.path.exists(name):
                os.remove(name)


sys.exit(main())
