#!/usr/bin/env python3
"""Writes src/study/published_tables.h from the tables of the test set report in JSON.

    python3 tools/make_published_tables.py tables.json > src/study/published_tables.h

The JSON file holds the rows of the run characteristics ("rows"), the tolerance ranges of the work-precision
diagrams ("ranges") and the failed runs ("failed") as printed. The header is committed: nothing reads the JSON
file when the library is built or run.
"""
import json
import sys


def text(value):
    return "NULL" if value is None else '"%s"' % value


def real(value):
    return "NAN" if value is None else "%.10g" % value


def count(value):
    return "-1" if value is None else "%d" % value


def scaled(spec):
    """'1e-2*rtol' -> (1e-2, 0): a multiple of rtol; '1e-7' -> (1e-7, 1): a fixed number."""
    spec = spec.split(",")[0].strip()
    if spec in ("rtol", "component-wise"):
        return 1.0, 0
    if spec.endswith("*rtol"):
        return float(spec[:-5]), 0
    return float(spec), 1


def runs(spec):
    """'m=0,2,6..9' -> [(0, 0), (2, 2), (6, 9)]"""
    for part in spec.split("=")[1].split("(")[0].split(","):
        ends = part.strip().split("..")
        yield int(ends[0]), int(ends[-1])


def main():
    data = json.load(open(sys.argv[1]))
    out = sys.stdout.write
    out("/* Made by tools/make_published_tables.py from the tables printed in [TESTSET]; do not edit. CPU seconds are\n"
        " * those of a 667 MHz Alpha. NAN, -1: not printed. */\n/* clang-format off */\n")
    out("static const dae_published_row rows[] = {\n")
    out("    /* problem, solver, variant, rtol, atol, h0, mescd, scd, steps, accepted, f, jac, lu, seconds, example */\n")
    for r in data["rows"]:
        out("    {%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %d},\n" % (
            text(r["problem"]), text(r["solver"]), text(r.get("variant")), real(r["rtol"]), real(r["atol"]),
            real(r.get("h0")), real(r["mescd"]), real(r["scd"]), count(r["steps"]), count(r["accept"]), count(r["f"]),
            count(r["jac"]), count(r["lu"]), real(r["cpu"]), "example run" in r.get("note", "")))
    out("};\n\n")
    out("/* rtol = 10^-(a + m b), m = 0 .. last; atol and h0: a multiple of rtol, or fixed. */\n")
    out("static const dae_tolerance_range ranges[] = {\n    /* problem, a, b, last, atol, h0, atol_fixed, h0_fixed */\n")
    for name, r in data["ranges"].items():
        atol, h0 = scaled(r["atol"]), scaled(r["h0"])
        out("    {%s, %g, %g, %d, %g, %g, %d, %d},\n" % (text(name), r["a"], r["b"], r["m"], atol[0], h0[0], atol[1],
                                                      h0[1]))
    out("};\n\n")
    out("/* Runs that the report lists as failed: m = first .. last. */\n")
    out("static const struct {\n    const char *problem, *solver;\n    int first, last;\n} failed[] = {\n")
    for name, solvers in data["failed"].items():
        for solver, spec in solvers.items():
            for first, last in runs(spec):
                out("    {%s, %s, %d, %d},\n" % (text(name), text(solver), first, last))
    out("};\n")


main()
