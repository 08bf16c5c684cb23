"""Exceptions, wrong lengths, NaN, Ctrl-C, dead objects: a clear error, no leak, no crash."""
import gc
import os
import resource
import signal
import threading
import traceback
import weakref

import numpy as np
import pytest
from systems import circle

import daedalus

ROUNDS = 10_000


class Mine(Exception):
    pass


def raises_at(t, y):
    if t > 0.5:
        raise Mine("here")
    return [y[1], -y[0]]


@pytest.mark.parametrize("method", [m["name"] for m in daedalus.methods() if "ODE" in m["kinds"]])
def test_exception_arrives_with_its_traceback(method):
    form = dict(second_order=1, no_velocities=True) if method.startswith("rkn") else {}
    with pytest.raises(Mine, match="here") as info:
        daedalus.solve_ivp(raises_at, (0, 2), [0, 1], method=method, **form)
    assert any(frame.name == "raises_at" for frame in traceback.extract_tb(info.value.__traceback__))


@pytest.mark.parametrize("where", ["jac", "event", "action", "progress", "log", "residual", "mass", "force", "constraint"])
def test_exception_in_every_function(where):
    def bad(*args):
        raise Mine(where)

    def hit(t, y):
        return y[0] - 0.1
    with pytest.raises(Mine, match=where):
        if where == "jac":
            daedalus.solve_ivp(circle, (0, 1), [0, 1], method="radau5", jac=bad)
        elif where == "event":
            daedalus.solve_ivp(circle, (0, 1), [0, 1], events=bad)
        elif where == "action":
            daedalus.solve_ivp(circle, (0, 1), [0, 1], events=daedalus.Event(hit, action=bad))
        elif where == "progress":
            daedalus.solve_ivp(circle, (0, 1), [0, 1], progress=bad)
        elif where == "log":
            daedalus.solve_ivp(circle, (0, 1), [0, 1], log=bad)
        elif where == "residual":
            daedalus.solve_ide(bad, (0, 1), [0], [1])
        elif where == "mass":
            daedalus.solve_mechanical(bad, lambda t, p, v: [0], (0, 1), [0], [1])
        elif where == "force":
            daedalus.solve_mechanical([1], bad, (0, 1), [0], [1])
        else:
            late = lambda t, p: bad() if t > 0.1 else [p[0] - t]  # noqa: E731
            daedalus.solve_mechanical([1, 1], lambda t, p, v: [0, 0], (0, 1), [0, 0], [1, 0], late, lambda t, p: [[1, 0]],
                                      velocity=lambda t, p: [-1])


@pytest.mark.parametrize("result,match", [([1, 2, 3], "returned 3 numbers at t = .*; 2 are needed"), ([1], "1 number at"),
                                          (None, "None"), ("no", "read as numbers"), ([1, "a"], "read as numbers"),
                                          (np.zeros((2, 2)), "4 numbers"), ([1j, 0], "read as numbers|complex"), ({}, "numbers")])
def test_wrong_results(result, match):
    with pytest.raises((ValueError, TypeError), match=match):
        daedalus.solve_ivp(lambda t, y: result, (0, 1), [0, 1], method="dopri5")
    if np.shape(result) != (2, 2):
        with pytest.raises((ValueError, TypeError)):
            daedalus.solve_ivp(circle, (0, 1), [0, 1], method="radau5", jac=lambda t, y: result)


def test_nan_and_compiled_functions_that_stop(compiled):
    r = daedalus.solve_ivp(lambda t, y: [np.nan, 1], (0, 1), [0, 1], method="dopri5")
    assert r.status == -1 and not r.success and "component 1" in r.message and "finite" in r.message
    r = daedalus.solve_ivp(compiled.stops, (0, 1), [1.0], method="dopri5")
    assert r.status == -1 and "asked to stop" in r.message
    r = daedalus.solve_ivp(compiled.nowhere, (0, 1), [1.0], method="dopri5")
    assert r.status == -1 and r.t[-1] <= 0.51


def test_keyboard_interrupt_in_python_and_in_compiled_functions(compiled):
    def press():
        os.kill(os.getpid(), signal.SIGINT)
    for fun, n in ((circle, 2), (compiled.fast, 2)):
        timer = threading.Timer(0.3, press)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            daedalus.solve_ivp(fun, (0, 1e9), [1.0] * n, method="dopri5", max_steps=0, t_eval=[], max_seconds=60)
        timer.join()


def test_dead_objects():
    class Holder:
        def f(self, t, y):
            return -y
    h = Holder()
    proxy = weakref.proxy(h)
    fun = lambda t, y: proxy.f(t, y)  # noqa: E731
    del h
    with pytest.raises(ReferenceError):
        daedalus.solve_ivp(fun, (0, 1), [1.0])
    with pytest.raises(ValueError, match="zero"):
        daedalus.solve_ivp(0, (0, 1), [1.0])
    with pytest.raises(TypeError, match="callable"):
        daedalus.solve_ivp("f", (0, 1), [1.0])


def test_arrays_can_be_kept_and_written():
    kept = []

    def f(t, y):
        kept.append(y)
        y_in = y.copy()
        y[:] = 1e99  # a copy: the solver does not see it
        return -y_in
    r = daedalus.solve_ivp(f, (0, 1), [1.0, 2.0], method="dopri5")
    assert np.allclose(r.y[:, -1], np.exp(-1) * np.array([1, 2]), atol=1e-6)
    assert len({id(y) for y in kept}) == len(kept) == r.nfev
    seen = []
    daedalus.solve_ivp(lambda t, y: (seen.append(y[0:1]), -y)[1], (0, 1), [1.0, 2.0], method="dopri5")
    assert len({float(y[0]) for y in seen}) > 5  # views keep their values too


def memory():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("case", ["run", "exception", "length", "nan", "wrong", "events", "integrator", "dense"])
def test_no_leak(case):
    """10^4 rounds: memory stays within 2 MB, objects within a few hundred."""
    def hit(t, y):
        return y[0] - 0.1

    def fail():
        raise Mine("x")

    def one():
        if case == "run":
            daedalus.solve_ivp(circle, (0, 0.1), [0, 1], method="radau5", rtol=1e-2, atol=1e-2)
        elif case == "exception":
            with pytest.raises(Mine):
                daedalus.solve_ivp(lambda t, y: fail(), (0, 1), [0, 1], method="dopri5")
        elif case == "length":
            with pytest.raises(ValueError):
                daedalus.solve_ivp(lambda t, y: [1], (0, 1), [0, 1], method="dopri5")
        elif case == "nan":
            daedalus.solve_ivp(lambda t, y: [np.nan, 0], (0, 1), [0, 1], method="dopri5")
        elif case == "wrong":
            with pytest.raises(daedalus.InputError):
                daedalus.solve_ivp(circle, (0, 1), [0, 1], method="nothing")
        elif case == "events":
            daedalus.solve_ivp(circle, (0, 0.2), [0, 1], method="dopri5", rtol=1e-2, atol=1e-2,
                               events=daedalus.Event(hit, terminal=True, action=lambda t, y: y))
        elif case == "integrator":
            it = daedalus.Integrator(circle, (0, 1), [0, 1], method="dopri5", record=True)
            it.step()
            it.me = it  # a cycle, for the collector
        else:
            daedalus.solve_ivp(circle, (0, 0.1), [0, 1], method="dopri5", rtol=1e-2, atol=1e-2, dense_output=True).sol(0.05)
    for _ in range(ROUNDS // 5):
        one()
    before, objects = memory(), len(gc.get_objects())
    for _ in range(ROUNDS):
        one()
    assert memory() - before < 2_000_000 and len(gc.get_objects()) - objects < 500
