"""Steady states, branches and cycles from Python, against closed forms."""
import math

import numpy as np
import pytest

import daedalus

BRUSSELATOR = "model b\nparam A = 1, B = 2.5\nvar x = 1.2, y = 2\nx' = A - (B + 1)*x + x^2*y\ny' = B*x - x^2*y\nsolve t = 0 .. 40\n"


def test_steady_state_and_its_eigenvalues():
    r = daedalus.open(BRUSSELATOR).steady()
    assert r.y == pytest.approx([1, 2.5], rel=1e-9) and r.unstable == 2
    # lambda^2 - (B - 2) lambda + 1 = 0
    assert sorted(r.eigenvalues, key=lambda z: z.imag)[1] == pytest.approx(complex(0.25, math.sqrt(1 - 0.0625)), rel=1e-6)
    with pytest.raises(ValueError, match="2 numbers"):
        daedalus.open(BRUSSELATOR).steady([1.0])


def test_branch_finds_hopf_and_fold():
    b = daedalus.open(BRUSSELATOR).branch("B", 1, 3)
    hopf = [(v, b.frequency[list(b.value).index(v)]) for kind, v, _ in b.special if kind == "hopf"]
    assert hopf == [(pytest.approx(2, abs=1e-5), pytest.approx(1, abs=1e-4))] and b.success
    fold = daedalus.open("model f\nparam p = -1\nvar x = -1\nx' = p + x^2\nsolve t = 0 .. 1\n").branch("p", -2, 1)
    at = [v for kind, v, _ in fold.special if kind == "fold"]
    assert at == [pytest.approx(0, abs=1e-6)] and np.abs(fold.value + fold.y[0] ** 2).max() < 1e-8

    def stop(points, value):
        raise RuntimeError("enough")
    with pytest.raises(RuntimeError, match="enough"):
        daedalus.open(BRUSSELATOR).branch("B", 1, 3, progress=stop)


def test_cycle_of_van_der_pol():
    m = daedalus.open("model v\nvar x = 2, v = 0\nx' = v\nv' = (1 - x^2)*v - x\nsolve t = 0 .. 40\n")
    r = m.periodic()
    assert r.period == pytest.approx(6.6632868593, abs=1e-6) and r.unstable == 0
    assert sorted(abs(r.multipliers))[1] == pytest.approx(1, abs=1e-5)
