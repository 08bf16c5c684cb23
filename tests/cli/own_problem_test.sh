#!/bin/sh
# usage: own_problem_test.sh DAEDALUS SOURCE_DIR
# Problems in the format of the test set report, compiled from Fortran and C: the digits of the built-in ones.
daedalus=$1 source=$2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
command -v gfortran >/dev/null 2>&1 || { echo "gfortran is missing"; exit 77; }
fail=0
check() { # what, condition's exit status
    if [ "$2" -eq 0 ]; then echo "ok   $1"; else echo "FAIL $1"; fail=1; fi
}
field() { # JSON key: first number behind it
    sed -n "s/.*\"$1\": *\([-0-9.e+]*\).*/\1/p" | head -1
}
"$daedalus" build "$source/examples/own-problem/pollution.f" --out "$dir/pollution.so" >/dev/null
check "Fortran is compiled" $?
"$daedalus" build "$source/examples/own-problem/kinetics.c" --out "$dir/kinetics.so" >/dev/null
check "C is compiled" $?

# The same steps and values as the built-in problem with a difference Jacobian.
"$daedalus" run "$dir/pollution.so" --solver radau5 --rtol 1e-8 --atol 1e-12 --json > "$dir/own.json"
check "pollution runs" $?
"$daedalus" run pollu --set k1=0.5 --set k16=0.0005 --solver radau5 --rtol 1e-8 --atol 1e-12 --json > "$dir/builtin.json"
python3 - "$dir/own.json" "$dir/builtin.json" <<'EOF'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
assert a["status"] == b["status"] == "ok" and len(a["y"]) == 20
worst = max(abs(x - y) / (1e-10 + 1e-6 * abs(y)) for x, y in zip(a["y"], b["y"]))
assert worst < 1, worst
EOF
check "pollution has the digits of the built-in problem" $?
scd=$("$daedalus" run "$dir/kinetics.so" --rtol 1e-8 --json | field scd)
awk -v x="${scd:-0}" 'BEGIN { exit !(x > 7) }'
check "kinetics reaches its reference, scd $scd" $?
"$daedalus" run "$dir/kinetics.so" --solver dassl --rtol 1e-6 >/dev/null
check "by another solver" $?
# An inconsistent start that the code recovers from: the third value follows from the others.
"$daedalus" run "$dir/kinetics.so" --init y3=0.5 --solver radau5 --rtol 1e-6 --json | grep -q '"y":\[0.71582'
check "--init of compiled code" $?
"$daedalus" info "$dir/kinetics.so" | grep -q "DAE, n = 3"
check "info" $?
(cd "$dir" && "$daedalus" workprec ./kinetics.so --solvers radau5,rodas5p --range 3:5:1 --reps 1 --out study >/dev/null 2>&1)
check "workprec" $?

# A problem that ends its process is told, the pages of the others are made, and the exit status keeps it.
sed 's/^    f\[0\] = -0.04/    __builtin_trap();\n&/' "$source/examples/own-problem/kinetics.c" > "$dir/trap.c"
printf "model good\nvar y = 1\ny' = -y\nsolve t = 0 .. 1\n" > "$dir/good.deq"
(cd "$dir" && "$daedalus" build trap.c >/dev/null && "$daedalus" report ./trap.so good.deq --jobs 1 --out pages 2>died
 [ $? -eq 1 ] && grep -q 'trap.so .*ended by signal' died && [ -s pages/good.deq.html ] && [ ! -e pages/trap.so.html ])
check "a problem that ends its process fails its page alone" $?

# What is wrong is said.
sed 's/subroutine feval/subroutine feva1/' "$source/examples/own-problem/pollution.f" > "$dir/bad.f"
"$daedalus" build "$dir/bad.f" 2>&1 | grep -q "no routine feval"
check "a missing routine is named" $?
FC=no-such-compiler "$daedalus" build "$dir/bad.f" 2>&1 | grep -q "could not be started"
check "a missing compiler is named" $?
"$daedalus" build "$dir/nothing.f" 2>/dev/null
[ $? -eq 2 ]
check "a missing source ends with 2" $?
"$daedalus" run "$dir/pollution.so" --set k=1 2>&1 | grep -q "have no parameters"
check "settings are refused" $?
exit $fail
