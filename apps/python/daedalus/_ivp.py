"""solve_ivp, solve_dae, solve_ide, solve_mechanical: one call, one result."""
from __future__ import annotations

import numpy as np

from . import _core
from ._events import as_list, core_events, name_of
from ._result import MESSAGES, ConstantSolution, EventRecord, OdeResult, Solution
from ._system import (DAE, IDE, MECHANICAL, ODE, Jacobian, PatternGrew, as_function, as_state, empty_column, empty_complex,
                      empty_complex_column, empty_real, further_options, ints, is_explicit, mass_matrix, method_name,
                      scipy_tolerances, step_options, tolerances, vector)


# ---- Arguments ------------------------------------------------------------------------------------------------------


def read_span(t_span):
    try:
        t0, t1 = map(float, t_span)
    except (TypeError, ValueError):
        raise ValueError("`t_span` must be two numbers, (t0, t1)") from None
    if np.isnan(t0) or np.isnan(t1):
        raise ValueError(f"`t_span` must not be NaN, it is ({t0}, {t1})")
    return t0, t1


def read_args(args):
    if args is None:
        return ()
    try:
        return tuple(args)
    except TypeError as error:
        raise TypeError("Supplied 'args' cannot be unpacked. Please supply `args` as a tuple (e.g. `args=(1,)`)") from error


def read_times(t_eval, t0, t1):
    if t_eval is None:
        return None
    t = np.array(t_eval, dtype=float, copy=True)
    if t.ndim != 1:
        raise ValueError("`t_eval` must be 1-dimensional.")
    if np.isnan(t).any() or (len(t) and (t.min() < min(t0, t1) or t.max() > max(t0, t1))):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    d = np.diff(t)
    if (t1 > t0 and (d <= 0).any()) or (t1 < t0 and (d >= 0).any()):
        raise ValueError("Values in `t_eval` are not properly sorted.")
    return t


class Description:
    """A system, ready to be integrated: the entries that the extension module takes, and how to read the answer."""

    def __init__(self, kind, t_span, y0, *, args=(), is_complex=False, vectorized=False, **entries):
        self.t0, self.t1 = read_span(t_span)
        self.is_complex = is_complex
        self.empty = empty_complex if is_complex else empty_real
        column = empty_complex_column if is_complex else empty_column
        self.y0 = np.ascontiguousarray(y0).view(float)
        self.n = len(self.y0)
        self.spec = {"kind": kind, "n": self.n, "t0": self.t0, "t_end": self.t1, "y0": self.y0, "args": args,
                     "empty": self.empty, "empty_f": column if vectorized else self.empty, "vector": vector,
                     "is_complex": int(is_complex), **entries}
        self.constant_jacobian = False

    def use_jacobian(self, jacobian):
        self.constant_jacobian = jacobian.constant
        self.spec.update(jacobian.entries)

    def problem(self):
        return _core.Problem(self.spec)

    def states(self, memory):
        """(points, n) as the user sees it: complex, and turned."""
        y = np.asarray(memory)
        return (y.view(complex) if self.is_complex else y).T

    def state(self, y):
        y = np.array(y)
        return y.view(complex) if self.is_complex else y


def progress_call(progress):
    """(function, seconds between calls) of the argument `progress`."""
    if progress is None or progress is False:
        return None, 0.0
    if progress is True:
        from ._progress import bar
        return bar(), 0.1
    if not callable(progress):
        raise TypeError("`progress` must be True or a function progress(t, t_end)")
    return progress, 0.0


# ---- Answers --------------------------------------------------------------------------------------------------------


def _event_arrays(d, events, core, result):
    """t_events, y_events as SciPy has them, and the list of all."""
    if events is None:
        result.update(t_events=None, y_events=None, events=[])
        return None
    t, y, index = core.happened() if core is not None else (b"", b"", [])
    t = np.frombuffer(t)
    y = np.frombuffer(y).reshape(len(t), d.n)
    if d.is_complex:
        y = y.view(complex)
    index = np.array(index, dtype=int)
    result["t_events"] = [t[index == i] for i in range(len(events))]
    result["y_events"] = [y[index == i] if (index == i).any() else np.empty(0) for i in range(len(events))]
    result["events"] = [EventRecord(float(a), name_of(events[i], i), int(i), s) for a, i, s in zip(t, index, y)]
    return y[-1] if len(y) else None


def _sides(t, y, events):
    """Points of a run that was restarted: none twice, but a jump of the state with the state before and after it."""
    again = (np.diff(t) == 0) & (y[:, 1:] == y[:, :-1]).all(axis=0)
    keep = np.concatenate(([True], ~again))
    t, y = t[keep], y[:, keep]
    for e in events:
        at = np.flatnonzero(t == e.t)
        if len(at) == 1 and not np.array_equal(y[:, at[0]], e.y):
            t = np.insert(t, at[0], e.t)
            y = np.insert(y, at[0], e.y, axis=1)
    return t, y


def _points(d, raw, t_eval, stopped, event_point, last, events):
    """t and y of the result."""
    if t_eval is None:
        t, y = np.asarray(raw["t"]), d.states(raw["y"])
        return _sides(t, y, events) if raw["stats"]["restarts"] and len(t) > 1 else (t, y)
    t, y = np.asarray(raw["at_t"]), d.states(raw["at_y"])
    if stopped and event_point and last is not None and not (len(t) and t[-1] == raw["t_last"]):
        t = np.append(t, raw["t_last"])
        y = np.concatenate((y, last[:, None]), axis=1)
    return t, y


def _at_times(raw, result):
    """Accelerations and multipliers at the wanted times, and at a terminal event that was appended."""
    for name, key in (("a", "a"), ("lam", "lambda")):
        x = np.asarray(raw["at_" + key]).T
        if x.shape[1] < len(result["t"]):
            last = raw["last_" + key]
            x = np.concatenate((x, np.full((len(x), 1), np.nan) if last is None else np.asarray(last)[:, None]), axis=1)
        result[name] = x


def _status(raw):
    """SciPy's status and message: 0 done, 1 event, -1 failed; 2 cancelled."""
    status = raw["status"]
    if status == 0 or status == 1:
        return status, MESSAGES[status]
    if status == 2:
        return 2, raw["message"]
    return -1, raw["message"] or raw["word"]


def _nothing_to_do(d, t_eval, dense_output, events):
    """No time or no equations: the initial values are the solution."""
    y0 = d.state(d.y0)
    ends = [d.t0] if d.t0 == d.t1 else [d.t0, d.t1]
    t = np.array(ends) if t_eval is None else t_eval
    result = OdeResult(t=t, y=np.repeat(y0[:, None], len(t), axis=1),
                       sol=ConstantSolution(d.t0, y0) if dense_output else None)
    _event_arrays(d, events, None, result)
    result.update(nfev=0, njev=0, nlu=0, status=0, message=MESSAGES[0], success=True, solver=None, reason="",
                  stats={}, drift=None)
    return result


def _answer(d, raw, events, core, t_eval, dense_output, event_point):
    status, message = _status(raw)
    result = OdeResult(t=None, y=None, sol=None)
    last = _event_arrays(d, events, core, result)
    if raw["status"] != 1:
        last = None
    elif last is None:
        last = d.state(raw["last_y"])
    result["t"], result["y"] = _points(d, raw, t_eval, status == 1, event_point, last, result["events"])
    if dense_output:
        result["sol"] = (Solution(raw["solution"], d.is_complex) if "solution" in raw
                         else ConstantSolution(d.t0, d.state(d.y0)))
    stats = raw["stats"]
    result.update(nfev=stats["f"], njev=0 if d.constant_jacobian else stats["jac"], nlu=stats["lu"], status=status,
                  message=message, success=status in (0, 1), solver=raw["solver"], reason=raw["reason"], stats=stats,
                  drift=None)
    if d.spec["kind"] == MECHANICAL:
        result["drift"] = {k: stats[k + "_residual"] for k in ("position", "velocity", "acceleration")}
        result["formulation"] = raw["formulation"]
        if t_eval is not None:
            _at_times(raw, result)
    if "checkpoint" in raw:
        result["checkpoint"] = raw["checkpoint"]
    return result


def run(d, options, *, t_eval=None, dense_output=False, events=None, progress=None, event_point=True, checkpoint=False,
        resume=None, rebuild=None):
    """Runs a description. rebuild(pattern): the description with another pattern of the Jacobian."""
    events = as_list(events)
    t_eval = read_times(t_eval, d.t0, d.t1)
    if d.n == 0 or d.t0 == d.t1:
        return _nothing_to_do(d, t_eval, dense_output, events)
    call, every = progress_call(progress)
    while True:
        problem = d.problem()
        core = core_events(problem, events, d.empty, d.is_complex, d.n)
        try:
            raw = _core.run(problem, options, at=t_eval if t_eval is not None and len(t_eval) else None,
                            trajectory=1 if t_eval is None else 0, dense=bool(dense_output), progress=call, every=every,
                            checkpoint=checkpoint, resume=resume, events=core)
        except PatternGrew as grew:
            if rebuild is None:
                raise
            d = rebuild(grew.pattern)
            continue
        finally:
            if hasattr(call, "close"):
                call.close()
        return _answer(d, raw, events, core, t_eval, dense_output, event_point)


# ---- y' = f(t, y) ---------------------------------------------------------------------------------------------------


def ode_description(fun, t_span, y0, method, *, vectorized=False, args=None, jac=None, jac_sparsity=None, lband=None,
                    uband=None, dfdt=None, user=None, mass=None, index=None, second_order=0, no_velocities=False, pattern=None):
    """The description of y' = f or M y' = f."""
    t0, _ = read_span(t_span)
    args = read_args(args)
    y0 = as_state(y0)
    is_complex = y0.dtype == complex
    n = 2 * len(y0) if is_complex else len(y0)
    fun = as_function(fun, user, "fun", 4)
    kind = ODE if mass is None else DAE
    entries = {"fun": fun, "dfdt": as_function(dfdt, user, "dfdt", 4)}
    if mass is not None:
        if is_complex:
            mass = np.kron(np.diag(mass) if np.ndim(mass) == 1 else np.asarray(mass), np.eye(2))
        entries.update(mass_matrix(mass, n))
    if index is not None:
        index = ints(index)
        entries["index"] = np.repeat(index, 2).astype(np.int32) if is_complex else index
    if second_order:
        entries.update(second_order=int(second_order), no_velocities=int(bool(no_velocities)))
    d = Description(kind, t_span, y0, args=args, is_complex=is_complex, vectorized=vectorized, **entries)
    wanted = not is_explicit(method)
    if wanted and n:
        def sample(fn):
            return fn(t0, y0.copy(), *args)
        d.use_jacobian(Jacobian(jac, n, sample, sparsity=jac_sparsity if pattern is None else None, lband=lband, uband=uband,
                                is_complex=is_complex, user=user) if pattern is None else
                       _with_pattern(jac, n, pattern, is_complex))
    return d


def _with_pattern(jac, n, pattern, is_complex):
    j = Jacobian(jac, n, None, is_complex=is_complex)
    fn = j.entries["jac"]
    j._use(pattern)
    j._entry(fn)
    return j


def ode_options(method, rtol, atol, first_step, max_step, min_step, d, options):
    out = {"method": method}
    out.update(tolerances(rtol, atol, d.n, d.is_complex))
    out.update(step_options(first_step, max_step, min_step, d.t1 - d.t0))
    out.update(further_options(options))
    return out


def solve_ivp(fun, t_span, y0, method="auto", t_eval=None, dense_output=False, events=None, vectorized=False, args=None, *,
              rtol=None, atol=None, first_step=None, max_step=None, min_step=None, jac=None, jac_sparsity=None, lband=None,
              uband=None, dfdt=None, second_order=0, no_velocities=False, user=None, progress=None, event_point=True,
              checkpoint=False, resume=None, **options):
    """Solve y' = f(t, y) from t_span[0] to t_span[1]: a drop-in replacement of `scipy.integrate.solve_ivp`.

    Parameters
    ----------
    fun : callable, or compiled function
        `fun(t, y, *args)` returns y'. Or, without Python in the loop, a function
        `int f(double t, const double *y, double *f, void *user)` as an address, a ctypes function pointer, a
        `scipy.LowLevelCallable` or a `numba.cfunc`; it returns 0, > 0 ("cannot be evaluated here") or < 0 ("stop").
    t_span : (t0, t1); backwards too
    y0 : initial values, real or complex
    method : a name of `daedalus.methods()`, "auto" (chosen by stiffness; `reason` of the result says why), or SciPy's names
        RK45, RK23, DOP853, Radau, BDF, LSODA (dopri5, bs23, dop853, radau5, vode, lsoda)
    t_eval : times at which the solution is wanted; None: the points that the method steps to
    dense_output : True: `sol` of the result is the solution as a function
    events : a function `event(t, y, *args)` or a list of them, with attributes `terminal`, `direction` and `action`; see `Event`
    vectorized : True: `fun` takes and returns columns, arrays of shape (n, k)
    args : further arguments of fun, jac and events
    rtol, atol : tolerances, numbers or one per component (default 1e-6 and 1e-9)
    first_step, max_step, min_step : step sizes
    jac : df/dy: a matrix, a function `jac(t, y, *args)`, dense or scipy.sparse, or a compiled function; None: differences
    jac_sparsity : a matrix whose entries show where df/dy can be other than zero
    lband, uband : numbers of diagonals below and above; `jac` then returns rows jac[i - j + uband, j]
    dfdt : df/dt as a function, for the methods that use it
    second_order : m: y'[i] = y[m+i] for the first m components, which saves linear algebra
    no_velocities : True: the other components of f do not depend on them, y'' = f(t, y): then there are rkn8 and rkn12
    user : what a compiled function gets as its last argument: an address, an array or a ctypes object
    progress : True: a bar on standard error; or a function `progress(t, t_end)`, which can end the run by returning True
    event_point : with t_eval, whether a terminal event is appended to `t` and `y` (False: as SciPy, `t_events` only)
    checkpoint, resume : True: the result has the state of the run as bytes; such bytes: go on from there
    **options : max_steps, max_seconds, linear_algebra, discontinuity (times where f jumps),
        nonnegative (components that do not become negative), log, profile, stop_at_end, ...
        as `daedalus.options()` lists them, and the options of the method

    Returns
    -------
    OdeResult

    >>> import daedalus
    >>> r = daedalus.solve_ivp(lambda t, y: -2 * y, (0, 1), [1.0])
    >>> r.success, round(float(r.y[0, -1]), 6)
    (True, 0.135335)
    """
    name = method_name(method)

    def describe(pattern=None):
        return ode_description(fun, t_span, y0, name, vectorized=vectorized, args=args, jac=jac, jac_sparsity=jac_sparsity,
                               lband=lband, uband=uband, dfdt=dfdt, user=user, second_order=second_order,
                               no_velocities=no_velocities, pattern=pattern)
    d = describe()
    settings = ode_options(name, rtol, atol, first_step, max_step, min_step, d, options)
    if name != method and d.n:
        scipy_tolerances(getattr(method, "__name__", method), settings, d.constant_jacobian)
    return run(d, settings, t_eval=t_eval, dense_output=dense_output, events=events, progress=progress,
               event_point=event_point, checkpoint=checkpoint, resume=resume, rebuild=describe)


# ---- M y' = f(t, y) -------------------------------------------------------------------------------------------------


def solve_dae(M, fun, t_span, y0, method="auto", t_eval=None, dense_output=False, events=None, vectorized=False, args=None, *,
              index=None, rtol=None, atol=None, first_step=None, max_step=None, min_step=None, jac=None, jac_sparsity=None,
              lband=None, uband=None, dfdt=None, second_order=0, user=None, progress=None, event_point=True,
              checkpoint=False, resume=None, **options):
    """Solve M y' = f(t, y), where M may be singular.

    M is a matrix (dense or scipy.sparse), a vector (the diagonal), or a function M(t, y). index: the differentiation index of
    each variable, 1 to 3, for systems of higher index. All else as in `solve_ivp`.

    >>> import daedalus                                # Robertson's kinetics; the last row conserves mass
    >>> f = lambda t, y: [-0.04*y[0] + 1e4*y[1]*y[2], 0.04*y[0] - 1e4*y[1]*y[2] - 3e7*y[1]**2, y[0] + y[1] + y[2] - 1]
    >>> r = daedalus.solve_dae([1, 1, 0], f, (0, 40), [1, 0, 0], rtol=1e-8, atol=1e-12)
    >>> round(float(r.y[0, -1]), 5)
    0.71583
    """
    method = method_name(method)
    if callable(M):
        return _solve_state_mass(M, fun, t_span, y0, method, t_eval, dense_output, events, args, index=index, rtol=rtol,
                                 atol=atol, first_step=first_step, max_step=max_step, min_step=min_step, user=user,
                                 progress=progress, event_point=event_point, checkpoint=checkpoint, resume=resume, **options)

    def describe(pattern=None):
        return ode_description(fun, t_span, y0, method, vectorized=vectorized, args=args, jac=jac, jac_sparsity=jac_sparsity,
                               lband=lband, uband=uband, dfdt=dfdt, user=user, mass=M, index=index,
                               second_order=second_order, pattern=pattern)
    d = describe()
    return run(d, ode_options(method, rtol, atol, first_step, max_step, min_step, d, options), t_eval=t_eval,
               dense_output=dense_output, events=events, progress=progress, event_point=event_point, checkpoint=checkpoint,
               resume=resume, rebuild=describe)


def _solve_state_mass(M, fun, t_span, y0, method, t_eval, dense_output, events, args, **options):
    """M(t, y) y' = f(t, y) is the implicit equation M y' - f = 0."""
    extra = read_args(args)

    def residual(t, y, yp, *_):
        return M(t, y, *extra) @ yp - np.asarray(fun(t, y, *extra))
    return solve_ide(residual, t_span, y0, None, method, t_eval, dense_output, events, args, **options)


# ---- F(t, y, y') = 0 ------------------------------------------------------------------------------------------------


def ide_description(fun, t_span, y0, yp0, *, args=None, jac=None, jac_sparsity=None, lband=None, uband=None, user=None,
                    index=None, algebraic=None):
    y0 = as_state(y0)
    if y0.dtype == complex:
        raise ValueError("implicit equations take real values; split them into real and imaginary part")
    n, args = len(y0), read_args(args)
    fun = as_function(fun, user, "fun", 5)
    entries = {"fun": fun, "yp0": None if yp0 is None else as_state(yp0, "yp0")}
    if index is not None:
        entries["index"] = ints(index)
    if algebraic is not None:
        entries["algebraic"] = ints(algebraic)
    d = Description(IDE, t_span, y0, args=args, **entries)
    j = Jacobian(None, n, None, sparsity=jac_sparsity, lband=lband, uband=uband)
    d.use_jacobian(j)
    d.spec.pop("jac", None)
    if jac is not None:
        pair = jac if isinstance(jac, (tuple, list)) and len(jac) == 2 else None
        for k, key in enumerate(("dfdy", "dfdyp")):
            fn = as_function(pair[k], user, key, 5) if pair else (lambda *a, k=k: jac(*a)[k])
            if callable(fn) and j.pattern is not None:
                part = _with_pattern(fn, n, j.pattern, False)
                fn = part.entries["jac"]
            d.spec[key] = fn
    return d


def solve_ide(F, t_span, y0, yp0=None, method="auto", t_eval=None, dense_output=False, events=None, args=None, *, index=None,
              algebraic=None, rtol=None, atol=None, first_step=None, max_step=None, min_step=None, jac=None,
              jac_sparsity=None, lband=None, uband=None, user=None, progress=None, event_point=True, checkpoint=False,
              resume=None, **options):
    """Solve F(t, y, y') = 0.

    F is `F(t, y, yp, *args)`, or compiled `int F(double t, const double *y, const double *yp, double *F, void *user)`. yp0
    None, or values that do not fit: consistent ones are computed. jac: `jac(t, y, yp, *args)` that returns the pair dF/dy,
    dF/dy', or a pair of functions. algebraic: 1 for each variable whose derivative does not occur (None: found numerically).
    index: of each variable, 1 to 3. All else as in `solve_ivp`.

    >>> import daedalus
    >>> r = daedalus.solve_ide(lambda t, y, yp: [yp[0] - y[1], yp[1] + y[0]], (0, 1), [0, 1], [1, 0], rtol=1e-8)
    >>> round(float(r.y[0, -1]), 5)
    0.84147
    """
    method = method_name(method)
    d = ide_description(F, t_span, y0, yp0, args=args, jac=jac, jac_sparsity=jac_sparsity, lband=lband, uband=uband, user=user,
                        index=index, algebraic=algebraic)
    return run(d, ode_options(method, rtol, atol, first_step, max_step, min_step, d, options), t_eval=t_eval,
               dense_output=dense_output, events=events, progress=progress, event_point=event_point, checkpoint=checkpoint,
               resume=resume)


# ---- Mechanical systems ---------------------------------------------------------------------------------------------


def mechanical_description(mass, force, t_span, p0, v0, *, constraint=None, jacobian=None, u0=None, kinematics=None,
                           velocity=None, gamma=None, dynamics=None, position_jacobian=None, args=None, user=None):
    p0, v0 = as_state(p0, "p0"), as_state(v0, "v0")
    u0 = as_state([] if u0 is None else u0, "u0")
    if complex in (p0.dtype, v0.dtype, u0.dtype):
        raise ValueError("positions and velocities are real")
    args = read_args(args)
    t0, _ = read_span(t_span)
    np_, nv, nu = len(p0), len(v0), len(u0)

    def adapt(fn, names, what):
        """A function of some of p, v, u as one of (t, p, v, u, lambda)."""
        fn = as_function(fn, user, what, 3)
        if fn is None or isinstance(fn, tuple):
            return fn
        if names == "p":
            return lambda t, p, v, u, lam, *a: fn(t, p, *a)
        if names == "pv":
            return lambda t, p, v, u, lam, *a: fn(t, p, v, *a)
        return lambda t, p, v, u, lam, *a: fn(t, p, v, u, *a)
    state = "pvu" if nu else "pv"
    entries = {"np": np_, "nv": nv, "nu": nu, "force": adapt(force, state, "force")}
    if callable(mass) or isinstance(mass, (int, tuple)) and not isinstance(mass, tuple):
        entries["mass_fn"] = adapt(mass, "p", "mass")
    elif mass is not None:
        entries.update(mass_matrix(mass, nv))
    if (constraint is not None or velocity is not None) and jacobian is None:
        raise ValueError("constraints need `jacobian`, the function G(t, p) = dg/dp")
    if jacobian is not None:
        G = np.atleast_2d(np.asarray(jacobian(t0, p0.copy(), *args), dtype=float))
        if G.shape[1] != nv:
            raise ValueError(f"jacobian returned an array of shape {G.shape}; it must have {nv} columns")
        ng = 0 if constraint is None else np.size(constraint(t0, p0.copy(), *args))
        given = jacobian
        entries.update(nlambda=G.shape[0], ng=ng, constraint=adapt(constraint, "p", "constraint"),
                       jacobian=adapt(lambda t, p, *a: np.atleast_2d(given(t, p, *a)), "p", "jacobian"))
    entries.update(kinematics=adapt(kinematics, "pv", "kinematics"), velocity=adapt(velocity, "p", "velocity"),
                   gamma=adapt(gamma, "pv", "gamma"), dynamics=adapt(dynamics, "pvu", "dynamics"))
    if position_jacobian is not None:
        entries["position_jacobian"] = adapt(lambda t, p, *a: np.atleast_2d(position_jacobian(t, p, *a)), "p",
                                             "position_jacobian")
    d = Description(MECHANICAL, t_span, np.concatenate((p0, v0, u0)), args=args, **entries)
    d.parts = (np_, nv, nu)
    return d


def solve_mechanical(mass, force, t_span, p0, v0, constraint=None, jacobian=None, *, u0=None, kinematics=None, velocity=None,
                     gamma=None, dynamics=None, position_jacobian=None, method="auto", formulation=None, t_eval=None,
                     dense_output=False, events=None, args=None, rtol=None, atol=None, first_step=None, max_step=None,
                     min_step=None, user=None, progress=None, event_point=True, checkpoint=False, resume=None, **options):
    """Solve a constrained mechanical system: p' = T v, M v' = f - G^T lambda, 0 = g(t, p), u' = d.

    mass : M, a matrix or its diagonal, or a function mass(t, p)
    force : force(t, p, v), with u also force(t, p, v, u)
    constraint, jacobian : g(t, p), and G(t, p) = dg/dp (for p' = v)
    position_jacobian : dg/dp, where the rows of G that belong to g are R dg/dp with a regular R and not dg/dp itself
    velocity : gI(t, p) of constraints G v + gI = 0; rows of G beyond those of g are nonholonomic
    kinematics : T(t, p) v as kinematics(t, p, v); None: p' = v
    gamma : d/dt (G v + gI) at fixed v, as gamma(t, p, v); None: differences
    dynamics : d(t, p, v, u)
    method, formulation : names of `daedalus.methods()` and `daedalus.formulations()`; constraints are kept by projection

    Events see the state (p, v, u). The result has `p`, `v`, `u` besides `y`; with t_eval also the accelerations `a` and the
    multipliers `lam`; and `drift`, the largest residuals of the constraints. All else as in `solve_ivp`.

    >>> import daedalus, numpy as np                   # a pendulum in Cartesian coordinates
    >>> r = daedalus.solve_mechanical([1, 1], lambda t, p, v: [0, -9.81], (0, 1), [1, 0], [0, 0],
    ...                               lambda t, p: [(p @ p - 1) / 2], lambda t, p: [p], rtol=1e-9)
    >>> np.round(r.p[:, -1], 5), r.drift["position"] < 1e-9
    (array([-0.98629, -0.16501]), True)
    """
    method = method_name(method)
    d = mechanical_description(mass, force, t_span, p0, v0, constraint=constraint, jacobian=jacobian, u0=u0,
                               kinematics=kinematics, velocity=velocity, gamma=gamma, dynamics=dynamics,
                               position_jacobian=position_jacobian, args=args, user=user)
    if formulation is not None:
        options["formulation"] = formulation
    result = run_mechanical(d, ode_options(method, rtol, atol, first_step, max_step, min_step, d, options), t_eval=t_eval,
                            dense_output=dense_output, events=events, progress=progress, event_point=event_point,
                            checkpoint=checkpoint, resume=resume)
    return result


def run_mechanical(d, options, **more):
    result = run(d, options, **more)
    np_, nv, _ = d.parts
    y = result["y"]
    result.update(p=y[:np_], v=y[np_:np_ + nv], u=y[np_ + nv:])
    return result
