"""Models: opened by name, file and text; runs with names and units; studies; mechanisms built in Python."""
import json
import pickle
import signal
import os
import threading

import numpy as np
import pytest

import daedalus


@pytest.fixture
def crank(root):
    return daedalus.open(root / "models" / "slider_crank.json")


def test_open_by_name_file_and_text(root):
    path = root / "models" / "pendulum.json"
    by = [daedalus.open(path), daedalus.open(str(path)), daedalus.open(path.read_text()), daedalus.open(json.loads(path.read_text()))]
    ends = [m.run(1.0).y_end for m in by]
    assert all(np.array_equal(e, ends[0]) for e in ends)
    h = daedalus.open("hires")
    assert h.n == 8 and h.kind == "ODE" and h.text() is None and "hires" in repr(h).lower() and len(h.reference_solution) == 8
    for wrong, match in (("hirse", "hires"), ("models/none.json", "none.json"), ("{ \"daedalus\": 1 }", "name|kind")):
        with pytest.raises((daedalus.Error, ValueError), match=match):
            daedalus.open(wrong)
    with pytest.raises(ValueError, match="mu"):
        daedalus.open("vdpol-mu", my=3)


def test_parameters_are_live(crank):
    first = crank.run().t_end
    crank.parameters["L2"] = "350[mm]"
    assert np.isclose(crank["L2"], 0.35, rtol=1e-15) and crank.run().t_end != first
    crank["L2"] = 0.3
    assert crank.run().t_end == first
    with pytest.raises(ValueError):
        crank["nothing"] = 1
    assert crank["L2"] == 0.3 and pickle.loads(pickle.dumps(crank)).run().t_end == first


def test_columns_by_name_with_units_without_copying(crank):
    r = crank.run()
    assert r.success and r.status == 1 and r.events[0][1] == "turn"
    assert np.array_equal(r.slider.x, r["slider.x"]) and r.slider.x.unit == "m" and r.slider.x.name == "slider.x"
    assert r.slider.x.base is not None and np.shares_memory(r.slider.x, r.y)
    assert np.array_equal(r["x_slider"], r["slider.x"]) and r.unit("Fy") == "N"
    assert r.J1.reaction.fx.shape == r.t.shape and "reaction" in dir(r.J1) and "crank" in dir(r)
    assert np.allclose(r.slider.x, 0.15 * np.cos(r.crank.angle) + np.sqrt(0.3 ** 2 - (0.15 * np.sin(r.crank.angle)) ** 2), atol=1e-9)
    assert r.energy["largest"] < 1e-3 and r.drift["position"] < 1e-12
    with pytest.raises(KeyError):
        r["slider.z"]
    with pytest.raises(AttributeError):
        r.nothing
    again = pickle.loads(pickle.dumps(r))
    assert np.array_equal(again.y, r.y)


def test_times_points_and_dense_output(crank):
    t = np.linspace(0, 0.5, 6)
    r = crank.run(t_eval=t, dense_output=True)
    assert np.array_equal(r.t, t) and r.a.shape == (9, 6) and r.lam.shape == (8, 6) and np.isfinite(r.lam).all()
    assert np.allclose(r.sol(t), r.y, atol=1e-9)
    assert len(daedalus.open("hires").run(points=11).t) == 11
    assert np.allclose(np.diff(daedalus.open("plei").run(every=0.5).t), 0.5)
    gaps = np.diff(daedalus.open("plei").run(max_gap=0.01).t)
    assert gaps.max() < 0.0101


def test_events_in_words(crank):
    r = crank.run(events="slider.x=0.4:stop")
    assert r.status == 1 and np.isclose(r["slider.x"][-1], 0.4, atol=1e-6) and r.events[-1][1].startswith("slider.x")
    assert json.loads(r.to_json())["events"]  # the names live as long as the result
    free = crank.run(events=False)
    assert free.status == 0 and not free.events and free.t_end == 2
    both = daedalus.open("plei").run(events=["x1=2.5", "y1:falling"])
    assert both.success and both.events
    with pytest.raises(ValueError, match="nothing"):
        crank.run(events=["nothing=1"])


def test_files_and_tables(crank, tmp_path):
    r = crank.run()
    r.to_csv(tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[0].startswith("t,crank.x") and lines[1].startswith("# s,m") and len(lines) == len(r.t) + 2
    try:
        r.to_hdf5(tmp_path / "r.h5")
        assert (tmp_path / "r.h5").read_bytes()[:4] == b"\x89HDF"
    except daedalus.Error as error:
        assert "HDF5" in str(error)
    assert json.loads(r.to_json())["problem"] == "slider_crank" and "slider_crank" in r.report()
    page = r.animation()
    assert page.startswith("<!") and "<script" in page
    assert sorted(p.name for p in tmp_path.iterdir())[0] == "r.csv"  # nothing is left aside
    failed = daedalus.open("vdpol-mu").run(max_steps=5)
    assert not failed.success and "max_steps" in failed.explain()


def test_optional_packages(crank):
    r = crank.run()
    pandas = pytest.importorskip("pandas")
    frame = r.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and np.array_equal(frame["slider.x"], r.slider.x) and frame.attrs["units"]["Fy"] == "N"


def test_xarray(crank):
    pytest.importorskip("xarray")
    d = crank.run().to_xarray()
    assert d["slider.x"].attrs["units"] == "m" and d.sizes["t"] == len(d.t)


def test_matplotlib(crank):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert len(crank.run().plot(["slider.x", "Fy"]).lines) == 2
    assert daedalus.open("hires").workprec(["radau5"], digits=(4, 6, 1)).plot() is not None


def test_notebook_text_is_escaped(crank):
    html = crank.run()._repr_html_()
    assert "<svg" in html and "iframe srcdoc" in html and "slider.x [m]" in html
    evil = daedalus.Mechanism("m", doc="<script>alert(1)</script>").body("b", 1, 1).simulation(t1=0.1).open()
    text = evil._repr_html_() + evil.run()._repr_html_().split("<iframe")[0]
    assert "<script>alert" not in text and "&lt;script&gt;" in text
    import xml.dom.minidom
    xml.dom.minidom.parseString(crank.run().svg())


def test_check_evaluate_analyze(root):
    c = daedalus.open(root / "models" / "bricard.json").check()
    assert c["freedom"] == 1 and c["redundant"] and c["index"] == 3
    e = daedalus.open("vdpol-mu", mu=10).evaluate(0, [2, 1], jacobian=True)
    assert np.allclose(e["f"], [1, 10 * (1 - 4) * 1 - 2]) and np.shape(e["jac"]) == (2, 2)
    rod = daedalus.Mechanism("rod", gravity=[0, -9.81]).body("b", 2, 2 / 12, r=[0.5, 0]).point("O", "ground", [0, 0]).point(
        "P", "b", [-0.5, 0]).joint("pin", "revolute", "O", "P").sensor("load", "pin.reaction.y", "N").simulation(t1=1).open()
    rest = rod.analyze("static")
    assert np.isclose(rest["b.y"], -0.5, atol=1e-8) and np.isclose(abs(rest["load"]), 2 * 9.81, rtol=1e-6)
    f = rod.analyze("eigenvalues", y=rest["y"])["frequencies"]
    assert np.allclose(f, np.sqrt(9.81 * 0.5 / (1 / 12 + 0.25)) / (2 * np.pi), rtol=1e-6)
    with pytest.raises(ValueError, match="no analysis"):
        rod.analyze("magic")
    with pytest.raises(daedalus.InputError, match="no model of a mechanism"):
        daedalus.open("hires").analyze("static")


def test_compare_workprec_reference(crank):
    seen = []
    c = crank.compare(["mexx", "radau5/index2", "dop853/statespace", "dopri5/index1+project"], rtol=1e-7,
                      progress=lambda k, n: seen.append((k, n)))
    assert len(c) == 4 and seen[-1] == (4, 4) and [r["word"] for r in c] == ["event"] * 4
    assert np.ptp(c["t_end"]) < 1e-4 and c["position_max"].max() < 1e-5
    assert c.to_csv().splitlines()[0].startswith("label,status") and "<table>" in c._repr_html_()
    seen.clear()
    w = daedalus.open("hires").workprec(["radau5", "lsoda"], digits=(4, 8, 2), progress=lambda k, n: seen.append((k, n)))
    assert seen == [(k, 6) for k in range(1, 7)]
    with pytest.raises(daedalus.InputError, match="did you mean radau5"):
        daedalus.open("hires").workprec(["radua5/index1"])
    with pytest.raises(ZeroDivisionError):
        daedalus.open("hires").workprec(["radau5"], progress=lambda k, n: 1 / 0)
    assert len(w) == 6 and w["scd"][2] > w["scd"][0] + 2 and set(w.lines()) == {"radau5", "lsoda"}
    levels = []
    r = daedalus.open("vdpol-mu", mu=5).reference(8, progress=lambda rtol, digits: levels.append(digits))
    exact = daedalus.open("vdpol-mu", mu=5).run(method="dop853", rtol=1e-13, atol=1e-13)
    assert r["digits"].min() >= 8 and levels and np.allclose(r["y"], exact.y_end, rtol=1e-7)


def test_sweep_over_all_cores_resumes(tmp_path):
    m = daedalus.open("vdpol-mu")
    one = m.sweep({"mu": "1:100:8:log"}, t_end=20.0, jobs=1)
    two = m.sweep({"mu": "1:100:8:log"}, t_end=20.0, jobs=4, out=tmp_path / "s.csv")
    assert len(one) == 8 and np.array_equal(one["y1"], two["y1"]) and one.units["mu"] == two.units["mu"]
    alone = daedalus.open("vdpol-mu", mu=repr(float(one["mu"][3]))).run(20.0)
    assert alone.y_end[0] == one["y1"][3]
    text = (tmp_path / "s.csv").read_text()
    assert len(text.splitlines()) == 10
    cut = text[: text.index("\n5,") + 1] + "7,part of a li"
    (tmp_path / "s.csv").write_text(cut)
    seen = []
    again = m.sweep({"mu": "1:100:8:log"}, t_end=20.0, out=tmp_path / "s.csv", progress=lambda k, n: seen.append((k, n)))
    assert len(again) == 8 and len(seen) == 3 and np.array_equal(again["y1"], one["y1"])
    with pytest.raises(ValueError, match="not of this sweep"):
        (tmp_path / "s.csv").write_text("something else\n")
        m.sweep({"mu": [1]}, out=tmp_path / "s.csv")
    listed = m.sweep(runs=[{"mu": 1}, {"mu": 7}], t_end=5.0)
    assert listed["mu"].tolist() == [1, 7]
    drawn = m.sweep(sample={"mu": "uniform(1,10):5"}, t_end=5.0, seed=3)
    assert len(drawn) == 5 and np.array_equal(drawn["mu"], m.sweep(sample={"mu": "uniform(1,10):5"}, t_end=5.0, seed=3)["mu"])


def test_variance_based_indices():
    # Ishigami's function: first 0.3139, 0.4424, 0; total 0.5576, 0.4424, 0.2437 (closed form)
    m = daedalus.open("model ishigami\nparam a = 1, b = 1, c = 1\nvar y = 0\n"
                      "y' = sin(a) + 7*sin(b)^2 + 0.1*c^4*sin(a)\nsolve t = 0 .. 1, rtol = 1e-8\n")
    s = m.sweep(saltelli={k: "-3.14159265358979:3.14159265358979:4096" for k in "abc"})
    found = s.indices()["y"]
    for name, first, total in (("a", 0.3139, 0.5576), ("b", 0.4424, 0.4424), ("c", 0.0, 0.2437)):
        assert abs(found[name]["first"] - first) < 0.02 and abs(found[name]["total"] - total) < 0.02
    with pytest.raises(Exception, match="Saltelli"):
        m.sweep({"a": [1, 2]}).indices()


def test_sweep_of_a_model(root):
    s = daedalus.open(root / "models" / "slider_crank.json").sweep({"L2": ["250[mm]", "300[mm]"]}, record=["slider.x"])
    assert s["status"].tolist() == ["event", "event"] and len(set(s["t"])) == 2


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    m = daedalus.open("vdpol-mu")
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        m.sweep({"mu": "1:1000:400000"}, out=tmp_path / "s.csv", rtol=1e-10)  # a minute; 4000 end in half a second now
    timer.join()
    lines = (tmp_path / "s.csv").read_text().splitlines()
    assert 2 < len(lines) < 400002 and all(line.count(",") == lines[0].count(",") for line in lines)


def test_mechanism_is_the_model_file(root):
    text = json.loads((root / "models" / "slider_crank.json").read_text())
    m = daedalus.Mechanism(text["name"], text["dimension"], gravity=text["gravity"], doc=text["doc"], **text["parameters"])
    for kind, add in (("bodies", m.body), ("points", m.point), ("joints", m.joint), ("forces", m.force), ("sensors", m.sensor),
                      ("events", m.event)):
        for entry in text[kind]:
            add(**entry)
    m.simulation(**text["simulation"])
    assert json.loads(m.to_json()) == text
    assert np.array_equal(m.open().run().y_end, daedalus.open(root / "models" / "slider_crank.json").run().y_end)
    with pytest.raises(ValueError, match="nowhere"):
        daedalus.Mechanism("m").body("b", 1, 1).point("P", "nowhere", [0, 0]).open()
