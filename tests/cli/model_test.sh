#!/bin/sh
# usage: model_test.sh DAEDALUS SOURCE_DIR
# Model files on the command line: the examples of docs/modelling.md, exit status and messages of mistakes, files written.
daedalus=$1 source=$2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }

# The models of the documentation run as they stand there.
awk -v dir="$work" '/^```json/ {n++; file = dir "/doc" n ".json"; next} /^```/ {file = ""; next} file {print > file}' "$source/docs/modelling.md"
[ -s "$work/doc1.json" ] && [ -s "$work/doc2.json" ] || fail "docs/modelling.md has no models"
for model in "$work"/doc*.json; do
    "$daedalus" check "$model" >"$work/out" 2>&1 || { fail "check $model"; cat "$work/out"; }
    "$daedalus" run "$model" --out "$work/m.csv" --animate "$work/m.html" --json >"$work/out" 2>"$work/err" || { fail "run $model"; cat "$work/err"; }
    grep -q '"status":"\(ok\|event\)"' "$work/out" || fail "run $model: no status"
    grep -q 'J1.reaction.fx' "$work/m.csv" || fail "no reactions in the CSV"
    grep -q 'requestAnimationFrame' "$work/m.html" || fail "no animation"
done
"$daedalus" check "$work/doc1.json" | grep -q '9 coordinates - 8 independent constraints = 1 degree of freedom' || fail "mobility of the four-bar"
"$daedalus" check "$work/doc2.json" | grep -q '= 0 degrees of freedom' || fail "mobility of the driven four-bar"

# Signals that no sensor declares: watched, recorded, among the columns; what is none is a mistake.
crank=$source/models/slider_crank.json
"$daedalus" run "$crank" --event motor.force=0.3 --event slider.ax=3:stop --out "$work/s.csv" >"$work/out" 2>&1 || fail "run --event motor.force"
grep -q 'event motor.force=0.3 at t = 0.04581453' "$work/out" || { fail "event of a force"; cat "$work/out"; } # M (1 - exp(-t/0.05)) = 0.3
head -1 "$work/s.csv" | grep -q ',motor.force,slider.ax,' || fail "columns of signals"
"$daedalus" sweep "$crank" --vary M=0.3:0.6:3 --record motor.power,slider.vx --out "$work/sweep" --quiet >"$work/out" 2>&1 || { fail "sweep --record motor.power"; cat "$work/out"; }
head -1 "$work/sweep/runs.csv" | grep -q ',motor.power,slider.vx,' || fail "recorded signals"
"$daedalus" run "$crank" --components motor.power --out "$work/s.csv" --quiet && head -1 "$work/s.csv" | grep -q '^t,motor.power$' || fail "--components motor.power"
"$daedalus" run "$crank" --event motr.force=2 >"$work/out" 2>&1
[ $? = 2 ] && grep -q -- '--event: .*unknown name "motr.force"' "$work/out" || { fail "--event motr.force"; cat "$work/out"; }

# The form that a model asks for goes with its solver; another one that does not take it has its own.
"$daedalus" run "$source/models/hmmwv.json" --method genalpha --tend 0.1 >"$work/out" 2>&1 && grep -q 'formulation descriptor' "$work/out" || { fail "hmmwv by genalpha"; cat "$work/out"; }
"$daedalus" run "$source/models/hmmwv.json" --method genalpha --formulation statespace --tend 0.1 >"$work/out" 2>&1
[ $? = 2 ] || fail "genalpha in the form statespace"

# Redundant constraints are named.
"$daedalus" check "$source/models/bricard.json" | grep -q 'row 5 of joint J6 follows from the others' || fail "bricard"
"$daedalus" check "$source/models/bricard.json" --json | grep -q '"freedom": 1' || fail "bricard --json"
"$daedalus" check "$source/models/pendulum.json" --json | grep -q '"moved_most": null' || fail "nothing moved, but something moved most"

# Mistakes: exit status 2 and the place; no assembly: 3.
expect() { # status, text, file
    "$daedalus" run "$3" >"$work/out" 2>&1
    status=$?
    [ $status -eq "$1" ] || fail "$3: exit status $status, expected $1"
    grep -qF "$2" "$work/out" || { fail "$3: no \"$2\" in"; cat "$work/out"; }
}
# Every file of bad/ names its place in places.txt.
while read -r file place; do
    "$daedalus" check "$source/tests/cli/bad/$file.json" >"$work/out" 2>&1
    status=$?
    [ $status -eq 2 ] || fail "bad/$file.json: exit status $status, expected 2"
    grep -qF "$place" "$work/out" || { fail "bad/$file.json: no \"$place\" in"; cat "$work/out"; }
done <"$source/tests/cli/bad/places.txt"
[ "$(wc -l <"$source/tests/cli/bad/places.txt")" -ge 40 ] || fail "fewer than 40 bad models"
sed 's/"revolute", "a": "Q"/"revolut", "a": "Q"/' "$work/doc1.json" >"$work/bad1.json"
expect 2 'joints[3].type: there is no joint type "revolut"; did you mean "revolute"?' "$work/bad1.json"
sed 's/"r": \[3, 0\]/"r": [30, 0]/' "$work/doc1.json" >"$work/bad2.json"
expect 3 'cannot be assembled' "$work/bad2.json"
printf '{ "daedalus": 1,\n "kind" }' >"$work/bad3.json"
expect 2 'line 2' "$work/bad3.json"
expect 2 'No such file' "$work/none.json"

# Parameters.
"$daedalus" run "$source/models/pendulum.json" --set 'L=2[m]' --json | grep -q '"status":"ok"' || fail "--set"
"$daedalus" run "$source/models/stiff_double_pendulum.json" --solver phem56 --max-steps 2000 --quiet 2>&1 | grep -q 'the problem is stiff and the method explicit' || fail "a stiff mechanism by phem56"
"$daedalus" run "$source/models/pendulum.json" --set 'X=2' >/dev/null 2>&1 && fail "--set of an unknown parameter"

# What the file says about steps, and the balance of energy.
sed 's/"t1": 2/"t1": 2, "hmax": "10[ms]"/' "$source/models/pendulum.json" >"$work/short.json"
"$daedalus" run "$work/short.json" --json >"$work/out" || fail "run with hmax"
largest=$(sed 's/.*"h_largest":\([^,]*\),.*/\1/' "$work/out")
awk -v h="$largest" 'BEGIN { exit !(h > 0.005 && h <= 0.0100001) }' || fail "hmax 0.01: a step of $largest"
"$daedalus" run "$work/short.json" --hmax 0.004 --json | grep -q '"h_largest":0.004' || fail "--hmax does not replace hmax"
sed 's/.*"energy":{\([^}]*\)}.*/\1/; s/"[a-z]*"://g; s/,/ /g' "$work/out" >"$work/energy" # start end work imbalance allowed
# The work is an integral over the steps, with rtol 1e-8 of an energy of 5 J.
awk 'NF == 5 && $1 == 0 && $2^2 < 1e-12 && $3^2 < 1e-15 && $4 < 1e-6 && $4 < $5 { ok = 1 } END { exit !ok }' "$work/energy" ||
    { fail "energy of the pendulum"; cat "$work/energy"; }
# --drift: kinetic energy -m g y from rest at y = 0, and how far the end of the rod is from the pivot
"$daedalus" run "$source/models/pendulum.json" --solver dopri5 --formulation index1 --rtol 1e-5 --drift --points 200 --quiet --out "$work/drift.csv"
awk -F, 'function abs(x) { return x < 0 ? -x : x }
    NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    /^#/ { next }
    { x = $c["rod.x"]; y = $c["rod.y"]; a = $c["rod.angle"]; gx = abs(x - cos(a) / 2); gy = abs(y - sin(a) / 2); g = gx > gy ? gx : gy
      d = $c["drift.position"]; if (d > most) most = d
      if (abs($c["energy.potential"] - 9.81 * y) > 1e-12 || abs($c["energy.kinetic"] + 9.81 * y) > 1e-2 || abs($c["energy.total"]) > 1e-2) bad = 1
      if (abs(d - g) > 1e-9 + 1e-6 * g || !($c["drift.velocity"] >= 0)) bad = 1; n++ }
    END { exit !(n == 200 && most > 1e-7 && !bad) }' "$work/drift.csv" || { fail "columns of --drift"; head -4 "$work/drift.csv"; }
"$daedalus" run hires --drift --quiet --out "$work/plain.csv" && head -1 "$work/plain.csv" | grep -q drift && fail "--drift of a problem without constraints"
sed 's/"t1": 2/"t1": 2, "hmax": 0/' "$source/models/pendulum.json" >"$work/bad4.json"
expect 2 'simulation.hmax: must be positive' "$work/bad4.json"

# Chains of any length, planar and spatial; their energy stays.
for kind in "" spatial; do
    command -v python3 >/dev/null || break
    python3 "$source/tools/make_chain.py" 12 $kind >"$work/chain.json" || fail "make_chain.py 12 $kind"
    "$daedalus" check "$work/chain.json" | grep -q '= 12 degrees of freedom' || fail "mobility of a chain ($kind)"
    "$daedalus" run "$work/chain.json" --tend 0.5 --json >"$work/out" || fail "run of a chain ($kind)"
    sed 's/.*"imbalance":\([^,}]*\)[,}].*/\1/' "$work/out" | awk '!($1 < 1e-3) { exit 1 }' || fail "energy of a chain ($kind)"
done

# Analyses. A rod of length L swings with omega^2 = 3 g/(2 L) about where it hangs straight down.
analyze() { # status, arguments
    status=$1
    shift
    "$daedalus" analyze "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$status" ] || { fail "analyze $*: exit status $got, expected $status"; cat "$work/err"; }
}
# near WHAT VALUE EXPECTED TOLERANCE
near() { awk -v a="$2" -v b="$3" -v tol="$4" 'BEGIN { d = a - b; exit !(a != "" && d < tol && -d < tol) }' || fail "$1: $2, expected $3"; }
of() { sed "s/.*\"$1\":\([^,}]*\).*/\1/" "$work/out"; }
for L in 1 4; do
    analyze 0 "$source/models/pendulum.json" --what equilibrium --set "L=$L" --json
    near "rest x" "$(of x)" 0 1e-8; near "rest y" "$(of y)" "$(awk "BEGIN { print -$L / 2 }")" 1e-8
    near "weight on the pivot" "$(of fy)" 9.81 1e-7
    analyze 0 "$source/models/pendulum.json" --what modes --set "L=$L" --json
    near "eigenvalue" "$(of im)" "$(awk "BEGIN { printf \"%.12g\", sqrt(1.5 * 9.81 / $L) }")" 1e-6
    near "frequency" "$(of frequency)" "$(awk "BEGIN { printf \"%.12g\", sqrt(1.5 * 9.81 / $L) / (8 * atan2(1, 1)) }")" 1e-6
done
analyze 0 "$source/models/pendulum.json"
grep -q '^  *0  rod  *0  *-0.5  *-1.5708$' "$work/out" && grep -q '0.610521  *0$' "$work/out" && grep -q 'has no drivers (1 degree of freedom)' "$work/out" ||
    { fail "analyze pendulum.json"; cat "$work/out"; }
analyze 0 "$source/models/pendulum.json" --what modes --about start --json
near "eigenvalue at the horizontal" "$(of im)" 0 1e-3

# A slider of mass m on a massless rod of length 3, crank of length 1 at the angle q = 0.3 + 2 t: torque m x'(q) x''(q) w^2.
cat >"$work/driven.json" <<'END'
{ "daedalus": 1, "kind": "mechanism", "name": "m", "dimension": 2, "bodies": [
  { "name": "crank", "mass": 1, "inertia": 0.1, "r": [0.5, 0] }, { "name": "rod", "mass": 0, "inertia": 0, "r": [2.5, 0] },
  { "name": "slider", "mass": 2, "inertia": 1, "r": [4, 0] } ],
  "points": [ { "name": "O", "body": "ground", "r": [0, 0] },
  { "name": "A0", "body": "crank", "r": [-0.5, 0] }, { "name": "A1", "body": "crank", "r": [0.5, 0] },
  { "name": "B0", "body": "rod", "r": [-1.5, 0] }, { "name": "B1", "body": "rod", "r": [1.5, 0] }, { "name": "S", "body": "slider", "r": [0, 0] } ],
  "joints": [ { "name": "J1", "type": "revolute", "a": "O", "b": "A0" }, { "name": "J2", "type": "revolute", "a": "A1", "b": "B0" },
  { "name": "J3", "type": "revolute", "a": "B1", "b": "S" }, { "name": "J4", "type": "prismatic", "a": "O", "b": "S", "axis": [1, 0] } ],
  "drivers": [ { "name": "motor", "joint": "J1", "value": "0.3 + 2*t" } ],
  "simulation": { "t1": 10 } }
END
analyze 0 "$work/driven.json" --what inverse --at 1,7,0.5 --format csv
sed -n '/^t,driver,force$/,/^$/p' "$work/out" | awk -F, '
    /^[0-9]/ { q = 0.3 + 2 * $1; r = sqrt(9 - sin(q)^2); n++
        v = -sin(q) - sin(q) * cos(q) / r; a = -cos(q) - cos(2 * q) / r - (sin(q) * cos(q))^2 / r^3
        d = $3 - 2 * v * a * 4; if (!($2 == "motor" && d < 1e-7 && -d < 1e-7)) exit bad = 1 }
    END { exit bad || n != 3 }' || { fail "torque of the driven slider-crank"; cat "$work/out"; }
analyze 0 "$work/driven.json" --what kinematics --points 21 --format csv
sed -n '/^t,body,x,y,angle$/,/^$/p' "$work/out" | awk -F, '
    $2 == "slider" { q = 0.3 + 2 * $1; d = $3 - cos(q) - sqrt(9 - sin(q)^2); n++; if (!(d < 1e-8 && -d < 1e-8)) exit bad = 1 }
    END { exit bad || n != 21 }' || { fail "motion of the driven slider-crank"; cat "$work/out"; }
for what in kinematics inverse; do
    analyze 2 "$source/models/pendulum.json" --what $what
    grep -q 'has no drivers (1 degree of freedom)' "$work/err" || fail "analyze --what $what without drivers"
    analyze 2 "$source/models/truck.json" --what $what
    grep -q '10 degrees of freedom that no driver moves' "$work/err" || fail "analyze --what $what of the truck"
done
analyze 2 "$work/driven.json" --what modes; grep -q 'no degree of freedom of its own' "$work/err" || fail "modes of a driven mechanism"
cat > "$work/stone.json" <<'EOF'
{ "daedalus": 1, "kind": "mechanism", "name": "stone", "dimension": 2, "gravity": [0, -9.81],
  "bodies": [ { "name": "stone", "mass": 1, "inertia": 1 } ] }
EOF
analyze 1 "$work/stone.json" --what equilibrium; grep -q 'no equilibrium was found.*body stone' "$work/err" || fail "equilibrium of a stone"
analyze 2 "$source/models/pendulum.json" --what mode; grep -q 'did you mean modes?' "$work/err" || fail "--what mode"
analyze 2 "$source/models/pendulum.json" --at 1 --points 3; grep -q 'either --at or --points' "$work/err" || fail "--at and --points"
analyze 2 "$source/models/pendulum.json" --what equilibrium --about turning; grep -q 'nothing turns at the start' "$work/err" || fail "--about turning"
analyze 2 "$source/models/pendulum.json" --about here
analyze 2 "$source/models/pendulum.json" --format html
analyze 2 hires; grep -q 'analyze is for model files' "$work/err" || fail "analyze of a problem"

# The mass on a spring and a damper, and the same equations as text: x = x0 exp(-c t/2m) (cos w t + c/(2 m w) sin w t).
damped() { # file column
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
        /^[0-9]/ { a = 1; w = sqrt(99); x = 0.1 * exp(-a * $1) * (cos(w * $1) + a / w * sin(w * $1)); d = $at - x; n++
          if (!(d < 1e-9 && -d < 1e-9)) { print "t = " $1 ": off by " d; exit bad = 1 } }
        END { exit bad || n < 200 }' "$1"
}
for method in auto mexx phem56 radau5 dopri5; do
    "$daedalus" run "$source/models/spring_mass_damper.json" --solver $method --rtol 1e-11 --atol 1e-13 --quiet --out "$work/damped.csv" ||
        fail "spring_mass_damper by $method"
    damped "$work/damped.csv" deflection || fail "closed solution of spring_mass_damper by $method"
done
"$daedalus" run "$source/models/spring_mass_damper.deq" --rtol 1e-11 --atol 1e-13 --points 201 --quiet --out "$work/damped.csv" || fail "spring_mass_damper.deq"
damped "$work/damped.csv" x || fail "closed solution of spring_mass_damper.deq"

# The sled with Coulomb friction: half swings of pi/w about d = mu m g/k and then -d; |x| < d where it stops for the second time.
for method in auto mexx radau5 dopri5; do
    "$daedalus" run "$source/models/drag_sled.json" --solver $method --quiet --out "$work/sled.csv" || fail "drag_sled by $method"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "deflection") at = i; next }
        /^[0-9]/ { d = 0.3 * 2 * 9.81 / 40; w = sqrt(20); half = 4 * atan2(1, 1) / w; n++
          x = $1 < half ? d + (0.5 - d) * cos(w * $1) : $1 < 2 * half ? -d + (0.5 - 3 * d) * cos(w * $1) : 0.5 - 4 * d
          e = $at - x; if (!(e < 1e-7 && -e < 1e-7)) { print "t = " $1 ": off by " e; exit bad = 1 } }
        END { exit bad || n < 190 }' "$work/sled.csv" || fail "closed solution of drag_sled by $method"
done
exit $bad
