"""Right-hand sides without Python in the loop."""
import ctypes
import threading

import numpy as np
import pytest
from systems import lorenz

import daedalus

EXACT = [np.exp(-1), np.exp(-2)]


def address(fn):
    return ctypes.cast(fn, ctypes.c_void_p).value


def test_every_way_to_name_it(compiled):
    for fun in (address(compiled.decay), compiled.decay):
        r = daedalus.solve_ivp(fun, (0, 1), [1, 1], rtol=1e-9, atol=1e-12)
        assert np.allclose(r.y[:, -1], EXACT, atol=1e-8)
    k = np.array([2.0])
    for user in (k, k.ctypes.data, ctypes.c_double(2.0), ctypes.pointer(ctypes.c_double(2.0)), ctypes.c_void_p(k.ctypes.data)):
        r = daedalus.solve_ivp(compiled.decay, (0, 0.5), [1, 1], user=user, method="radau5", jac=compiled.decay_jac, rtol=1e-9,
                               atol=1e-12)
        assert np.allclose(r.y[:, -1], EXACT, atol=1e-7) and r.stats["f_jac"] == 0 and r.njev > 0


def test_low_level_callable(compiled):
    scipy = pytest.importorskip("scipy")
    fn = compiled.decay
    fn.restype = ctypes.c_int
    fn.argtypes = (ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double), ctypes.c_void_p)
    k = ctypes.c_double(2.0)
    for call, end in ((scipy.LowLevelCallable(fn), 1), (scipy.LowLevelCallable(fn, ctypes.cast(ctypes.pointer(k), ctypes.c_void_p)), 0.5)):
        r = daedalus.solve_ivp(call, (0, end), [1, 1], rtol=1e-9, atol=1e-12)
        assert np.allclose(r.y[:, -1], EXACT, atol=1e-8)
    other = compiled.lorenz
    other.restype, other.argtypes = ctypes.c_double, (ctypes.c_double,)
    with pytest.raises(ValueError, match="signature"):
        daedalus.solve_ivp(scipy.LowLevelCallable(other), (0, 1), [1, 1, 1])


def test_numba():
    numba = pytest.importorskip("numba")
    sig = numba.types.int32(numba.types.float64, numba.types.CPointer(numba.types.float64),
                            numba.types.CPointer(numba.types.float64), numba.types.voidptr)

    @numba.cfunc(sig)
    def f(t, y, out, user):
        out[0] = -y[0]
        out[1] = -2 * y[1]
        return 0
    r = daedalus.solve_ivp(f, (0, 1), [1, 1], rtol=1e-9, atol=1e-12)
    assert np.allclose(r.y[:, -1], EXACT, atol=1e-8)


def test_residual_and_integrator(compiled):
    r = daedalus.solve_ide(compiled.residual, (0, 1), [0, 1], [1, 0], rtol=1e-8, atol=1e-10)
    assert np.isclose(r.y[0, -1], np.sin(1), atol=1e-6)
    it = daedalus.Integrator(compiled.decay, (0, 1), [1, 1], rtol=1e-9, atol=1e-12)
    it.advance(1)
    assert np.allclose(it.y, EXACT, atol=1e-8)


@pytest.mark.parametrize("method", ["dopri5", "radau5", "lsoda"])
def test_same_numbers_as_python_and_in_threads(compiled, method):
    kw = dict(method=method, rtol=1e-8, atol=1e-10)
    python = daedalus.solve_ivp(lorenz, (0, 3), [1, 1, 1], **kw)
    alone = daedalus.solve_ivp(address(compiled.lorenz), (0, 3), [1, 1, 1], **kw)
    assert np.array_equal(python.y, alone.y)
    out = []

    def work():
        for _ in range(20):
            out.append(np.array_equal(daedalus.solve_ivp(address(compiled.lorenz), (0, 3), [1, 1, 1], **kw).y, alone.y))
    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(out) == 160 and all(out)
