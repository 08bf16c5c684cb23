"""The methods as classes for `scipy.integrate.solve_ivp(..., method=daedalus.scipy.Radau5)`.

For people who keep SciPy's function: every method for ordinary differential equations is an `OdeSolver`. RK45, RK23, DOP853, Radau,
BDF and LSODA have the meaning of SciPy's; the others have our names: Radau5, Dopri5, Dop853, Vode, Mebdfdae, ...

>>> import scipy.integrate, daedalus.scipy
>>> r = scipy.integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0], method=daedalus.scipy.Dop853)
>>> round(float(r.y[0, -1]), 4)
0.3679
"""
from __future__ import annotations

import numpy as np
from scipy.integrate import DenseOutput as _DenseOutput
from scipy.integrate import OdeSolver as _OdeSolver

from . import _core
from ._ivp import ode_description, ode_options
from ._result import Solution
from ._system import METHODS, scipy_tolerances

_FAR = 1e300  # the end of a run whose end is not known
TOO_SMALL = -4  # DAE_ERR_STEP_TOO_SMALL


class _Piece(_DenseOutput):
    """The solution over one step."""

    def __init__(self, t_old, t, solution):
        super().__init__(t_old, t)
        self._solution = solution

    def _call_impl(self, t):
        return self._solution(np.clip(t, self.t_min, self.t_max))


class DaedalusSolver(_OdeSolver):
    """A method of the library, as SciPy's functions want it."""

    daedalus_method = "auto"
    _scipy_name = None

    def __init__(self, fun, t0, y0, t_bound, max_step=np.inf, rtol=1e-3, atol=1e-6, vectorized=False, first_step=None, jac=None,
                 jac_sparsity=None, min_step=0, lband=None, uband=None, second_order=0, no_velocities=False, **options):
        super().__init__(fun, t0, y0, t_bound, vectorized, support_complex=True)
        if max_step <= 0:
            raise ValueError("`max_step` must be positive.")
        end = t_bound if np.isfinite(t_bound) else self.direction * _FAR
        if first_step is not None and not 0 < first_step <= abs(t_bound - t0):
            raise ValueError("`first_step` must be positive." if first_step <= 0 else "`first_step` exceeds bounds.")
        self._core = None
        if self.n == 0 or t_bound == t0:
            return
        d = ode_description(self._fun, (t0, end), self.y, self.daedalus_method, vectorized=vectorized, jac=jac,
                            jac_sparsity=jac_sparsity, lband=lband, uband=uband, second_order=second_order,
                            no_velocities=no_velocities)
        settings = ode_options(self.daedalus_method, rtol, atol, first_step, max_step, min_step, d, options)
        if self._scipy_name:
            scipy_tolerances(self._scipy_name, settings, d.constant_jacobian)
        self._d = d
        self._core = _core.Integrator(d.problem(), settings, None, True)
        code, message = self._core.start(d.t0, d.t1, d.y0, None)
        if code < 0:
            raise ValueError(message)
        if self._scipy_name != "LSODA":  # SciPy's has counted nothing before its first step
            self._count()

    def _count(self):
        stats = self._core.stats()
        self.nfev, self.nlu = stats["f"], stats["lu"]
        self.njev = 0 if self._d.constant_jacobian else stats["jac"]

    def _step_impl(self):
        code, message = self._core.step()
        self._count()
        if code < 0:
            return False, f"{self.TOO_SMALL_STEP} {message}" if code == TOO_SMALL or "no headway" in message else message
        self.t = self._core.state()[0]
        self.y = self._d.state(np.frombuffer(self._core.state()[2]))
        return True, None

    def _dense_output_impl(self):
        return _Piece(self.t_old, self.t, Solution(self._core.dense(), self._d.is_complex))


def _class(name, method, scipy_name=None):
    info = next(m for m in _core.methods() if m["name"] == method)
    return type(name, (DaedalusSolver,), {"daedalus_method": method, "_scipy_name": scipy_name, "__module__": __name__,
                                          "__doc__": f"{info['title']}: the method {method}."})


__all__ = ["DaedalusSolver"]
for _info in _core.methods():
    if "ODE" in _info["kinds"]:
        _name = "".join(part.capitalize() for part in _info["name"].split("-"))
        globals()[_name] = _class(_name, _info["name"])
        __all__.append(_name)
for _name, _method in METHODS.items():
    globals()[_name] = _class(_name, _method, _name)
    __all__.append(_name)
del _name, _method, _info
