"""Many runs: a sweep over parameters on all cores, samples, and a fit to data.

    PYTHONPATH=build/python python3 examples/python/sweep.py
"""
# %% How does the period of Van der Pol's oscillator grow with mu?
import numpy as np

import daedalus

model = daedalus.open("""model oscillator "Van der Pol"
param mu = 1 in 0 .. 1000
var y = 2, v = 0
y' = v
v' = mu*(1 - y^2)*v - y
solve t = 0 .. 30, rtol = 1e-8
""")


def period(mu):
    """The mean time between upward crossings of zero, after the start has died out."""
    up = daedalus.Event(lambda t, y: y[0], direction=1)
    r = daedalus.solve_ivp(lambda t, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]], (0, 60 + 10 * mu), [2, 0], events=up, rtol=1e-8)
    return np.diff(r.t_events[0])[1:].mean()


for mu in (0.1, 1.0, 5.0):
    print(f"mu = {mu:3.1f}: period {period(mu):.5f}")
assert abs(period(0.1) - 2 * np.pi * (1 + 0.1 ** 2 / 16)) < 1e-4  # the expansion for small mu

# %% The same equation without Python in the loop, over a grid on all cores.
s = model.sweep({"mu": "0.1:10:20:log"})
print(f"{len(s)} runs, {int(s['f'].sum())} evaluations; y at the end for mu = {s['mu'][-1]:g}: {s['y'][-1]:.6f}")
assert (s["status"] == "ok").all()

# %% Uncertain parameters: a thousand samples, the spread of the result.
s = model.sweep(sample={"mu": "normal(1,0.05):1000"}, seed=1)
print(f"mu = {s['mu'].mean():.3f} +- {s['mu'].std():.3f} gives y(30) = {s['y'].mean():.4f} +- {s['y'].std():.4f}")
assert len(s) == 1000 and abs(s["mu"].mean() - 1) < 0.01

# %% Which mu fits these measurements? One-dimensional search over runs.
times = np.linspace(1, 10, 19)
data = daedalus.open(model.text(), mu=1.234).run(t_eval=times).y[0]


def misfit(mu):
    return ((daedalus.open(model.text(), mu=float(mu)).run(t_eval=times).y[0] - data) ** 2).sum()


grid = np.linspace(0.5, 2, 31)
best = grid[np.argmin([misfit(mu) for mu in grid])]
low, high = best - 0.05, best + 0.05
for _ in range(30):  # golden section
    a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
    low, high = (low, b) if misfit(a) < misfit(b) else (a, high)
print(f"mu fitted to the data: {(low + high) / 2:.6f}")
assert abs((low + high) / 2 - 1.234) < 1e-4
