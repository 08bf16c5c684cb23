#!/usr/bin/env python3
"""usage: choices.py PROGRAM [PROBLEM ...]
What "auto" costs beside the best of all choices: CPU time and largest error at the end, at the tolerances of the problem. A choice
counts if it keeps the constraints to 1e-6 and its error is at most ten times that of "auto" (or of the tolerance). Without
problems: stiff mechanisms."""
import json, os, subprocess, sys

STIFF = ["models/stiff_double_pendulum.json", "models/hmmwv.json", "bench/stiff_floor.json",
         "bench/stiff_wishbone.json", "hmmwv", "double-pendulum"]
METHODS = "radau radau5 mebdfdae vode lsoda rosnys4 bimd gamd dop853 dopri5".split()
CHOICES = [(m, f) for f in ("joint", "statespace") for m in METHODS]
CHOICES += [("phem56", "descriptor"), ("mexx", "descriptor"), ("dop853", "index1"), ("dopri5", "index1"),
            ("radau5", "ggl"), ("radau", "ggl")]


def run(program, problem, method, form, *more):
    line = [program, "run", problem, "--solver", method, "--formulation", form, "--quiet", "--json", "--reference", "none"]
    out = subprocess.run(line + list(more), capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    try:
        result = json.loads(out.stdout)
    except ValueError:
        return None
    return result if result.get("status") in ("ok", "event") else None


def error(result, reference):
    return max(abs(a - b) / (1e-3 + abs(b)) for a, b in zip(result["y"], reference["y"]))


def main():
    program, problems = sys.argv[1], sys.argv[2:] or STIFF
    print(f"{'problem':32s} {'auto':>20s} {'ms':>9s} {'error':>8s}   {'best':>20s} {'ms':>9s} {'error':>8s} {'ratio':>6s}")
    for problem in problems:
        reference = run(program, problem, "radau", "statespace", "--rtol", "1e-10", "--atol", "1e-11")
        auto = run(program, problem, "auto", "auto", "--repeat", "5")
        if not auto or not reference:
            print(f"{problem:32s} no result")
            continue
        allowed = max(10 * error(auto, reference), auto["rtol"])
        best = None
        for method, form in CHOICES:
            r = run(program, problem, method, form, "--max-seconds", "2", "--repeat", "5")
            if not r or error(r, reference) > allowed or (r["constraint"]["position"] or 0) > 1e-6:
                continue
            if not best or r["cpu_seconds"] < best["cpu_seconds"]:
                best = r
        best = best or auto
        print(f"{problem:32s} {auto['solver'] + '/' + auto['formulation']:>20s} {auto['cpu_seconds'] * 1e3:9.3f}"
              f" {error(auto, reference):8.1e}   {best['solver'] + '/' + best['formulation']:>20s} {best['cpu_seconds'] * 1e3:9.3f}"
              f" {error(best, reference):8.1e} {auto['cpu_seconds'] / best['cpu_seconds']:6.2f}", flush=True)


main()
