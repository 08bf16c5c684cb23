"""Daedalus: initial value problems of every kind, and constrained mechanical systems.

>>> import daedalus
>>> r = daedalus.solve_ivp(lambda t, y: [y[1], -y[0]], (0, 10), [1, 0])
>>> r.success
True

`solve_ivp` takes the arguments of SciPy's and gives the same result, and more. `solve_dae`, `solve_ide` and `solve_mechanical` take
what SciPy does not; `Integrator` steps by hand. `open` takes a model file, a problem of the test set or a text, `Mechanism` builds
one in Python. `Model.sensitivity`, `.objective`, `.fit`, `.optimize` and `solve_sensitivity` differentiate solutions. `methods()`,
`options()` and `help_page(name)` tell what there is.
"""
from __future__ import annotations

from . import _core
from ._core import Error, InputError
from ._events import Event
from ._integrator import Integrator
from ._ivp import solve_dae, solve_ide, solve_ivp, solve_mechanical
from ._derivatives import Fit, Objective, Optimum, Sensitivity, solve_sensitivity
from ._mechanism import Mechanism
from ._model import Model, open
from ._result import ConstantSolution, EventRecord, OdeResult, Solution
from ._run import ModelRun, Signal
from ._simulation import Simulation
from ._studies import Comparison, Sweep, WorkPrecision

__version__ = _core.version


def methods():
    """The methods of the library: a list of dicts with name, title, kinds, order, options.

    >>> import daedalus
    >>> "radau5" in [m["name"] for m in daedalus.methods()]
    True
    """
    return _core.methods()


def formulations():
    """The forms in which mechanical systems can be integrated."""
    return _core.formulations()


def problems():
    """The problems of the test set: a list of dicts with name, title, kind, size, index."""
    return _core.problems()


def options():
    """The options of every run: a list of dicts with name, default, unit, help."""
    return _core.options()


def help_page(name):
    """The documentation page (Markdown) of a method, a formulation or a problem, or None."""
    return _core.page(name)
