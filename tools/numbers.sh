#!/bin/sh
# usage: numbers.sh PROGRAM FOLDER       writes what PROGRAM computes: the published rows of the quick problems, and runs of
#                                        all models and mechanical problems with fixed methods, without times
#        numbers.sh --compare OLD NEW    shows what differs between two such folders; exit status 1 if anything does
# A change that must not change numbers: run it with the program of before and of after, and compare.
set -u
if [ "$1" = --compare ]; then
    diff -r "$2" "$3" && echo "$(cat "$3"/* | wc -l) lines are the same"
    exit
fi
program=$1 folder=$2
mkdir -p "$folder" || exit 2
export OPENBLAS_NUM_THREADS=1
XDG_CACHE_HOME=$(mktemp -d) # references that were computed here do not count
export XDG_CACHE_HOME
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT

for p in hires pollu ringmod plei beam vdpol-mu vdpol-eps orego rober e5 chemakzo andrews transamp pump caraxis crank \
    medakzo water wheel; do
    "$program" table $p --format csv --quiet 2>/dev/null | python3 -c '
import csv, sys
rows = csv.DictReader(sys.stdin)
keep = [c for c in rows.fieldnames if not c.endswith("cpu_seconds") and c != "marks"]
for r in rows: print(",".join(r[c] for c in keep))' >"$folder/table-$p.csv"
done

without_times='
import json, sys
o = json.load(sys.stdin)
for k in list(o):
    if "seconds" in k or k in ("reason", "linear_algebra", "problem"): del o[k]
for k in ("components", "choice"): o.pop(k, None)
for k, v in sorted(o.items()): print(k, json.dumps(v, sort_keys=True))'
for p in models/*.json seven-body truck insulator-chain double-pendulum hmmwv cable-drum andrews; do
    for s in phem56:auto mexx:auto dop853:index1 radau5:statespace radau5:ggl; do
        name=$(basename "$p" .json)-$(echo $s | tr : -)
        "$program" run "$p" --solver ${s%:*} --formulation ${s#*:} --max-steps 3000 --quiet --json 2>/dev/null |
            python3 -c "$without_times" >"$folder/run-$name.txt" 2>/dev/null
    done
done
