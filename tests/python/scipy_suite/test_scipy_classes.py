"""The same tests with SciPy's solve_ivp and the classes of daedalus.scipy in the place of SciPy's.

Of test_rk.py the ten tests look into SciPy's classes: seven read the tableau (A, B, C) or call `_estimate_error` with the stages
`K`, which are no part of an OdeSolver's interface; ours keep both inside the library, where tests/method/erk_check.h tests them.
"""
import pytest
import scipy.integrate._ivp.ivp as ivp
from scipy.integrate._ivp.tests import test_ivp as theirs

import daedalus.scipy

NAMES = ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]
# These test functions of SciPy alone.
INTERNAL = {"test_OdeSolution", "test_num_jac", "test_num_jac_sparse", "test_ConstantDenseOutput"}
TESTS = [name for name in vars(theirs) if name.startswith("test_") and name not in INTERNAL]


@pytest.mark.parametrize("name", TESTS)
def test_with_our_classes(name, monkeypatch):
    for method in NAMES:
        ours = getattr(daedalus.scipy, method)
        monkeypatch.setitem(ivp.METHODS, method, ours)
        monkeypatch.setattr(theirs, method, ours)
    monkeypatch.setattr(theirs, "solve_ivp", ivp.solve_ivp)
    test = getattr(theirs, name)
    marks = [m for m in getattr(test, "pytestmark", []) if m.name == "parametrize"]
    for value in marks[0].args[1] if marks else [None]:
        test(value) if marks else test()
