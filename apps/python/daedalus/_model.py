"""Models: problems of the test set, mechanisms, equation files, opened by name, file or text."""
from __future__ import annotations

import json
import os
import pathlib

import numpy as np

from . import _core
from . import _derivatives
from ._result import ConstantSolution, MESSAGES, OdeResult, Solution
from ._run import ModelRun
from ._studies import Comparison, Sweep, WorkPrecision, sweep_lines
from ._system import further_options, method_name, tolerances


def _text(value):
    """A parameter as text that reads back exactly."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return repr(float(value))


def open(what, **parameters):
    """A model: the name of a problem of the test set, a file, or the text of one; with parameters set.

    Numbers can have units: L1="200[mm]".

    >>> import daedalus
    >>> m = daedalus.open("vdpol-mu", mu=10)
    >>> m.kind, m.n, m.parameters["mu"]
    ('ODE', 2, 10.0)
    >>> r = m.run(rtol=1e-8)
    >>> r.success
    True
    """
    if isinstance(what, os.PathLike):
        what = os.fspath(what)
        if not os.path.dirname(what):
            what = os.path.join(".", what)
    elif isinstance(what, dict):
        what = json.dumps(what)
    return Model(what, parameters)


class Parameters(dict):
    """The parameters of a model by name; to set one is to change the model."""

    def __init__(self, model, values):
        super().__init__(values)
        self._model = model

    def __setitem__(self, name, value):
        self._model._set({name: value})

    def update(self, *args, **kw):
        self._model._set(dict(*args, **kw))


class Model:
    """A problem with names and units; `open` makes one.

    `names`, `units`, `parameters` (live: model.parameters["L2"] = 0.3, or model["L2"] = 0.3), `t0`, `t_end`, `rtol`, `atol`, `y0`,
    `doc`, `warnings` tell what it is. `check()` looks at it, `run()` runs it, `simulate()` steps by hand, `analyze()` finds
    equilibrium and frequencies; `sensitivity()`, `gradient()`, `objective()` differentiate the solution, `fit()` and `optimize()` use
    that; `steady()`, `branch()`, `periodic()` find where it stays; `compare()`, `workprec()`, `sweep()`, `reference()` are studies of many runs.
    """

    def __init__(self, what, settings, start=None):
        self._what = what
        self._settings, self._start = {}, start or (None, {})
        self._set(settings)

    def _set(self, changes, start=None):
        settings = {**self._settings, **self._texts(changes)}
        t0, values = start or self._start
        core = _core.Problem.open(self._what, settings)  # first: what is wrong leaves the model as it was
        if t0 is not None or values:
            core.start(float("nan") if t0 is None else float(t0), {k: _text(v) for k, v in values.items()})
        self._settings, self._core, self._start = settings, core, (t0, values)
        self._about = core.about()
        self.parameters = Parameters(self, {p["name"]: self._value(p) for p in self._about["parameters"]})

    def _texts(self, values):
        """Values of parameters as the library reads them: plain numbers are SI, also where an equation file asks for a unit."""
        if all(isinstance(v, str) for v in values.values()):
            return dict(values)
        about = self.__dict__.get("_about") or _core.Problem.open(
            self._what, {**self._settings, **{k: v for k, v in values.items() if isinstance(v, str)}}).about()
        units = {p["name"]: p["unit"] for p in about["parameters"]} if about["source"] == "equations" else {}
        return {k: v if isinstance(v, str) else f"{_text(v)}[{units[k]}]" if units.get(k) else _text(v)
                for k, v in values.items()}

    @staticmethod
    def _value(p):
        return p["choices"].split("|")[int(p["value"])] if p["choices"] else p["value"]

    def __getattr__(self, name):
        about = self.__dict__.get("_about", {})
        if name in about and name not in ("y0", "reference"):
            return about[name]
        raise AttributeError(name)

    def __dir__(self):
        return [*super().__dir__(), *self._about]

    def __setitem__(self, name, value):
        self._set({name: value})

    def __getitem__(self, name):
        return self.parameters[name]

    def __repr__(self):
        return f"<Model {self.name}: {self.kind}, n = {self.n}, t = {self.t0:g} .. {self.t_end:g}>"

    def __reduce__(self):
        return (Model, (self._what, self._settings, self._start))

    def _repr_html_(self):
        from ._html import model_html
        return model_html(self)

    @property
    def y0(self):
        """The initial values; for a mechanism those after assembly."""
        return np.array(self._about["y0"])

    @property
    def reference_solution(self):
        """The solution at t_end that runs are scored against, or None."""
        r = self._about["reference"]
        return None if r is None else np.array(r)

    def start(self, values=None, t0=None, **more):
        """Another start: values of components by name, and the time. Returns the model.

        >>> import daedalus
        >>> daedalus.open("vdpol-mu").start(y1=1.5, t0=1).y0.tolist()
        [1.5, 0.0]
        """
        now, old = self._start
        self._set({}, (now if t0 is None else t0, {**old, **(values or {}), **more}))
        return self

    def with_values(self, values):
        """Another model with these values of parameters ("k1") and initial values ("x(0)")."""
        names = self.parameters
        base = {k: k[:-3] if k.endswith("(0)") else k for k in values}
        first = {base[k]: v for k, v in values.items() if k not in names}
        t0, old = self._start
        return Model(self._what, {**self._settings, **self._texts({k: v for k, v in values.items() if k in names})},
                     (t0, {**old, **first}))

    def value_of(self, name):
        """The value of a parameter ("k1") or of a component at the start ("x(0)")."""
        if name in self.parameters:
            return self.parameters[name]
        base = name[:-3] if name.endswith("(0)") else name
        if base not in self.names:
            raise KeyError(f"there is no parameter and no component {name}")
        return float(self.y0[self.names.index(base)])

    def text(self):
        """The text it was made of; None for a problem of the test set."""
        if self._about["source"] == "testset":
            return None
        if "\n" in self._what or "{" in self._what:
            return self._what
        return pathlib.Path(self._what).read_text(encoding="utf-8")

    # ---- One run

    def _options(self, method, formulation, rtol, atol, options):
        out = {}
        if method is not None:
            out["method"] = method_name(method)
        if formulation is not None:
            out["formulation"] = formulation
        out.update(tolerances(rtol, atol, self.n))
        if rtol is not None and atol is None and self.rtol > 0 and self.atol > 0 and np.ndim(rtol) == 0:
            out["atol"] = self.atol / self.rtol * float(rtol)  # the problem's ratio
        out.update(further_options(options))
        return out

    def run(self, t_end=None, *, method=None, formulation=None, rtol=None, atol=None, t_eval=None, every=None, points=None,
            max_gap=None, dense_output=False, progress=None, checkpoint=False, resume=None, events=True, sensitivity=None,
            integral=None, **options):
        """Runs the model; what is not given is as the model says.

        t_eval: times at which the solution is wanted; every: an interval of output; points: so many equidistant points; max_gap:
        every step, and points between that are no further apart; else what the model says, or every step. events: more events in
        words, "slider.x=0.3:stop" (NAME or NAME=VALUE, with :stop, :rising, :falling); False: none, not even the model's. The result
        has the columns by name: r["slider.x"], r.slider.x. sensitivity: names of parameters and initial values by which the
        solution is differentiated; then r.sensitivity["k1"] is dy/dk1 at the times of r.t, which are held fixed; r.derived_sensitivity["force"]["k1"]
        that of a sensor or reaction; r.event_sensitivity[i]["k1"] is that of
        the time of event i, and where an event ended the run r.sensitivity_total["k1"] that of the state at it, which moves with it.
        integral: texts, as "F*v", of which
        integrals along the run are wanted: r.integral["F*v"] at the end, r.integral_along over r.t, and with sensitivity also
        r.integral_sensitivity["F*v"]["k1"].

        >>> import daedalus
        >>> r = daedalus.open("hires").run(rtol=1e-6, method="radau5")
        >>> r.solver, r.scd > 4
        ('radau5', True)
        """
        from ._ivp import progress_call
        end = self.t_end if t_end is None else float(t_end)
        call, seconds = progress_call(progress)
        trajectory, count, interval = 1, 1, 0.0
        if every is None and points is None and max_gap is None and t_eval is None and self._about["every"] > 0:
            every = self._about["every"]
        if every is not None:
            points = max(2, min(1_000_000, 1 + int(np.floor(abs(end - self.t0) / float(every) + 0.5))))
        if points is not None:
            trajectory, count = 2, int(points)
        elif max_gap is not None:
            trajectory, interval = 3, float(max_gap)
        if t_eval is not None:
            t_eval = np.ascontiguousarray(t_eval, dtype=float)
            if len(t_eval) == 0:
                t_eval = None
        more, by = {}, None
        if sensitivity is not None:
            by = _derivatives.names_of(sensitivity)
            if t_eval is None:
                more["sensitivity"] = by
        texts = [integral] if isinstance(integral, str) else list(integral or [])
        if texts:
            more["integral"] = texts
            if by and t_eval is not None:
                raise ValueError("integrals and sensitivities together need the trajectory: leave t_eval out")
        if events is not True:
            more["events"] = [events] if isinstance(events, str) else list(events) if events else False
        try:
            raw = _core.run(self._core, self._options(method, formulation, rtol, atol, options), t_end=end, at=t_eval,
                            trajectory=trajectory, points=count, interval=interval, dense=bool(dense_output), progress=call,
                            every=seconds, checkpoint=checkpoint, resume=resume, **more)
        finally:
            if hasattr(call, "close"):
                call.close()
        r = self._result(raw, t_eval, dense_output)
        if "integral" in raw:
            r["integral"] = dict(zip(texts, np.asarray(raw["integral"]).tolist()))
            r["integral_error"] = dict(zip(texts, np.asarray(raw["integral_error"]).tolist()))
            if raw["point_q"] is not None:
                r["integral_along"] = dict(zip(texts, np.asarray(raw["point_q"]).T))
            if "integral_s" in raw:
                slope = np.asarray(raw["integral_s"])
                r["integral_sensitivity"] = {x: dict(zip(by, slope[:, k].tolist())) for k, x in enumerate(texts)}
        if by and "point_s" in raw:
            table = np.asarray(raw["point_s"]).reshape(len(r.t), len(by), self.n)
            r["sensitivity"] = _derivatives.Sensitivity(by, self.names, table, np.array(raw["sensitivity_end"]).T)
            if "point_derived_s" in raw:
                columns = self._about["columns"]
                slope = np.asarray(raw["point_derived_s"]).reshape(len(r.t), len(by), len(columns))
                r["derived_sensitivity"] = {x: dict(zip(by, slope[:, :, k].T)) for k, x in enumerate(columns)}
            if "event_s" in raw:
                r["event_sensitivity"] = [dict(zip(by, row)) for row in np.asarray(raw["event_s"]).tolist()]
            if "sensitivity_total" in raw:
                r["sensitivity_total"] = dict(zip(by, np.array(raw["sensitivity_total"])))
        elif by and r.success:
            r["sensitivity"] = self.sensitivity(by, t_eval=t_eval, t_end=end, method=method, formulation=formulation, rtol=rtol,
                                                atol=atol, events=events, **options).sensitivity
        return r

    def _result(self, raw, t_eval, dense_output):
        status = raw["status"]
        t, y = (np.asarray(raw["at_t"]), np.asarray(raw["at_y"]).T) if t_eval is not None else (
            np.asarray(raw["t"]), np.asarray(raw["y"]).T)
        r = ModelRun(self, raw["result"], t, y)
        r.update(sol=None, status=status if status in (0, 1, 2) else -1, message=MESSAGES.get(status, raw["message"]),
                 success=status in (0, 1), word=raw["word"], solver=raw["solver"], formulation=raw["formulation"],
                 reason=raw["reason"], form_text=raw["form_text"], linear_algebra=raw["linear_algebra"], stats=raw["stats"],
                 scd=raw["scd"], mescd=raw["mescd"], rtol=raw["rtol"], atol=raw["atol"], nfev=raw["stats"]["f"],
                 njev=raw["stats"]["jac"], nlu=raw["stats"]["lu"], cpu_seconds=raw["cpu_seconds"], events=raw["record"],
                 energy=raw["balance"], drift=None)
        if self._about["nv"]:
            r["drift"] = {k: raw["stats"][k + "_residual"] for k in ("position", "velocity", "acceleration")}
            if t_eval is not None:
                r.update(a=np.asarray(raw["at_a"]).T, lam=np.asarray(raw["at_lambda"]).T)
        r["y_end"] = np.array(raw["last_y"])
        r["t_end"] = raw["t_last"]
        if "checkpoint" in raw:
            r["checkpoint"] = raw["checkpoint"]
        if dense_output:
            r["sol"] = Solution(raw["solution"]) if "solution" in raw else ConstantSolution(self.t0, self.y0)
        return r

    # ---- Looking at it

    def check(self):
        """What is in it, what looks wrong, and what a run would take: a dict. For mechanisms with topology, freedom, redundant
        constraints.

        >>> import daedalus
        >>> daedalus.open("andrews").check()["index"]
        3
        """
        a = self._about
        out = {k: a[k] for k in ("name", "kind", "n", "index", "warnings")}
        if a["is_mechanism"]:
            out.update(self._core.topology())
        s = self.simulate()
        out.update(method=s.method, formulation=s.formulation, reason=s.reason)
        return out

    def evaluate(self, t=None, y=None, *, yprime=None, jacobian=False):
        """The functions of the problem at a point: f, mass, constraints, with jacobian=True also their derivatives."""
        y = self.y0 if y is None else np.asarray(y, dtype=float)
        state = {"t": self.t0 if t is None else float(t)}
        a = self._about
        if self.kind == "mechanical":
            np_, nv = a["np"], a["nv"]
            state.update(p=y[:np_].tolist(), v=y[np_:np_ + nv].tolist(), u=y[np_ + nv:].tolist())
        else:
            state["y"] = y.tolist()
        if yprime is not None:
            state["yprime"] = np.asarray(yprime, dtype=float).tolist()
        answer = json.loads(self._core.evaluate(json.dumps(state), bool(jacobian)))
        return {k: np.array(v) if isinstance(v, list) else v for k, v in answer.items()}

    def analyze(self, what="static", *, t=None, y=None):
        """Mechanisms: "static" (equilibrium), "kinematics" (a driven mechanism at time t), "eigenvalues" of small motions.

        y: a state to begin with; None: the initial values. The answer is a dict with the state `y`, its columns by name and,
        for eigenvalues, `eigenvalues` and `frequencies` in Hz.
        """
        t = self.t0 if t is None else float(t)
        y = self.y0 if y is None else np.ascontiguousarray(y, dtype=float)
        if what not in ("static", "kinematics", "eigenvalues"):
            raise ValueError(f'"{what}" is no analysis; there are "static", "kinematics", "eigenvalues"')
        if what != "eigenvalues":
            y = np.array(self._core.pose("equilibrium" if what == "static" else "kinematics", t, y))
        out = {"t": t, "y": y, **dict(zip(self.names, map(float, y)))}
        columns = self._core.columns(t, y)
        if columns is not None:
            out.update(zip(self._about["columns"], map(float, np.asarray(columns))))
        if what == "eigenvalues":
            values = np.array(self._core.eigenvalues(t, y))
            out["eigenvalues"] = values
            out["frequencies"] = np.unique(np.round(np.abs(values.imag[values.imag > 0]) / (2 * np.pi), 12))
        return out

    def simulate(self, t_end=None, *, method=None, formulation=None, rtol=None, atol=None, **options):
        """Steps by hand: a `Simulation` in the coordinates of the model."""
        from ._simulation import Simulation
        return Simulation(self, t_end, self._options(method, formulation, rtol, atol, options))

    # ---- Derivatives of the solution

    def sensitivity(self, names, *, t_eval=None, t_end=None, method=None, formulation=None, rtol=None, atol=None, mode="auto",
                    error_control=True, events=True, **options):
        """The solution and its derivatives by parameters ("k1") and initial values ("x(0)").

        t_eval: times; None: every step. mode: "columns" (the equations of the derivatives beside the system), "abreast" (runs side
        by side with the same steps), "auto". error_control: whether the errors of the derivatives control the steps too. The result
        has `t`, `y`, `sensitivity` (s["k1"] of the shape of y), `sensors` (values and derivatives of sensors and reactions at
        t), `events` (time, name, derivatives of the time by name), `a` and `lam` (derivatives of accelerations and multipliers at
        the end), `value` of each name, `mode`, `solver`, `stats`.

        >>> import daedalus
        >>> r = daedalus.open("vdpol-mu", mu=2).sensitivity(["mu", "y1(0)"], t_eval=[1.0, 2.0], rtol=1e-8)
        >>> r.sensitivity["mu"].shape, r.success
        ((2, 2), True)
        """
        names = _derivatives.names_of(names)
        t_eval = None if t_eval is None else np.atleast_1d(np.asarray(t_eval, dtype=float))
        end = float(self.t_end if t_end is None else t_end)
        if t_end is None and t_eval is not None and len(t_eval):
            end = float(t_eval[-1])
        if events not in (True, False):
            raise ValueError("events: True (those of the model) or False (none)")
        core = _core.Sensitivity(self._core, names, self._options(method, formulation, rtol, atol, options), end, mode, 0.0,
                                 not error_control, None if events else False, None, None)
        t, y, s, sensors, status, message = _derivatives.run_sensitivity(core, t_eval, 1 if end >= self.t0 else -1, end)
        about = core.about()
        r = OdeResult(t=np.array(t), y=np.array(y).reshape(len(t), self.n).T,
                      sensitivity=_derivatives.Sensitivity(names, self.names, np.array(s).reshape(len(t), len(names), self.n),
                                                           np.array(core.point()[2]).T),
                      value=dict(zip(names, about["value"])), mode=about["mode"], solver=about["solver"],
                      formulation=about["formulation"], reason=about["reason"], stats=about["stats"],
                      events=[(te, name, dict(zip(names, np.asarray(d).tolist()))) for te, name, d in about["events"]],
                      status=status if status in (0, 1, 2) else -1, success=status in (0, 1),
                      message=MESSAGES.get(status, message))
        if sensors and sensors[0] is not None:
            value = np.array([np.asarray(v) for v, _ in sensors])
            slope = np.array([np.asarray(d) for _, d in sensors])
            r["sensors"] = {name: (value[:, k], dict(zip(names, slope[:, :, k].T)))
                            for k, name in enumerate(self._about["columns"])}
        if self._about["nv"] and status >= 0:
            a, lam = core.multipliers()
            r.update(a=np.array(a).T, lam=np.array(lam).T)
        return r

    def objective(self, loss, names, *, t_eval=None, mode="auto", **options):
        r"""A loss of the solution as a function of parameters with its gradient: an `Objective` f, f(x) = (value, gradient).

        loss(y) gets the solution at the times t_eval, an array (n, len(t_eval)) (None: at the end), and gives a number, or the
        pair of it and its derivatives by y, of the same shape. mode: "forward" costs with every name, "adjoint" goes back once,
        "auto". options: method, rtol, ... as in `run`.

        >>> import daedalus, numpy as np
        >>> m = daedalus.open("model d\nparam k = 2 [1/s]\nvar y = 1\ny' = -k*y\nsolve t = 0 .. 1 [s], rtol = 1e-9\n")
        >>> f = m.objective(lambda y: float(y[0, -1]) ** 2, ["k"])
        >>> value, gradient = f([1.0])                            # (exp(-k))^2 at k = 1
        >>> bool(abs(gradient[0] + 2 * np.exp(-2)) < 1e-6)
        True
        """
        return _derivatives.Objective(self, loss, names, t_eval, mode, options)

    def gradient(self, loss, names, *, t_eval=None, mode="auto", **options):
        """The value of a loss and its gradient by name, at the values that the model has: see `objective`."""
        f = self.objective(loss, names, t_eval=t_eval, mode=mode, **options)
        value, slope = f()
        return value, dict(zip(f.names, slope.tolist()))

    def fit(self, data, free, *, loss="square", starts=1, seed=1, jobs=None, max_iterations=0, tolerance=0.0, intervals=1,
            profile=False, level=0.95, progress=None, method=None, formulation=None, rtol=None, atol=None, **options):
        r"""Parameters and initial values from measured data: a `Fit`.

        data: a CSV file, a mapping or DataFrame of columns (`t`, components or sensors, "sd(x)" for standard deviations, NaN where
        nothing was measured), or a list of them, each alone or as a pair (data, {"T": 300}) with its own settings. free: names, or
        {"k1": (min, max), "k2": start, "k3": (start, min, max)}. loss: "square" or "huber". starts: from so many points, on `jobs`
        threads. intervals: multiple shooting. profile: intervals of confidence from profiles too. progress(dict) can end it by
        returning True.

        >>> import daedalus, numpy as np
        >>> t = np.linspace(0, 2, 9)
        >>> m = daedalus.open("model d\nparam k = 1 [1/s]\nvar y = 1\ny' = -k*y\nsolve t = 0 .. 2 [s], rtol = 1e-9\n")
        >>> r = m.fit({"t": t, "y": np.exp(-0.7 * t)}, {"k": (0, 5)})
        >>> bool(abs(r.value["k"] - 0.7) < 1e-6)
        True
        """
        return _derivatives.fit(self, data, free, loss=loss, starts=starts, seed=seed, jobs=jobs, max_iterations=max_iterations,
                                tolerance=tolerance, intervals=intervals, profile=profile, level=level, progress=progress,
                                options=self._options(method, formulation, rtol, atol, options))

    def optimize(self, minimize, free, *, subject_to=(), everywhere=False, seed=1, points=0, max_evaluations=0, tolerance=0.0,
                 progress=None, method=None, formulation=None, rtol=None, atol=None, **options):
        r"""The parameters for which something of a run is least: an `Optimum`.

        minimize, subject_to: texts as "rms(body.ay)", "maximum(travel) <= 0.1", of final, integral, mean, rms, maximum, minimum
        (docs/design.md). free as in `fit`, with bounds. everywhere: a search all over the bounds first.

        >>> import daedalus
        >>> m = daedalus.open("model d\nparam k = 1\nvar y = 1\ny' = -k*y\nsolve t = 0 .. 1, rtol = 1e-9\n")
        >>> r = m.optimize("(final(y) - 0.5)^2", {"k": (0.1, 3)})
        >>> round(r.value["k"], 4)                                # log 2
        0.6931
        """
        return _derivatives.optimize(self, minimize, free, subject_to=subject_to, everywhere=everywhere, seed=seed, points=points,
                                     max_evaluations=max_evaluations, tolerance=tolerance, progress=progress,
                                     options=self._options(method, formulation, rtol, atol, options))

    # ---- Steady states and cycles

    def steady(self, guess=None, *, t=None, settle=0.0, method=None, formulation=None, rtol=None, atol=None, **options):
        """A steady state near the start or a guess: `y`, `eigenvalues` of the linearized system, `unstable` (how many grow).

        settle: the problem is integrated this long first; 0: only where Newton's method alone fails; negative: never.

        >>> import daedalus
        >>> m = daedalus.open("model d\\nvar y = 1\\ny' = 2*y*(1 - y/3)\\nsolve t = 0 .. 10\\n")
        >>> r = m.steady([2.5])
        >>> round(float(r.y[0]), 6), complex(r.eigenvalues[0]).real < 0, r.unstable
        (3.0, True, 0)
        """
        raw = _core.steady(self._core, self._options(method, formulation, rtol, atol, options),
                           float("nan") if t is None else float(t), self._guess(guess), float(settle))
        return OdeResult({**raw, "y": np.array(raw["y"]), "eigenvalues": np.array(raw["eigenvalues"])})

    def branch(self, parameter, low=None, high=None, *, guess=None, settle=0.0, step_max=0.0, points=0, one_way=0, progress=None):
        """Steady states along a parameter, through folds: `value`, `y` (n, points), `leading` (the eigenvalue with the largest real
        part), `unstable`, `kind` ("fold", "hopf", "cross", "end" or ""), `frequency` at Hopf points; `special` lists the points
        that have a kind. progress(points, value) can end it by returning True."""
        raw = _core.branch(self._core, parameter, *(float("nan") if x is None else float(x) for x in (low, high)),
                           self._guess(guess), float(settle), float(step_max), int(points), int(one_way), progress)
        value, y = np.array(raw["value"]), np.array(raw["y"]).T
        return OdeResult({**raw, "value": value, "y": y, "leading": np.array(raw["leading"]), "unstable": np.array(raw["unstable"]),
                          "frequency": np.array(raw["frequency"]), "parameter": parameter, "success": raw["status"] == "DAE_OK",
                          "special": [(k, float(value[i]), y[:, i]) for i, k in enumerate(raw["kind"]) if k]})

    def periodic(self, period=0.0, *, forced=False, settle=0.0, guess=None, method=None, formulation=None, rtol=None, atol=None,
                 **options):
        """A periodic solution near the end of a run: `period`, `y` (a point of it), Floquet `multipliers`, `unstable`.

        period: a guess, or, forced, the period of the forcing; 0: found on the run.
        """
        raw = _core.periodic(self._core, self._options(method, formulation, rtol, atol, options), float(period), bool(forced),
                             float(settle), self._guess(guess))
        return OdeResult({**raw, "y": np.array(raw["y"]), "multipliers": np.array(raw["multipliers"])})

    @staticmethod
    def _guess(guess):
        return None if guess is None else np.ascontiguousarray(guess, dtype=float)

    # ---- Studies

    def _solver_options(self, label):
        """"dop853/index1+project" as options."""
        method, _, form = label.partition("/")
        form, _, project = form.partition("+")
        out = {"method": method_name(method)}
        if form:
            out["formulation"] = form
        if project:
            if project != "project":
                raise ValueError(f'"{label}": expected METHOD, METHOD/FORMULATION or METHOD/FORMULATION+project')
            out["formulation.project"] = "1"
        return out

    def compare(self, solvers, *, t_end=None, rtol=None, atol=None, repeat=1, progress=None, max_seconds=60):
        """Ways to integrate it, side by side: a `Comparison` with time, steps, drift and digits of each.

        solvers: ["phem56", "radau5/index2", "dop853/index1+project"].
        """
        rows = []
        for k, label in enumerate(solvers):
            options = {**self._solver_options(label), **self._options(None, None, rtol, atol, {"max_seconds": max_seconds})}
            rows.append(_core.compare(self._core, options, label, float("nan") if t_end is None else float(t_end), repeat))
            if progress:
                progress(k + 1, len(solvers))
        return Comparison(self, rows)

    def workprec(self, solvers, *, digits=None, repeat=1, max_seconds=10, progress=None):
        """Work against precision: every solver at a ladder of tolerances. digits: (from, to, step) of -log10 rtol."""
        labels = []
        for label in solvers:
            method, slash, form = label.partition("/")
            labels.append(method_name(method) + slash + form)
        first, last, step = map(float, digits) if digits else (float("nan"), 0.0, 0.0)
        runs = _core.workprec(self._core, list(solvers), labels, first, last, step, repeat, float(max_seconds), progress)
        return WorkPrecision(self, runs)

    def reference(self, digits=11, *, max_seconds=60, progress=None):
        """The solution at t_end by two methods that have nothing in common, at tolerances tightened until they agree.

        A dict with `y`, the `digits` of each component that can be trusted, and the `methods`. progress(rtol, digits) is called
        after each tolerance and can end it by returning True.
        """
        out = _core.reference(self._core, float(digits), float(max_seconds), progress)
        out["y"], out["digits"] = np.frombuffer(out["y"]).copy(), np.frombuffer(out["digits"]).copy()
        return out

    def sweep(self, vary=None, *, sample=None, sobol=None, saltelli=None, runs=None, record=None, t_end=None, points=0, jobs=None, seed=0,
              out=None, progress=None, method=None, formulation=None, rtol=None, atol=None, **options):
        """Runs over many parameters, on all cores.

        vary: {"mu": [1, 10, 100]} or {"mu": "1:100:5:log"}, all combined; sample: {"mu": "uniform(1, 10)"} with `points`... see
        docs/sweeps.md for the texts "mu=0:1:11", "mu~uniform(0,1):200", which can be given as lists. runs: a list of dicts,
        one per run. saltelli: {"mu": "1:10:256", ...}, points for variance-based indices (`indices` of the result). record: names of components; points: so many equidistant times of each. out: a CSV file that is written as
        runs end; runs that it has are not repeated. Ctrl-C keeps all that is finished.

        >>> import daedalus
        >>> s = daedalus.open("vdpol-mu").sweep({"mu": [1, 5, 10]}, t_end=5.0)
        >>> len(s), s["mu"].tolist()
        (3, [1.0, 5.0, 10.0])
        """
        lines = sweep_lines(vary, "=", "vary"), sweep_lines(sample, "~", "sample"), sweep_lines(sobol, "=", "sobol"), sweep_lines(
            saltelli, "=", "saltelli")
        listed = None
        if runs is not None:
            names = list(runs[0])
            listed = "\n".join([",".join(names), *(",".join(_text(r[k]) for k in names) for r in runs)]) + "\n"
        settings = {k: v if isinstance(v, str) else _text(v)
                    for k, v in self._options(method, formulation, rtol, atol, options).items()}
        if isinstance(record, (list, tuple)):
            record = ",".join(record)
        core = _core.Sweep(self._core, self.name, self.text(), self._settings, settings, *lines, listed, int(seed), record,
                           0.0 if t_end is None else float(t_end), int(points))
        return Sweep(self, core).go(jobs or os.cpu_count() or 1, out, progress)
