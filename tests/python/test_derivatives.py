"""Derivatives of solutions: against closed forms, and numbers from two independent computations (Robertson)."""
import json
import math
import os
import pickle
import signal
import threading

import numpy as np
import pytest

import daedalus

DECAY = "model decay\nparam k = 2 [1/s], a = 3 [mol]\nvar y = a\ny' = -k*y\nsolve t = 0 .. 1 [s], rtol = 1e-9, atol = 1e-12\n"
BALL = ("model ball\nparam g = 9.81, h = 1\nvar y = h, v = 0\ny' = v\nv' = -g\n"
        "when y < 0 \"hit\"\n    v := -0.8*v\nend\nsolve t = 0 .. 0.6, rtol = 1e-10, atol = 1e-12\n")
ROBERTSON = {0.4: (-3.559525659828555673e-01, 3.902544053818218536e-04, 3.555623115774737454e-01)}


def robertson(t, y, k):
    a, b = k[0] * y[0] - k[1] * y[1] * y[2], k[2] * y[1] ** 2
    return [-a, a - b, b]


def test_run_gives_derivatives_along_the_run_and_at_given_times():
    m = daedalus.open(DECAY)
    r = m.run(sensitivity=["k", "y(0)"])
    exact = -3 * r.t * np.exp(-2 * r.t)
    assert np.abs(r.sensitivity["k"][0] - exact).max() < 1e-8
    assert np.abs(r.sensitivity["y", "y(0)"] - np.exp(-2 * r.t)).max() < 1e-8
    assert r.sensitivity.end[0, 0] == pytest.approx(-3 * math.exp(-2), rel=1e-7)
    assert json.loads(r.to_json())["sensitivity"]["k"][0] == pytest.approx(-3 * math.exp(-2), rel=1e-7)
    assert "dy/dk" in r.to_csv().splitlines()[0]
    at = m.run(sensitivity="k", t_eval=[0.25, 1.0])
    assert at.sensitivity["k"][0] == pytest.approx([-0.75 * math.exp(-0.5), -3 * math.exp(-2)], rel=1e-7)
    again = pickle.loads(pickle.dumps(at.sensitivity))
    assert (again["k"] == at.sensitivity["k"]).all() and again.names == ["k"]


def test_integrals_along_a_run():
    r = daedalus.open(DECAY).run(integral=["y", "k*y^2"], sensitivity=["k"])
    assert r.integral["y"] == pytest.approx(1.5 * (1 - math.exp(-2)), rel=1e-8)
    assert r.integral["k*y^2"] == pytest.approx(4.5 * (1 - math.exp(-4)), rel=1e-8)
    assert np.abs(r.integral_along["y"] - 1.5 * (1 - np.exp(-2 * r.t))).max() < 1e-8
    # d/dk of (3/k)(1 - exp(-k)) at k = 2
    assert r.integral_sensitivity["y"]["k"] == pytest.approx(-0.75 * (1 - math.exp(-2)) + 1.5 * math.exp(-2), rel=1e-6)


def test_sensitivity_of_robertson():
    r = daedalus.open("rober").sensitivity(["k1"], t_eval=[0.4], rtol=1e-9, method="radau5")
    assert r.sensitivity["k1"][:, 0] == pytest.approx(ROBERTSON[0.4], rel=1e-6)
    assert r.value == {"k1": 0.04} and r.mode == "columns" and r.solver == "radau5"


def test_event_time_and_state_after_it():
    r = daedalus.open(BALL).sensitivity(["g", "h"], t_eval=[0.6])
    g, t1 = 9.81, math.sqrt(2 / 9.81)
    assert r.events[0][0] == pytest.approx(t1, rel=1e-9)
    assert r.events[0][2]["g"] == pytest.approx(-t1 / (2 * g), rel=1e-7)
    assert r.events[0][2]["h"] == pytest.approx(t1 / 2, rel=1e-7)
    # v after the bounce: 0.8 g t1 - g (t - t1) = 1.8 g t1 - g t, t1 = sqrt(2h/g)
    assert r.sensitivity["g"][1, 0] == pytest.approx(1.8 * t1 - 0.6 - 1.8 * t1 / 2, rel=1e-6)
    assert r.sensitivity["h"][1, 0] == pytest.approx(1.8 * g * t1 / 2, rel=1e-6)


def test_state_at_an_event_that_ends_the_run():
    m = daedalus.open("model fall\nparam g = 9.81, H = 2\nvar y = H, v = 0\ny' = v\nv' = -g\nwhen y < 0: stop\nsolve t = 0 .. 5, rtol = 1e-9\n")
    r = m.run(sensitivity=["H", "g"])
    t = np.sqrt(4 / 9.81)
    assert np.allclose(r.sensitivity.end, [[1, -t * t / 2], [0, -t]], atol=1e-10)
    assert abs(r.event_sensitivity[0]["H"] - t / 4) < 1e-10
    assert np.allclose(r.sensitivity_total["H"], [0, -9.81 * t / 4], atol=1e-10)
    assert "sensitivity_total" not in daedalus.open("rober").run(t_end=1, sensitivity="k1")


def test_sensors_of_a_run(root):
    """The angle of a rod is a function of t sqrt(g/L), and with it the force in its bearing."""
    r = daedalus.open(root / "models" / "pendulum.json").run(rtol=1e-10, atol=1e-12, sensitivity="L")
    angle, omega = r["rod.angle"][1:], r["rod.omega"][1:]
    s, c = np.sin(angle), np.cos(angle)
    force = 9.81 * np.sqrt(6.25 * s * s + c * c / 16)
    by = 9.81**2 * (6.25 - 1 / 16) * s * c / force * (-r.t[1:] * omega / 2)
    assert np.allclose(r.derived_sensitivity["bearing_force"]["L"][1:], by, rtol=0, atol=1e-6)


def test_sensors_and_multipliers_of_a_mechanism(root):
    path = root / "models" / "pendulum.json"
    m = daedalus.open(path, L=1.0)
    r = m.sensitivity(["L"], t_eval=[0.3], rtol=1e-10)
    h = 1e-4
    low, high = (daedalus.open(path, L=v).run(t_eval=[0.3], rtol=1e-11) for v in (1 - h, 1 + h))
    for k in range(m.n):
        assert r.sensitivity["L"][k, 0] == pytest.approx((high.y[k, 0] - low.y[k, 0]) / (2 * h), rel=1e-5, abs=1e-6)
    slope = r.sensors["bearing_force"][1]["L"][0]

    def force(v):
        model = daedalus.open(path, L=v)
        return model.sensitivity(["L"], t_eval=[0.3], rtol=1e-11).sensors["bearing_force"][0][0]
    assert slope == pytest.approx((force(1 + h) - force(1 - h)) / (2 * h), abs=1e-4 * abs(force(1)))
    assert r.lam.shape == (2, 1) and np.isfinite(r.lam).all() and np.isfinite(r.a).all()


@pytest.mark.parametrize("method", ["auto", "dop853", "radau5", "vode", "rodas5p", "dassl"])
def test_functions(method):
    if method == "dop853":
        r = daedalus.solve_sensitivity(lambda t, y, p: -p[0] * y, (0, 1), [1.0], [2.0], dy0dp=[[0.5]], t_eval=[1.0],
                                       method=method, rtol=1e-10, atol=1e-12)
        assert r.sensitivity["p0"][0, 0] == pytest.approx((0.5 - 1) * math.exp(-2), rel=1e-8)
        return
    r = daedalus.solve_sensitivity(robertson, (0, 4), [1.0, 0, 0], [0.04, 1e4, 3e7], t_eval=[0.4, 4.0], method=method, rtol=1e-8,
                                   atol=1e-12, names=["k1", "k2", "k3"])
    assert r.success and r.sensitivity["k1"][:, 0] == pytest.approx(ROBERTSON[0.4], rel=2e-5)


def test_functions_that_go_wrong():
    def bad(t, y, p):
        raise KeyError("no")
    f = lambda t, y, p: -p[0] * y  # noqa: E731
    with pytest.raises(KeyError):
        daedalus.solve_sensitivity(f, (0, 1), [1.0], [2.0], dfdp=bad)
    with pytest.raises(KeyError):
        daedalus.solve_sensitivity(bad, (0, 1), [1.0], [2.0])
    with pytest.raises(ValueError, match="shape"):
        daedalus.solve_sensitivity(f, (0, 1), [1.0], [2.0], dy0dp=[[1, 2]])
    with pytest.raises(ValueError, match="names"):
        daedalus.solve_sensitivity(f, (0, 1), [1.0], [2.0], names=["a", "b"])
    with pytest.raises(daedalus.InputError, match="nix"):
        daedalus.open(DECAY).sensitivity(["nix"])
    with pytest.raises(TypeError):
        daedalus.open(DECAY).sensitivity([])


def test_objective_forward_and_adjoint():
    m = daedalus.open(DECAY)
    times = np.array([0.5, 1.0])
    for mode, method in (("forward", None), ("adjoint", "radau5"), ("adjoint", "dop853"), ("auto", "rodas5p")):
        f = m.objective(lambda y: (float(np.sum(y ** 2)), 2 * y), ["k", "y(0)"], t_eval=times, mode=mode, method=method,
                        rtol=1e-10, atol=1e-13)
        value, gradient = f([1.5, 2.0])
        y = 2 * np.exp(-1.5 * times)
        assert value == pytest.approx(np.sum(y ** 2), rel=1e-8)
        assert gradient == pytest.approx([np.sum(2 * y * -times * y), np.sum(2 * y * y / 2)], rel=1e-7)
    assert f.x0 == pytest.approx([2, 3]) and f.value([1.5, 2.0]) == pytest.approx(value, rel=1e-8)
    number, by_name = m.gradient(lambda y: float(y[0, -1]), ["k"], rtol=1e-9)  # its own derivative by differences
    assert number == pytest.approx(3 * math.exp(-2), rel=1e-7) and by_name["k"] == pytest.approx(-3 * math.exp(-2), rel=1e-6)
    with pytest.raises(ZeroDivisionError):
        m.gradient(lambda y: 1 / 0, ["k"])
    with pytest.raises(ValueError, match="shape"):
        m.gradient(lambda y: (1.0, [1, 2, 3]), ["k"])


def test_objective_in_scipy():
    minimize = pytest.importorskip("scipy.optimize").minimize
    t = np.linspace(0.1, 1, 10)
    data = 3 * np.exp(-1.7 * t)
    f = daedalus.open(DECAY).objective(lambda y: (float(np.sum((y[0] - data) ** 2)), 2 * (y - data)), ["k"], t_eval=t, rtol=1e-9)
    assert minimize(f, [1.0], jac=True, tol=1e-12).x[0] == pytest.approx(1.7, abs=1e-5)


def test_fit_of_arrays_files_and_experiments(tmp_path):
    m = daedalus.open(DECAY)
    t = np.linspace(0, 1, 11)
    wiggle = 0.01 * np.cos(7 * np.arange(11.0))  # noise that is the same in every run
    r = m.fit({"t": t, "y": 4 * np.exp(-1.3 * t) + wiggle, "sd(y)": np.full(11, 0.01)}, {"k": (1.0, 0, 5), "y(0)": None})
    # linear least squares about the answer, by hand
    J = np.array([-4 * t * np.exp(-1.3 * t), np.exp(-1.3 * t)]).T
    change = np.linalg.lstsq(J, wiggle, rcond=None)[0]
    assert r.success and r.value["k"] == pytest.approx(1.3 + change[0], abs=2e-4)
    assert r.value["y(0)"] == pytest.approx(4 + change[1], abs=2e-4)
    sd = np.sqrt(np.diag(np.linalg.inv(J.T @ J))) * 0.01
    assert r.sd["k"] == pytest.approx(sd[0], rel=0.01) and r.sd["y(0)"] == pytest.approx(sd[1], rel=0.01)
    assert r.interval["k"][0] < r.value["k"] < r.interval["k"][1] and r.rank == 2
    assert r.model.parameters["k"] == r.value["k"] and r.model.y0[0] == pytest.approx(r.value["y(0)"])
    assert r.experiments[0]["residual"].shape == (1, 11) and "interval of confidence" in r.report()
    path = tmp_path / "data.csv"
    path.write_text("t,y\n" + "".join(f"{a},{3 * math.exp(-2.5 * a)}\n" for a in t))
    assert m.fit(path, ["k"]).value["k"] == pytest.approx(2.5, rel=1e-6)
    two = m.fit([({"t": t, "y": 2 * np.exp(-0.9 * t)}, {"a": "2[mol]"}), ({"t": t, "y": 5 * np.exp(-0.9 * t)}, {"a": "5[mol]"})],
                ["k"])
    assert two.value["k"] == pytest.approx(0.9, rel=1e-6) and len(two.experiments) == 2
    assert "Fit" in repr(two) and "<table>" in two._repr_html_() and json.loads(two.to_json())["rank"] == 1


def test_fit_says_what_is_wrong():
    m = daedalus.open(DECAY)
    with pytest.raises(daedalus.InputError, match="nix"):
        m.fit({"t": [0, 1], "nix": [1, 2]}, ["k"])
    with pytest.raises(ValueError, match="column t"):
        m.fit({"y": [1, 2]}, ["k"])
    with pytest.raises(ValueError, match="has 2 values"):
        m.fit({"t": [0, 1, 2], "y": [1, 2]}, ["k"])
    with pytest.raises(ValueError, match="start"):
        m.fit({"t": [0, 1], "y": [1, 2]}, {"k": (1, 2, 3, 4)})
    with pytest.raises(FileNotFoundError):
        m.fit("there-is-none.csv", ["k"])

    def stop(at):
        raise RuntimeError(f"enough at {at['iteration']}")
    with pytest.raises(RuntimeError, match="enough"):
        m.fit({"t": [0, 1], "y": [3, 1]}, ["k"], progress=stop)
    assert m.fit({"t": [0, 0.5, 1], "y": [3, 2, 1]}, ["k"], progress=lambda at: True).success is False


def test_optimum():
    m = daedalus.open("model d\nparam k = 1\nvar y = 1\ny' = -k*y\nsolve t = 0 .. 1, rtol = 1e-9\n")
    try:
        r = m.optimize("(final(y) - 0.5)^2", {"k": (0.1, 3)})
    except daedalus.InputError as x:
        pytest.skip(str(x))  # built without NLopt
    assert r.value["k"] == pytest.approx(math.log(2), abs=1e-4) and r.success and r.model.parameters["k"] == r.value["k"]
    r = m.optimize("final(y)", {"k": (0.1, 3)}, subject_to="k <= 1.5")
    assert r.value["k"] == pytest.approx(1.5, abs=1e-5) and r.violation < 1e-6


def test_numbers_are_si_where_a_file_gives_units():
    m = daedalus.open(DECAY, k=0.5)
    assert m["k"] == 0.5
    m["k"] = m["k"]
    m["k"] = "2[1/ms]"
    assert m["k"] == 2000.0
    assert m.with_values({"k": 7.0, "y(0)": 2.0}).y0[0] == 2.0 and m["k"] == 2000.0
    assert pickle.loads(pickle.dumps(m.with_values({"y(0)": 2.0}))).y0[0] == 2.0


def test_no_leak():
    import tracemalloc
    m = daedalus.open(DECAY)

    def one():
        m.sensitivity(["k"], t_eval=[0.5])
        m.gradient(lambda y: (float(y[0, 0]), np.ones_like(y)), ["k"], mode="adjoint", method="dop853")
        with pytest.raises(daedalus.InputError):
            m.sensitivity(["nix"])
    for _ in range(20):
        one()
    tracemalloc.start()
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        one()
    assert tracemalloc.get_traced_memory()[0] - first < 50_000
    tracemalloc.stop()


SLOW = """model slow
param k = 1, c = 0.1
var x = 1, v = 0
x' = v
v' = -k*x - c*v*sin(t)
solve t = 0 .. 1e7, rtol = 1e-10
"""


@pytest.mark.parametrize("work", [
    lambda m: m.fit(free=["k"], data={"t": [0.5, 1e7], "x": [0.9, 0.5]}),
    lambda m: m.optimize("integral(x^2)", free={"k": (0.5, 2)}),
])
def test_ctrl_c_ends_a_fit_inside_of_its_run(work):
    m = daedalus.open(SLOW)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):  # a run of it takes minutes
        work(m)
    timer.join()
