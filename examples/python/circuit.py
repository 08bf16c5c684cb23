"""A circuit: a diode bridge as a DAE of index 1, a jump in the source, and a compiled right-hand side.

    PYTHONPATH=build/python python3 examples/python/circuit.py
"""
# %% A rectifier: source, bridge of four diodes, capacitor and load. Unknowns: voltage of the capacitor, current of the source.
import numpy as np

import daedalus

C, R, RS, I0, UT = 1e-4, 1e3, 10.0, 1e-9, 0.05
LEAK = 1e-6  # of both sides to the ground: something must hold them while all diodes block


def diode(u):
    return I0 * (np.exp(np.minimum(u, 1.5) / UT) - 1)


def source(t):
    return 10 * np.sin(2 * np.pi * 50 * t) * (1.0 if t < 0.05 else 0.5)  # the supply drops at t = 0.05


def circuit(t, y):
    """u over the capacitor; a, b at the two sides of the source: currents balance at both."""
    u, a, b = y
    into = diode(a - u) + diode(b - u)  # through the upper diodes
    return [(into - u / R) / C,
            (source(t) - (a - b)) / RS - diode(a - u) + diode(-a) - LEAK * a,
            -(source(t) - (a - b)) / RS - diode(b - u) + diode(-b) - LEAK * b]


# The times at which the source jumps are told: the method ends a step there and begins anew.
r = daedalus.solve_dae([1, 0, 0], circuit, (0, 0.1), [0, 0, 0], rtol=1e-7, atol=1e-9, discontinuity=[0.05], dense_output=True)
print(f"{r.solver}: {r.stats['accepted']} steps, {r.stats['restarts']} restart")
peak = r.sol(np.linspace(0.03, 0.05, 500))[0]
print(f"output before the drop: {peak.mean():.3f} V, ripple {np.ptp(peak):.3f} V; at the end {r.y[0, -1]:.3f} V")
assert r.success and r.stats["restarts"] == 1 and 7 < peak.mean() < 9 and r.y[0, -1] < peak.mean()

# %% The two bit adding unit of the test set: 350 unknowns, its functions are compiled.
adder = daedalus.open("tba")
run = adder.run(rtol=1e-5, t_end=60.0)
print(f"{adder.title}: n = {adder.n}, index {adder.index}; {run.solver} with {run.linear_algebra}: {run.cpu_seconds:.2f} s")
assert run.success
