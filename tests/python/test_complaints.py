"""What users of other packages complain about, one test each (the issue numbers are those of the named projects)."""
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from systems import circle, lorenz

import daedalus


def test_overhead_per_call_is_small():
    """scipy 8257: 20 times slower than the old interface. No timing here (bench/python has the figures): the count of Python
    calls per evaluation is one."""
    calls = []
    sys.setprofile(lambda frame, event, arg: calls.append(event) if event == "call" else None)
    r = daedalus.solve_ivp(lorenz, (0, 5), [1, 1, 1], method="dopri5")
    sys.setprofile(None)
    assert len(calls) < r.nfev + 60


@pytest.mark.parametrize("method", ["RK45", "Radau", "auto"])
def test_event_point_with_t_eval(method):
    """scipy 10319, 12100, 14755: the event is in y_events, and last in t and y when it is terminal."""
    def hit(t, y):
        return y[0] - 0.5
    hit.terminal = True
    for t_eval in ([0, 0.1, 0.2, 1.5], [1.0, 1.5], []):
        r = daedalus.solve_ivp(circle, (0, 2), [0, 1], t_eval=t_eval, events=hit, method=method, rtol=1e-8, atol=1e-8)
        assert r.status == 1 and np.isclose(r.t_events[0][0], np.pi / 6, atol=1e-6)
        assert r.y_events[0].shape == (1, 2) and np.isclose(r.y_events[0][0, 0], 0.5, atol=1e-6)
        assert r.t[-1] == r.t_events[0][0] and np.array_equal(r.y[:, -1], r.y_events[0][0])
        assert len(r.t) == sum(t < np.pi / 6 for t in t_eval) + 1 == r.y.shape[1]


def test_two_roots_in_one_step():
    """scipy 9228: roots are missed when a step jumps over two of them."""
    r = daedalus.solve_ivp(lambda t, y: [1.0], (0, 10), [0.0], events=lambda t, y: (y[0] - 4) * (y[0] - 4.5), method="dopri5",
                           first_step=10)
    assert np.allclose(r.t_events[0], [4, 4.5], atol=1e-10) and r.stats["accepted"] <= 3
    r = daedalus.solve_ivp(lambda t, y: [1.0], (0, 10), [0.0], events=lambda t, y: np.sin(3 * y[0]), method="dopri5",
                           max_step=2)
    assert np.allclose(r.t_events[0], np.arange(1, 10) * np.pi / 3, atol=1e-9)


def test_no_duplicate_times_and_events_at_the_ends_of_steps():
    """scipy 17066, 19418: a root at a step's end gave a time twice, and the dense output failed."""
    edge = [0.1 * k for k in range(1, 10)]
    r = daedalus.solve_ivp(lambda t, y: -y, (0, 1), [1.0], dense_output=True, max_step=0.1, first_step=0.1, method="dopri5",
                           events=[lambda t, y, a=a: t - a for a in edge])
    assert (np.diff(r.t) > 0).all() and [len(t) for t in r.t_events] == [1] * 9
    assert np.allclose(r.sol(edge)[0], np.exp(-np.array(edge)), atol=1e-6)
    stop = daedalus.Event(lambda t, y: t - 0.3, terminal=True)
    r = daedalus.solve_ivp(lambda t, y: -y, (0, 1), [1.0], dense_output=True, max_step=0.1, first_step=0.1, method="dopri5",
                           events=stop)
    assert (np.diff(r.t) > 0).all() and abs(r.t[-1] - 0.3) < 1e-12 and np.isclose(r.sol(r.t[-1])[0], np.exp(-0.3), atol=1e-6)


def test_progress_callback_time_limit_and_bar(capsys):
    """scipy 11815, 15128, PR 21741; numbalsoda 28; diffrax 87: no callback, no time limit, "feels stuck"."""
    begin = time.monotonic()
    r = daedalus.solve_ivp(lorenz, (0, 1e7), [1, 1, 1], max_seconds=0.2, max_steps=0, progress=True)
    assert r.status == -1 and "max_seconds" in r.message and time.monotonic() - begin < 30
    assert len(r.t) > 100 and np.isfinite(r.y).all()  # what was computed is kept
    assert "% " in capsys.readouterr().err


def test_nothing_else_is_needed():
    """odes 43, 86, 90, 178; Assimulo 10, 18, 34, 95: installing against some SUNDIALS. Only numpy is imported."""
    code = ("import daedalus, sys; daedalus.solve_ivp(lambda t, y: -y, (0, 1), [1.0]);"
            "print([m for m in ('scipy', 'pandas', 'matplotlib', 'xarray', 'h5py', 'numba') if m in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize("method", ["lsoda", "vode", "radau5", "dop853", "mebdfi"])
def test_eight_threads(method):
    """scipy 8416, PR 21496; KPP 118: threads crash or corrupt. Eight threads give the numbers of one."""
    alone = {k: daedalus.solve_ivp(lorenz, (0, 2), [1, 1, 1 + k], method=method, dense_output=True) for k in range(8)}
    out, wrong = {}, []

    def work(k):
        for _ in range(5):
            r = daedalus.solve_ivp(lorenz, (0, 2), [1, 1, 1 + k], method=method, dense_output=True)
            if not np.array_equal(r.y, alone[k].y) or not np.array_equal(r.sol(1.1), alone[k].sol(1.1)):
                wrong.append(k)
        out[k] = r
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(out) == 8 and not wrong


def test_exact_lengths_and_a_cause_in_the_message():
    """diffrax 207, 210: padding with inf, error text without cause."""
    r = daedalus.solve_ivp(lambda t, y: [y[0] ** 2, 0], (0, 2), [1.0, 5.0], method="dop853")  # a pole at t = 1
    assert r.status == -1 and len(r.t) == r.y.shape[1] == r.stats["accepted"] + 1 and np.isfinite(r.y).all()
    assert "t = 1" in r.message and "step" in r.message and "singularity" in r.message
    r = daedalus.solve_ivp(lambda t, y: [1.0, np.nan if t > 0.5 else 1.0], (0, 1), [0.0, 0.0], method="radau5")
    assert r.status == -1 and np.isclose(r.t[-1], 0.5, atol=1e-3) and ("evaluated" in r.message or "step" in r.message)


def test_the_gil_is_free_while_the_library_works(compiled):
    """mujoco 3118: a call that keeps the GIL dead-locks callbacks."""
    counted, stop = [0], []

    def count():
        while not stop:
            counted[0] += 1
            time.sleep(0.001)
    thread = threading.Thread(target=count)
    thread.start()
    r = daedalus.solve_ivp(compiled.fast, (0, 1), [1, 0], method="dopri5", max_seconds=0.5, max_steps=0, t_eval=[])
    before = counted[0]
    stop.append(1)
    thread.join()
    assert r.status == -1 and before > 20
    # functions that are called from threads of the library itself
    n = 70
    A = -np.diag(np.linspace(1, 100, n))
    r = daedalus.solve_ivp(lambda t, y: A @ y, (0, 1), np.ones(n), method="pside", threads=4, parallel_f=1, rtol=1e-6)
    assert r.success and np.isclose(r.y[0, -1], np.exp(-1), atol=1e-5)


def test_arguments_that_are_easily_wrong():
    """`args=(a)`, times backwards, y0 that is no vector, NaN in the initial values."""
    with pytest.raises(TypeError, match="args"):
        daedalus.solve_ivp(lambda t, y, a: a * y, (0, 1), [1], args=(2))
    for y0, match in (([[1, 2]], "1-dimensional"), ([1, np.nan], "finite"), (["a"], "numbers")):
        with pytest.raises((ValueError, TypeError), match=match):
            daedalus.solve_ivp(circle, (0, 1), y0)
    with pytest.raises(ValueError, match="t_span"):
        daedalus.solve_ivp(circle, (0, 1, 2), [0, 1])
    with pytest.raises(ValueError, match="finite"):
        daedalus.solve_ivp(circle, (0, np.inf), [0, 1])
