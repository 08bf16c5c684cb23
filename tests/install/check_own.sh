#!/bin/sh
# usage: check_own.sh SOURCE_DIR BUILD_DIR COMPILER
# Own solvers and own problems against the installed library and program alone: Euler's method and the Fortran code DDASSL as
# plug-ins in run, table, workprec and matrix; the pollution problem in Fortran 77 and in C through build, run, table, workprec, report.
source=$1 build=$2 compiler=$3
work=$build/tests/own
prefix=$work/prefix
rm -rf "$work" && mkdir -p "$work" || exit 2
unset DESTDIR
fail=0
check() { # what, exit status
    if [ "$2" -eq 0 ]; then echo "ok   $1"; else echo "FAIL $1"; fail=1; fi
}
cmake --install "$build" --prefix "$prefix" >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
libdir=$(dirname "$(find "$prefix" -name libdaedalus.a)")
export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir" XDG_CACHE_HOME="$work/cache"
daedalus=$prefix/bin/daedalus
[ -x "$daedalus" ] || { echo "the program is not installed"; exit 77; }
cp -r "$source/examples/own-solver" "$source/examples/own-problem" "$work" && cd "$work" || exit 2
flags="-std=c17 -Wall -Wextra -Wpedantic -Werror -shared -fPIC -O2 $(pkg-config --cflags daedalus)"

# ---- Own solvers
# shellcheck disable=SC2086
"$compiler" $flags -o euler.so own-solver/euler.c
check "euler.c is compiled against the installed headers" $?
"$daedalus" run vdpol-mu --set mu=1 --tend 2 --plugin euler.so --solver euler --rtol 1e-4 --atol 1e-4 --json >run.json
check "run by a plug-in" $?
"$daedalus" run vdpol-mu --set mu=1 --tend 2 --solver dop853 --rtol 1e-12 --atol 1e-12 --json >exact.json
python3 - <<'END'
import json
a, b = json.load(open("run.json")), json.load(open("exact.json"))
assert a["solver"] == "euler" and a["steps"] > 100, a
assert max(abs(x - y) for x, y in zip(a["y"], b["y"])) < 3e-2  # order 1 at 1e-4: sqrt(tol)
END
check "its values" $?
"$daedalus" table plei --plugin ./euler.so --solvers euler,dopri5 --format csv --max-seconds 1 2>/dev/null >table.csv
grep -q ",euler," table.csv || grep -q "euler" table.csv
check "table has its rows" $?
"$daedalus" workprec vdpol-mu --set mu=1 --plugin ./euler.so --solvers euler,dopri5 --range 3:5:1 --reps 1 --out wp.jsonl --plot wp.svg >/dev/null 2>&1
check "workprec" $?
[ "$(grep -c '"solver": *"euler"' wp.jsonl)" -eq 3 ] && grep -q ">euler<" wp.svg
check "its runs and its line in the diagram" $?
"$daedalus" matrix --plugin ./euler.so --solvers euler --problems vdpol-mu --every 16 --file m.jsonl --quiet >matrix.txt 2>&1
"$daedalus" matrix --plugin ./euler.so --solvers euler --problems plei --every 99 --file m.jsonl --eligible | grep -q "plei *euler *1"
check "matrix" $?
"$daedalus" list solvers --plugin ./euler.so | grep -q "^euler .*explicit Euler"
check "list" $?
"$daedalus" info euler --plugin ./euler.so | grep -qi "explicit Euler"
check "info" $?
"$daedalus" run andrews --plugin ./euler.so --solver euler --formulation index1 --tend 1e-3 --rtol 1e-3 --atol 1e-3 --json | grep -q '"status":"ok"'
check "a mechanism in a form" $?
"$daedalus" run vdpol-mu --set mu=1 --tend 2 --plugin euler.so --solver euler --rtol 1e-4 --atol 1e-4 --checkpoint half.ck --json >/dev/null
check "a checkpoint" $?
"$daedalus" run hires --solver euler 2>&1 | grep -q 'there is no solver "euler"'
check "without --plugin it is not there" $?
"$daedalus" run hires --plugin ./no.so 2>&1 | grep -q "cannot be loaded"
check "a missing file is named" $?
sed 's/DAE_METHOD_INTERFACE,$/99,/' own-solver/euler.c >late.c
# shellcheck disable=SC2086
"$compiler" $flags -o late.so late.c && "$daedalus" run hires --plugin ./late.so --solver euler 2>&1 | grep -q "version 99"
check "a later version is refused" $?

# The program of docs/own-solver.md that hands the method over itself.
cat >program.c <<'END'
#include <daedalus/daedalus.h>
#include <stdio.h>
extern dae_plugin_fn dae_plugin_methods;
static int decay(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -y[0];
    return 0;
}
int main(void)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = decay}};
    dae_options opt = dae_options_default();
    dae_error err;
    double y = 1;
    opt.own = dae_plugin_methods(DAE_METHOD_INTERFACE);
    opt.method = "euler";
    opt.fixed_step = 1.0 / 64;
    if (dae_solve(&sys, &opt, 0, 1, &y, NULL, &err) < 0) return 1;
    printf("%.12f\n", y);
    return 0;
}
END
# shellcheck disable=SC2046
"$compiler" -std=c17 $(pkg-config --cflags daedalus) program.c own-solver/euler.c -o program $(pkg-config --libs daedalus) -lm &&
    ./program | grep -q "^0.364986524244" # (63/64)^64
check "handed over in the options, by the shared library" $?

dir=$(mkoctfile -p OCTLIBDIR 2>/dev/null)
if [ -n "$dir" ] && [ -e "$dir/liboctave.so" ]; then
    # shellcheck disable=SC2086
    "$compiler" $flags -o ddassl.so own-solver/ddassl.c -L"$dir" -loctave -Wl,-rpath,"$dir"
    check "ddassl.c is compiled" $?
    "$daedalus" table pollu --plugin ./ddassl.so --solvers ddassl --json >ddassl.json 2>/dev/null
    python3 - <<'END'
import json
text = open("ddassl.json").read()
rows = json.loads(text)
rows = rows["rows"] if isinstance(rows, dict) else rows
r = [r for r in rows if r["solver"] == "ddassl" and abs(r["rtol"] - 1e-7) < 1e-10][0]
# the row of DASSL that the report prints: mescd 5.94, scd 4.13, 135 steps, 23 Jacobians
assert r["steps"] == 135 and r["jac"] == 23, r
assert abs(r["mescd"] - 5.94) < 0.02 and abs(r["scd"] - 4.13) < 0.02, r
END
    check "the Fortran code gives the report's row" $?
    "$daedalus" run transamp --plugin ./ddassl.so --solver ddassl 2>&1 | grep -q "does not take systems of kind DAE"
    check "what it does not take is told" $?
    "$daedalus" run wheel --plugin ./ddassl.so --solver ddassl 2>&1 | grep -q "index 1 at most"
    check "the index it does not take, too" $?
    "$daedalus" run hires --plugin ./ddassl.so --solver ddassl --rtol 1e-6 --atol 1e-6 --event PrX=0.01 --at 1,10 --json | grep -q '"status":"ok"'
    check "events and dense output" $?
else
    echo "skip ddassl: Octave's library is not here"
fi

# ---- Own problems
command -v gfortran >/dev/null 2>&1 || { echo "skip Fortran: gfortran is missing"; exit $fail; }
"$daedalus" build own-problem/pollution.f --out pollution.so >/dev/null && "$daedalus" build own-problem/pollution.c --out pollution_c.so >/dev/null
check "build" $?
for so in pollution pollution_c; do
    "$daedalus" table ./$so.so --solvers radau5,dassl,vode --json >$so.json 2>/dev/null
    check "table of $so" $?
    "$daedalus" workprec ./$so.so --solvers radau5,vode --range 4:6:1 --reps 1 --out $so.jsonl --plot $so.svg >/dev/null 2>&1 && grep -q ">radau5<" $so.svg
    check "workprec of $so" $?
    "$daedalus" report ./$so.so --out pages_$so --solvers radau5,vode --range 4:6:1 --reps 1 >/dev/null 2>&1 && ls pages_$so/*.html >/dev/null
    check "report of $so" $?
    "$daedalus" run ./$so.so --solver radau5 --rtol 1e-9 --atol 1e-11 --jacobian difference --json >$so.run
    check "run of $so" $?
done
"$daedalus" run pollu $(sed -n 's/^c  *set //p' own-problem/pollution.f | sed 's/^/--set /' | tr '\n' ' ') --solver radau5 --rtol 1e-9 --atol 1e-11 --jacobian difference --json >builtin.run
python3 - <<'END'
import json
b = json.load(open("builtin.run"))
for f in ("pollution.run", "pollution_c.run"):
    a = json.load(open(f))
    # the built-in one knows its pattern, so its difference Jacobians and single steps are others
    assert abs(a["steps"] / b["steps"] - 1) < 0.1, (a["steps"], b["steps"])
    assert max(abs(x - y) / (abs(y) + 1e-12) for x, y in zip(a["y"], b["y"])) < 1e-6
    assert a["mescd"] > 8.5, a["mescd"]
rows = json.load(open("pollution.json")), json.load(open("pollution_c.json"))
for a, b in zip(*[r["rows"] if isinstance(r, dict) else r for r in rows]):
    assert (a["solver"], a["steps"], a["status"]) == (b["solver"], b["steps"], "ok")
    assert a["mescd"] > -0.5 + {1e-4: 2, 1e-7: 5, 1e-10: 8}[min((1e-4, 1e-7, 1e-10), key=lambda x: abs(x / a["rtol"] - 1))], a
END
check "other constants: digits and steps of the built-in problem" $?
exit $fail
