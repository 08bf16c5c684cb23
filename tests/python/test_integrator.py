"""Stepping by hand, saving and going on."""
import pickle

import numpy as np
import pytest
from systems import circle, robertson

import daedalus


def crossing(t, y):
    return y[0]


@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau5", "vode", "lsoda", "mebdfdae", "bimd", "auto"])
def test_steps_are_those_of_a_run(method):
    r = daedalus.solve_ivp(circle, (0, 5), [0, 1], method=method)
    it = daedalus.Integrator(circle, (0, 5), [0, 1], method=method)
    points = [(t, y) for t, y in it]
    assert it.status == "finished" and np.array_equal([t for t, _ in points], r.t[1:])
    assert np.array_equal(np.array([y for _, y in points]).T, r.y[:, 1:])
    assert it.stats["f"] == r.nfev and it.method == r.solver
    with pytest.raises(RuntimeError, match="end"):
        it.step()


@pytest.mark.parametrize("method", ["dopri5", "radau5", "vode", "lsoda", "mebdfi", "gamd"])
def test_a_pickle_is_a_checkpoint(method):
    it = daedalus.Integrator(robertson, (0, 40), [1, 0, 0], method=method, events=daedalus.Event(crossing, terminal=5))
    if method == "dopri5":
        it = daedalus.Integrator(circle, (0, 40), [0, 1], method=method, events=crossing)
    for _ in range(15):
        it.step()
    copy = pickle.loads(pickle.dumps(it))
    assert copy.t == it.t and np.array_equal(copy.y, it.y) and len(copy.events) == len(it.events)
    while it.step():
        pass
    while copy.step():
        pass
    assert np.array_equal(copy.y, it.y) and copy.stats["f"] == it.stats["f"]
    assert [e.t for e in copy.events] == [e.t for e in it.events]


def test_save_and_load():
    it = daedalus.Integrator(circle, (0, 5), [0, 1], method="radau5")
    it.advance(2)
    data = it.save()
    other = daedalus.Integrator(circle, (0, 5), [0, 1], method="radau5")
    other.load(data)
    it.advance(5), other.advance(5)
    assert np.array_equal(it.y, other.y)
    with pytest.raises(ValueError, match="checkpoint"):
        daedalus.Integrator(circle, (0, 5), [0, 1], method="dopri5").load(data)


def test_interpolation_inside_the_last_step():
    it = daedalus.Integrator(circle, (0, 5), [0, 1], method="dopri5", rtol=1e-9, atol=1e-9, record=True)
    it.step(), it.step()
    t = np.linspace(it.t_old, it.t, 7)
    assert np.allclose(it(t)[0], np.sin(t), atol=1e-7) and np.allclose(it(t, 1)[0], np.cos(t), atol=1e-5)
    assert it(it.t).shape == (2,)
    piece = it.dense()
    it.step()
    assert np.allclose(piece(t)[0], np.sin(t), atol=1e-7)
    with pytest.raises(daedalus.InputError, match="outside"):
        it(0.0)


def test_dae_ide_and_events():
    it = daedalus.Integrator.dae([1, 0], lambda t, y: [-y[1], y[0] - y[1]], (0, 1), [1, 1], rtol=1e-8)
    while it.step():
        pass
    assert np.allclose(it.y, np.exp(-1), atol=1e-6)
    it = daedalus.Integrator.ide(lambda t, y, yp: [yp[0] + y[0]], (0, 1), [1], [-1], rtol=1e-8)
    it.advance(1)
    assert np.allclose(it.y, np.exp(-1), atol=1e-6)
    it = daedalus.Integrator(circle, (0, 10), [0, 1], events=daedalus.Event(crossing, terminal=True))
    while it.step():
        pass
    assert it.status == "event" and np.isclose(it.t, np.pi, atol=1e-5) and it.events[0].name == "crossing"
    while it.step():  # goes on behind it
        pass
    assert it.status == "event" or it.t > 6


def test_cancel_and_wrong_use():
    it = daedalus.Integrator(lambda t, y: (it.cancel() if t > 1 else None, circle(t, y))[1], (0, 50), [0, 1])
    it.advance(50)
    assert it.status == "cancelled" and 1 < it.t < 50
    with pytest.raises(ValueError, match="beyond"):
        it.advance(60)

    def inside(t, y):
        busy.step()
        return y
    busy = daedalus.Integrator(circle, (0, 1), [0, 1])
    busy = daedalus.Integrator(lambda t, y: inside(t, y) if t > 0.1 else circle(t, y), (0, 1), [0, 1], method="dopri5",
                               first_step=0.5)
    with pytest.raises(RuntimeError, match="busy"):
        busy.step()
