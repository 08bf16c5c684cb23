#!/bin/sh
# usage: faults.sh DAEDALUS STARVE_LIBRARY SOURCE_DIR [STRIDE [COMMAND...]]
# Every command with allocation k failing, for k = 1, 1 + STRIDE, ..., once and from k on, until it is not reached any more. Each must
# end in the answer that it has with enough memory, or in exit status 1 with one message about memory; no signal, no hang, no file
# that is half.
program=$1 library=$2 source=$3 stride=${4:-1}
[ $# -ge 4 ] && shift 4 || shift 3
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
XDG_CACHE_HOME=$work/cache OPENBLAS_NUM_THREADS=1
export XDG_CACHE_HOME OPENBLAS_NUM_THREADS
cp "$source/models/pendulum.json" "$source/models/four_bar.json" "$source/models/heater.deq" "$source/models/ambient.csv" \
    "$source/models/pendulum.deq" "$source/models/ball.deq" .
printf 'a,b\n1,2\n3,4\n5,7\n' >table.csv
"$program" run pendulum.json --quiet --out first.csv --dump first.sol --checkpoint first.check --max-steps 8 >out 2>&1

printf '{"t":0,"y":[1,0,0,0,0,0,0,0.0057]}' >state.json
commands='run hires --quiet --out new.csv
run hires --quiet --json
run pendulum.json --quiet --out new.csv --animate new.html
run four_bar.json --json --quiet
run pendulum.json --resume first.check --quiet --out new.csv
run rober --quiet --dump new.sol --checkpoint new.check
check four_bar.json
check pendulum.json --json
analyze four_bar.json
analyze four_bar.json --json
sample first.sol --points 5
sample first.sol --points 3 --json
eval hires --state state.json
list solvers
list problems --json
info radau5
info hires --json
workprec hires --solvers radau5 --range 4:5:1 --reps 1 --quiet --out new.jsonl
sweep cable-drum --vary mu=0:0.5:3 --jobs 1 --out new --quiet
help run
completion bash'
# The rest takes long, and is for stride 1: equation files, studies, and every solver on a small problem of its kind.
[ "$stride" -gt 1 ] || commands="$commands
new newly
check heater.deq
check pendulum.deq --json
run heater.deq --quiet --json
run pendulum.deq --tend 1 --quiet
run ball.deq --quiet --tend 0.3
run hires --quiet --out new.h5
run four_bar.json --tend 0.2 --quiet --plot new.svg
table hires --solvers radau5 --format csv --quiet
reference rober --quiet
compare pendulum.json --solvers phem56,radau5/index2 --tend 0.5 --quiet
plot table.csv --out new.svg
scale insulator-chain --set N=4,8 --solvers mexx --reps 1 --quiet
matrix --problems rober --solvers radau5 --quiet --file new.jsonl --csv new.csv"
for s in $([ "$stride" -gt 1 ] || "$program" list solvers | awk 'NR > 1 { print $1 }'); do
    case $s in
    mexx | phem56 | genalpha | hht) tail="pendulum.json --tend 0.2" ;;
    rattle) tail="pendulum.deq --tend 0.1" ;;
    rkn*) tail="plei --tend 0.1" ;;
    *) tail="rober --tend 0.01" ;;
    esac
    "$program" run $tail --solver "$s" --quiet >out 2>&1 && commands="$commands
run $tail --solver $s --quiet --json --checkpoint new.check"
done
[ $# -gt 0 ] && commands=$*
runs=0 bad=0
# What is the same from run to run: without times.
# same A B: the same words, and numbers that agree to 6 digits (another factorization that needed less memory may round otherwise)
same() {
    awk 'function next_number(s) { return match(s, /[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?/) }
        { rest = $0; if ((getline other <second) <= 0) exit 1
          while (next_number(rest)) {
              at = RSTART; n = RLENGTH; before = substr(rest, 1, at - 1); x = substr(rest, at, n) + 0; rest = substr(rest, at + n)
              if (!next_number(other) || substr(other, 1, RSTART - 1) != before) exit 1
              y = substr(other, RSTART, RLENGTH) + 0; other = substr(other, RSTART + RLENGTH)
              d = x - y; if (d < 0) d = -d; if (x < 0) x = -x
              if (d > 1e-6 * x + 1e-9) exit 1
          }
          if (rest != other) exit 1 }
        END { if ((getline other <second) > 0) exit 1 }' second="$2" "$1"
}
steady() { sed -E 's/"(cpu_seconds|user_seconds|linalg_seconds|wall_seconds)":[^,}]*/"\1":0/g; s/[0-9.]+(e-[0-9]+)? ?(s|ms|us|µs|seconds)( |$)/T /g; s/CPU.*//' "$1"; }
wrong() { bad=$((bad + 1)); echo "FAILED: daedalus $line (allocation $k, $mode): $*"; head -n 3 err | cut -c 1-300; }
try() { # k mode
    rm -rf new*
    STARVE_AT=$1 STARVE_FILE=$work/count
    export STARVE_AT STARVE_FILE
    if [ "$2" = on ]; then STARVE_ON=1; export STARVE_ON; else unset STARVE_ON; fi
    echo '0 0' >count
    timeout 60 env LD_PRELOAD="$library" "$program" $line >out 2>err </dev/null
    status=$?
    unset STARVE_AT STARVE_FILE STARVE_ON
}
echo "$commands" | while read -r line; do
    k=0 mode=never
    try 0 never
    whole=$status total=$(cut -d' ' -f1 count)
    steady out >right
    for f in new*; do [ -f "$f" ] && cp "$f" "keep_$f"; done
    [ "$whole" -eq 0 ] || wrong "exit status $whole with all memory"
    for mode in once on; do
        k=1
        while [ $k -le $((total + 50)) ]; do
            try $k $mode
            runs=$((runs + 1))
            reached=$(cut -d' ' -f2 count)
            if [ "$status" -ge 124 ]; then wrong "exit status $status"
            elif [ "$status" -eq 0 ]; then
                steady out >seen
                same right seen || wrong "exit status 0 and another answer"
                for f in keep_new*; do
                    [ -f "$f" ] || continue
                    case $f in *.jsonl | *.check) [ -s "${f#keep_}" ] || wrong "no ${f#keep_}"; continue ;; esac
                    cmp -s "$f" "${f#keep_}" || same "$f" "${f#keep_}" || wrong "exit status 0 and another ${f#keep_}"
                done
            elif [ "$status" -ne 1 ]; then wrong "exit status $status"
            else
                grep -qi memory out err || wrong "no message about memory"
            fi
            [ "$reached" = 1 ] || [ "$status" -ne 0 ] || break
            k=$((k + stride))
        done
    done
    rm -f keep_new*
    echo "$line: $total allocations, $runs runs so far, $bad wrong"
    echo "$runs $bad" >sum
done
read -r runs bad <sum
echo "$runs runs, $bad wrong"
[ "$bad" -eq 0 ]
