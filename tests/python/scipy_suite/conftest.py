"""SciPy's own tests of solve_ivp, run against daedalus.solve_ivp.

`daedalus.solve_ivp` takes the place of `scipy.integrate.solve_ivp` before SciPy's test module is imported. One test pins down what
users complain about (an event before the first t_eval leaves `t` and `y` empty, scipy issues 10319, 12100); it is run with
`event_point=False`, which is SciPy's behavior; tests/python/test_complaints.py tests ours.
"""
import functools

import pytest
import scipy.integrate

import daedalus

scipy.integrate.solve_ivp = daedalus.solve_ivp


@pytest.fixture(autouse=True)
def _as_scipy(request, monkeypatch):
    if request.node.name == "test_t_eval_early_event":
        monkeypatch.setattr("scipy.integrate._ivp.tests.test_ivp.solve_ivp",
                            functools.partial(daedalus.solve_ivp, event_point=False))
