"""Derivatives of solutions, and what is made of them: gradients of losses, fits, designs."""
from __future__ import annotations

import json
import os
import pathlib

import numpy as np

from . import _core
from ._result import MESSAGES, OdeResult


STEP = 6e-6  # of central differences: the cube root of the rounding unit


class Sensitivity(dict):
    """Derivatives of a solution by name: s["k1"] has the shape of y, (n, len(t)).

    s["x", "k1"] is one component; `end` holds the derivatives at the end, (n, number of names).
    """

    def __init__(self, names, components, table, end):
        super().__init__({k: table[:, j, :].T for j, k in enumerate(names)})
        self.names, self.components, self.end = list(names), list(components), end

    def __getitem__(self, key):
        if isinstance(key, tuple):
            component, name = key
            return dict.__getitem__(self, name)[self.components.index(component)]
        return dict.__getitem__(self, key)

    def __repr__(self):
        return f"<Sensitivity of {len(self.components)} components by {', '.join(self.names)}>"

    def __reduce__(self):
        table = np.stack([self[k].T for k in self.names], axis=1)
        return (Sensitivity, (self.names, self.components, table, self.end))


def names_of(names):
    out = [names] if isinstance(names, str) else list(names)
    if not out or not all(isinstance(x, str) for x in out):
        raise TypeError("names must be texts: parameters (\"k1\") or initial values (\"x(0)\")")
    return out


def run_sensitivity(core, t_eval, direction, t_end):
    """Goes through the times, or step by step to the end: (t, y, table, sensors, status, message)."""
    times, states, slopes, sensors = [], [], [], []
    status, message = 0, ""

    def note():
        t, y, s = core.point()
        times.append(t)
        states.append(np.asarray(y))
        slopes.append(np.asarray(s))
        sensors.append(core.columns())
    if t_eval is None:
        note()
    goals = [None] if t_eval is None else t_eval
    for goal in goals:
        while True:
            here = core.point()[0]
            if direction * (here - (t_end if goal is None else goal)) >= 0:
                break
            status, message = core.advance(None if goal is None else float(goal))
            if status < 0 or status in (1, 2):
                break
            if goal is None:
                note()
        if status < 0:
            break
        if goal is not None or status:
            note()
        if status:
            break
    return times, states, slopes, sensors, status, message


class Objective:
    """A loss of the solution as a function of parameters, with its gradient; `Model.objective` makes one.

    f(x) is (value, gradient) for values x of the names: what `scipy.optimize.minimize(f, x0, jac=True)` wants. `value(x)` and
    `gradient(x)` give one of the two, `x0` holds the values of the model.
    """

    def __init__(self, model, loss, names, t_eval, mode, options):
        self.model, self.loss, self.names = model, loss, names_of(names)
        self.t_eval = np.array([model.t_end]) if t_eval is None else np.ascontiguousarray(t_eval, dtype=float)
        if mode not in ("auto", "forward", "adjoint"):
            raise ValueError(f'mode "{mode}" is not one of auto, forward, adjoint')
        self.mode = "forward" if mode == "auto" and len(self.names) <= 4 else mode
        self.options = options
        self.about = None

    @property
    def x0(self):
        """The values that the model has."""
        return np.array([self.model.value_of(k) for k in self.names])

    def _loss(self, y):
        """The loss and its derivatives by all values of y."""
        out = self.loss(y)
        if isinstance(out, tuple):
            value, slope = out
            slope = np.asarray(slope, dtype=float)
            if slope.shape != y.shape:
                raise ValueError(f"the loss gave derivatives of shape {slope.shape}; y has {y.shape}")
            return float(value), slope
        slope = np.empty_like(y)
        for i in np.ndindex(y.shape):  # the loss alone was given: differences of it, at the solution that is known
            keep, h = y[i], STEP * max(abs(y[i]), 1e-3 * float(np.abs(y).max() or 1))
            y[i] = keep + h
            high = self.loss(y)
            y[i] = keep - h
            slope[i] = (high - self.loss(y)) / (2 * h)
            y[i] = keep
        return float(out), slope

    def __call__(self, x=None):
        model = self.model if x is None else self.model.with_values(dict(zip(self.names, np.asarray(x, dtype=float))))
        if self.mode == "forward":
            r = model.sensitivity(self.names, t_eval=self.t_eval, **self.options)
            if not r.success:
                raise _core.Error(r.message)
            y = r.y.copy()
            value, w = self._loss(y)
            self.about = {"mode": "forward", "steps": r.stats["steps"]}
            return value, np.array([np.sum(w * r.sensitivity[k]) for k in self.names])
        r = model.run(t_eval=self.t_eval, t_end=self.t_eval[-1], **self.options)
        if not r.success:
            raise _core.Error(r.message)
        value, w = self._loss(np.array(r.y))
        columns = np.ascontiguousarray(w.T)

        def at(k, _, y):
            return float(columns[k] @ np.asarray(y)), columns[k]
        settings = model._options(*(self.options.get(k) for k in ("method", "formulation", "rtol", "atol")),
                                  {k: v for k, v in self.options.items() if k not in ("method", "formulation", "rtol", "atol")})
        _, slope, self.about = _core.gradient(model._core, self.names, settings, float(self.t_eval[-1]), self.mode, 0, None,
                                              self.t_eval, at, None)
        return value, np.array(slope)

    def value(self, x=None):
        """The loss alone, without derivatives."""
        model = self.model if x is None else self.model.with_values(dict(zip(self.names, np.asarray(x, dtype=float))))
        r = model.run(t_eval=self.t_eval, t_end=self.t_eval[-1], **self.options)
        if not r.success:
            raise _core.Error(r.message)
        out = self.loss(np.array(r.y))
        return float(out[0] if isinstance(out, tuple) else out)

    def gradient(self, x=None):
        """The gradient alone."""
        return self(x)[1]


# ---- Fits and designs -----------------------------------------------------------------------------------------------


def free_list(free):
    """{"k1": (0, 5), "k2": 0.3, "k3": (1, 0, 10)}: bounds, a start, a start with bounds; or names alone."""
    if isinstance(free, str):
        free = [free]
    if not isinstance(free, dict):
        free = {k: None for k in free}
    out = []
    for name, given in free.items():
        start, low, high = float("nan"), -np.inf, np.inf
        if given is None:
            pass
        elif np.ndim(given) == 0:
            start = float(given)
        elif len(given) == 2:
            low, high = map(float, given)
        elif len(given) == 3:
            start, low, high = map(float, given)
        else:
            raise ValueError(f'free["{name}"]: expected a start, (min, max) or (start, min, max)')
        out.append((name, start, low, high))
    if not out:
        raise ValueError("free names no parameter; it must say which may vary")
    return out


def experiment(model, data, name, settings):
    """An experiment: a path, a mapping of columns (with "t", and "sd(x)" for standard deviations), or a pandas.DataFrame."""
    settings = {k: v if isinstance(v, str) else repr(float(v)) for k, v in settings.items()}
    if isinstance(data, (str, os.PathLike)):
        path = pathlib.Path(data)
        return _core.Experiment(model._core, str(path), settings, path.read_bytes())
    columns = {str(k): np.asarray(data[k], dtype=float) for k in data}
    if "t" not in columns:
        index = getattr(data, "index", None)
        if getattr(index, "name", None) != "t":
            raise ValueError(f"{name}: there is no column t")
        columns["t"] = np.asarray(index, dtype=float)
    t = columns.pop("t")
    wrong = [k for k, v in columns.items() if v.shape != t.shape]
    if wrong:
        raise ValueError(f"{name}: column {wrong[0]} has {columns[wrong[0]].size} values, t has {t.size}")
    names = [k for k in columns if not (k.startswith("sd(") and k.endswith(")"))]
    lost = [k for k in columns if k not in names and k[3:-1] not in names]
    if lost:
        raise ValueError(f"{name}: {lost[0]} belongs to no column")
    values = np.ascontiguousarray([columns[k] for k in names])
    sd = None
    if len(names) < len(columns):
        sd = np.ascontiguousarray([columns.get(f"sd({k})", np.full_like(t, np.nan)) for k in names])
    return _core.Experiment(model._core, name, settings, np.ascontiguousarray(t), names, values, sd)


def experiments(model, data):
    """One experiment, or a list; each may be a pair of data and its own settings."""
    many = data if isinstance(data, list) else [data]
    out = []
    for k, one in enumerate(many):
        settings = {}
        if isinstance(one, tuple):
            one, settings = one
        out.append(experiment(model, one, "data" if len(many) == 1 else f"data[{k}]", settings))
    return out


class Fit:
    """What a fit found; `Model.fit` makes one.

    `value`, `sd`, `interval` by name; `correlation`, `rank`, `singular_values`, `unidentifiable` (which combinations the data do
    not tell, in words); `cost`, `rms`, `noise`, `message`, `success`; `experiments` with `t`, `columns`, `value`, `model` and
    `residual`. `model` is the model with the values found, `report()` the text of `daedalus fit`, `to_json()` its JSON.
    """

    def __init__(self, model, names, raw, measured):
        about = json.loads(raw["json"])
        self._raw, self.names = raw, names
        number = {None: np.nan}
        estimate = about["parameters"]

        def by_name(key):
            return {k: number.get(estimate[k][key], estimate[k][key]) for k in names}
        self.value, self.sd = by_name("value"), by_name("sd")
        self.interval = {k: (number.get(estimate[k]["lower"], estimate[k]["lower"]),
                             number.get(estimate[k]["upper"], estimate[k]["upper"])) for k in names}
        self.profile = {k: tuple(number.get(x, x) for x in estimate[k]["profile"]) for k in names}
        self.at_bound = {k: estimate[k]["at_bound"] for k in names}
        self.correlation = np.array([[number.get(x, x) for x in row] for row in about["correlation"]], dtype=float)
        self.singular_values = np.array([number.get(x, x) for x in about["singular_values"]], dtype=float)
        self.directions = np.asarray(raw["direction"]).T
        self.rank, self.unidentifiable = about["rank"], about["unidentifiable"]
        self.cost, self.rms, self.noise = (number.get(about[k], about[k]) for k in ("cost", "rms", "noise"))
        self.iterations, self.runs, self.message = about["iterations"], about["runs"], about["message"]
        self.status, self.success = about["status"], about["status"] == "DAE_OK"
        self.experiments = []
        for e, curve, residual in zip(measured, raw["model"], raw["residual"]):
            a = e.about()
            self.experiments.append({"name": a["name"], "t": np.asarray(a["t"]), "columns": a["columns"],
                                     "value": np.asarray(a["value"]), "model": np.asarray(curve),
                                     "residual": np.asarray(residual)})
        self.model = model.with_values(self.value)

    def report(self):
        """Values, intervals, correlations and residuals as text."""
        return self._raw["report"]

    def to_json(self):
        """The JSON text of `daedalus fit --json`."""
        return self._raw["json"]

    def gnuplot(self):
        """A gnuplot script of data, curves and residuals."""
        return self._raw["plot"]

    def plot(self, column=None, ax=None):
        """Data and curve of a column (the first) with matplotlib; returns the axes."""
        import matplotlib.pyplot as plt
        ax = ax or plt.gca()
        for e in self.experiments:
            k = 0 if column is None else e["columns"].index(column)
            ax.plot(e["t"], e["value"][k], "o", label=f"{e['columns'][k]}, {e['name']}")
            ax.plot(e["t"], e["model"][k], "-", label="fit")
        ax.set_xlabel("t")
        ax.legend()
        return ax

    def __repr__(self):
        found = ", ".join(f"{k} = {self.value[k]:.6g} ± {self.sd[k]:.2g}" for k in self.names)
        return f"<Fit: {found}; cost {self.cost:.6g}>"

    def _repr_html_(self):
        from ._html import pairs_html, table_html
        rows = [[k, self.value[k], self.sd[k], *self.interval[k]] for k in self.names]
        return table_html(["parameter", "value", "sd", "lower", "upper"], rows) + pairs_html(
            [("result", self.message), ("rms", self.rms), ("not told by the data", self.unidentifiable)])


def fit(model, data, free, *, loss="square", starts=1, seed=1, jobs=None, max_iterations=0, tolerance=0.0, intervals=1,
        profile=False, level=0.95, progress=None, options):
    measured, listed = experiments(model, data), free_list(free)
    raw = _core.fit(model._core, listed, measured, options, loss, int(starts), int(seed), jobs or os.cpu_count() or 1,
                    int(max_iterations), float(tolerance), int(intervals), bool(profile), float(level), progress)
    return Fit(model, [f[0] for f in listed], raw, measured)


class Optimum(OdeResult):
    """What `Model.optimize` found: `value` and `start` by name, `objective`, `objective_start`, `violation` (by how much a
    condition is broken; 0: all hold), `gradient`, `evaluations`, `message`, `success`, and `model`, the model with the values."""


def optimize(model, minimize, free, *, subject_to=(), everywhere=False, seed=1, points=0, max_evaluations=0, tolerance=0.0,
             progress=None, options):
    listed = free_list(free)
    names = [f[0] for f in listed]
    subject = [subject_to] if isinstance(subject_to, str) else list(subject_to)
    raw = _core.optimize(model._core, listed, minimize, subject, options, bool(everywhere), int(seed), int(points),
                         int(max_evaluations), float(tolerance), progress)
    value = dict(zip(names, np.asarray(raw["value"]).tolist()))
    return Optimum(value=value, start=dict(zip(names, np.asarray(raw["start"]).tolist())), objective=raw["objective"],
                   objective_start=raw["objective_start"], violation=raw["violation"], gradient=np.array(raw["gradient"]),
                   evaluations=raw["evaluations"], message=raw["message"], status=raw["status"],
                   success=raw["status"] == "DAE_OK", model=model.with_values(value))


# ---- Systems of functions -------------------------------------------------------------------------------------------


def _differences(fn, x, least):
    """dfn/dx by central differences, for functions that come without derivatives."""
    columns = []
    for j, h in enumerate(STEP * np.maximum(np.abs(x), least)):
        z = x.copy()
        z[j] += h
        high = np.array(fn(z), dtype=float)
        z[j] = x[j] - h
        columns.append((high - np.asarray(fn(z), dtype=float)) / (2 * h))
    return np.array(columns).T


def solve_sensitivity(fun, t_span, y0, p, *, dfdp=None, dy0dp=None, M=None, jac=None, method="auto", t_eval=None, events=None,
                      error_control=True, names=None, rtol=None, atol=None, **options):
    """Solve y' = f(t, y, p) with the derivatives of y by the parameters p.

    fun(t, y, p) gets the vector p last. dfdp(t, y, p): the matrix (n, len(p)) of df/dp (None: differences). dy0dp: the matrix of
    the derivatives of the initial values (None: 0). M: a mass matrix, may be singular. jac(t, y, p), events(t, y, p) and all else as in
    `solve_ivp` (None: differences). Times of events come without derivatives. names: of the parameters, "p0", "p1", ... if not given. The result has `sensitivity`: s["p0"] of the shape of y.

    >>> import daedalus, numpy as np
    >>> r = daedalus.solve_sensitivity(lambda t, y, p: -p[0] * y, (0, 1), [1.0], [2.0], t_eval=[1.0], rtol=1e-8)
    >>> bool(abs(r.sensitivity["p0"][0, 0] + np.exp(-2)) < 1e-7)
    True
    """
    from ._events import core_events
    from ._ivp import as_list, ode_description, ode_options, read_times
    from ._system import method_name
    p = np.array(p, dtype=float).reshape(-1)
    names = [f"p{j}" for j in range(len(p))] if names is None else list(names)
    if len(names) != len(p) or not len(p):
        raise ValueError(f"{len(names)} names for {len(p)} parameters")
    method = method_name(method)
    small = np.maximum(np.abs(np.asarray(y0, dtype=float)).max(initial=0) * 1e-6, 1e-9)
    if jac is None:
        def jac(t, y, q):
            return _differences(lambda z: fun(t, z, q), y, small)
    if dfdp is None:
        def dfdp(t, y, q):
            return _differences(lambda z: fun(t, y, z), q, 1e-3)
    d = ode_description(fun, t_span, y0, method, args=(p,), jac=jac, mass=M)
    if d.is_complex:
        raise ValueError("derivatives are those of real values; split them into real and imaginary part")
    t_eval = read_times(t_eval, d.t0, d.t1)
    if dy0dp is not None:
        dy0dp = np.asarray(dy0dp, dtype=float)
        if dy0dp.shape != (d.n, len(p)):
            raise ValueError(f"dy0dp has the shape {dy0dp.shape}; expected {(d.n, len(p))}")
        dy0dp = np.ascontiguousarray(dy0dp.T)
    problem = d.problem()
    listed = as_list(events)
    core_event = core_events(problem, listed, d.empty, False, d.n) if listed else False
    core = _core.Sensitivity(problem, names, ode_options(method, rtol, atol, None, None, None, d, options), d.t1, "columns", 0.0,
                             not error_control, core_event, (dfdp, dy0dp, p), d.empty)
    t, y, s, _, status, message = run_sensitivity(core, t_eval, 1 if d.t1 >= d.t0 else -1, d.t1)
    about = core.about()
    components = [f"y{i + 1}" for i in range(d.n)]
    return OdeResult(t=np.array(t), y=np.array(y).reshape(len(t), d.n).T,
                     sensitivity=Sensitivity(names, components, np.array(s).reshape(len(t), len(names), d.n),
                                             np.array(core.point()[2]).T),
                     events=[(te, name) for te, name, _ in about["events"]],
                     solver=about["solver"], reason=about["reason"], mode=about["mode"], stats=about["stats"],
                     status=status if status in (0, 1, 2) else -1, success=status in (0, 1),
                     message=MESSAGES.get(status, message))
