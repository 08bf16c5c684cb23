"""Models stepped by hand."""
import pickle

import numpy as np
import pytest

import daedalus


@pytest.mark.parametrize("name", ["slider_crank", "newtons_cradle", "stiff_double_pendulum"])
def test_steps_are_those_of_a_run(name, root):
    m = daedalus.open(root / "models" / f"{name}.json")
    r = m.run()
    s = m.simulate()
    while s.step():
        pass
    assert s.t == r.t_end and np.array_equal(s.y, r.y_end) and s.method == r.solver and s.stats["f"] == r.stats["f"]
    assert [e[0] for e in s.events] == [e[0] for e in r.events]


def test_looking_inside(root):
    m = daedalus.open(root / "models" / "slider_crank.json")
    s = m.simulate()
    s.advance(0.4)
    s.step()
    t = np.linspace(max(s.t_old, 0.4), s.t, 5)
    assert s(t).shape == (18, 5) and np.allclose(s(s.t), s.y, atol=1e-12)
    assert np.isclose(s["crank.angle"], s.y[2]) and s.residuals["position"] < 1e-9
    assert s.accelerations.shape == (9,) and s.multipliers.shape == (8,) and s.energy["kinetic"] > 0
    at = m.run(t_eval=[0.3], max_step=None)
    s = m.simulate()
    s.advance(0.3)
    assert np.allclose(s.accelerations, at.a[:, 0], rtol=1e-5, atol=1e-5) and "Simulation" in repr(s)
    c = m.check()
    assert c["method"] == m.run().solver and c["formulation"] == m.run().formulation


def test_pickle_goes_on_bit_for_bit(root):
    s = daedalus.open(root / "models" / "slider_crank.json").simulate()
    for _ in range(10):
        s.step()
    copy = pickle.loads(pickle.dumps(s))
    while s.step():
        pass
    while copy.step():
        pass
    assert copy.t == s.t and np.array_equal(copy.y, s.y)
    with pytest.raises(RuntimeError, match="end|event"):
        while True:
            s.step()


def test_mechanical_functions_by_hand():
    args = ([1, 1], lambda t, p, v: [0, -9.81], (0, 1), [1, 0], [0, 0], lambda t, p: [(p @ p - 1) / 2], lambda t, p: [p])
    for method, form in (("phem56", None), ("radau5", "index2"), ("dop853", "statespace")):
        s = daedalus.Integrator.mechanical(*args, method=method, formulation=form, rtol=1e-8, atol=1e-10)
        for t, _ in s:
            pass
        assert s.status == "finished" and np.allclose(s.y[:2], [-9.86292e-01, -1.65011e-01], atol=2e-5)
        assert s.residuals["position"] < 1e-6

    def bad(t, p, v):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        daedalus.Integrator.mechanical([1], bad, (0, 1), [0], [1])


def test_equation_files():
    m = daedalus.open("""model decay "a text"
param k = 2 [1/s]
var y = 1 [m]
y' = -k*y
solve t = 0 .. 1 [s], rtol = 1e-9
""", k=3)
    r = m.run()
    assert m.names == ["y"] and r.unit("y") == "m" and m.units == ["m"]
    assert np.isclose(r.y_end[0], np.exp(-3), atol=1e-7) and m.parameters["k"] == 3
    with pytest.raises(daedalus.InputError, match="3:4"):
        daedalus.open("model m\nvar y = \ny' = 1\n")
