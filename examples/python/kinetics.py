"""Chemical kinetics: from SciPy's call to a DAE, an equation file and the digits that can be trusted.

    PYTHONPATH=build/python python3 examples/python/kinetics.py
"""
# %% Robertson's reaction as everybody writes it: the arguments and the result are those of scipy.integrate.solve_ivp.
import numpy as np

import daedalus


def rates(t, y):
    a, b, c = y
    return [-0.04 * a + 1e4 * b * c, 0.04 * a - 1e4 * b * c - 3e7 * b ** 2, 3e7 * b ** 2]


r = daedalus.solve_ivp(rates, (0, 1e5), [1, 0, 0], rtol=1e-8, atol=1e-12, dense_output=True)
print(f"{r.solver}: {r.reason}")
print(f"{r.stats['accepted']} steps, {r.nfev} calls of f; y(1e5) = {r.y[:, -1]}")

# %% Mass is conserved: one equation can be replaced by it, which makes a DAE with a singular mass matrix.
dae = daedalus.solve_dae([1, 1, 0], lambda t, y: [*rates(t, y)[:2], y.sum() - 1], (0, 1e5), [1, 0, 0], rtol=1e-8, atol=1e-12)
print("largest loss of mass:", f"{abs(r.y.sum(axis=0) - 1).max():.1e} (ODE), {abs(dae.y.sum(axis=0) - 1).max():.1e} (DAE)")
assert abs(dae.y.sum(axis=0) - 1).max() < 1e-12
assert np.allclose(r.y[:, -1], dae.y[:, -1], rtol=1e-5)

# %% When is half of A gone? An event, and the solution as a function of time.
half = daedalus.solve_ivp(rates, (0, 1e5), [1, 0, 0], events=daedalus.Event(lambda t, y: y[0] - 0.5, terminal=True, name="half"),
                          rtol=1e-8, atol=1e-12)
t_half = half.t_events[0][0]
print(f"half of A is gone at t = {t_half:.6g}; there its rate is {r.sol(t_half, 1)[0]:.4g}")
assert abs(r.sol(t_half)[0] - 0.5) < 1e-6

# %% The same as a text that needs no Python in the loop: names, units, exact derivatives.
model = daedalus.open("""model robertson
param k1 = 0.04 [1/s], k2 = 1e4, k3 = 3e7
var A = 1, B = 0, C
A' = -k1*A + k2*B*C
B' =  k1*A - k2*B*C - k3*B^2
mass: A + B + C = 1
solve t = 0 .. 1e5 [s], rtol = 1e-8, atol = 1e-12
""")
run = model.run()
print(f"equations: A = {run.A[-1]:.8g}, {run.cpu_seconds * 1e3:.2f} ms by {run.solver}")
assert np.isclose(run.A[-1], r.y[0, -1], rtol=1e-5)

# %% Which digits are right? Two methods that have nothing in common, until they agree.
reference = model.reference(9, max_seconds=10)
print("digits that can be trusted:", np.round(reference["digits"], 1), "by", " and ".join(reference["methods"]))
assert reference["digits"].min() > 6
