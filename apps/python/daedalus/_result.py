"""Results: what a run gave, and the continuous solution."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import _core

MESSAGES = {0: "The solver successfully reached the end of the integration interval.",
            1: "A termination event occurred."}


class EventRecord(NamedTuple):
    """One event of a run: when, which, and the state there (before any action)."""
    t: float
    name: str
    index: int
    y: np.ndarray


class OdeResult(dict):
    """The result of a run: a dict whose entries are attributes too.

    It has what SciPy's result has (`t y sol t_events y_events nfev njev nlu status message success`), and

    * `stats`: all counts of the run (steps, rejected, newton, ...) and its CPU time,
    * `solver`, `reason`: the method that ran, and why it was chosen,
    * `events`: all events in the order of time, each with time, name and state,
    * `drift` (mechanical systems): the largest residuals of the constraints.
    """

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__

    def __dir__(self):
        return list(self) + list(dict.__dir__(self))

    def __repr__(self):
        if not self:
            return "OdeResult()"
        width = max(map(len, self)) + 1
        lines = []
        for key, value in self.items():
            text = repr(value) if not isinstance(value, dict) else ", ".join(
                f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in value.items() if v)
            if isinstance(value, np.ndarray) and value.size > 6:
                text = f"array of shape {value.shape}"
            lines.append(f"{key.rjust(width)}: {text}")
        return "\n".join(lines)

    def __reduce__(self):
        return (OdeResult, (dict(self),))


class Solution:
    """The solution as a function of time: `sol(t)`, and `sol(t, 1)` for its derivative.

    `t` is a number or a vector inside the interval of the run; the answer has the shape (n,) or (n, len(t)). It can be
    pickled.

    >>> import daedalus, numpy as np
    >>> r = daedalus.solve_ivp(lambda t, y: [y[1], -y[0]], (0, 10), [0, 1], rtol=1e-10, atol=1e-10, dense_output=True)
    >>> bool(abs(r.sol(2.5)[0] - np.sin(2.5)) < 1e-8)
    True
    >>> r.sol([1, 2, 3], 1).shape
    (2, 3)
    """

    def __init__(self, core, is_complex=False):
        self._core = core
        self._complex = is_complex
        about = core.about()
        self.t0, self.t_end, self.pieces = about["t0"], about["t_end"], about["pieces"]
        self.t_min, self.t_max = min(self.t0, self.t_end), max(self.t0, self.t_end)

    def __call__(self, t, derivative=0):
        if derivative not in (0, 1):
            raise ValueError("`derivative` must be 0 or 1")
        times = np.asarray(t, dtype=float)
        if times.ndim > 1:
            raise ValueError("`t` must be a float or a 1-D array.")
        y = np.asarray(self._core.at(np.ascontiguousarray(times.reshape(-1)), bool(derivative)))
        if self._complex:
            y = y.view(complex)
        return y[0].copy() if times.ndim == 0 else y.T

    def __repr__(self):
        return f"<Solution from t = {self.t0:g} to {self.t_end:g}, {self.pieces} pieces>"

    def __reduce__(self):
        return (_solution, (self._core.bytes(), self._complex))


def _solution(data, is_complex):
    return Solution(_core.Solution(data), is_complex)


class ConstantSolution:
    """The solution of a run that made no step: the initial values, at any time."""

    def __init__(self, t, y):
        self.t0 = self.t_end = self.t_min = self.t_max = t
        self.pieces = 0
        self._y = y

    def __call__(self, t, derivative=0):
        y = np.zeros_like(self._y) if derivative else self._y
        times = np.asarray(t, dtype=float)
        if times.ndim > 1:
            raise ValueError("`t` must be a float or a 1-D array.")
        return y.copy() if times.ndim == 0 else np.repeat(y[:, None], times.size, axis=1)
