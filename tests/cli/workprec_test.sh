#!/bin/sh
# daedalus workprec as scripts see it. usage: workprec_test.sh PROGRAM SOURCE_DIR
source=$2
. "$(dirname "$0")/common.sh"

# ---- usage
expect 2 workprec; says 'PROBLEM is missing' err
expect 2 workprec hires --all --out d; says 'give one of them' err
expect 2 workprec --all; says 'needs --out' err
expect 2 workprec hirse; says 'did you mean hires?' err
expect 2 workprec hires --solvers radua5; says 'did you mean radau5' err
expect 2 workprec hires --solvers radau5,,vode; says 'empty' err
expect 2 workprec hires --solvers vode,vode; says 'twice' err
expect 2 workprec hires --solvers mexx --range 4:4:1; says 'mexx' err
expect 2 workprec seven-body --solvers dop853/idx1; says 'no formulation' err
expect 2 workprec seven-body --solvers dop853/index1+what; says '+project' err
for range in 9:4:1 4:9:0 a:b:c 4:20:1 4:9:1:2 -1:2:1; do expect 2 workprec hires --range=$range; says 'FROM:TO:STEP' err; done
expect 2 workprec hires --reps 0; says 'whole number' err
expect 2 workprec hires --measure length; says 'expected time, f or both' err
expect 2 workprec hires --max-seconds 0; says 'expected a number' err
expect 2 workprec hires --lines 0; says 'whole number' err
expect 2 workprec no/such/model.json; says 'No such file' err
expect 2 workprec hires --set nonsense=5; says 'nonsense' err
expect 2 workprec hires --out no/such/folder/x.jsonl; says 'No such file' err
expect 2 workprec hires --plot x.gif; says '.svg, .png or .pdf' err
echo '{"a":1}' >bad.jsonl; expect 2 workprec hires --out bad.jsonl; says 'line 1 is no measurement' err
equal "$(cat bad.jsonl)" '{"a":1}'

# ---- a study, its records, its table
two="--solvers radau5,vode --range 4:6:1 --reps 2"
expect 0 workprec hires $two --out h.jsonl
says '^radau5 .*\*.* 3  *0$' out; says '^vode ' out; silent err
lines 6 h.jsonl
for name in problem settings solver rtol atol h0 status message scd mescd steps accepted f jac lu cpu_seconds repeat; do
    says "\"$name\":" h.jsonl; done
expect 0 workprec hires $two --full; says '^radau5  *1.0e-04  *1.0e-04  *1.0e-06 ' out
says '^vode  *1.0e-04  *1.0e-04  *0.0e+00 ' out # chooses its own first step, as in the test set
expect 0 workprec hires $two --json; lines 6 out
expect 0 workprec e5 --solvers radau5 --range 4:4:1 --reps 1; says 'mescd' out

# ---- without a reference: two methods compute one, once; also of model files, where another file is another model
expect 0 workprec vdpol-mu --set mu=5 --solvers radau5 --range 5:6:1 --reps 1; says 'two methods compute one' err; says 'agree in' err
says '^radau5 .* 2  *0$' out
expect 0 workprec vdpol-mu --set mu=5 --solvers radau5 --range 5:6:1 --reps 1; silent err
model=$source/models/pendulum.json
expect 0 workprec "$model" --solvers phem56,radau5 --range 5:7:1 --reps 1 --out p.jsonl; says 'agree in' err; lines 6 p.jsonl
says '^phem56 ' out; says '^radau5 ' out
expect 0 workprec "$model" --solvers phem56,radau5 --range 5:7:1 --reps 1 --out p.jsonl; lines 6 p.jsonl; says '6 runs were taken' err
sed 's/-9.81/-1.62/' "$model" >moon.json
expect 0 workprec moon.json --solvers phem56 --range 5:7:1 --reps 1 --out p.jsonl; says 'two methods compute one' err; lines 9 p.jsonl
echo '{' >bad.json; expect 2 workprec bad.json

# ---- it goes on: nothing is repeated, a broken last line is cut off
cp h.jsonl before; expect 0 workprec hires $two --out h.jsonl; cmp -s h.jsonl before || wrong 'finished runs were repeated'
says '6 runs were taken' err
head -c -40 before >h.jsonl; expect 0 workprec hires $two --out h.jsonl; says '5 runs were taken' err; lines 6 h.jsonl
equal "$(head -n 5 h.jsonl)" "$(head -n 5 before)"
expect 0 workprec hires $two --out h.jsonl --range 4:7:1; says '6 runs were taken' err; lines 8 h.jsonl

# ---- killed at random times, it loses no finished run and repeats none
checks=$((checks + 1))
for seconds in 0.05 0.11 0.17 0.23 0.31; do
    daedalus workprec orego --solvers radau5,radau,vode --range 4:9:1 --reps 20 --out k.jsonl >out 2>err </dev/null &
    child=$!
    cp k.jsonl k.before 2>/dev/null || : >k.before
    sleep $seconds; kill -KILL $child 2>/dev/null; wait $child 2>/dev/null
    whole=$(grep -c '}$' k.before)
    equal "$(head -n "$whole" k.jsonl 2>/dev/null)" "$(grep '}$' k.before)"
done
expect 0 workprec orego --solvers radau5,radau,vode --range 4:9:1 --reps 20 --out k.jsonl
equal "$(sed 's/.*"solver":"\([^"]*\).*"rtol":\([^,]*\),.*/\1 \2/' k.jsonl | sort -u | wc -l)" 18
lines 18 k.jsonl

# ---- failures are results: time limits, and what follows from two of them
expect 0 workprec ringmod --solvers dopri5 --range 4:9:1 --reps 1 --max-seconds 0.05 --out r.jsonl
lines 2 r.jsonl; says '"status":"DAE_ERR_MAX_SECONDS"' r.jsonl; says ' 2  *2$' out
expect 0 workprec ringmod --solvers dopri5 --range 4:9:1 --reps 1 --max-seconds 0.06 --out r.jsonl; lines 4 r.jsonl # a higher limit

# ---- what was done is kept: a full disk, an interruption
if [ -e /dev/full ]; then
    expect 2 workprec hires $two --out /dev/full; says 'No space left' err
fi
checks=$((checks + 1))
daedalus workprec medakzo --solvers radau5 --range 4:9:0.001 --reps 3 --out m.jsonl >out 2>err </dev/null & # minutes on any machine
child=$!
tries=0
while [ ! -s m.jsonl ] && [ $tries -lt 600 ]; do sleep 0.05; tries=$((tries + 1)); done # at least one run
kill -TERM $child; wait $child; equal $? 143; says 'interrupted after' err; says 'kept in m.jsonl' err
[ "$(grep -c '}$' m.jsonl)" -ge 1 ] || wrong 'nothing was kept'

# ---- diagrams
if command -v gnuplot >/dev/null; then
    for end in svg png pdf; do
        expect 0 workprec hires $two --range 4:7:1 --out h.jsonl --plot "a b.$end" --quiet; silent err; silent out
        checks=$((checks + 1)); [ "$(wc -c <"a b.$end")" -gt 5000 ] || wrong "a b.$end is too small"
    done
    says '</svg>' 'a b.svg'; says '>radau5<' 'a b.svg'; says 'correct digits' 'a b.svg'; says 'CPU time' 'a b.svg'
    ! grep -q 'no result' 'a b.svg' || wrong 'a strip without failed runs'
    expect 0 workprec ringmod --solvers dopri5 --range 4:9:1 --reps 1 --max-seconds 0.05 --out r.jsonl --plot r.svg; says 'no result' r.svg
    expect 0 workprec hires $two --out h.jsonl --plot t.svg --measure time --mescd; says 'mescd' t.svg
    expect 0 workprec rober --range 4:6:1 --reps 1 --max-seconds 0.1 --lines 3 --plot l.svg --quiet; says 'not drawn' l.svg
    ! grep -q 'evaluations' t.svg || wrong '--measure time draws evaluations'
    # every problem: records, pictures, page; a second time nothing runs
    few="--solvers all --range 4:4:1 --reps 1 --max-seconds 0.02 --jobs 2"
    expect 0 workprec --all $few --out all --gallery shown/gallery
    equal "$(ls shown/gallery | wc -l)" "$(daedalus list problems | awk 'NR > 1' | wc -l)"
    equal "$(grep -c '^!\[' shown/gallery.md)" "$(ls shown/gallery | wc -l)"
    cat all/*.jsonl >once; expect 0 workprec --all $few --out all --gallery shown/gallery
    cat all/*.jsonl | cmp -s - once || wrong 'runs of --all were repeated'
    : >file; expect 2 workprec --all $few --out file/x; says 'Not a directory' err
fi

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
