#!/bin/sh
# usage: sensitivity_test.sh DAEDALUS SOURCE_DIR
# run --sens: columns, JSON, messages. The numbers of Robertson's reaction and the bouncing ball come from independent computations
# (tests/sensitivity/numbers.h).
source=$2
. "$source/tests/cli/common.sh"
# near KEY INDEX VALUE TOLERANCE: of "sensitivity" in out
near() {
    checks=$((checks + 1))
    python3 - "$@" <<'END' || wrong "sensitivity $*"
import json, sys
name, i, value, tolerance = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
got = json.load(open("out"))["sensitivity"][name][i]
if not abs(got / value - 1) <= tolerance: print(got, value); sys.exit(1)
END
}
expect 0 run rober --tend 40 --rtol 1e-8 --atol 1e-12 --sens k1,k2,k3 --json
near k1 0 -4.247558771705733 1e-7
near k1 1 4.591196249253894e-05 1e-7
near k3 1 -2.357192113846333e-10 1e-7
near k2 2 2.288468894856604e-09 1e-7
expect 0 run "$source/models/ball.deq" --init h=2 --tend 2 --sens "e,h(0)" --json
near e 0 2.5421241184935768 1e-7
near e 1 22.551062059246788 1e-7
near "h(0)" 1 5.0739889633305274 1e-7
expect 0 run "$source/models/ball.deq" --tend 2 --sens "e,h(0)" --out -
says '^t,h,v,dh/de,dv/de,dh/dh(0),dv/dh(0)$' out
# an event that ends the run: t = sqrt(2 H/g), v = -g t there
printf 'model fall\nparam g = 9.81, H = 2\nvar y = H, v = 0\ny%s = v\nv%s = -g\nwhen y < 0: stop\nsolve t = 0 .. 5, rtol = 1e-9\n' "'" "'" > fall.deq
expect 0 run fall.deq --sens H,g --json
checks=$((checks + 1))
python3 - <<'END' || wrong "derivatives at an event that ends the run"
import json, math
r = json.load(open("out"))
t = math.sqrt(4 / 9.81)
got = [r["sensitivity"]["H"], r["sensitivity"]["g"], r["sensitivity_total"]["H"], r["sensitivity_total"]["g"]]
want = [[1, 0], [-t * t / 2, -t], [0, -9.81 * t / 4], [0, -t / 2]]
good = all(abs(a - b) < 1e-10 for x, y in zip(got, want) for a, b in zip(x, y))
by = r["events"][0]["sensitivity"]
if not (good and abs(by["H"] - t / 4) < 1e-10 and abs(by["g"] + t / 2 / 9.81) < 1e-10): print(got, by); raise SystemExit(1)
END
expect 0 run fall.deq --sens H
says 'dt/dH' out
# what is printed are the numbers of the JSON, every one at its name
expect 0 run fall.deq --sens H,g --json
mv out json
expect 0 run fall.deq --sens H,g
checks=$((checks + 1))
python3 - <<'END' || wrong "printed derivatives are not those of the JSON"
import json, re
r, text = json.load(open("json")), open("out").read()
for p in ("H", "g"):
    for i, y in enumerate(("y", "v")):
        got = [float(x) for x in re.findall(r"^ +d%s/d%s +(\S+)$" % (y, p), text, re.M)]
        want = [r["sensitivity"][p][i], r["sensitivity_total"][p][i]]
        if not got or min(abs(got[0] - x) for x in want) > 1e-10: print(p, y, got, want); raise SystemExit(1)
END
expect 0 run "$source/models/ball.deq" --tend 1 --sens e --json
says '"sensitivity":{"e":0.0}' out
checks=$((checks + 1))
grep -q sensitivity_total out && wrong 'no event ended the run, but there is a sensitivity_total'
expect 0 run "$source/models/four_bar.json" --sens a
says 'derivatives at t' out
says 'dcrank.x/da' out
# sensors and reactions: the angle of a rod is a function of t sqrt(g/L), and with it the force in its bearing
expect 0 run "$source/models/pendulum.json" --rtol 1e-10 --atol 1e-12 --sens L --json
checks=$((checks + 1))
python3 - <<'END' || wrong "derivative of the force in a bearing"
import json, math
r = json.load(open("out"))
s, c, w, t = math.sin(r["y"][2]), math.cos(r["y"][2]), r["y"][5], r["t"]
force = 9.81 * math.sqrt(6.25 * s * s + c * c / 16)
by = 9.81 ** 2 * (6.25 - 1 / 16) * s * c / force * (-t * w / 2)
x = -9.81 * 9 / 4 * s * c  # m g (3/2 + 3/4) sin cos
x_by = -9.81 * 9 / 4 * math.cos(2 * r["y"][2]) * (-t * w / 2)
got = r["derived_sensitivity"]["L"]
if not (abs(got["bearing_force"] / by - 1) < 1e-7 and abs(abs(got["pivot.reaction.fx"] / x_by) - 1) < 1e-7): print(got, by, x_by); raise SystemExit(1)
END
expect 0 run "$source/models/pendulum.json" --sens L --out -
says '^t,.*,drod.omega/dL,dbearing_force/dL,dpivot.reaction.fx/dL,dpivot.reaction.fy/dL,dpivot.reaction.mz/dL$' out
expect 0 run "$source/models/pendulum.json" --sens L
says 'dbearing_force/dL' out
expect 2 run rober --sens k4
says 'no parameter and no component "k4"; parameters: k1, k2, k3' err
expect 2 run rober --sens k1,,k2
says 'a name is empty' err
expect 2 run rober --sens k1,k1
says 'named twice' err
# run --integral: Robertson's numbers again; a closed form through the bounces of the ball
expect 0 run rober --tend 40 --rtol 1e-8 --atol 1e-12 --integral y3 --sens k1,k2,k3 --json
checks=$((checks + 1))
python3 - <<'END' || wrong "integral of y3"
import json
r = json.load(open("out"))
assert abs(r["integral"]["y3"] / 7.988585862294906 - 1) < 1e-8, r["integral"]
assert r["integral_error"]["y3"] < 1e-8
for name, value in {"k1": 1.297764828616016e+02, "k3": -3.626383373228594e-04, "k2": 6.044293421009456e-08}.items():
    assert abs(r["integral_sensitivity"]["y3"][name] / value - 1) < 1e-6, (name, r["integral_sensitivity"])
END
expect 0 run "$source/models/ball.deq" --init h=2 --tend 2 --integral 'h + t*v' --integral 'v^2' --out -
says '^t,h,v,integral(h + t\*v),integral(v^2)$' out
expect 0 run "$source/models/ball.deq" --init h=2 --tend 2 --integral 'h + t*v'
says 'h + t\*v  *1.59182341' out
expect 2 run rober --integral 'y3*q'
says '"y3\*q", column 4: unknown name "q"; components, sensors, t and parameters' err
echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
