"""A mechanism built in Python: check it, run it, see it move, find its frequencies.

    PYTHONPATH=build/python python3 examples/python/mechanism.py [FOLDER]

writes mechanism.html (the animation), mechanism.csv and mechanism.json into FOLDER (default: the present one).
"""
# %% A four-bar linkage with a spring and a damper.
import pathlib
import sys

import numpy as np

import daedalus

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
m = daedalus.Mechanism("linkage", gravity=[0, -9.81], doc="Four-bar linkage with a spring", A="100[mm]", B="300[mm]", D="350[mm]", k=400.0)
m.body("crank", mass=0.2, inertia="0.2*A^2/12", r=[0, "A/2"], angle="90[deg]")
m.body("coupler", mass=0.5, inertia="0.5*B^2/12", r=["B/2", "A"])
m.body("rocker", mass=0.4, inertia="0.4*0.25^2/12", r=["(B+D)/2", 0.1], angle="100[deg]")
m.point("O", "ground", [0, 0]).point("Q", "ground", ["D", 0])
m.point("a0", "crank", ["-A/2", 0]).point("a1", "crank", ["A/2", 0])
m.point("b0", "coupler", ["-B/2", 0]).point("b1", "coupler", ["B/2", 0])
m.point("c0", "rocker", [-0.125, 0]).point("c1", "rocker", [0.125, 0])
m.joint("pin_O", "revolute", "O", "a0").joint("pin_A", "revolute", "a1", "b0")
m.joint("pin_B", "revolute", "b1", "c1").joint("pin_Q", "revolute", "Q", "c0")
m.force("spring", "spring", a="Q", b="b0", k="k", c=2, l0=0.3)
m.sensor("load", "hypot(pin_O.reaction.x, pin_O.reaction.y)", "N")
m.simulation(t1=2, rtol=1e-7, output={"every": 0.01})
m.to_json(folder / "mechanism.json")

# %% What is in it? The start is assembled: bodies are moved until all joints close.
model = m.open()
check = model.check()
print(f"{check['bodies']} bodies, {check['joints']} joints, {check['loops']} loop, {check['freedom']} degree of freedom")
print(f"a run would take {check['method']} on {check['formulation']}: {check['reason']}")
assert check["freedom"] == 1

# %% Run it. Columns have names and units; constraints are kept, energy is accounted for.
r = model.run()
print(f"crank turns to {r.crank.angle[-1]:.4f} {r.unit('crank.angle')}, load of the main bearing at most {r.load.max():.2f} {r.load.unit}")
print(f"drift {r.drift['position']:.1e} m, energy balance within {r.energy['largest']:.1e} J of {r.energy['start']:.3f} J")
assert r.success and r.drift["position"] < 1e-9 and r.energy["largest"] < 1e-3
r.animation(folder / "mechanism.html")
r.to_csv(folder / "mechanism.csv")

# %% Where does it come to rest, and how fast does it swing there?
rest = model.analyze("static", y=r.y_end)
swing = model.analyze("eigenvalues", y=rest["y"])
print(f"at rest the crank stands at {rest['crank.angle']:.4f} rad and swings with {swing['frequencies'].max():.3f} Hz")
assert len(swing["eigenvalues"]) == 2

# %% Parameters are live, and a simulation can be stepped by hand.
model["k"] = 800
s = model.simulate()
while s.t < 0.5 and s.step():
    pass
print(f"with a spring of twice the stiffness, at t = {s.t:.4f}: crank at {s['crank.angle']:.4f} rad, residual {s.residuals['position']:.1e}")
assert np.isfinite(s.y).all()
