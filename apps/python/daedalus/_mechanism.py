"""Building mechanisms in Python, with the names of the model files."""
from __future__ import annotations

import json

import numpy as np


def _plain(x):
    """What JSON can hold."""
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, (list, tuple)):
        return [_plain(v) for v in x]
    if isinstance(x, dict):
        return {k: _plain(v) for k, v in x.items()}
    return x


class Mechanism:
    """A mechanism that is built by calls. Names and fields are those of the model files (docs/modelling.md), numbers can be
    texts with parameters and units; what is wrong is told by `open`, with its place.

    >>> import daedalus
    >>> m = daedalus.Mechanism("pendulum", gravity=[0, -9.81], L="1[m]")
    >>> _ = m.body("rod", mass=1, inertia="1/12*L^2", r=["L/2", 0])
    >>> _ = m.point("O", "ground", [0, 0]).point("P", "rod", ["-L/2", 0])
    >>> _ = m.joint("pin", "revolute", a="O", b="P")
    >>> _ = m.sensor("height", "rod.y", "m").simulation(t1=1, rtol=1e-8)
    >>> r = m.open().run()
    >>> r.success, r.drift["position"] < 1e-8
    (True, True)
    """

    def __init__(self, name="mechanism", dimension=2, *, gravity=None, doc=None, **parameters):
        self.data = {"daedalus": 1, "kind": "mechanism", "name": name, "dimension": dimension}
        if doc:
            self.data["doc"] = doc
        self.data["parameters"] = {}
        self.parameter(**parameters)
        if gravity is not None:
            self.data["gravity"] = _plain(gravity)

    def _add(self, kind, entry):
        self.data.setdefault(kind, []).append({k: _plain(v) for k, v in entry.items() if v is not None})
        return self

    def parameter(self, **values):
        """Parameters: numbers, or texts with units, L="150[mm]"."""
        self.data["parameters"].update({k: _plain(v) for k, v in values.items()})
        return self

    def body(self, name, mass, inertia, **fields):
        """A body: r, angle or q, v, omega, fix, shapes."""
        return self._add("bodies", {"name": name, "mass": mass, "inertia": inertia, **fields})

    def point(self, name, body, r, **fields):
        """A point of a body (or of "ground"): angle, q."""
        return self._add("points", {"name": name, "body": body, "r": r, **fields})

    def joint(self, name, type, a=None, b=None, **fields):
        """A joint between the points a and b: axis, length, ratio, pitch, radius, joints, friction."""
        return self._add("joints", {"name": name, "type": type, "a": a, "b": b, **fields})

    def force(self, name, type, **fields):
        """A force: a, b, joint, body, k, c, l0, value, axis, frame, mu, radius, min, max, ..."""
        return self._add("forces", {"name": name, "type": type, **fields})

    def driver(self, name, joint, value, **fields):
        """A joint coordinate that follows an expression of t."""
        return self._add("drivers", {"name": name, "joint": joint, "value": value, **fields})

    def sensor(self, name, value, unit=None, **fields):
        """An expression that becomes a column of results."""
        return self._add("sensors", {"name": name, "value": value, "unit": unit, **fields})

    def event(self, name, when, do=None, **fields):
        """An event where `when` passes zero: direction, do=[{"record": True}, {"stop": True}, {"impact": {...}}]."""
        return self._add("events", {"name": name, "when": when, "do": do or [{"record": True}], **fields})

    def initial(self, **fields):
        """How the start is made consistent."""
        self.data["initial"] = {k: _plain(v) for k, v in fields.items()}
        return self

    def simulation(self, **fields):
        """What a run takes when nothing is said: t0, t1, solver, formulation, rtol, atol, output={"every": 0.01}."""
        self.data["simulation"] = {**self.data.get("simulation", {}), **{k: _plain(v) for k, v in fields.items()}}
        return self

    def to_json(self, path=None, indent=1):
        """The model file; to a file, or returned."""
        text = json.dumps({k: v for k, v in self.data.items() if v != {}}, indent=indent, ensure_ascii=False) + "\n"
        if path is None:
            return text
        from ._run import write_aside
        write_aside(path, text.encode())
        return None

    def open(self, **parameters):
        """The model, ready to run."""
        from ._model import Model
        return Model(self.to_json(), parameters)
