#!/usr/bin/env python3
"""How strong the tests are: one-line bugs, one at a time, each built and tested.

    tools/mutants.py [--build DIR] [--count 110] [--seed 20] [--only RE] [--max-seconds S] [--list]

Bugs are drawn by a seeded generator from the lines of src/ and apps/cli/ (half of them in multibody, driver and young code), and the
list tools/mutants.txt is added: bugs that once survived. A bug is an operator, a constant, an index or a sign that is another one.
All sources and tests are compiled once into DIR (build-mutants) with one shared library in place of the static one, so that a
bug costs one compilation and one link. The tests that concern a file come first, those of its layer next, then all other fast ones;
the first that fails, crashes or does not end kills the bug. What survives is listed with its line: each is a test that is missing, or
a bug that changes nothing."""
import argparse
import hashlib
import json
import os
import random
import re
import shlex
import subprocess
import sys
import time

YOUNG = ("src/multibody/", "src/method/driver.c", "src/method/events.c", "src/method/switches.c", "src/method/checkpoint.c",
         "src/method/nonnegative.c", "src/method/moving_mass.c", "src/equations/", "src/simulation/", "src/catalog/", "src/sensitivity/",
         "src/language/")
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
    """The compile commands of a build, replayed with everything visible and one shared library."""

    def __init__(self, source, reference, build):
        self.source, self.build = source, build
        with open(os.path.join(reference, "compile_commands.json"), encoding="utf-8") as f:
            commands = json.load(f)
        self.objects, self.tests, seen = {}, {}, set()
        for c in commands:
            path = os.path.relpath(os.path.join(c["directory"], c["file"]), source)
            words = [w for w in shlex.split(c["command"]) if w != "-fvisibility=hidden" and w != "-Werror" and w != "-fPIE"]
            words = ["-O1" if w in ("-O3", "-O2") else w for w in words]
            out = os.path.join(build, re.sub(r"[/.]", "_", path) + ".o")
            place = words.index("-o")
            words[place + 1] = out
            words = [w for i, w in enumerate(words) if w not in ("-MD",) and not (w in ("-MT", "-MF") or words[i - 1] in ("-MT", "-MF"))]
            entry = (words + ["-fPIC", "-w"], c["directory"], out)
            if path.startswith("src/") and path not in seen:
                self.objects[path] = entry
                seen.add(path)
            elif re.match(r"tests/\w+/test_\w+\.c$", path):
                self.tests[path] = entry
        with open(os.path.join(reference, "build.ninja"), encoding="utf-8") as f:
            text = f.read()
        line = re.search(r"LINK_LIBRARIES = .*?libdaedalus\.a *(.*cmocka.*)", text)
        self.libraries = shlex.split(line.group(1)) if line else ["-lcmocka", "-lm"]
        self.directory = next(iter(self.objects.values()))[1]
        self.where = self.working_directories(reference)

    @staticmethod
    def working_directories(reference):
        """Where ctest runs each test, and what it may take."""
        out = shell(["ctest", "--test-dir", reference, "--show-only=json-v1"]).stdout.decode()
        where = {}
        for t in json.loads(out[out.index("{"):])["tests"]:
            p = {x["name"]: x["value"] for x in t.get("properties", [])}
            labels = p.get("LABELS", [])
            where["tests/" + t["name"] + ".c"] = None if "slow" in labels else p.get("WORKING_DIRECTORY", reference)
        return where

    def compile(self, entry):
        words, directory, _ = entry
        return shell(words, cwd=directory).returncode == 0

    def library(self):
        return os.path.join(self.build, "libmutant.so")

    def link_library(self):
        words = ["cc", "-shared", "-o", self.library()] + [e[2] for e in self.objects.values()]
        return shell(words + [x for x in self.libraries if "cmocka" not in x] + ["-lm"], cwd=self.directory)

    def prepare(self, jobs):
        os.makedirs(self.build, exist_ok=True)
        todo = [e for e in list(self.objects.values()) + list(self.tests.values()) if not os.path.exists(e[2])]
        running = []
        for k, e in enumerate(todo):
            running.append(subprocess.Popen(e[0], cwd=e[1], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            if len(running) >= jobs or k == len(todo) - 1:
                for p in running:
                    p.wait()
                running = []
        r = self.link_library()
        if r.returncode:
            sys.exit("the library does not link: " + r.stdout.decode()[-2000:])
        for path, e in list(self.tests.items()):
            program = e[2][:-2]
            if not os.path.exists(program):
                r = shell(["cc", "-o", program, e[2], self.library(), "-Wl,-rpath," + self.build] + self.libraries + ["-lm"],
                          cwd=self.directory)
                if r.returncode:
                    del self.tests[path]
        # tests that pass here, with their seconds
        record = os.path.join(self.build, "seconds.json")
        self.seconds = json.load(open(record, encoding="utf-8")) if os.path.exists(record) else {}
        for path in self.tests:
            if path in self.seconds or self.where.get(path, "") is None:
                continue
            t = time.time()
            self.seconds[path] = time.time() - t if self.run_test(path, 60) else -1
            with open(record, "w", encoding="utf-8") as f:
                json.dump(self.seconds, f)

    def run_test(self, path, limit):
        program = self.tests[path][2][:-2]
        env = dict(os.environ, OPENBLAS_NUM_THREADS="1", FUZZ_INPUTS="2000", LC_ALL="C.UTF-8")
        try:
            r = subprocess.run([program], cwd=self.where.get(path) or self.source, env=env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return False
        return r.returncode == 0

    def order(self, path):
        """Tests by relevance: the same name, the same layer, the rest by their time."""
        layer, stem = path.split("/")[1], os.path.splitext(os.path.basename(path))[0]
        method = path.split("/")[2] if path.count("/") > 2 else stem

        def rank(t):
            name = os.path.basename(t)
            return (0 if stem in name or method in name else 1 if t.split("/")[1] == layer else 2, self.seconds[t])
        return sorted((t for t in self.tests if self.seconds.get(t, -1) >= 0), key=rank)


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
    every = [c for p in sorted(tree.objects) if "data" not in p and "coefficients" not in p for c in candidates(tree.source, p)]
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


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--reference", default="build")
    a.add_argument("--build", default="build-mutants")
    a.add_argument("--count", type=int, default=110)
    a.add_argument("--seed", type=int, default=20)
    a.add_argument("--only", default="")
    a.add_argument("--jobs", type=int, default=os.cpu_count())
    a.add_argument("--max-seconds", type=float, default=0, help="begin no further bug after this; 0: all")
    a.add_argument("--others", type=float, default=60, help="seconds of tests outside of the bug's layer, at most")
    a.add_argument("--list", action="store_true")
    o = a.parse_args()
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    tree = Tree(source, os.path.abspath(o.reference), os.path.abspath(o.build))
    bugs = draw(tree, o.count, o.seed)
    work = []
    for path, old, new in listed(source):
        with open(os.path.join(source, path), encoding="utf-8") as f:
            text = f.read()
        if text.count(old) != 1:
            print("tools/mutants.txt: %s: \"%s\" is there %d times" % (path, old, text.count(old)))
            return 2
        work.append((path, 0, text.replace(old, new), old, new))
    for b in bugs:
        text, old, new = changed_text(source, b)
        work.append((b[0], b[1] + 1, text, old, new))
    work = [w for w in work if re.search(o.only, w[0])]
    if o.list:
        for path, line, _, old, new in work:
            print("%s:%d: %s  ->  %s" % (path, line, old, new))
        return 0
    tree.prepare(o.jobs)
    record = os.path.join(tree.build, "record.jsonl")
    done = {}
    if os.path.exists(record):
        for x in open(record, encoding="utf-8"):
            d = json.loads(x)
            done[d["key"]] = d
    begin, killed, survived, invalid = time.time(), 0, [], 0
    for path, line, text, old, new in work:
        key = hashlib.sha1((path + text).encode()).hexdigest()
        if key not in done:
            if o.max_seconds and time.time() - begin > o.max_seconds:
                break
            done[key] = dict(judge(tree, path, text, o.others), key=key, path=path, line=line, old=old, new=new)
            with open(record, "a", encoding="utf-8") as f:
                f.write(json.dumps(done[key]) + "\n")
        d = done[key]
        killed += d["result"] == "killed"
        invalid += d["result"] == "invalid"
        if d["result"] == "survived":
            survived.append(d)
        print("%-8s %s:%d  %s  ->  %s%s" % (d["result"], path, line, old[:70], new[:70], "  (" + d["by"] + ")" if d.get("by") else ""),
              flush=True)
    total = killed + len(survived)
    print("\n%d bugs: %d killed, %d survived (%.1f %% killed), %d do not compile" %
          (total, killed, len(survived), 100 * killed / max(1, total), invalid))
    return 0 if total and killed >= 0.95 * total else 1


def judge(tree, path, text, others):
    words, directory, out = tree.objects[path]
    twin = os.path.join(tree.build, "mutant_" + os.path.basename(path))
    try:
        with open(twin, "w", encoding="utf-8") as f:
            f.write(text)
        place = [i for i, w in enumerate(words) if os.path.abspath(os.path.join(directory, w)) == os.path.join(tree.source, path)]
        changed = list(words)
        changed[place[-1]] = twin
        if shell(changed, cwd=directory).returncode:
            return {"result": "invalid"}
        if tree.link_library().returncode:
            return {"result": "invalid"}
        used, layer = 0.0, path.split("/")[1]
        for t in tree.order(path):
            near = t.split("/")[1] == layer
            if not near and used > others:
                break
            if not tree.run_test(t, 30 + 20 * tree.seconds[t]):
                return {"result": "killed", "by": t}
            used += 0 if near else tree.seconds[t]
        return {"result": "survived"}
    finally:
        if os.path.exists(twin):
            os.remove(twin)
        tree.compile(tree.objects[path])


sys.exit(main())
