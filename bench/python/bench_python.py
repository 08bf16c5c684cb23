"""solve_ivp beside SciPy's, in one run: time to six correct digits with a Python right-hand side; compiled right-hand sides beside a
C program; threads.

    make bench-python          or    PYTHONPATH=build/python python3 bench/python/bench_python.py [--c BUILD_DIR SOURCE_DIR]

For each problem and method the loosest tolerance of a ladder is taken that gives six digits at the end; then all are timed in
turns, and the best of the turns counts.
"""
import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import scipy.integrate as si

import daedalus

DIGITS = 6
TURNS = 7


# ---- Problems -------------------------------------------------------------------------------------------------------


def lorenz(t, y):
    return [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]


def vdpol(t, y):
    return [y[1], 1000 * (1 - y[0] * y[0]) * y[1] - y[0]]


def robertson(t, y):
    a, b = 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    return [-0.04 * y[0] + a, 0.04 * y[0] - a - b, b]


MASSES = np.arange(1.0, 8)


def attraction(x, y):
    dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
    r = dx * dx + dy * dy
    np.fill_diagonal(r, 1)
    w = MASSES[None, :] / (r * np.sqrt(r))
    return (w * dx).sum(axis=1), (w * dy).sum(axis=1)


def pleiades(t, y):
    ax, ay = attraction(y[:7], y[7:14])
    return np.concatenate((y[14:], ax, ay))


PLEI = np.array([3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4, 0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0])
PROBLEMS = {"Lorenz": (lorenz, (0, 20), [1.0, 1, 1], 1e-3, False), "Van der Pol, mu = 1000": (vdpol, (0, 2000), [2.0, 0], 1.0, True),
            "Robertson": (robertson, (0, 1e5), [1.0, 0, 0], 1e-4, True), "Pleiades": (pleiades, (0, 3), PLEI, 1.0, False)}


def reference(name):
    fun, span, y0, scale, stiff = PROBLEMS[name]
    method = "radau" if stiff else "dop853"
    r = daedalus.solve_ivp(fun, span, y0, method=method, rtol=1e-13, atol=1e-15 * scale if stiff else 1e-13, max_steps=0)
    return r.y[:, -1]


# ---- Ways to solve --------------------------------------------------------------------------------------------------


def scipy_way(method):
    def go(fun, span, y0, rtol, atol):
        return si.solve_ivp(fun, span, y0, method=method, rtol=rtol, atol=atol).y[:, -1]
    return go


def odeint_way(fun, span, y0, rtol, atol):
    return si.odeint(fun, y0, span, tfirst=True, rtol=rtol, atol=atol, mxstep=1000000)[-1]


def our_way(method):
    def go(fun, span, y0, rtol, atol):
        return daedalus.solve_ivp(fun, span, y0, method=method, rtol=rtol, atol=atol, max_steps=0).y[:, -1]
    return go


def second_order_way(method):
    def go(fun, span, y0, rtol, atol):
        return daedalus.solve_ivp(fun, span, y0, method=method, rtol=rtol, atol=atol, second_order=len(y0) // 2,
                                  no_velocities=True).y[:, -1]
    return go


def ways(name, stiff):
    out = {f"scipy {m}": scipy_way(m) for m in (["Radau", "BDF", "LSODA"] if stiff else ["RK45", "DOP853", "LSODA"])}
    out["scipy odeint"] = odeint_way
    for m in (["radau5", "mebdfdae", "lsoda", "rodas5p", "auto"] if stiff else ["dopri5", "dop853", "lsoda", "auto"]):
        if m == "auto" or daedalus.help_page(m):
            out[f"ours {m}"] = our_way(m)
    if name == "Pleiades":
        for m in ("rkn8", "rkn12"):
            out[f"ours {m}, second order"] = second_order_way(m)
    return out


def digits(y, ref, scale):
    e = np.abs(np.asarray(y) - ref) / (scale * 1e-3 + np.abs(ref))
    return -np.log10(max(e.max(), 1e-17))


def tolerance_for(way, problem, ref):
    """The loosest tolerance with enough digits, or None."""
    fun, span, y0, scale, stiff = problem
    for e in np.arange(3, 13.1, 0.25):
        try:
            y = way(fun, span, np.array(y0), 10.0 ** -e, 10.0 ** -e * scale * (1e-4 if stiff else 1))
        except Exception as error:  # a method that is not there
            print(f"    {error}", file=sys.stderr)
            return None
        if digits(y, ref, scale) >= DIGITS:
            return 10.0 ** -e
    return None


def in_turns(calls, turns=TURNS, clock=time.process_time):
    """Seconds of each call, best of the turns; all in turn. CPU time, unless there are threads."""
    best = {k: np.inf for k in calls}
    for _ in range(turns):
        for k, call in calls.items():
            begin = clock()
            call()
            best[k] = min(best[k], clock() - begin)
    return best


def table(head, rows):
    widths = [max(len(str(r[i])) for r in [head, *rows]) for i in range(len(head))]
    for r in [head, ["-" * w for w in widths], *rows]:
        print("| " + " | ".join(str(x).ljust(w) for x, w in zip(r, widths)) + " |")
    print()


def python_functions():
    for name, problem in PROBLEMS.items():
        fun, span, y0, scale, stiff = problem
        ref = reference(name)
        calls, tolerances = {}, {}
        for label, way in ways(name, stiff).items():
            rtol = tolerance_for(way, problem, ref)
            if rtol is None:
                continue
            tolerances[label] = rtol
            calls[label] = lambda way=way, rtol=rtol: way(fun, span, np.array(y0), rtol, rtol * scale * (1e-4 if stiff else 1))
        best = in_turns(calls)
        theirs = min(v for k, v in best.items() if k.startswith("scipy") and "odeint" not in k)
        print(f"### {name}: {DIGITS} digits at t = {span[1]:g}, a Python function\n")
        table(["way", "rtol", "ms", "of SciPy's best solve_ivp"],
              [[k, f"{tolerances[k]:.1e}", f"{1e3 * v:.2f}", f"{v / theirs:.2f}"] for k, v in sorted(best.items(), key=lambda x: x[1])])


# ---- What a call costs ----------------------------------------------------------------------------------------------


def call_cost():
    def f(t, y):
        return y
    y = np.ones(3)
    n = 20000
    r = [None]

    def ours():
        r[0] = daedalus.solve_ivp(f, (0, 100), [1e-30, 1e-30, 1e-30], method="dopri5", fixed_step=0.02, max_steps=0, t_eval=[])
    best = in_turns({"f": lambda: [f(0.0, y) for _ in range(n)], "ours": ours, "scipy": lambda: si.solve_ivp(
        f, (0, 10), [1e-30] * 3, max_step=0.02, t_eval=[10])})
    nfev = r[0].nfev
    print("### A call of f that does nothing\n")
    table(["", "us per call"], [["f itself", f"{best['f'] / n * 1e6:.2f}"], ["daedalus.solve_ivp, all included", f"{best['ours'] / nfev * 1e6:.2f}"],
                                ["scipy solve_ivp RK45, all included", f"{best['scipy'] / 3000 * 1e6:.2f}"]])


# ---- Compiled functions and threads ---------------------------------------------------------------------------------

RHS = r"""
int lorenz(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = 10*(y[1] - y[0]);
    f[1] = y[0]*(28 - y[2]) - y[1];
    f[2] = y[0]*y[1] - 8.0/3*y[2];
    return 0;
}
"""
MAIN = r"""
#include <daedalus/daedalus.h>
#include <stdio.h>
#include <time.h>
int lorenz(double t, const double *y, double *f, void *user);
static double now(void)
{
    struct timespec x;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &x);
    return (double)x.tv_sec + 1e-9*(double)x.tv_nsec;
}
int main(void)
{
    double best = 1e99, y0[3] = {1, 1, 1};
    for (int k = 0; k < 9; k++) {
        double begin = now();
        dae_problem p = {.system = {.kind = DAE_KIND_ODE, .ode = {.n = 3, .f = lorenz}}, .t_end = 100, .y0 = y0, .rtol = 1e-9, .atol = 1e-9};
        dae_run_options o = dae_run_options_default(&p);
        o.options.method = "dop853";
        o.trajectory = DAE_TRAJECTORY_STEPS;
        o.points = 1;
        dae_run_result *r = dae_run(&p, &o, NULL);
        dae_run_destroy(r);
        double used = now() - begin;
        if (used < best) best = used;
    }
    printf("%.9g\n", best);
    return 0;
}
"""


def compiled_functions(build, source):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "rhs.c").write_text(RHS)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", folder / "rhs.so", folder / "rhs.c"], check=True)
        fun = ctypes.CDLL(str(folder / "rhs.so")).lorenz

        def one(k=0, t=100):
            return daedalus.solve_ivp(fun, (0, t), [1, 1, 1 + 1e-3 * k], method="dop853", rtol=1e-9, atol=1e-9)
        rows = []
        best = in_turns({"python": one}, 9)["python"]
        if build:
            (folder / "main.c").write_text(MAIN)
            subprocess.run(["cc", "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-O2", f"-I{source}/include", f"-I{build}/include", folder / "main.c", folder / "rhs.so",
                            f"{build}/src/libdaedalus.so", "-lm", f"-Wl,-rpath,{build}/src", f"-Wl,-rpath,{folder}", "-o",
                            folder / "main"], check=True)
            c = float(subprocess.run([folder / "main"], check=True, capture_output=True, text=True).stdout)
            best = min(best, in_turns({"python": one}, 9)["python"])
            rows.append(["a C program", f"{1e3 * c:.3f}", "1"])
            rows.append(["daedalus.solve_ivp, compiled f", f"{1e3 * best:.3f}", f"{best / c:.2f}"])
        print("### Lorenz to t = 100, dop853, 1e-9, every step kept\n")
        table(["", "ms", "of C"], rows or [["daedalus.solve_ivp, compiled f", f"{1e3 * best:.3f}", ""]])

        def many(threads, count=1000):
            def work(first):
                for k in range(first, count, threads):
                    one(k, 50)
            pool = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
            [t.start() for t in pool]
            [t.join() for t in pool]
        calls = {"1 thread": lambda: many(1), "2 threads": lambda: many(2)}
        best, cpu = in_turns(calls, 5, time.perf_counter), in_turns(calls, 2)
        print("### 1 000 trajectories of a compiled f (threads gain where cores are idle; CPU time shows what they cost)\n")
        table(["", "s", "times as fast", "CPU s"],
              [[k, f"{v:.3f}", f"{best['1 thread'] / v:.2f}", f"{cpu[k]:.3f}"] for k, v in best.items()])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--c", nargs=2, metavar=("BUILD_DIR", "SOURCE_DIR"))
    given = parser.parse_args()
    print(f"SciPy {__import__('scipy').__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}, "
          f"daedalus {daedalus.__version__}, {os.cpu_count()} cores\n")
    call_cost()
    compiled_functions(*(given.c or (None, None)))
    python_functions()
