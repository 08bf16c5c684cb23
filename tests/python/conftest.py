"""What the tests of the Python package share."""
import ctypes
import pathlib
import shutil
import subprocess

import pytest

SOURCE = r"""
#include <math.h>
/* y' = (-y0, -2 y1) times user[0], or times 1 */
int decay(double t, const double *y, double *f, void *user)
{
    double k = user ? *(const double *)user : 1;
    (void)t;
    f[0] = -k*y[0];
    f[1] = -2*k*y[1];
    return 0;
}
int decay_jac(double t, const double *y, double *jac, void *user)
{
    double k = user ? *(const double *)user : 1;
    (void)t, (void)y;
    jac[0] = -k;
    jac[3] = -2*k;
    return 0;
}
int lorenz(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = 10*(y[1] - y[0]);
    f[1] = y[0]*(28 - y[2]) - y[1];
    f[2] = y[0]*y[1] - 8.0/3*y[2];
    return 0;
}
int residual(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)t, (void)user;
    F[0] = yp[0] - y[1];
    F[1] = y[0]*y[0] + y[1]*y[1] - 1;
    return 0;
}
int stops(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = y[0];
    return t > 0.5 ? -1 : 0;
}
int nowhere(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = y[0];
    return t > 0.5 ? 1 : 0;
}
/* never comes to its end in reasonable time: for Ctrl-C */
int fast(double t, const double *y, double *f, void *user)
{
    (void)user, (void)t;
    f[0] = 1e6*y[1];
    f[1] = -1e6*y[0];
    return 0;
}
"""


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """A shared library of compiled right-hand sides."""
    cc = shutil.which("cc") or shutil.which("gcc")
    if not cc:
        pytest.skip("no compiler")
    folder = tmp_path_factory.mktemp("compiled")
    source, library = folder / "rhs.c", folder / "rhs.so"
    source.write_text(SOURCE)
    subprocess.run([cc, "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return ctypes.CDLL(str(library))


@pytest.fixture
def root():
    return pathlib.Path(__file__).resolve().parents[2]
