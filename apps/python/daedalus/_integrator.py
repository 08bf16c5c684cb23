"""Stepping by hand."""
from __future__ import annotations

import numpy as np

from . import _core
from ._events import as_list, core_events, name_of
from ._ivp import ide_description, ode_description, ode_options
from ._result import EventRecord, Solution
from ._system import method_name

STATUS = {0: "running", 1: "event", 2: "cancelled"}


class Integrator:
    """One run of y' = f(t, y), step by step; `Integrator.dae` and `Integrator.ide` take the other kinds.

    Arguments are those of `solve_ivp`. After creation it stands at t0. Then

    * `step()` takes one accepted step towards the end, `advance(t)` goes on to t; both return True while it can go on
      (`status` is "running"; else "finished", "event", "cancelled" or "failed", and `message` says why),
    * `t`, `t_old`, `y` tell where it is, `it(t)` and `it(t, 1)` give solution and derivative inside the last step,
    * `stats`, `method`, `reason`, `events` tell what it did.

    A pickle holds the whole state, as long as the functions can be pickled: going on from it gives the same numbers, bit for
    bit; `save()` and `load(data)` are the same without the functions. `for t, y in integrator:` goes over the steps.

    >>> import daedalus
    >>> it = daedalus.Integrator(lambda t, y: -y, (0, 1), [1.0], method="dopri5")
    >>> while it.step():
    ...     pass
    >>> it.status, it.t, round(float(it.y[0]), 5)
    ('finished', 1.0, 0.36788)
    """

    _kind = "ode"

    def __init__(self, fun, t_span, y0, method="auto", events=None, *, yp0=None, rtol=None, atol=None, first_step=None,
                 max_step=None, min_step=None, mass=None, record=False, _kind="ode", **options):
        self._given = (fun, t_span, np.array(y0), method, events,
                       dict(yp0=yp0, rtol=rtol, atol=atol, first_step=first_step, max_step=max_step, min_step=min_step,
                            mass=mass, record=record, _kind=_kind, **options))
        name = method_name(method)
        structure = {k: options.pop(k) for k in ("vectorized", "args", "jac", "jac_sparsity", "lband", "uband", "dfdt", "user",
                                                 "second_order", "no_velocities", "index", "algebraic") if k in options}
        if _kind == "ide":
            d = ide_description(fun, t_span, y0, yp0, **structure)
        else:
            d = ode_description(fun, t_span, y0, name, mass=mass, **structure)
        self._d = d
        self._events = as_list(events) or []
        self._problem = d.problem()
        self._record = core_events(self._problem, self._events, d.empty, d.is_complex, d.n)
        if d.n == 0 or d.t0 == d.t1:
            raise ValueError("an integrator needs an interval and at least one equation")
        self._core = _core.Integrator(self._problem, ode_options(name, rtol, atol, first_step, max_step, min_step, d, options),
                                      self._record, bool(record))
        self.t0, self.t_end = d.t0, d.t1
        self.status, self.message = "running", ""
        code, message = self._core.start(d.t0, d.t1, d.y0, d.spec.get("yp0"))
        self._note(code, message)
        if self.status == "failed":
            raise _core.Error(message)

    @classmethod
    def dae(cls, M, fun, t_span, y0, method="auto", events=None, **options):
        """An integrator of M y' = f(t, y)."""
        return cls(fun, t_span, y0, method, events, mass=M, **options)

    @classmethod
    def ide(cls, F, t_span, y0, yp0=None, method="auto", events=None, **options):
        """An integrator of F(t, y, y') = 0."""
        return cls(F, t_span, y0, method, events, yp0=yp0, _kind="ide", **options)

    @staticmethod
    def mechanical(mass, force, t_span, p0, v0, constraint=None, jacobian=None, *, method="auto", formulation=None, rtol=None,
                   atol=None, first_step=None, max_step=None, min_step=None, u0=None, kinematics=None, velocity=None, gamma=None,
                   dynamics=None, position_jacobian=None, args=None, **options):
        """A `Simulation` of a constrained mechanical system; arguments as in `solve_mechanical`."""
        from ._ivp import mechanical_description
        from ._simulation import Simulation
        name = method_name(method)
        d = mechanical_description(mass, force, t_span, p0, v0, constraint=constraint, jacobian=jacobian, u0=u0,
                                   kinematics=kinematics, velocity=velocity, gamma=gamma, dynamics=dynamics,
                                   position_jacobian=position_jacobian, args=args)
        if formulation is not None:
            options["formulation"] = formulation
        settings = ode_options(name, rtol, atol, first_step, max_step, min_step, d, options)
        return Simulation(d, d.t1, settings, d.problem())

    # ---- Going on

    def _note(self, code, message):
        self.message = message
        self.status = STATUS.get(code, "failed")
        if code == 0 and self.t == self.t_end:
            self.status = "finished"

    def step(self):
        """One accepted step; True while there is more to do."""
        if self.status == "finished":
            raise RuntimeError("the integration has come to its end")
        if self.status == "failed":
            raise RuntimeError(f"the integration failed: {self.message}")
        self._note(*self._core.step())
        return self.status == "running"

    def advance(self, t):
        """Goes on to t, which must not lie beyond the end; True while there is more to do."""
        if self.status == "failed":
            raise RuntimeError(f"the integration failed: {self.message}")
        self._note(*self._core.advance(float(t)))
        return self.status == "running"

    def __iter__(self):
        while self.status == "running":
            self.step()
            if self.status != "failed":
                yield self.t, self.y

    def cancel(self):
        """Asks it to stop after the present step; from any thread."""
        self._core.cancel()

    # ---- Looking

    @property
    def t(self):
        """How far it has come."""
        return self._core.state()[0]

    @property
    def t_old(self):
        """Where the last step began."""
        return self._core.state()[1]

    @property
    def y(self):
        """The state at t: a copy."""
        y = np.frombuffer(self._core.state()[2]).copy()
        return y.view(complex) if self._d.is_complex else y

    @property
    def method(self):
        """The method that runs."""
        return self._core.state()[3]

    @property
    def reason(self):
        """Why "auto" took it."""
        return self._core.state()[4]

    @property
    def stats(self):
        """Counts: steps, rejected, f, jac, lu, ..."""
        return self._core.stats()

    @property
    def events(self):
        """The events so far: time, name, number, state."""
        if self._record is None:
            return []
        t, y, index = self._record.happened()
        t = np.frombuffer(t)
        y = np.frombuffer(y).reshape(len(t), self._d.n)
        if self._d.is_complex:
            y = y.view(complex)
        return [EventRecord(float(a), name_of(self._events[i], i), i, s) for a, i, s in zip(t, index, y)]

    def __call__(self, t, derivative=0):
        """The solution (or its derivative) at times inside the last step."""
        times = np.asarray(t, dtype=float)
        y = np.asarray(self._core.interpolate(np.ascontiguousarray(times.reshape(-1)), bool(derivative)))
        if self._d.is_complex:
            y = y.view(complex)
        return y[0].copy() if times.ndim == 0 else y.T

    def dense(self):
        """The solution over the last step, to keep (needs record=True)."""
        return Solution(self._core.dense(), self._d.is_complex)

    # ---- Saving

    def save(self):
        """The whole state of the run as bytes."""
        import pickle
        return pickle.dumps((self._core.save(), self._record.happened() if self._record else None, self.status, self.message))

    def load(self, data):
        """Goes on from what `save` gave, in an integrator of the same system, method and options."""
        import pickle
        state, happened, self.status, self.message = pickle.loads(data)
        self._core.load(state)
        if happened is not None and self._record is not None:
            self._record.restore(*happened)

    def __getstate__(self):
        return (self._given, self.save())

    def __setstate__(self, state):
        (fun, t_span, y0, method, events, options), data = state
        self.__init__(fun, t_span, y0, method, events, **options)
        self.load(data)

    def __repr__(self):
        return f"<Integrator {self.method}: {self.status}, t = {self.t:g} of {self.t0:g} .. {self.t_end:g}>"
