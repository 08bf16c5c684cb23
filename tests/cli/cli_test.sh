#!/bin/sh
# The command line program as scripts see it: exit status, messages, JSON, files.
# usage: cli_test.sh PROGRAM MANUAL      (works in a temporary folder of its own)
manual=$2
. "$(dirname "$0")/common.sh"

# ---- usage
expect 0 --version; says '^daedalus [0-9]' out
expect 0 --help; says 'First steps' out
expect 2; says 'Commands' err; silent out
expect 2 rnu; says 'did you mean run?' err
expect 2 andrews; says 'daedalus run andrews' err
expect 2 run; says 'is missing; usage' err
expect 2 run hirse; says 'did you mean hires?' err; silent out
expect 2 run elephant; says 'list problems' err
echo '<robot/>' > elephant.xacro
expect 2 run elephant.xacro; says 'opened by its path, ./elephant.xacro' err
expect 2 run hires --rtl 1e-4; says 'did you mean --rtol?' err
expect 2 run hires --rtol; says '--rtol needs a value' err
expect 2 run hires --end stap; says '--end stap: expected pass or stop' err
expect 0 run hires --solver dassl --end stop --json; says '"t":321.8122' out
expect 2 run hires --rtol --json; says '--rtol needs a value' err
expect 2 run hires --rtol abc; says '"abc" is not a number' err
expect 2 run hires --rtol=-1; says 'range' err
expect 2 run hires --json=yes; says 'takes no value' err
expect 2 run hires extra; says 'unexpected argument "extra"' err
expect 2 run hires --solver radua5; says 'did you mean radau5' err
expect 0 run hires --method rodas4p2; says rodas4p2 out
expect 2 run hires --formulation nonsense; says 'no formulation' err
expect 2 run hires --set mu=3; says 'mu' err
expect 2 run hires --set mu; says 'expected name=value' err
expect 2 run hires --opt nonsense=1 --solver radau5; says 'nonsense' err
expect 2 run hires --at 1,,2; says '--at' err
expect 2 run hires --at 1e9; says 'outside the interval' err
expect 2 run hires --tend 0; says 'empty' err
expect 2 run hires --points 1; says 'whole number' err
expect 2 run hires --log loud; says 'expected none' err
expect 2 run hires --progress maybe; says 'expected auto' err
expect 2 run hires --out no/such/folder/x.csv; says 'No such file' err
expect 2 run hires --plot picture.gif; says '.svg, .png or .pdf' err
expect 2 run hires --index 2; says 'index 0 only' err
expect 2 run ringmod --index 2; says 'index 0 only, with these parameters' err
expect 0 run ringmod --set Cs=0 --index 2 --tend 1e-5 --quiet
expect 2 list nothing; says 'expected problems' err
expect 2 info hirs; says 'did you mean hires?' err
expect 2 help nonsense; says 'no command' err
expect 2 completion tcsh; says 'expected bash' err
expect 2 run hires --rtol abc --json; lines 1 out; equal "$(key status)" '"input"'; says 'not a number' out

# ---- list and info
expect 0 list problems; says '^hires  *ODE  *8 ' out; says '^andrews  *DAE  *27  *3 ' out
expect 0 list solvers; says '^radau5 ' out
expect 0 list formulations
expect 0 list --json; lines 1 out; says '"problems":\[{"name":' out; says '"formulations":\[' out
expect 0 list problems --index 3; says '^andrews' out
checks=$((checks + 1)); ! grep -q '^hires' out || wrong 'list --index 3 shows hires'
expect 0 info hires; says 'interval  *t = 0 .. 321.812' out; says 'Components' out
expect 0 info radau5; says 'order  *5' out
expect 0 info vdpol-mu --json; says '"name":"mu","value":1000.0,"min":[-0-9.e+]*,"max":[-0-9.e+]*,"choices":null' out
says '"t_end":2000.0,' out; says '"html":"<h1' out
expect 0 info radau5 --json; says '"kinds":\["ODE","DAE"\],"max_index":3' out
expect 0 info ggl --json; says '"what":"formulation","name":"ggl"' out
for problem in $(daedalus list problems | awk 'NR > 1 {print $1}'); do expect 0 info "$problem"; done
for solver in $(daedalus list solvers | awk 'NR > 1 {print $1}'); do expect 0 info "$solver"; done

# ---- run: report
expect 0 run andrews
for text in 'Solving Problem andrews using' 'mixed      abs      rel' 'using mixed error yields mescd' \
    'number of integration steps' 'CPU-time used:' 'chosen  '; do says "$text" out; done
silent err
expect 0 run hires --quiet; silent out; silent err
expect 0 run hires --repeat 3; says '3 runs' out

# ---- run: JSON
expect 0 run hires --json --at 1,100 --rtol 1e-6 --atol 1e-8 --solver radau5
lines 1 out; silent err
for name in problem solver formulation rtol atol h0 status message t y scd mescd steps accepted rejected f jac lu \
    solves cpu_seconds events at newton undefined reason t0; do says "\"$name\":" out; done
equal "$(key status)" '"ok"'; equal "$(key solver)" '"radau5"'; equal "$(key formulation)" null
says '"at":\[{"t":1.0,"y":\[0\.[0-9,.e-]*\]},{"t":100.0,' out
expect 0 run hires --json --tend 10; equal "$(key scd)" null; equal "$(key mescd)" null; equal "$(key t)" 10.0
expect 0 run hires --json --h0 0; equal "$(key h0)" null

# ---- Exit status: what the manual says, each by one run (3: model_test, 130 and 143: signals_test)
printf "var y = 1\ny' = y^2\nsolve t = 0 .. 2\n" >blow.deq
expect 0 run hires --quiet
expect 1 run blow.deq --json; equal "$(key code)" '"DAE_ERR_STEP_TOO_SMALL"'
expect 2 run nothing-of-this-name
expect 4 run hires --max-steps 3 --quiet --json; equal "$(key code)" '"DAE_ERR_MAX_STEPS"'
expect 4 run vdpol-mu --solver dopri5 --max-steps 20000 --quiet; says 'the problem is stiff and the method explicit' err; says '^  try     --solver auto$' err
expect 4 run ringmod --solver dopri5 --max-seconds 0.05 --quiet --json; equal "$(key code)" '"DAE_ERR_MAX_SECONDS"'

# ---- run: limits, what is kept
expect 4 run hires --max-steps 10 --out part.csv --json; equal "$(key status)" '"limit"'; equal "$(key code)" '"DAE_ERR_MAX_STEPS"'
says '^error DAE_ERR_MAX_STEPS  hires: integration stopped at t = ' err
for word in what where why try kept; do says "^  $word  " err; done
says 'part.csv' err
checks=$((checks + 1)); [ "$(wc -l <part.csv)" -gt 10 ] || wrong 'part.csv is too short'

# ---- run: tolerances by components, another start
end_values() { sed -n 's/.*"y":\[\([^]]*\)\].*/\1/p' out; }
expect 0 run rober --solver radau5 --rtol 1e-6 --atol 1e-10 --json; one=$(end_values); equal "$(echo "$one" | tr ',' '\n' | wc -l)" 3
expect 0 run rober --solver radau5 --rtol 1e-6 --atol 1e-10,1e-10,1e-10 --json; equal "$(end_values)" "$one"
expect 0 run rober --solver radau5 --rtol 1e-6 --atol 1e-3 --atol A=1e-10 --atol y2=1e-10 --atol C=1e-10 --json; equal "$(end_values)" "$one"
expect 0 run rober --solver radau5 --rtol 1e-6,1e-6,1e-6 --atol 1e-10 --json; equal "$(end_values)" "$one"
expect 0 run rober --solver radau5 --rtol 1e-6 --atol 1e-10 --atol B=1e-16 --json
checks=$((checks + 1)); [ "$(end_values)" != "$one" ] || wrong "--atol B=1e-16 changes nothing"
expect 2 run rober --atol 1e-8,1e-9; says '2 numbers, but the problem has 3 components' err
expect 2 run rober --atol q=1e-3; says 'no component "q"' err
expect 2 run rober --rtol B=x; says '"x" is not a number' err
expect 2 run rober --rtol B=-1; says 'rtol' err
expect 4 run rober --solver radau5 --atol B=1e-14 --max-steps 30 --checkpoint part.ckpt --quiet
expect 0 run rober --resume part.ckpt --max-steps 0 --json; two=$(end_values)
expect 0 run rober --solver radau5 --atol B=1e-14 --json; equal "$(end_values)" "$two"
expect 0 run vdpol --solver radau5 --t0 100 --tend 2100 --json; says '"y":\[1.70616807' out; says '"t0":100' out; says '"scd":null' out
expect 0 run chemakzo --solver radau5 --json; one=$(end_values)
expect 0 run chemakzo --solver radau5 --init ZHU=0.007 --json; equal "$(end_values)" "$one"; says '"scd":[0-9]' out # its own start
expect 0 run chemakzo --solver radau5 --init ZHU=0.008 --json; says '"scd":null' out
expect 0 run vdpol --set mu=1 --init y1=0.5 --init y2=-0.25 --at 0 --tend 1 --json; says '0.5,-0.25' out
expect 2 run hires --init zz=1; says 'has no component "zz"' err
expect 2 run hires --init Pr=1x; says 'is not a number' err
expect 2 run vdpol --t0 2000; says '--t0 2000: the interval would be empty' err

# ---- the same in every other command that takes a problem
expect 0 info rober --init A=0.5 --t0 1 --atol B=1e-12 --json
says '"t0":1.0,' out; says '"name":"A","unit":"[^"]*","index":1,"start":0.5,' out; says '"atol":\(9.9999999\|1.0000000\)[0-9]*e-1[23]' out
expect 0 info pump --json; says '"discontinuities":\[4.9999999999999998e-8,5.9999999999999995e-8,' out; says '"mass":{"storage":"banded","lower":0,"upper":2}' out
says '"reference":1.262800429876759[0-9]*e-13' out
expect 0 check vdpol --init y1=1 --t0 1 --rtol 1e-9
expect 0 compare rober --solvers radau5 --init A=0.5 --init C=0.5 --tend 1 --rtol 1e-6 --atol B=1e-12 --reference none --quiet
expect 0 compare rober --solvers radau5 --init A=0.5 --init C=0.5 --tend 1 --rtol 1e-6 --reference none --quiet --json; says '"steps"' out
expect 0 table rober --solvers radau5 --init A=0.5 --init C=0.5 --atol B=1e-16 --format csv --quiet
three=$(sed -n 's/^rober,radau5,\([^,]*,\)\{0,6\}//p' out | head -1)
expect 0 table rober --solvers radau5 --init A=0.5 --init C=0.5 --format csv --quiet
checks=$((checks + 1)); [ "$(sed -n 's/^rober,radau5,\([^,]*,\)\{0,6\}//p' out | head -1)" != "$three" ] || wrong "table: --atol B=1e-16 changes nothing"
expect 2 table rober --atol 1e-3; says 'give NAME=VALUE or a list' err
expect 2 workprec rober --rtol 1e-3; says 'give NAME=VALUE or a list' err
expect 0 workprec vdpol --set mu=1 --init y1=0.5 --init y2=0 --t0 1900 --atol y2=1e-9 --solvers dopri5 --range 4:5:1 --repeat 1 --full
says '^dopri5 .*ok' out; rm -r cache/daedalus
expect 0 sweep vdpol --vary mu=1,2 --init y1=0.5 --init y2=0 --t0 1999 --rtol 1e-8 --atol y2=1e-12 --solver dopri5 --out sweepinit.csv --quiet
expect 0 run vdpol --set mu=2 --init y1=0.5 --init y2=0 --t0 1999 --rtol 1e-8 --atol y2=1e-12 --solver dopri5 --json
says "$(end_values | cut -d, -f1)" sweepinit.csv
expect 0 scale medakzo --set N=5,10 --solvers radau5 --repeat 1 --rtol 1e-4 --atol y1=1e-9 --init y1=0

# ---- run: checkpoint and resume give the same numbers
expect 0 run rober --json --solver radau5; whole=$(sed 's/"reason".*"rtol"/"rtol"/; s/"cpu_seconds":[^,]*,//' out)
expect 4 run rober --solver radau5 --max-steps 30 --checkpoint r.ckpt --quiet
expect 0 run rober --resume r.ckpt --json
equal "$(sed 's/"reason".*"rtol"/"rtol"/; s/"cpu_seconds":[^,]*,//' out)" "$whole"
expect 2 run rober --resume r.ckpt --rtol 1e-3; says 'was made with --rtol' err
expect 2 run rober --resume r.ckpt --hmax 1; says 'without --hmax' err
expect 2 run hires --resume r.ckpt; says 'belongs to the problem rober' err
head -c 300 r.ckpt >short.ckpt; expect 2 run rober --resume short.ckpt
expect 2 run rober --checkpoint no/such/c.ckpt; says 'No such file' err; silent out
expect 2 run rober --solver cvode --checkpoint c.ckpt; says 'c' err; silent out
expect 2 run rober --checkpoint /dev/full --json; lines 1 out; equal "$(key status)" '"ok"'; says 'could not be written' err
expect 2 run rober --out /dev/full --json; lines 1 out; equal "$(key status)" '"ok"'; says 'could not be written' err
echo nonsense >bad.ckpt; expect 2 run rober --resume bad.ckpt; says 'not a checkpoint' err
expect 2 run rober --resume none.ckpt

# ---- run: interruption
checks=$((checks + 1))
daedalus run rober --hmax 1 --max-steps 0 --json >out 2>err </dev/null &
child=$!
sleep 1
kill -TERM $child
wait $child
equal $? 143; equal "$(key status)" '"cancelled"'; says 'interrupted DAE_CANCELLED' err

# ---- run: CSV
expect 0 run andrews --out a.csv --points 31 --quiet
lines 33 a.csv
equal "$(sed -n 1p a.csv | cut -d, -f1-3)" 't,q1,q2'
equal "$(sed -n 2p a.csv | cut -d, -f1-3)" '# s,rad,rad'
expect 0 run andrews --json; equal "$(sed -n 33p a.csv | cut -d, -f1)" "$(key t)"
expect 0 run hires --out - --points 3 --solver radau5; lines 5 out
# the other ways to choose points and columns
expect 0 run seven-body --solver mexx --out s.csv --points 5 --components beta,vPhi --quiet; lines 7 s.csv
says '^t,beta,vPhi$' s.csv
expect 0 run seven-body --solver mexx --out s.csv --per-step 2 --quiet; lines 55 s.csv # 26 steps
expect 0 run seven-body --solver mexx --out s.csv --max-gap 1e-4 --quiet
checks=$((checks + 1))
awk -F, 'NR > 3 && $1 - last > 1.0000001e-4 { bad = 1 } { last = $1 } END { exit bad || NR < 303 }' s.csv || wrong "gaps in s.csv"
expect 2 run seven-body --out s.csv --components beta,foo --quiet; says 'foo: 1 of these is no column' err
expect 2 run seven-body --out s.csv --points 3 --max-gap 1; says 'exclude each other' err
expect 2 run seven-body --components beta; says 'columns of --out' err
# events: those of the problem, others, none
expect 0 run seven-body --solver mexx --json --quiet; says '"events":\[{"t":0.01124' out
expect 0 run seven-body --event none --json --quiet; says '"events":\[\]' out
expect 0 run seven-body --event beta=3:stop --json --quiet; says '"status":"event"' out
expect 2 run seven-body --event foo; says 'no such component' err
# what was decided, and where the time went
expect 0 run seven-body --solver dopri5 --formulation baumgarte; says 'alpha = beta = ' out
expect 0 run seven-body --solver mexx --log time --quiet; says 'time total=' err
expect 0 run andrews --solver dop853 --json --quiet; says '"formulation":"index1"' out; says '"constraint":{"position":' out

# ---- run: plots
if command -v gnuplot >/dev/null; then
    for end in svg png pdf; do
        expect 0 run andrews --plot "a b.$end" --quiet
        silent err
        checks=$((checks + 1)); [ "$(wc -c <"a b.$end")" -gt 5000 ] || wrong "a b.$end is too small"
    done
    says '</svg>' 'a b.svg'
    for problem in hires rober e5; do expect 0 run $problem --plot p.svg --quiet; silent err; says '</svg>' p.svg; done
    expect 2 run hires --plot no/such/folder/x.svg; says 'No such file' err
fi
GNUPLOT=$folder/none expect 2 run hires --plot x.svg; says 'was not found' err
GNUPLOT=false expect 2 run hires --plot x.svg; says 'failed' err
checks=$((checks + 1)); [ ! -e x.svg ] || wrong 'x.svg was left behind'

# ---- eval (values in 60 digit arithmetic, rounded)
echo '{"t":81672.8,"y":[0.796716,3.36172e-05,0.265942]}' >state.json
expect 0 eval rober --state state.json
says '"f":\[0.0575336140240[0-9]*,-0.09143709809[0-9]*,0.03390348407[0-9]*\]' out
checks=$((checks + 1)); daedalus eval rober --state - <state.json >out2 2>err; cmp -s out out2 || wrong 'standard input gives another answer'
expect 0 eval rober --state state.json --jac; says '"jac":\[\[-0.04' out
expect 2 eval rober; says 'state is missing' err
expect 2 eval rober --state none.json; says 'No such file' err
echo '{"y":[1,2]}' >bad.json; expect 2 eval rober --state bad.json; says '"y" has 2 numbers, expected 3' err
printf '{"t":0,\n"y":[1,}' >bad.json; expect 2 eval rober --state bad.json --json; says 'line 2' err; equal "$(key status)" '"input"'
expect 2 eval rober --state .

# ---- table
expect 0 table hires --solvers radau5,radau
says '^| radau  *|  *1e-07 .* 7.11 (7.11) .* 51 (51) 1.00 ' out; silent err
expect 0 table hires --solvers radau --format csv; lines 4 out; says '^problem,solver,published_solver' out
expect 0 table hires --solvers radau --format latex; says '^radau & 1e-07 & .* (7.11) &' out
expect 0 table rober --solvers radau --json; lines 1 out; says '"rows":\[{"problem":"rober"' out
expect 0 table chemakzo --rows range --solvers radau5 --jobs 2 --format csv; lines 22 out
echo 'These are the reasons.' >notes.md; expect 0 table hires --solvers mebdfdae --notes notes.md; says '^These are the reasons' out
expect 1 table ringmod --solvers radau5 --max-seconds 0.001; says 'failed' out
expect 2 table; says 'PROBLEM or --all' err
expect 2 table hires --all; says 'PROBLEM or --all' err
expect 2 table hirse; says 'did you mean hires' err
expect 2 table hires --solvers radua; says 'there is no solver "radua"; did you mean' err
expect 2 table hires --format html; says 'expected md' err
expect 2 table hires --rows some; says 'expected published' err
expect 2 table hires --notes none.md; says 'No such file' err
expect 2 table cable-drum; says 'has no rows' err

# ---- matrix: a rerun skips what is finished, also after a line that was cut off; failures are told
expect 0 matrix --eligible; says '^hires  *dopri5  *- (explicit method, stiff problem)' out; says '^plei  *dopri5  *25' out
says '^andrews  *vode  *- (' out; says '^nand  *mebdfi  *65' out
expect 0 matrix --problems rober --solvers radau,radau5 --every 8 --file new/m.jsonl; lines 10 new/m.jsonl; says '^10 of 10 runs, 0 failed' out
expect 0 matrix --problems rober --solvers radau,radau5 --every 8 --file new/m.jsonl; lines 10 new/m.jsonl; says '10 of them are in' err
expect 0 matrix --problems rober,hires --solvers radau,wnys2 --every 8 --file new/o.jsonl --csv new/o.csv --condensed new/o.md
grep -v '^#' new/o.csv >new/o.plain # lines of what it was computed with
lines $(($(wc -l <new/o.jsonl) + 1)) new/o.plain; says '^# processor: ' new/o.csv; says '"provenance":{' new/o.jsonl; says '^rober,radau,.*,ok,' new/o.csv
says '^| rober | 5 | 5 |$' new/o.md; says '0 failed' new/o.md
expect 2 matrix --problems rober --solvers radau --every 16 --file new/m.jsonl --csv no/such/x.csv; says 'No such file' err
head -n 7 new/m.jsonl >cut.jsonl; tail -n 1 new/m.jsonl | head -c 50 >>cut.jsonl
expect 0 matrix --problems rober --solvers radau,radau5 --every 8 --file cut.jsonl --quiet; lines 11 cut.jsonl; silent err
expect 1 matrix --problems ringmod --solvers radau5 --every 30 --max-seconds 0.001 --file f.jsonl; lines 2 f.jsonl
says '^  ringmod, radau5, rtol 0.0001 (m = 0, failed in the report too): .*CPU' out
says '^    daedalus run ringmod --solver radau5 --rtol 0.0001 --atol 0.0001 --h0 ' out
expect 1 matrix --problems ringmod --solvers radau5 --every 30 --max-seconds 0.001 --file f.jsonl; lines 2 f.jsonl
expect 1 matrix --problems ringmod --solvers radau5 --every 30 --max-seconds 0.001 --file f.jsonl --retry; lines 4 f.jsonl
expect 2 matrix --solvers mexx --problems hires; says 'no run is left' err
expect 2 matrix --file no/such/folder/x.jsonl; says 'No such file' err
if [ -e /dev/full ]; then expect 2 matrix --problems rober --solvers radau --every 16 --file /dev/full; says 'could not be written' err; fi
checks=$((checks + 1))
daedalus matrix --problems ringmod --solvers radau5,wnys2 --file k.jsonl >out 2>err </dev/null &
child=$!
sleep 1
kill -TERM $child
wait $child
equal $? 143; says 'goes on where it stopped' err

# ---- reference: other parameters have a score once it is in the cache
expect 0 run vdpol-mu --set mu=50 --json; equal "$(key scd)" null
expect 0 reference vdpol-mu --set mu=50; says 'digits or more can be trusted' out; says 'rtol .* digits' err
checks=$((checks + 1)); [ "$(ls cache/daedalus | grep -c '^vdpol-mu-[0-9a-f]*\.json$')" -eq 1 ] || wrong 'not in the cache'
expect 0 reference vdpol-mu --set mu=50; says 'read from there' out; silent err
expect 0 run vdpol-mu --set mu=50 --solver radau --rtol 1e-7 --json
checks=$((checks + 1)); awk "BEGIN { exit !($(key mescd) > 6 && $(key mescd) < 10) }" || wrong "mescd $(key mescd)"
expect 0 run vdpol-mu --set mu=50 --reference none --json; equal "$(key scd)" null
expect 0 run vdpol-mu --set mu=51 --json; equal "$(key scd)" null
expect 0 reference hires --json --quiet --solvers radau,mebdfi --digits 8; lines 1 out; silent err; says '"methods":\["' out
for file in cache/daedalus/vdpol-mu*; do head -c 200 "$file" >x; mv x "$file"; done
expect 0 run vdpol-mu --set mu=50 --json; equal "$(key scd)" null; says 'is not used' err
expect 0 reference vdpol-mu --set mu=50; says 'rtol .* digits' err
expect 2 reference hires --solvers radau,radau; says 'must differ' err
expect 2 reference hires --solvers radau; says 'two are wanted' err
expect 2 run hires --reference old; says 'expected auto or none' err
expect 4 reference ringmod --max-seconds 0.001 --quiet; says 'CPU' err
: >file; XDG_CACHE_HOME=$folder/file expect 2 reference rober --quiet; says 'Not a directory\|File exists' err

# ---- completion
expect 0 completion bash; cp out completion.bash
if command -v bash >/dev/null; then
    checks=$((checks + 1))
    bash -eu -c 'source ./completion.bash
        COMP_WORDS=(daedalus run hi); COMP_CWORD=2; _daedalus; [ "${COMPREPLY[*]}" = hires ]
        COMP_WORDS=(daedalus run hires --solver radau5); COMP_CWORD=4; _daedalus; [ "${COMPREPLY[0]}" = radau5 ]
        COMP_WORDS=(daedalus ru); COMP_CWORD=1; _daedalus; [ "${COMPREPLY[*]}" = run ]
        COMP_WORDS=(daedalus run hires --max-st); COMP_CWORD=3; _daedalus; [ "${COMPREPLY[*]}" = --max-steps ]' >out 2>err \
        || wrong 'bash completion'
    silent err
fi
expect 0 completion zsh; says '^#compdef daedalus' out
expect 0 completion fish; says '^complete -c daedalus' out

# ---- the manual names every option; every example of the help pages runs
sed 's/\\-/-/g; s/^/ /' "$manual" >manual
ln -s "$(dirname "$manual")/../models" models
# a robot for the examples of import
cat >arm.urdf <<END
<robot name="arm"><link name="base"/><link name="fore"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="elbow" type="continuous"><parent link="base"/><child link="fore"/><axis xyz="0 1 0"/></joint></robot>
END
ln -s "$(dirname "$manual")/../examples" examples
expect 0 --help; sed -n '/^Commands/,/^$/p' out >commands
checks=$((checks + 1)); [ "$(wc -l <commands)" -gt 7 ] || wrong 'too few commands in --help'
for command in $(sed -n "s/^  \([a-z]*\)  *[a-z].*/\1/p" commands); do
    expect 0 help $command; cp out page
    says "^ \.SS $command\|^ .B daedalus $command" manual
    for option in $(sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' page); do
        says "[^a-z-]--$option\\([^a-z0-9-]\\|\$\\)" manual
    done
    sed -n 's/^  \$ //p' page >lines
    while read -r line; do
        checks=$((checks + 1))
        sh -c "$line" >out 2>err </dev/null
        got=$?
        [ $got -eq 0 ] || { [ $got -eq 4 ] && echo "$line" | grep -q max-steps; } || wrong "example: $line (exit status $got)"
    done <lines
done

# ---- a closed standard output is told
checks=$((checks + 1))
if [ -e /dev/full ]; then
    daedalus list >/dev/full 2>err && wrong 'a full device is not told'
    says 'could not be written' err
fi

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
