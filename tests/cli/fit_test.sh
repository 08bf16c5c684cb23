#!/bin/sh
# usage: fit_test.sh DAEDALUS SOURCE_DIR
# daedalus fit as scripts see it: answers, files, mistakes, a fit that is killed and goes on.
program=$1
source=$2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0
check() { # what, condition
    what=$1
    shift
    "$@" || { echo "FAILED: $what"; failed=1; }
}
says() { grep -q -- "$1" "$2"; }
value() { python3 -c 'import json,sys; print(eval(sys.argv[1], {"r": json.load(open(sys.argv[2])), "abs": abs}))' "$1" "$2"; }
model=$source/examples/fitting

"$program" fit "$model/pinene.deq" --data "$model/pinene.csv" --free 'k1[0..],k2[0..],k3[0..],k4[0..],k5[0..]' --json \
    --out "$dir/r.csv" --plot "$dir/r.svg" > "$dir/a.json" 2> "$dir/e" || { cat "$dir/e"; failed=1; }
check "published sum of squares" test "$(value 'abs(2*r["cost"] - 19.8721) < 1e-3 and r["status"] == "DAE_OK"' "$dir/a.json")" = True
check "rows of residuals" test "$(grep -vc '^#' "$dir/r.csv")" -eq 41
check "picture" says '<svg' "$dir/r.svg"

"$program" fit "$model/lynx_hare.deq" --data "$model/lynx_hare.csv" --free 'a,b,c,d' --starts 3 > "$dir/text" 2> "$dir/e"
check "several starts" says 'of 3 starts reached it' "$dir/text"
check "correlations" says 'correlations' "$dir/text"

# The four-bar that traces an ellipse: what it says of the best design is checked by the geometry of the linkage alone.
"$program" optimize "$source/examples/design/four_bar_tracer.json" --minimize 'sqrt(mean(miss))' --max-evaluations 400 \
    --free 'a[0.4..1.2],b[1.5..4],c[1.5..4],d[1.5..4],u[-2..2],v[-2..2],phase[0..3],x0[-2..2],y0[-2..2],tilt[-1..1]' \
    --subject-to 'a + d <= b + c - 0.3' --subject-to 'a + c <= b + d - 0.1' --subject-to 'a + b <= c + d - 0.1' \
    --json > "$dir/bar.json" 2> "$dir/e"
python3 - "$dir/bar.json" <<'END' || { echo "FAILED: four-bar"; cat "$dir/e"; failed=1; }
import cmath, json, math, sys
r = json.load(open(sys.argv[1]))
def miss(p, n=400):
    total = 0
    for k in range(n): # a periodic function: the mean of its values is its integral
        w = 2*math.pi*k/n
        crank = complex(p["x0"], p["y0"]) + p["a"]*cmath.exp(1j*(p["phase"] + w))
        far = complex(p["x0"], p["y0"]) + p["d"]*cmath.exp(1j*p["tilt"]) - crank
        l = abs(far) # triangle b, c, l: the coupler lies to its left
        angle = cmath.phase(far) + math.acos((p["b"]**2 + l*l - p["c"]**2)/(2*p["b"]*l))
        point = crank + cmath.exp(1j*angle)*complex(p["b"]/2 + p["u"], p["v"])
        total += abs(point - complex(0.6 + 0.8*math.cos(w + 1), 1.7 + 0.5*math.sin(w + 1)))**2
    return math.sqrt(total/n)
assert r["status"] == "DAE_OK", r
assert abs(miss(r["start"]) - r["objective_start"]) < 1e-5, (miss(r["start"]), r)
assert abs(miss(r["parameters"]) - r["objective"]) < 1e-5, (miss(r["parameters"]), r)
assert r["objective"] < 0.02
END

# A record that was cut off in the middle of a line, as a kill leaves it: the fit goes on and ends at the same place.
free='a=0.3,b=0.03,c=0.6,d=0.02,hare(0)'
"$program" fit "$model/lynx_hare.deq" --data "$model/lynx_hare.csv" --free "$free" --log "$dir/log" --json > "$dir/whole.json" 2> "$dir/e"
head -n 4 "$dir/log" > "$dir/cut"
printf '{"start":0,"itera' >> "$dir/cut"
"$program" fit "$model/lynx_hare.deq" --data "$model/lynx_hare.csv" --free "$free" --log "$dir/cut" > "$dir/again" 2> "$dir/e"
check "goes on" says 'goes on after iteration 2' "$dir/e"
"$program" fit "$model/lynx_hare.deq" --data "$model/lynx_hare.csv" --free "$free" --log "$dir/cut" --json > "$dir/again.json" 2> "$dir/e"
check "nothing but JSON" test ! -s "$dir/e"
"$program" fit "$model/lynx_hare.deq" --data "$model/lynx_hare.csv" --free a --max-iterations 1 --log "$dir/new" > "$dir/text" 2> "$dir/e"
check "a new record goes on from nowhere" test "$(grep -c 'goes on' "$dir/e")" -eq 0
whole=$(value 'r["parameters"]["a"]["value"]' "$dir/whole.json")
again=$(value 'r["parameters"]["a"]["value"]' "$dir/again.json")
check "the same end: $whole $again" python3 -c "import sys; sys.exit(not abs($whole - $again) < 1e-5 * abs($whole))"
"$program" fit "$model/lynx_hare.deq" --data "$model/lynx_hare.csv" --free a --log "$dir/cut" > "$dir/text" 2> "$dir/e"
check "a record of another fit is refused" test $? -eq 2
check "and told" says 'the record of another fit' "$dir/e"

# kill -9 in the middle
"$program" fit "$model/lynx_hare.deq" --data "$model/lynx_hare.csv" --free "$free" --rtol 1e-12 --log "$dir/killed" > /dev/null 2>&1 &
pid=$!
tries=0
while [ "$(wc -l < "$dir/killed" 2> /dev/null || echo 0)" -lt 3 ] && [ $tries -lt 200 ]; do
    sleep 0.02
    tries=$((tries + 1))
done
kill -9 $pid 2> /dev/null
wait $pid 2> /dev/null
"$program" fit "$model/lynx_hare.deq" --data "$model/lynx_hare.csv" --free "$free" --rtol 1e-12 --log "$dir/killed" --json > "$dir/k.json" 2> "$dir/e"
check "after a kill" test "$(value 'r["status"]' "$dir/k.json")" = DAE_OK

for wrong in '--free zz' '--free a[1..0]' '--free a[1' '--free a --data missing.csv' '--free a --loss cubic' '--free a,a'; do
    # shellcheck disable=SC2086
    "$program" fit "$model/lynx_hare.deq" --data "$model/lynx_hare.csv" $wrong > /dev/null 2> "$dir/e"
    check "exit status of $wrong" test $? -eq 2
    check "one line for $wrong" test "$(wc -l < "$dir/e")" -ge 1
done
[ $failed -eq 0 ] && echo "fit: all checks hold"
exit $failed
