"""solve_ivp, solve_dae, solve_ide, solve_mechanical: right numbers for all ways to state a problem."""
import pickle

import numpy as np
import pytest
from scipy.sparse import csc_matrix, diags
from systems import circle, robertson

import daedalus

# Robertson at t = 40, to the digits of the test set's reference problem with these rates (radau5 and dop853 at 1e-12 agree).
ROBER_40 = np.array([7.158270687193941e-1, 9.185534764557758e-6, 2.841637457458413e-1])


@pytest.mark.parametrize("method", [m["name"] for m in daedalus.methods() if "ODE" in m["kinds"]] + ["auto", "RK45", "BDF"])
def test_every_method_on_the_circle(method):
    form = dict(second_order=1, no_velocities=True) if method.startswith("rkn") else {}
    r = daedalus.solve_ivp(circle, (0, 3), [0, 1], method=method, rtol=1e-6, atol=1e-8, dense_output=True, **form)
    assert r.success and r.status == 0 and r.t[-1] == 3
    assert np.allclose(r.y[:, -1], [np.sin(3), np.cos(3)], atol=3e-4)
    t = np.linspace(0, 3, 50)
    assert np.allclose(r.sol(t), [np.sin(t), np.cos(t)], atol=1e-3)
    assert np.allclose(r.sol(t, 1), [np.cos(t), -np.sin(t)], atol=0.1)
    assert np.array_equal(r.sol(r.t), r.y) or np.allclose(r.sol(r.t), r.y, rtol=1e-11, atol=1e-12)


def test_orders_are_those_of_the_methods():
    errors = {m: abs(daedalus.solve_ivp(circle, (0, 6), [0, 1], method=m, rtol=1e-9, atol=1e-9).y[0, -1] - np.sin(6))
              for m in ("dop853", "dopri5", "radau5", "lsoda")}
    assert errors["dop853"] < 1e-8 and errors["dopri5"] < 1e-7 and errors["radau5"] < 1e-5 and errors["lsoda"] < 1e-6


def test_auto_says_why():
    stiff = daedalus.solve_ivp(robertson, (0, 40), [1, 0, 0], rtol=1e-9, atol=1e-12)
    implicit = {m["name"]: m["implicit"] for m in daedalus.methods()}
    assert implicit[stiff.solver] and "stiff" in stiff.reason
    assert np.allclose(stiff.y[:, -1], ROBER_40, rtol=1e-6, atol=0)
    assert not implicit[daedalus.solve_ivp(circle, (0, 3), [0, 1]).solver]


@pytest.mark.parametrize("back", [False, True])
def test_t_eval_and_dense_agree(back):
    span = (3, 0) if back else (0, 3)
    y0 = [np.sin(3), np.cos(3)] if back else [0, 1]
    t = np.linspace(*span, 17)
    r = daedalus.solve_ivp(circle, span, y0, t_eval=t, dense_output=True, rtol=1e-9, atol=1e-9)
    assert np.array_equal(r.t, t)
    assert np.allclose(r.y, r.sol(t), rtol=1e-13, atol=1e-14)
    assert np.allclose(r.y[0], np.sin(t), atol=1e-7)


def test_jacobians_of_all_kinds_give_the_same_numbers():
    n = 60
    A = diags([np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)], [-1, 0, 1]).tocsc() * 100
    dense = A.toarray()
    y0 = np.sin(np.linspace(0, np.pi, n))

    def f(t, y):
        return A @ y

    def packed(t, y):
        out = np.zeros((3, n))
        out[0, 1:], out[1], out[2, :-1] = dense.diagonal(1), dense.diagonal(), dense.diagonal(-1)
        return out
    kw = dict(method="radau5", rtol=1e-8, atol=1e-10)
    results = [daedalus.solve_ivp(f, (0, 1), y0, **kw, **more) for more in (
        {"jac": dense}, {"jac": A}, {"jac": lambda t, y: dense}, {"jac": lambda t, y: A}, {"jac": lambda t, y: dense.tolist()},
        {"jac": packed, "lband": 1, "uband": 1}, {"lband": 1, "uband": 1}, {"jac_sparsity": A}, {"jac_sparsity": dense != 0}, {})]
    from scipy.linalg import expm
    exact = expm(dense) @ y0
    for r in results:
        assert r.success
        assert np.allclose(r.y[:, -1], exact, atol=2e-7)
    assert results[0].njev == 0 and results[2].njev >= 1
    assert results[0].nfev == results[2].nfev == results[5].nfev
    assert results[6].stats["f_jac"] == results[6].stats["jac"] * 3  # three groups of columns


def test_a_growing_pattern_is_followed():
    n = 80

    def f(t, y):
        return np.concatenate(([-y[0]], -y[1:] + max(0, t - 0.5) * y[:-1]))

    def jac(t, y):
        J = np.diag(-np.ones(n)) + np.diag(max(0, t - 0.5) * np.ones(n - 1), -1)
        return csc_matrix(J)
    r = daedalus.solve_ivp(f, (0, 1), np.ones(n), method="radau5", jac=jac, rtol=1e-8)
    ref = daedalus.solve_ivp(f, (0, 1), np.ones(n), method="dop853", rtol=1e-11, atol=1e-12)
    assert r.success and np.allclose(r.y[:, -1], ref.y[:, -1], atol=1e-6)


def test_vectorized_args_and_other_kinds_of_results():
    def columns(t, y, a):
        assert y.ndim == 2
        return np.vstack((a * y[1], -a * y[0]))
    r = daedalus.solve_ivp(columns, (0, 1), [0, 1], vectorized=True, args=(2,), rtol=1e-9)
    assert np.isclose(r.y[0, -1], np.sin(2), atol=1e-7)
    for kind in (list, tuple, np.float32, lambda x: np.array(x)[:, None], lambda x: np.array(x, order="F")):
        r = daedalus.solve_ivp(lambda t, y: kind([y[1], -y[0]]), (0, 1), [0, 1], method="dopri5")
        assert np.isclose(r.y[0, -1], np.sin(1), atol=1e-5)
    r = daedalus.solve_ivp(lambda t, y: -y[0], (0, 1), [1])  # a number, for one equation
    assert np.isclose(r.y[0, -1], np.exp(-1), atol=1e-6)
    r = daedalus.solve_ivp(lambda t, y, *a: sum(a) * y, (0, 1), [1], args=(-0.05,) * 20)
    assert np.isclose(r.y[0, -1], np.exp(-1), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_initial_values_of_other_types(dtype):
    r = daedalus.solve_ivp(circle, (0, 1), np.array([0, 1], dtype=dtype), rtol=1e-9)
    assert r.y.dtype == float and np.isclose(r.y[0, -1], np.sin(1), atol=1e-7)


def test_complex_values():
    for method, jac in (("dop853", None), ("radau5", [[2j]]), ("radau5", lambda t, y: [[2j]]), ("radau5", csc_matrix([[2j]])),
                        ("auto", None)):
        r = daedalus.solve_ivp(lambda t, y: 2j * y, (0, 1), [1 + 0j], method=method, jac=jac, rtol=1e-9, atol=1e-9,
                               dense_output=True, events=lambda t, y: y[0].real)
        assert np.isclose(r.y[0, -1], np.exp(2j), atol=1e-6)
        assert np.isclose(r.sol(0.3)[0], np.exp(0.6j), atol=1e-6)
        assert np.isclose(r.t_events[0][0], np.pi / 4, atol=1e-6) and np.iscomplexobj(r.y_events[0])
    r = daedalus.solve_dae(np.diag([1, 0]), lambda t, y: [1j * y[1], y[1] - y[0]], (0, 1), [1 + 0j, 1], rtol=1e-8)
    assert np.isclose(r.y[0, -1], np.exp(1j), atol=1e-5)


def test_dae_with_every_kind_of_mass():
    def f(t, y):
        return [-0.04 * y[0] + 1e4 * y[1] * y[2], 0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2, y[0] + y[1] + y[2] - 1]
    M = np.diag([1.0, 1, 0])
    for mass in (M, [1, 1, 0], csc_matrix(M)):
        r = daedalus.solve_dae(mass, f, (0, 40), [1, 0, 0], rtol=1e-8, atol=1e-12)
        assert r.success and np.allclose(r.y[:, -1], ROBER_40, rtol=1e-5, atol=0)
    r = daedalus.solve_dae(lambda t, y: (1 + t) * M, lambda t, y: np.array(f(t, y)) * [1 + t, 1 + t, 1], (0, 40), [1, 0, 0],
                           rtol=1e-8, atol=1e-12)
    assert r.success and np.allclose(r.y[:, -1], ROBER_40, rtol=1e-4, atol=0)
    with pytest.raises(ValueError, match="mass matrix has the shape"):
        daedalus.solve_dae(np.eye(2), f, (0, 1), [1, 0, 0])


def test_dae_of_index_two():
    # y' = z, 0 = y - sin t; the index of z is 2
    r = daedalus.solve_dae([1, 0], lambda t, y: [y[1], y[0] - np.sin(t)], (0, 2), [0, 1], index=[1, 2], rtol=1e-7, atol=1e-7)
    assert r.success and np.allclose(r.y[:, -1], [np.sin(2), np.cos(2)], atol=1e-4)


def test_ide_with_and_without_jacobian():
    def F(t, y, yp, k):
        return [yp[0] - k * y[1], yp[1] + k * y[0]]
    dy, dyp = np.array([[0, -2.0], [2.0, 0]]), np.eye(2)
    for jac in (None, lambda t, y, yp, k: (dy, dyp), (lambda *a: dy, lambda *a: dyp)):
        r = daedalus.solve_ide(F, (0, 1), [0, 1], [2, 0], jac=jac, args=(2.0,), rtol=1e-8, atol=1e-10, dense_output=True)
        assert r.success and np.allclose(r.y[:, -1], [np.sin(2), np.cos(2)], atol=1e-5)
        assert np.allclose(r.sol(0.5, 1), [2 * np.cos(1), -2 * np.sin(1)], atol=1e-3)
    r = daedalus.solve_ide(lambda t, y, yp: [yp[0] + y[1], y[0] - y[1]], (0, 1), [1, 0.3], rtol=1e-8)  # y1 is made consistent
    assert r.success and np.isclose(r.y[0, 0], r.y[1, 0], atol=1e-8)


@pytest.mark.parametrize("method,formulation", [("auto", None), ("phem56", None), ("mexx", None), ("radau5", "index2"),
                                                ("dop853", "statespace"), ("dopri5", "index1")])
def test_mechanical_pendulum(method, formulation):
    r = daedalus.solve_mechanical([1, 1], lambda t, p, v: [0, -9.81], (0, 1), [1, 0], [0, 0], lambda t, p: [(p @ p - 1) / 2],
                                  lambda t, p: [p], method=method, formulation=formulation, rtol=1e-8, atol=1e-10,
                                  t_eval=np.linspace(0, 1, 5), events=lambda t, y: y[0])
    assert r.success and np.allclose(r.p[:, -1], [-9.86292e-01, -1.65011e-01], atol=2e-5)
    energy = 0.5 * (r.v ** 2).sum(axis=0) + 9.81 * r.p[1]
    assert np.allclose(energy, 0, atol=1e-4)
    assert r.drift["position"] < 1e-6 and len(r.t_events[0]) == 1
    # M a = f - G' lambda with G = p': p.a = -|v|^2 gives lambda = |v|^2 - g p_y on the unit circle
    assert r.formulation and r.a.shape == (2, 5) and r.lam.shape == (1, 5)
    assert np.allclose(r.lam[0], (r.v ** 2).sum(axis=0) - 9.81 * r.p[1], rtol=1e-4, atol=1e-4)
    stop = daedalus.Event(lambda t, y: y[0], terminal=True)
    r = daedalus.solve_mechanical([1, 1], lambda t, p, v: [0, -9.81], (0, 1), [1, 0], [0, 0], lambda t, p: [(p @ p - 1) / 2],
                                  lambda t, p: [p], method=method, formulation=formulation, rtol=1e-8, t_eval=[0, 0.1], events=stop)
    assert r.status == 1 and r.lam.shape == (1, 3) and np.isclose(r.lam[0, -1], 3 * 9.81, rtol=1e-3)  # at the lowest point


def test_mechanical_with_functions_of_the_state():
    # a disc on a string: mass(t, p), auxiliary variable u' = |v|^2, gamma given
    r = daedalus.solve_mechanical(lambda t, p: np.eye(2) * 2, lambda t, p, v, u: [0, -2 * 9.81], (0, 1), [1, 0], [0, 0],
                                  lambda t, p: [(p @ p - 1) / 2], lambda t, p: [p], u0=[0], gamma=lambda t, p, v: [v @ v],
                                  dynamics=lambda t, p, v, u: [v @ v], rtol=1e-9, atol=1e-10)
    assert r.success and np.allclose(r.p[:, -1], [-9.86292e-01, -1.65011e-01], atol=2e-5)
    fine = np.linspace(0, 1, 2001)
    q = daedalus.solve_mechanical([1, 1], lambda t, p, v: [0, -9.81], (0, 1), [1, 0], [0, 0], lambda t, p: [(p @ p - 1) / 2],
                                  lambda t, p: [p], rtol=1e-10, t_eval=fine)
    assert np.isclose(r.u[0, -1], np.trapz((q.v ** 2).sum(axis=0), fine), rtol=1e-5)
    with pytest.raises(ValueError, match="jacobian"):
        daedalus.solve_mechanical([1, 1], lambda t, p, v: [0, 0], (0, 1), [1, 0], [0, 0], lambda t, p: [p @ p])


@pytest.mark.parametrize("method", ["mexx", "phem56", "dop853"])
def test_mechanical_with_a_multiple_of_the_jacobian(method):
    def run(**more):
        return daedalus.solve_mechanical([1, 1], lambda t, p, v: [0, -9.81], (0, 1), [1, 0], [0, 0],
                                         lambda t, p: [(p @ p - 1) / 2], lambda t, p: [10 * p], method=method, rtol=1e-9,
                                         atol=1e-9, formulation="index1" if method == "dop853" else None, **more)
    r = run(position_jacobian=lambda t, p: [p])
    assert r.success and np.allclose(r.p[:, -1], [-9.86292e-01, -1.65011e-01], atol=2e-5)
    with pytest.raises(daedalus.InputError, match="row 1 of G is not dg/dp T"):
        run()


def test_events_count_direction_names_and_actions():
    def hit(t, y):
        return y[0]
    hit.terminal = 3
    r = daedalus.solve_ivp(circle, (0, 20), [0, 1], events=hit, rtol=1e-9, atol=1e-9)
    assert r.status == 1 and np.allclose(r.t_events[0], [np.pi, 2 * np.pi, 3 * np.pi], atol=1e-6)
    assert r.t[-1] == r.t_events[0][-1] and np.array_equal(r.y[:, -1], r.y_events[0][-1])
    up = daedalus.Event(hit, direction=1, name="upwards")
    r = daedalus.solve_ivp(circle, (0, 20), [0, 1], events=[up, daedalus.Event(hit, direction=-1)], rtol=1e-9, atol=1e-9)
    assert np.allclose(r.t_events[0], 2 * np.pi * np.arange(1, 4), atol=1e-6)
    assert np.allclose(r.t_events[1], np.pi * (2 * np.arange(3) + 1), atol=1e-6)
    assert [e.name for e in r.events] == ["hit", "upwards"] * 3 and all(np.diff([e.t for e in r.events]) > 0)

    bounce = daedalus.Event(lambda t, y: y[0], direction=-1, action=lambda t, y: [0, -0.5 * y[1]])
    r = daedalus.solve_ivp(lambda t, y: [y[1], -10.0], (0, 2.2), [5, 0], events=bounce, dense_output=True, rtol=1e-10)
    assert np.allclose(r.t_events[0], [1, 2], atol=1e-8)  # falls 1 s with v = -10, flies 1 s with v = 5
    at = np.flatnonzero(r.t == r.t_events[0][0])
    assert len(at) == 2 and np.allclose(r.y[1, at], [-10, 5], atol=1e-6)  # both sides of the jump
    assert np.isclose(r.sol(1.5)[0], 5 * 0.5 - 5 * 0.25, atol=1e-7)


def test_progress_limits_and_cancel():
    seen = []
    r = daedalus.solve_ivp(circle, (0, 50), [0, 1], progress=lambda t, end: seen.append((t, end)))
    assert r.success and seen[-1] == (50, 50) and len(seen) == r.stats["accepted"]
    r = daedalus.solve_ivp(circle, (0, 50), [0, 1], progress=lambda t, end: t > 10)
    assert r.status == 2 and not r.success and 10 < r.t[-1] < 50 and "cancelled" in r.message
    r = daedalus.solve_ivp(circle, (0, 1e9), [0, 1], max_steps=50)
    assert r.status == -1 and "max_steps" in r.message and len(r.t) == r.stats["accepted"] + 1
    r = daedalus.solve_ivp(circle, (0, 1e9), [0, 1], max_seconds=0.05, max_steps=0)
    assert r.status == -1 and "max_seconds" in r.message


def test_checkpoint_and_resume():
    kw = dict(method="radau5", rtol=1e-8)
    whole = daedalus.solve_ivp(robertson, (0, 40), [1, 0, 0], **kw)
    part = daedalus.solve_ivp(robertson, (0, 40), [1, 0, 0], checkpoint=True, progress=lambda t, end: t > 5, **kw)
    rest = daedalus.solve_ivp(robertson, (0, 40), [1, 0, 0], resume=part.checkpoint, **kw)
    assert part.status == 2 and np.array_equal(rest.y[:, -1], whole.y[:, -1])


def test_options_and_their_messages():
    jump = daedalus.solve_ivp(lambda t, y: [1.0 if t < 1 else 5.0], (0, 2), [0], discontinuity=[1], method="dopri5")
    assert np.isclose(jump.y[0, -1], 6, atol=1e-12) and jump.stats["restarts"] == 1
    assert (np.diff(jump.t) > 0).all()
    lines = []
    daedalus.solve_ivp(circle, (0, 1), [0, 1], log=lambda level, text: lines.append(text))
    assert any("method=" in line for line in lines)
    for kw, match in (({"method": "radau6"}, "radau5"), ({"method": "dopri5", "safty": 1}, "safety"),
                      ({"rtol": -1}, "rtol"), ({"first_step": -1}, "first_step"), ({"max_step": 0}, "max_step"),
                      ({"t_eval": [0, 5]}, "t_eval"), ({"t_eval": [0.5, 0.2]}, "sorted"), ({"atol": [1, 2, 3]}, "atol")):
        with pytest.raises(ValueError, match=match):
            daedalus.solve_ivp(circle, (0, 1), [0, 1], **kw)
    with pytest.raises(daedalus.InputError) as info:
        daedalus.solve_ivp(circle, (0, 1), [0, 1], method="phem56")
    assert info.value.status in ("DAE_ERR_UNSUPPORTED", "DAE_ERR_INPUT")
    a = daedalus.solve_ivp(circle, (0, 9), [0, 1], method="radau", order_max=5)
    b = daedalus.solve_ivp(circle, (0, 9), [0, 1], method="radau", rtol=1e-10, atol=1e-12)
    assert a.stats["order_last"] == 5 and b.stats["order_last"] > 5


def test_second_order_structure_saves_factorizations_of_half_size():
    n = 40
    K = np.diag(np.full(n, 2.0)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)

    def f(t, y):
        return np.concatenate((y[n:], -1000 * K @ y[:n]))
    y0 = np.concatenate((np.sin(np.linspace(0, 3, n)), np.zeros(n)))
    a = daedalus.solve_ivp(f, (0, 1), y0, method="radau5", rtol=1e-7)
    b = daedalus.solve_ivp(f, (0, 1), y0, method="radau5", rtol=1e-7, second_order=n)
    assert np.allclose(a.y[:, -1], b.y[:, -1], atol=1e-6) and abs(a.nfev - b.nfev) < 0.1 * a.nfev


def test_solution_and_result_can_be_pickled():
    r = daedalus.solve_ivp(circle, (0, 3), [0, 1], dense_output=True, events=lambda t, y: y[0])
    again = pickle.loads(pickle.dumps(r))
    assert np.array_equal(again.sol(1.5), r.sol(1.5)) and np.array_equal(again.y, r.y) and again.stats == r.stats
    assert repr(again).startswith("        t: array")
    with pytest.raises(daedalus.InputError, match="outside the solution"):
        r.sol(4)
    with pytest.raises(ValueError, match="derivative"):
        r.sol(1, 2)


def test_trivial_problems():
    r = daedalus.solve_ivp(circle, (2, 2), [3, 4], dense_output=True, events=lambda t, y: y[0])
    assert r.success and r.t.tolist() == [2] and r.y.tolist() == [[3], [4]] and r.sol(2).tolist() == [3, 4]
    r = daedalus.solve_ivp(lambda t, y: y, (0, 1), [])
    assert r.success and r.y.shape == (0, 2)


def test_registries():
    assert {"hires", "andrews"} <= {p["name"] for p in daedalus.problems()}
    assert "rtol" in [o["name"] for o in daedalus.options()]
    assert "statespace" in [f["name"] for f in daedalus.formulations()]
    assert "Radau" in daedalus.help_page("radau5") and daedalus.help_page("no such") is None
    assert daedalus.__version__.count(".") == 2


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau5", "vode", "dassl", "lsoda", "rodas5p"])
def test_nonnegative_components(method):
    """y' = -|y| runs to minus infinity once an error is below zero."""
    s = daedalus.solve_ivp(lambda t, y: [-abs(y[0])], (0, 60), [1], method=method, rtol=1e-3, atol=1e-3, nonnegative=[0],
                           dense_output=True)
    assert s.success and (s.y >= 0).all() and s.y[0, -1] < 0.05
    with pytest.raises(ValueError, match="no component 3"):
        daedalus.solve_ivp(lambda t, y: -y, (0, 1), [1], nonnegative=[3])
