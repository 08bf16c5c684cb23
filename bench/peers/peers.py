#!/usr/bin/env python3
"""Daedalus beside the Fortran codes of Debian's packages: time at equal accuracy, one table.

Every code and every method runs over the tolerances that the test set prescribes for a problem and over two powers of ten
looser ones, a quarter of a power of ten apart. Digits (mescd) jump from tolerance to tolerance: those of a run count as the mean over the power of
ten around its tolerance, so that no code wins by a lucky run. The time to reach d digits is read off the curve of a code, straight lines in
(digits, log time), or is that of any run with more digits that takes less. Rounds over all runs of a problem are repeated and the least time of each run counts, so that load from elsewhere hits all alike.
A code that is missing is an error."""
import argparse
import ctypes
import glob
import json
import math
import os
import sys

PROBLEMS = ["vdpol-mu", "orego", "rober", "e5", "chemakzo", "transamp", "hires", "pollu", "plei", "caraxis",
            "caraxis:parts", "andrews", "andrews:parts", "beam", "medakzo"]
DIGITS = range(3, 9)
STEP, LOOSER, SPREAD = 0.25, 2, 0.5  # powers of ten: between tolerances, looser than the test set, of the mean to each side
# code -> (where it is, entry point)
CODES = {
    "radau5": ("deSolve", "radau5_"), "radau5-2nd": ("deSolve", "radau5_"), "lsode": ("deSolve", "dlsode_"),
    "lsode-adams": ("deSolve", "dlsode_"), "lsoda": ("deSolve", "dlsoda_"), "vode": ("deSolve", "dvode_"),
    "vode-adams": ("deSolve", "dvode_"), "octave-lsode": ("liboctave", "dlsode_"),
    "octave-dassl": ("liboctave", "ddassl_"), "octave-daspk": ("liboctave", "ddaspk_"),
    "scipy-lsoda": ("_lsoda", "lsoda"), "scipy-vode": ("_vode", "dvode"),
    "scipy-dop853": ("_dop", "dop853"), "scipy-dopri5": ("_dop", "dopri5"),
}
PACKAGES = {"deSolve": "r-cran-desolve", "liboctave": "octave", "_lsoda": "python3-scipy", "_vode": "python3-scipy",
            "_dop": "python3-scipy"}


def find(library):
    pattern = {"deSolve": ["/usr/lib/R/site-library/deSolve/libs/deSolve.so", "/usr/lib/R/library/deSolve/libs/deSolve.so"],
               "liboctave": ["/usr/lib/*/octave/*/liboctave.so", "/usr/lib/*/liboctave.so*",
                             "/usr/lib/*/octave/*/liboctave.so.*"]}[library]
    for p in pattern:
        for path in sorted(glob.glob(p)):
            return path
    return None


def entry(library, symbol):
    """The address of an entry point; SciPy's modules hand theirs out as capsules."""
    if library.startswith("_"):
        module = __import__("scipy.integrate." + library, fromlist=[library])
        capsule = getattr(module, symbol)._cpointer
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        return get(capsule, None)
    path = find(library)
    if not path:
        raise OSError("no %s" % library)
    return ctypes.cast(getattr(ctypes.CDLL(path, mode=os.RTLD_LAZY), symbol), ctypes.c_void_p).value


def load(path):
    peers = ctypes.CDLL(os.path.abspath(path), mode=os.RTLD_GLOBAL | os.RTLD_NOW)
    peers.peers_open.restype = ctypes.c_void_p
    peers.peers_open.argtypes = [ctypes.c_char_p]
    peers.peers_close.argtypes = [ctypes.c_void_p]
    peers.peers_method.restype = ctypes.c_char_p
    peers.peers_taken.restype = ctypes.c_char_p
    peers.peers_patience.argtypes = [ctypes.c_double]
    peers.peers_set.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    peers.peers_suits.argtypes = peers.peers_takes.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    peers.peers_rtol.restype = ctypes.c_double
    peers.peers_rtol.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_double, ctypes.c_double]
    peers.peers_run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double, ctypes.c_int,
                                ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double)]
    for code, (library, symbol) in CODES.items():
        try:
            peers.peers_set(code.encode(), entry(library, symbol))
        except Exception as e:
            sys.exit("peers: %s is missing (%s); Debian's package %s has it: tools/setup.sh --peers"
                     % (code, e, PACKAGES[library]))
    # SLATEC's messages: none, and the process goes on
    ctypes.CDLL(find("liboctave"), mode=os.RTLD_LAZY).xsetf_(ctypes.byref(ctypes.c_int(0)))
    return peers


class Run:
    def __init__(self, peers, subject, name, rtol):
        self.peers, self.subject, self.name, self.rtol = peers, subject, name, rtol
        self.seconds = self.digits = math.nan
        self.repeat, self.taken = 1, ""

    def once(self):
        """False: it failed."""
        s, d = ctypes.c_double(), ctypes.c_double()
        if self.peers.peers_run(self.subject, self.name.encode(), self.rtol, self.repeat, s, d) or not d.value == d.value:
            return False
        self.seconds = s.value if not s.value > self.seconds else self.seconds
        self.digits = d.value
        self.taken = self.peers.peers_taken().decode() if is_own(self.name) else ""
        return True


def ladder(peers, subject, quick):
    """The range of tolerances, the same for all."""
    rtol = []
    while len(rtol) < 100:
        r = peers.peers_rtol(subject, len(rtol), 2 * STEP if quick else STEP, LOOSER)
        if not r:
            break
        rtol.append(r)
    return rtol


def at_digits(curve, d):
    """Least time to reach d digits along one curve [(digits, seconds)] in the order of tolerances."""
    best = math.inf
    for k, (x, t) in enumerate(curve):
        if x >= d:
            best = min(best, t)
            if k:
                x0, t0 = curve[k - 1]
                if x0 < d:
                    best = min(best, math.exp(math.log(t0) + (d - x0) / (x - x0) * (math.log(t) - math.log(t0))))
    return best


def usual(runs):
    """[(rtol, digits, ...)] with the digits that are usual around each tolerance: the mean, as far to both sides as there are runs."""
    def near(r):
        width = min(SPREAD, math.log10(runs[0][0] / r[0]), math.log10(r[0] / runs[-1][0])) + 1e-6
        digits = [q[1] for q in runs if abs(math.log10(q[0] / r[0])) <= width]
        return sum(digits) / len(digits)
    return [(r[0], near(r)) + tuple(r[2:]) for r in runs]


def is_own(name):
    return name.startswith("ours:")


def measure(peers, problem, quick, methods):
    subject = peers.peers_open(problem.encode())
    if not subject:
        sys.exit("peers: no problem %s with a reference solution" % problem)
    names = [c for c in CODES if peers.peers_suits(subject, c.encode())]
    names += ["ours:" + m for m in methods if peers.peers_takes(subject, m.encode())]
    if problem.split(":")[0] in ("andrews", "caraxis"):
        names += ["ours:%s:index1" % m for m in ("dop853", "vern8", "vern9", "dopri5")]
    names.append("ours:auto")
    runs = {}
    fastest = math.inf  # the first code that ends at a tolerance
    for name in names:
        runs[name] = []
        for rtol in ladder(peers, subject, quick):
            r = Run(peers, subject, name, rtol)
            peers.peers_patience(min(5, 20 * fastest))
            if not r.once():
                if runs[name]:
                    break
                continue
            runs[name].append(r)
            if r.seconds > min(5, 20 * fastest):
                break
        if runs[name] and runs[name][-1].digits > 7:
            fastest = min(fastest, runs[name][-1].seconds)
    # what is not near the best of its side at any accuracy is not looked at again
    curves = {n: [(r.digits, r.seconds) for r in rs] for n, rs in runs.items()}
    best = {(d, side): min((at_digits(c, d) for n, c in curves.items() if is_own(n) == side), default=math.inf)
            for d in DIGITS for side in (False, True)}
    keep = [n for n in names if n == "ours:auto" or any(at_digits(curves[n], d) < 1.4 * best[d, is_own(n)] for d in DIGITS)]
    rounds = 8 if quick else 16
    for name in keep:
        for r in runs[name]:
            r.repeat = max(1, min(200, int(4e-4 / max(r.seconds, 1e-7))))
    slow = sum(r.seconds * r.repeat for n in keep for r in runs[n])
    rounds = max(4, min(rounds, int((4 if quick else 12) / max(slow, 1e-3))))
    for _ in range(rounds):
        for name in keep:
            for r in runs[name]:
                r.once()
    peers.peers_close(subject)
    return {n: [(r.rtol, r.digits, r.seconds, r.taken) for r in runs[n]] for n in keep}


def rows(points):
    points = {n: usual(c) for n, c in points.items()}
    curves = {n: [(d, s) for _, d, s, _ in c] for n, c in points.items()}
    for d in DIGITS:
        peer = min(((at_digits(c, d), n) for n, c in curves.items() if not is_own(n)), default=(math.inf, "-"))
        own = min((at_digits(c, d), n[5:]) for n, c in curves.items() if is_own(n))
        auto = at_digits(curves["ours:auto"], d)
        takes = next((m for _, x, _, m in points["ours:auto"] if x >= d), "")
        yield d, peer, own, auto, takes


def machine():
    model = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?")
    return model


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("module", help="build/bench/peers.so (cmake --build build --target bench_peers)")
    a.add_argument("--only", default=",".join(PROBLEMS), metavar="PROBLEM,...")
    a.add_argument("--points", metavar="FILE.json", help="where every measured run goes")
    a.add_argument("--quick", action="store_true", help="half of the tolerances, fewer rounds")
    asked = a.parse_args()
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the codes write messages
    peers = load(asked.module)
    methods, i = [], 0
    while peers.peers_method(i):
        methods.append(peers.peers_method(i).decode())
        i += 1
    everything, lines = {}, []
    print("| problem | digits | best peer | us | ours, best | us | auto takes | us | best / peer | auto / peer | auto / best |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for problem in asked.only.split(","):
        points = everything[problem] = measure(peers, problem, asked.quick, methods)
        for d, (tp, p), (to, o), ta, m in rows(points):
            if not math.isfinite(to):
                continue
            lines.append((problem, d, to / tp, ta / tp, ta / to))
            chosen = "%s | %.1f | %.2f | %.2f | %.2f" % (m, ta * 1e6, to / tp, ta / tp, ta / to)
            if not math.isfinite(ta):
                chosen = "no digit more within the tolerances | - | %.2f | - | -" % (to / tp)
            print("| %s | %d | %s | %.1f | %s | %.1f | %s |" % (problem, d, p, tp * 1e6, o, to * 1e6, chosen), flush=True)
        if asked.points:
            with open(asked.points, "w") as f:
                json.dump(everything, f)
    n = len(lines)
    print("\n%d rows: ours / best peer at most 0.6 in %d, at most 0.5 in %d; auto / best peer at most 0.75 in %d; "
          "auto / ours at most 1.3 in %d, at most 2 in %d. %s."
          % (n, sum(r[2] <= 0.6 for r in lines), sum(r[2] <= 0.5 for r in lines), sum(r[3] <= 0.75 for r in lines),
             sum(r[4] <= 1.3 for r in lines), sum(r[4] <= 2 for r in lines), machine()))


if __name__ == "__main__":
    main()
