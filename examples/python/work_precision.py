"""Which method for my problem? Work against precision, and ways to integrate a mechanism side by side.

    PYTHONPATH=build/python python3 examples/python/work_precision.py
"""
# %% A problem of the test set has a reference solution: digits are counted against it.
import daedalus

hires = daedalus.open("hires")
w = hires.workprec(["radau5", "mebdfdae", "lsoda", "vode"], digits=(4, 9, 1))
print(f"{hires.title}, n = {hires.n}")
for solver, (digits, work) in w.lines("f").items():
    print(f"  {solver:9s}", "  ".join(f"{d:4.1f} digits {int(n):5d} f" for d, n in zip(digits, work)))
best = {s: min((n for d, n in zip(*line) if d >= 5), default=None) for s, line in w.lines("f").items()}
print("evaluations for five digits:", best)
assert best["radau5"] and best["mebdfdae"]

# %% With matplotlib the diagram is one call; here as a check that the data are right.
try:
    import matplotlib
    matplotlib.use("Agg")
    w.plot().figure.savefig("work_precision.png")
    print("work_precision.png written")
except ImportError:
    print("(matplotlib is not installed: no picture)")

# %% A mechanism can be integrated in many forms: projected, index 2, minimal coordinates, ...
table = daedalus.open("seven-body").compare(["phem56", "mexx", "radau5/index2", "dop853/statespace", "dopri5/index1+project"], rtol=1e-7)
print(f"{'way':24s} {'digits':>7s} {'f':>7s} {'drift':>9s}")
for row in table:
    print(f"{row['label']:24s} {row['scd']:7.2f} {row['f']:7d} {row['position_max']:9.1e}")
assert table["scd"].min() > 3 and max(table["position_max"]) < 1e-4
