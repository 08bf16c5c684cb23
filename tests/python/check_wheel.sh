#!/bin/sh
# usage: check_wheel.sh PYTHON SOURCE_DIR PACKAGE_DIR WORK_DIR
# The wheel, and `pip install .`, in virtual environments that see the system's numpy, without a network. The package that is
# built already serves both (DAEDALUS_PYTHON_BUILT), as a second build would take a minute.
set -eu
python=$1 source=$2 package=$3 work=$4
"$python" -m pip --version > /dev/null 2>&1 || { echo "skipped: pip is not installed"; exit 77; }
unset PYTHONPATH PIP_INDEX_URL PIP_EXTRA_INDEX_URL || true
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 DAEDALUS_PYTHON_BUILT="$package" PYTHONDONTWRITEBYTECODE=1
rm -rf "$work" && mkdir -p "$work/empty"
cat > "$work/use.py" <<'END'
import daedalus, numpy
r = daedalus.solve_ivp(lambda t, y: [-0.04*y[0] + 1e4*y[1]*y[2], 0.04*y[0] - 1e4*y[1]*y[2] - 3e7*y[1]**2, 3e7*y[1]**2],
                       (0, 40), [1, 0, 0], rtol=1e-8, atol=1e-12)
assert abs(r.y[0, -1] - 0.7158270687) < 1e-6, r.y[:, -1]
n = 80                                              # dense LAPACK, sparse KLU
A = numpy.diag(-numpy.arange(1.0, n + 1))
for algebra in ("dense", "sparse"):
    r = daedalus.solve_ivp(lambda t, y: A @ y, (0, 1), numpy.ones(n), method="radau5", linear_algebra=algebra)
    assert abs(r.y[0, -1] - numpy.exp(-1)) < 1e-5
where = daedalus.__file__
assert "site-packages" in where and WORK in where, where
libraries = {line.split()[-1] for line in open("/proc/self/maps") if "/daedalus/_libs/" in line}
assert any("libklu" in name for name in libraries), "the libraries of the wheel are not the ones that are used"
print("daedalus", daedalus.__version__, "works from its wheel with", len(libraries), "libraries of its own")
END
sed -i "s|WORK in|\"$work\" in|" "$work/use.py"

"$python" "$source/apps/python/backend.py" "$package" "$work/wheel" > /dev/null
for what in wheel tree; do
    "$python" -m venv --system-site-packages --without-pip "$work/$what-env"
    if [ $what = wheel ]; then from=$(ls "$work"/wheel/*.whl); else from=$source; fi
    (cd "$work/empty" && "$work/$what-env/bin/python" -m pip install -q --no-deps "$from" && "$work/$what-env/bin/python" "$work/use.py")
    rm -rf "$work/$what-env"
done
rm -rf "$work"
