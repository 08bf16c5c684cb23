#!/bin/sh
# usage: equations_test.sh DAEDALUS SOURCE_DIR
# Equation files through the command line: check, new, run, --set, --init, standard input, errors, the examples of the page.
daedalus=$1
source=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $1"
    exit 1
}

# check
"$daedalus" check "$source/models/pendulum.deq" >"$work/check" || fail "check"
grep -q 'index 3, 2 degrees of freedom; 1 block, the largest of 5' "$work/check" || fail "structure of the pendulum"
grep -q 'states  *y, vy' "$work/check" || fail "states of the pendulum"
"$daedalus" check "$source/models/pendulum.deq" --json >"$work/json" || fail "check --json"
for word in '"index":3' '"dof":2' '"c":\[1,1,0,0,2\]' '"d":\[2,2,1,1,0\]' '"route":"descriptor"'; do
    grep -q "$word" "$work/json" || fail "check --json: $word"
done

# every form by its name; why auto takes one
for form in statespace index1 labels descriptor projected residual; do
    "$daedalus" run "$source/models/pendulum.deq" --formulation $form --quiet --json >"$work/json" || fail "--formulation $form"
    grep -q "\"formulation\":\"$form\"" "$work/json" || fail "the form $form is not the one that was asked for"
    "$daedalus" list formulations | grep -q "^$form " || fail "list formulations: $form"
done
"$daedalus" run "$source/models/pendulum.deq" --formulation mass 2>&1 | grep -q 'there are: labels, descriptor' || fail "forms that there are"
grep -q 'descriptor (mechanical form found), solver phem56' "$work/check" || fail "the reason of the form"
"$daedalus" check "$source/problems/cable-drum.deq" | grep -q 'friction in joints found), solver mexx' || fail "friction goes to mexx"

# errors with line, column and mark
printf "var x = 1\nx' = 2x\ny' = 1\n" >"$work/bad.deq"
"$daedalus" check "$work/bad.deq" >"$work/err" 2>&1 && fail "a wrong file was taken"
[ $? -eq 2 ] || [ -s "$work/err" ] || fail "no message"
grep -q 'bad.deq:2:7: expected an operator before "x"' "$work/err" || fail "the place of an error"
grep -q '^      ^$' "$work/err" || fail "the mark below an error"
"$daedalus" check "$work/bad.deq" --json 2>/dev/null | grep -q '"line":2,"column":7' || fail "errors as JSON"
"$daedalus" run "$work/bad.deq" 2>&1 | grep -q 'bad.deq:2:7:' || fail "run tells the place"

# new, run, settings, standard input
cd "$work" || exit 1
"$daedalus" new spring >/dev/null || fail "new"
"$daedalus" new spring >/dev/null 2>&1 && fail "new writes over a file"
"$daedalus" new '../x' >/dev/null 2>&1 && fail "new takes a path"
"$daedalus" check spring.deq >/dev/null || fail "the file of new"
"$daedalus" run spring.deq --json >a || fail "run"
"$daedalus" run - --json <spring.deq >b || fail "run -"
grep -q '"status":"ok"' a && grep -q '"status":"ok"' b || fail "status of runs"
"$daedalus" run spring.deq --set k=40 --set d=0 --init x=2 --init 'v~0' --json | grep -q '"status":"ok"' || fail "--set and --init"
"$daedalus" run spring.deq --set K=40 2>&1 | grep -q 'no such parameter' || fail "an unknown parameter"
"$daedalus" run spring.deq --set d=200 2>&1 | grep -q 'outside its range 0..100' || fail "the range of a parameter"
"$daedalus" run spring.deq --init q=1 2>&1 | grep -q 'no such variable' || fail "an unknown variable"
"$daedalus" run "$source/models/ball.deq" --json | grep -q 'bounce' || fail "events of the ball"

# a mechanism inside: beside the file, in every command
mkdir -p parts && cp "$source/tests/equations/models/cart.json" "$source/tests/equations/models/pole.deq" parts/
"$daedalus" check parts/pole.deq | grep -q 'mechanism    car: 2 bodies, 2 joints; the equations set car.push; they read car.lean, car.pole.omega' || fail "check tells the mechanism"
"$daedalus" check parts/pole.deq --json | grep -q '"mechanism":{"name":"car","bodies":2,"joints":2,"sets":\["car.push"\]' || fail "check --json tells the mechanism"
"$daedalus" run parts/pole.deq --set car.L=0.9 --out pole.csv --json | grep -q '"status":"ok"' || fail "run with a mechanism"
head -1 pole.csv | grep -q 'car.pole.omega,z,car.lean,.*,F,car.push$' || fail "columns of equations and mechanism"
"$daedalus" sweep parts/pole.deq --vary car.L=0.9:1.1:2 --vary Kp=90:110:2 --out swept --quiet >/dev/null 2>&1 || fail "sweep with a mechanism"
[ "$(grep -c ',ok,' swept/runs.csv)" -eq 4 ] || fail "runs of the sweep"
"$daedalus" plot "$source/problems/hires.deq" --out drawn.svg >/dev/null || fail "plot of an equation file"
"$daedalus" sweep "$source/models/heater.deq" --vary Kp=15:25:2 --out heated --quiet >/dev/null 2>&1 || fail "sweep with a table beside the file"
"$daedalus" export parts/pole.deq --to c 2>&1 | grep -q 'has a mechanism inside: it cannot be written as C' || fail "export refuses mechanisms"
"$daedalus" run - <parts/pole.deq 2>&1 | grep -q '2:11: mechanism("cart.json"): no file can be read here' || fail "no files from standard input"

# references from files: a list of names, or a table that a run wrote
printf "model osc\nvar x = 1, v = 0\nx' = v\nv' = -x\nsolve t = 0 .. 3, rtol = 1e-8\n" >osc.deq
"$daedalus" run osc.deq --rtol 1e-12 --atol 1e-12 --out end.csv --quiet >/dev/null || fail "a run for a reference"
printf 'name,value\nx,-0.98999249660044546\nv [1],-0.14112000805986722\n' >list.csv
printf 'x,1\nq,2\n' >bad.csv
for file in end list bad; do sed "\$a reference \"$file.csv\" digits 11" osc.deq >"by_$file.deq"; done
a=$("$daedalus" run by_list.deq --json | sed 's/.*"scd":\([0-9.]*\).*/\1/') b=$("$daedalus" run by_end.deq --json | sed 's/.*"scd":\([0-9.]*\).*/\1/')
echo "$a $b" | awk '{ exit !($1 > 7 && $1 < 11 && ($1 - $2)^2 < 1e-4) }' || fail "digits against references from files: $a $b"
"$daedalus" run by_bad.deq 2>&1 | grep -q 'by_bad.deq:6:1: bad.csv line 2: there is no variable "q"' || fail "a wrong name in a reference"
"$daedalus" run by_end.deq --tend 2 --json | grep -q '"scd":null' || fail "no digits at another end"

# as C: the same numbers to the last digit as without a compiler, through `run --compile` and as a program of its own
cat >tables.deq <<'END'
model tables "tables, kinks and conditions"
table road = [(0, 0), (1, 0.1), (2, 0), (3, -0.1)] linear outside periodic
table lift = [(0, 0), (1, 0.5), (4, 1)] pchip outside hold
var x = 0, v = 1, w = 0
x' = v
v' = -max(v - 0.5, 0) - abs(x - 1) + road(x) + lift(t)*mod(x, 0.7)
w' = if x > 2 then -w^9 else sin(t)*x^3
solve t = 0 .. 5, rtol = 1e-8
END
values() { sed 's/.*"y":\[\([^]]*\)\].*/\1/'; }
if command -v cc >/dev/null 2>&1; then
    for f in "$source/problems/hires.deq" "$source/problems/rober.deq" "$source/models/ball.deq" tables.deq; do
        "$daedalus" run "$f" --solver radau5 --json | values >plain || fail "$f"
        "$daedalus" run "$f" --solver radau5 --compile code.c --json | values >compiled || fail "$f --compile"
        [ -s plain ] && cmp -s plain compiled || fail "$f compiled gives other numbers: $(cat plain compiled)"
    done
    "$daedalus" export "$source/problems/hires.deq" --to c --out own.c >/dev/null || fail "export"
    build=$(dirname "$daedalus")
    cc -Wall -Werror -std=c17 -O1 -I"$source/include" -I"$build/include" own.c -L"$build/src" -ldaedalus -lm -Wl,-rpath,"$build/src" -o own ||
        fail "an exported file does not compile"
    # y1 of the test set at t = 321.8122: 0.7371312573325668e-3
    ./own | grep -q '^y\[1\] = 0\.00073713125' || fail "an exported program: $(./own)"
fi
printf 'var x = 0, a\nx'"'"' = a\na = cos(a) - x\nwhen x > 0.5: x := 0\nsolve t = 0 .. 3\n' >follow.deq
"$daedalus" export follow.deq --to c 2>&1 >/dev/null | grep -q 'cannot be written as C' || fail "events of a DAE as C"
"$daedalus" export "$source/models/pendulum.json" --to c 2>&1 | grep -q 'no equation file' || fail "export of a mechanism"

# texts that ask for too much: told at once, in little memory
limit='ulimit -v 1048576' # kB; a program with sanitizers does not even start so
(eval "$limit"; "$daedalus" --version) >/dev/null 2>&1 || limit=:
refused() { # text, what is said
    printf "$1" >hostile.deq
    (eval "$limit"; "$daedalus" check hostile.deq >said 2>&1) && fail "taken: $1"
    grep -q "$2" said || fail "$1: $(cat said)"
}
refused "int N = 1000000000\nvar x[N] = 0\nfor i in 1..N: x[i]' = -x[i]\n" 'hostile.deq:2:5: '
refused "var x = 0\nx' = sum(i in 1..1000000000, i*x)\n" 'hostile.deq:2:6: the text is too long when it is written out'
refused "var x = 0\nfor i in 1..900000000: x' = i\n" 'too long when it is written out'
refused "fn f(x) = f(x - 1) + 1\nvar y = 0\ny' = f(y)\n" 'hostile.deq:1:11: '
refused "fn f(x) = g(x)\nfn g(x) = f(x)\nvar y = 0\ny' = f(y)\n" 'hostile.deq:2:11: '
refused "component a\n use q = b\nend\ncomponent b\n use p = a\nend\nuse z = a\nvar y = 0\ny' = 1\n" 'hostile.deq:5:'
awk 'BEGIN { print "x,y"; for (i = 0; i < 10000000; i++) print i "," i % 7 }' >rows.csv
refused "table r = \"rows.csv\" linear\nvar y = 0\ny' = r(t)\n" 'more than 2000000 rows'
rm -f rows.csv

# every example of the page is read and runs
cp "$source/tests/equations/models/cart.json" .
awk '/^```deq$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > ("page" n ".deq") }' "$source/docs/equations.md"
count=0
for f in page*.deq; do
    "$daedalus" run "$f" --quiet --max-seconds 60 >log 2>&1 || { cat log; fail "$f of docs/equations.md"; }
    count=$((count + 1))
done
[ $count -ge 8 ] || fail "docs/equations.md has $count examples"
echo "equation files: $count examples run"
