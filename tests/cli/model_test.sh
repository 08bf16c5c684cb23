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

# Redundant constraints are named.
"$daedalus" check "$source/models/bricard.json" | grep -q 'row 5 of joint J6 follows from the others' || fail "bricard"
"$daedalus" check "$source/models/bricard.json" --json | grep -q '"freedom": 1' || fail "bricard --json"

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
expect 2 'joints[3]: type: there is no joint type "revolut"; did you mean "revolute"?' "$work/bad1.json"
sed 's/"r": \[3, 0\]/"r": [30, 0]/' "$work/doc1.json" >"$work/bad2.json"
expect 3 'cannot be assembled' "$work/bad2.json"
printf '{ "daedalus": 1,\n "kind" }' >"$work/bad3.json"
expect 2 'line 2' "$work/bad3.json"
expect 2 'No such file' "$work/none.json"

# Parameters.
"$daedalus" run "$source/models/pendulum.json" --set 'L=2[m]' --json | grep -q '"status":"ok"' || fail "--set"
"$daedalus" run "$source/models/pendulum.json" --set 'X=2' >/dev/null 2>&1 && fail "--set of an unknown parameter"

# What the file says about steps, and the balance of energy.
sed 's/"t1": 2/"t1": 2, "hmax": "10[ms]"/' "$source/models/pendulum.json" >"$work/short.json"
"$daedalus" run "$work/short.json" --json >"$work/out" || fail "run with hmax"
largest=$(sed 's/.*"h_largest":\([^,]*\),.*/\1/' "$work/out")
awk -v h="$largest" 'BEGIN { exit !(h > 0.005 && h <= 0.0100001) }' || fail "hmax 0.01: a step of $largest"
"$daedalus" run "$work/short.json" --hmax 0.004 --json | grep -q '"h_largest":0.004' || fail "--hmax does not replace hmax"
sed 's/.*"energy":{\([^}]*\)}.*/\1/; s/"[a-z]*"://g; s/,/ /g' "$work/out" >"$work/energy" # start end work imbalance
awk 'NF == 4 && $1 == 0 && $2^2 < 1e-12 && $3^2 < 1e-16 && $4 < 1e-6 { ok = 1 } END { exit !ok }' "$work/energy" ||
    { fail "energy of the pendulum"; cat "$work/energy"; }
sed 's/"t1": 2/"t1": 2, "hmax": 0/' "$source/models/pendulum.json" >"$work/bad4.json"
expect 2 'simulation.hmax: must be positive' "$work/bad4.json"

# Chains of any length, planar and spatial; their energy stays.
for kind in "" spatial; do
    command -v python3 >/dev/null || break
    python3 "$source/tools/make_chain.py" 12 $kind >"$work/chain.json" || fail "make_chain.py 12 $kind"
    "$daedalus" check "$work/chain.json" | grep -q '= 12 degrees of freedom' || fail "mobility of a chain ($kind)"
    "$daedalus" run "$work/chain.json" --tend 0.5 --json >"$work/out" || fail "run of a chain ($kind)"
    sed 's/.*"imbalance":\([^}]*\)}.*/\1/' "$work/out" | awk '!($1 < 1e-3) { exit 1 }' || fail "energy of a chain ($kind)"
done
exit $bad
