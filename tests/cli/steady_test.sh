#!/bin/sh
# usage: steady_test.sh DAEDALUS SOURCE_DIR
# steady, continue and periodic as scripts see them; numbers in closed form.
source=$2
. "$source/tests/cli/common.sh"
# holds EXPRESSION of r, the JSON answer in out
holds() {
    checks=$((checks + 1))
    python3 - "$1" <<'END' || wrong "not so: $1"
import json, math, sys
r = json.load(open("out"))
if not eval(sys.argv[1]): print(r); sys.exit(1)
END
}
dir=$source/examples/steady
expect 0 steady "$dir/brusselator.deq" --set B=3 --json
holds 'abs(r["y"]["x"] - 1) < 1e-9 and abs(r["y"]["y"] - 3) < 1e-9 and r["unstable"] == 2'
holds 'abs(r["eigenvalues"][0][0] - 0.5) < 1e-9 and abs(abs(r["eigenvalues"][0][1]) - math.sqrt(0.75)) < 1e-9'
expect 0 steady "$dir/brusselator.deq"
says 'a steady state after .*: stable' out
expect 0 steady rober --json
holds 'r["conserved"] == 1 and abs(r["y"]["C"] - 1) < 1e-6'
expect 0 continue "$dir/brusselator.deq" --free 'B[1..5]' --json
holds '[s["kind"] for s in r["special"]] == ["end", "hopf", "end"]'
holds 'abs(r["special"][1]["value"] - 2) < 1e-9 and abs(r["special"][1]["frequency"] - 1) < 1e-9'
expect 0 continue "$dir/governor.deq" --free 'w[1..10]' --json
holds 'r["special"][1]["kind"] == "cross" and abs(r["special"][1]["value"] - math.sqrt(9.81/0.3)) < 1e-8'
expect 0 continue "$dir/snap.json" --free 'm[0.1..5]' --component load.y --out snap.csv --plot snap.svg
says 'fold  *1.0132113' out
says '^m,load.x,load.y' snap.csv
says ',fold$' snap.csv
says '<svg' snap.svg
expect 4 continue "$dir/snap.json" --free 'm[0.1..5]' --points 3
says 'number of points ran out' out
expect 0 continue "$dir/reactor.deq" --free 'D[0.01..0.3]'
says 'fold  *0.073031576' out
says 'hopf' out
expect 0 periodic "$dir/brusselator.deq" --set B=3 --json
holds 'abs(r["period"] - 7.1577) < 1e-3 and abs(r["multipliers"][0][0] - 1) < 1e-6 and r["unstable"] == 0'
expect 0 periodic vdpol-mu --set mu=1 --init y1=2 --rtol 1e-10 --json
holds 'abs(r["period"] - 6.6632868593231301896) < 1e-7'
expect 1 periodic "$dir/brusselator.deq"
says 'daedalus periodic' err
expect 2 continue "$dir/brusselator.deq" --free 'q[1..5]'
says 'there is no parameter "q"' err
expect 2 continue "$dir/brusselator.deq" --free 'B[2..5]'
says 'B = 1.5 is not inside 2 .. 5' err
expect 2 continue "$dir/brusselator.deq" --free 'A,B'
says 'one parameter' err
expect 2 continue "$dir/brusselator.deq" --free 'B[1..5]' --component q
says 'there is none of that name' err
echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
