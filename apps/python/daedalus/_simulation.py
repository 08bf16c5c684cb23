"""A model that is stepped by hand."""
from __future__ import annotations

import numpy as np

from . import _core
from ._integrator import STATUS


class Simulation:
    """A run of a model, step by step, in its own coordinates; `Model.simulate` and `Integrator.mechanical` make one.

    `step()` takes one accepted step, `advance(t)` goes on to t; both return True while there is more to do (`status`: "running",
    "finished", "event", "cancelled", "failed"). `t`, `t_old`, `y` tell where it is, s["crank.angle"] a component by name, s(t)
    and s(t, 1) solution and derivative inside the last step; `accelerations`, `multipliers`, `residuals`, `energy` what is known
    there. A pickle holds the whole state.

    >>> import daedalus
    >>> s = daedalus.open("plei").simulate(method="dop853")
    >>> while s.t < 1 and s.step():
    ...     pass
    >>> s.method, s.t >= 1, s(1.0).shape
    ('dop853', True, (28,))
    """

    def __init__(self, model, t_end, options, problem=None, events=None, core_events=None):
        self._given = (model, t_end, options)
        self._model, self._events, self._core_events = model, events, core_events
        self._problem = problem or model._core
        self._core = _core.Simulation(self._problem, options, float("nan") if t_end is None else float(t_end), core_events)
        self.t_end = float(model.t_end if t_end is None else t_end)
        self.status, self.message = "running", ""

    def _note(self, code, message):
        self.message = message
        self.status = STATUS.get(code, "failed")
        if code == 0 and self.t == self.t_end:
            self.status = "finished"
        return self.status == "running"

    def _ready(self):
        if self.status in ("finished", "failed"):
            raise RuntimeError("the simulation has come to its end" if self.status == "finished" else self.message)

    def step(self):
        """One accepted step; True while there is more to do."""
        self._ready()
        return self._note(*self._core.advance(None))

    def advance(self, t):
        """Goes on to t; True while there is more to do."""
        self._ready()
        return self._note(*self._core.advance(float(t)))

    def __iter__(self):
        while self.status == "running":
            self.step()
            if self.status != "failed":
                yield self.t, self.y

    def cancel(self):
        """Asks it to stop after the present step; from any thread."""
        self._core.cancel()

    # ---- Looking

    def __getattr__(self, name):
        if name in ("t", "t_old", "method", "formulation", "reason", "coordinates", "linear_algebra", "stats", "energy", "events"):
            return self._core.state()[name]
        raise AttributeError(name)

    @property
    def y(self):
        """The state at t: a copy."""
        return np.frombuffer(self._core.state()["y"]).copy()

    @property
    def residuals(self):
        """Largest residuals of the position, velocity and acceleration constraints at t."""
        return dict(zip(("position", "velocity", "acceleration"), self._core.state()["residuals"]))

    @property
    def accelerations(self):
        """Accelerations of a mechanical system at t."""
        return np.array(self._core.multipliers(self.t)[0])

    @property
    def multipliers(self):
        """Multipliers of a mechanical system at t."""
        return np.array(self._core.multipliers(self.t)[1])

    def __getitem__(self, name):
        return float(self.y[self._model.names.index(name)])

    def __call__(self, t, derivative=0):
        """The solution (or its derivative) at times inside the last step."""
        times = np.asarray(t, dtype=float)
        rows = [np.array(self._core.interpolate(float(x))[int(bool(derivative))]) for x in times.reshape(-1)]
        return rows[0] if times.ndim == 0 else np.array(rows).T

    # ---- Saving

    def save(self):
        """The whole state as bytes."""
        return self._core.save()

    def load(self, data):
        """Goes on from what `save` gave."""
        self._note(*self._core.load(data))

    def __getstate__(self):
        if self._core_events is not None or self._problem is not getattr(self._model, "_core", None):
            raise TypeError("a simulation of functions cannot be pickled; use save() and load()")
        return (self._given, self.save(), self.status, self.message)

    def __setstate__(self, state):
        given, data, status, message = state
        self.__init__(*given)
        self._core.load(data)
        self.status, self.message = status, message

    def __repr__(self):
        return f"<Simulation {self.method}: {self.status}, t = {self.t:g} of {self.t_end:g}>"
