"""The numbers of Python, of a C program and of the command line are the same, bit for bit."""
import json
import os
import subprocess

import numpy as np
import pytest

import daedalus

PROGRAM = os.environ.get("DAEDALUS_PROGRAM", "")
LIBRARY = os.environ.get("DAEDALUS_LIBRARY", "")
INCLUDE = os.environ.get("DAEDALUS_INCLUDE", "").split(":")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="DAEDALUS_PROGRAM is not set")

# ten problems: ODE, DAE, IDE, mechanical; dense kernels, LAPACK (fekete), banded and sparse (medakzo, emep), SUNDIALS-free
PROBLEMS = [("hires", "radau5", 1e-6, {}), ("plei", "dop853", 1e-8, {}), ("medakzo", "radau5", 1e-4, {}),
            ("emep", "vode", 1e-3, {"linear_algebra": "sparse"}), ("vdpol-mu", "lsoda", 1e-6, {}),
            ("chemakzo", "mebdfdae", 1e-6, {}), ("fekete", "radau5", 1e-4, {"linear_algebra": "dense"}),
            ("nand", "dassl", 1e-5, {}), ("andrews", "auto", 1e-7, {}), ("seven-body", "phem56", 1e-8, {})]
MODELS = ["slider_crank", "newtons_cradle", "four_bar", "spinning_top", "stiff_double_pendulum"]
C = r"""
#include <daedalus/daedalus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(argv[1], NULL, 0, &err);
    if (!p) return fprintf(stderr, "%s\n", err.text), 1;
    dae_run_options o = dae_run_options_default(p);
    double rtol = atof(argv[3]);
    if (rtol > 0) o.options.atol = o.options.atol / o.options.rtol * rtol, o.options.rtol = rtol;
    if (strcmp(argv[2], "-") != 0) o.options.method = argv[2];
    if (argc > 4) o.options.linear_algebra = argv[4];
    dae_run_result *r = dae_run(p, &o, &err);
    for (int i = 0; i < r->n; i++) printf("%.17g\n", r->last.y[i]);
    dae_run_destroy(r);
    dae_problem_destroy(p);
    return 0;
}
"""


@pytest.fixture(scope="session")
def c_program(tmp_path_factory):
    if not LIBRARY:
        pytest.skip("DAEDALUS_LIBRARY is not set")
    folder = tmp_path_factory.mktemp("c")
    source, program = folder / "run.c", folder / "run"
    source.write_text(C)
    subprocess.run(["cc", "-std=c17", "-O2", *(f"-I{d}" for d in INCLUDE), str(source), LIBRARY, "-lm", "-o", str(program),
                    f"-Wl,-rpath,{os.path.dirname(LIBRARY)}"], check=True)
    return program


def command_line(name, method, rtol, options):
    words = [PROGRAM, "run", name, "--json", "--quiet"]
    if rtol:
        words += ["--rtol", repr(rtol)]
    if method:
        words += ["--solver", method]
    for key, value in options.items():
        words += ["--" + key.replace("_", "-"), value]
    out = subprocess.run(words, capture_output=True, text=True)
    assert out.stdout, out.stderr
    return json.loads(out.stdout)


def c_numbers(program, name, method, rtol, options):
    words = [str(program), name, method or "-", repr(rtol or 0), *([options["linear_algebra"]] if options else [])]
    return np.array(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split(), dtype=float)


@pytest.mark.parametrize("name,method,rtol,options", PROBLEMS, ids=[p[0] for p in PROBLEMS])
def test_problem(name, method, rtol, options, c_program):
    cli = command_line(name, method, rtol, options)
    r = daedalus.open(name).run(method=method, rtol=rtol, **options)
    mine = json.loads(r.to_json())
    assert r.success and mine["solver"] == cli["solver"]
    assert np.array_equal(r.y_end, c_numbers(c_program, name, method, rtol, options))
    assert mine["y"] == cli["y"] and np.array_equal(r.y_end, mine["y"])
    assert r.stats["f"] == cli["f"] and r.stats["accepted"] == cli["accepted"]


@pytest.mark.parametrize("name", MODELS)
def test_model(name, root, c_program):
    path = str(root / "models" / f"{name}.json")
    cli = command_line(path, None, None, {})
    r = daedalus.open(path).run()
    mine = json.loads(r.to_json())
    assert r.success and mine["solver"] == cli["solver"] and mine["y"] == cli["y"]
    assert np.array_equal(r.y_end, c_numbers(c_program, path, None, None, {}))


def test_trajectory_is_that_of_the_command_line(root, tmp_path):
    path = str(root / "models" / "newtons_cradle.json")
    file = tmp_path / "out.csv"
    subprocess.run([PROGRAM, "run", path, "--quiet", "--out", str(file)], check=True, capture_output=True)
    assert daedalus.open(path).run().to_csv() == file.read_text()


def test_solve_ivp_is_the_problem_run():
    """The functions of a problem through solve_ivp give what the problem gives."""
    p = daedalus.open("vdpol-mu", mu=10)
    a = p.run(method="radau5", rtol=1e-7, atol=1e-7)
    b = daedalus.solve_ivp(lambda t, y: [y[1], 10 * (1 - y[0] * y[0]) * y[1] - y[0]], (p.t0, p.t_end), p.y0, method="radau5",
                           rtol=1e-7, atol=1e-7, first_step=p.h0 or None,
                           jac=lambda t, y: [[0, 1], [10 * (-2 * y[0]) * y[1] - 1, 10 * (1 - y[0] * y[0])]])
    assert np.allclose(a.y_end, b.y[:, -1], rtol=1e-9)
