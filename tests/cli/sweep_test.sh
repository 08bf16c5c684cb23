#!/bin/sh
# daedalus sweep as scripts see it, with managers and workers that are really killed. usage: sweep_test.sh PROGRAM
. "$(dirname "$0")/common.sh"

# ---- usage
expect 2 sweep; says 'PROBLEM|MODEL.json is missing' err
expect 2 sweep cable-drum; says '--out DIR is missing' err
expect 2 sweep cable-drum --out d; says 'nothing varies' err
mkdir folder.csv && expect 2 sweep cable-drum --vary mu=0:0.5:2 --out folder.csv --quiet; says 'Is a directory' err
test ! -e folder.sweep || wrong 'runs were made for a table that cannot be written'
expect 2 sweep cable-drum --vary nu=0:1:3 --out d; says 'no parameter "nu"; it has mu' err
expect 2 sweep emep --vary nu=0:1:3 --out d; says 'it has T, M, O2' err

# ---- more than 16 parameters at a time
many=$(for k in m1 m2 m3 m4 m5 m6 m7; do printf ' --vary %s=0.02' $k; done; for k in I1 I2 I3 I4 I5 I6 I7; do printf ' --vary %s=1e-6' $k; done
    for k in xc c0 l0 da ea; do printf ' --vary %s=0.01' $k; done)
# shellcheck disable=SC2086
expect 0 sweep andrews $many --tend 1e-4 --out many.csv --quiet
says '^run,m1,m2,m3,m4,m5,m6,m7,I1,I2,I3,I4,I5,I6,I7,xc,c0,l0,da,ea,status' many.csv
says '^0,0.02,.*,0.01,ok,' many.csv
expect 2 sweep cable-drum --vary mu=0:1 --out d; says 'from:to:count' err
expect 2 sweep cable-drum --sample 'mu~gauss(0,1):5' --out d; says 'normal(mean,sd)' err
expect 2 sweep cable-drum --sample 'mu~normal(0,1):5' --sample 'c~uniform(0,1):6' --out d; says 'the same' err
expect 2 sweep cable-drum --vary mu=0:1:3 --set mu=1 --out d; says 'fixed and varied' err
expect 2 sweep cable-drum --vary mu=0:1:3 --record y1,zz --out d; says 'has no component or sensor "zz"' err
expect 2 sweep cable-drum --vary mu=0:1:3 --solver mex --out d; says 'did you mean mexx' err
expect 2 sweep cable-drum --vary mu=0:1:3 --shard 4/3 --out d; says 'I/N' err
expect 2 sweep cable-drum --vary mu=0:1:3 --jobs -1 --out d; says 'whole number' err
expect 2 sweep cable-drum --vary mu=0:1:3 --progress yes --out d; says 'auto, json or none' err
expect 2 sweep cable-drum --vary mu=0:1:3 --plot gif --out d; says 'svg, png or pdf' err
expect 2 sweep cable-drum --list none.csv --out d; says 'No such file' err
printf 'mu,zz\n1,2\n' >bad.csv; expect 2 sweep cable-drum --list bad.csv --out d; says 'no parameter "zz"' err
printf 'mu,c\n1\n' >bad.csv; expect 2 sweep cable-drum --list bad.csv --out d; says 'line 2 has 1 values' err
[ ! -e d ] || wrong 'a wrong command made a folder'
: >file; expect 2 sweep cable-drum --vary mu=0:1:3 --out file; says 'Not a directory' err
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed; chmod 555 closed; expect 2 sweep cable-drum --vary mu=0:1:3 --out closed/d; says 'Permission denied' err
fi

# ---- a grid, a list, Sobol points; the same numbers with one worker and with three
expect 0 sweep cable-drum --vary mu=0:0.5:6 --vary m1=1:100:3:log --out grid --jobs 1; says '18 of 18 runs' out
lines 20 grid/runs.csv; says '^run,mu,m1,status,reason,t,y1,' grid/runs.csv; says '"runs":18' grid/summary.json
expect 0 sweep cable-drum --vary mu=0:0.5:6 --vary m1=1:100:3:log --out grid3 --jobs 3
same_runs grid grid3
printf 'c,mu\n1,0.1\n2,0.2\n' >list.csv; expect 0 sweep cable-drum --list list.csv --out list; lines 4 list/runs.csv; says '^1,2,0.2,ok,' list/runs.csv
expect 0 sweep cable-drum --sobol mu=0:0.5:16 --sobol c=0:2:16 --out sobol; lines 18 sobol/runs.csv
expect 0 sweep cable-drum --saltelli mu=0:0.5:8 --saltelli c=0:2:8 --out salt; lines 34 salt/runs.csv
says '^quantity,parameter,first,total,local$' salt/indices.csv
says 'part of the variance' out
expect 0 sweep cable-drum --saltelli mu=0:0.5:8 --saltelli c=0:2:8 --out saltj --json; says '"indices":{"[^"]*":{"mu":{"first":' out; says '"indices":' saltj/summary.json
expect 0 sweep cable-drum --sample 'mu~uniform(0,0.5):8' --out seed1 --seed 1
expect 0 sweep cable-drum --sample 'mu~uniform(0,0.5):8' --out seed2 --seed 2
! cmp -s seed1/runs.csv seed2/runs.csv || wrong 'the seed changes nothing'
for i in 1 2 3; do expect 0 sweep cable-drum --vary mu=0:0.5:6 --vary m1=1:100:3:log --out shards --jobs 2 --shard $i/3; done
same_runs grid shards
expect 0 sweep cable-drum --vary mu=0:1:3 --out j --json; says '"columns":{"mu":{"count":3,"mean":0.5' out; silent err

# no worker: this process computes, the same numbers; progress as JSON
expect 0 sweep cable-drum --vary mu=0:0.5:6 --vary m1=1:100:3:log --jobs 0 --out alone --progress json; same_runs grid alone; says '^{"done":18,"of":18,"failed":0,"at":"cable-drum"}$' err
expect 0 sweep cable-drum --vary mu=0:1:3 --jobs 0 --out j0 --json; cmp -s j/summary.json j0/summary.json || same_runs j j0

# ---- failed runs are recorded with their reason
expect 0 sweep cable-drum --vary mu=0.1,99 --out fail; says '1 failed' out; says '^1,99,input,"*.*mu' fail/runs.csv; says 'failed, for example' out
expect 0 sweep vdpol-mu --vary mu=1:1000:2 --max-steps 100 --out limit; says ',limit,"*.*steps' limit/runs.csv

# ---- resuming: the same sweep only
expect 2 sweep cable-drum --vary mu=0:0.5:6 --vary m1=1:100:3:log --out grid; says 'resume goes on' err
expect 2 sweep cable-drum --vary mu=0:0.6:6 --vary m1=1:100:3:log --out grid --resume; says '--vary differs' err
expect 2 sweep cable-drum --vary mu=0:0.5:6 --vary m1=1:100:3:log --out grid --resume --rtol 1e-7; says '--rtol differs' err
cp grid/log.0 before; expect 0 sweep cable-drum --vary mu=0:0.5:6 --vary m1=1:100:3:log --out grid --resume; cmp -s before grid/log.0 || wrong 'finished runs were repeated'
# a torn line and a damaged one are done again, and only those
head -c -30 before | sed '3s/,ok,/,oo,/' >grid/log.0
expect 0 sweep cable-drum --vary mu=0:0.5:6 --vary m1=1:100:3:log --out grid --resume --jobs 1; same_runs grid grid3
equal "$(wc -l <grid/log.0)" 19

# ---- the manager or a worker is killed, 20 times; nothing finished is lost, and only runs in flight are repeated
many="sweep orego --sample w~uniform(0.1,0.2):1000 --seed 3 --rtol 1e-9 --solver vode --jobs 2"
expect 0 $many --out whole
kills=0; workers=0
while [ $kills -lt 20 ]; do
    daedalus $many --out killed --resume >out 2>err </dev/null &
    manager=$!
    sleep 0.03; a_moment 0.06
    before=$(finished killed)
    victim=$manager
    if [ $((kills % 2)) -eq 1 ]; then # a worker
        victim=$(ps -o pid= --ppid $manager 2>/dev/null | awk 'NR == 1 {print $1}')
        [ -n "$victim" ] && workers=$((workers + 1))
    fi
    [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null
    [ "$victim" = "$manager" ] || { sleep 0.05; kill -KILL $manager 2>/dev/null; }
    wait $manager 2>/dev/null
    kills=$((kills + 1))
    # what was whole in the logs is there still
    checks=$((checks + 1)); [ "$(finished killed)" -ge "$before" ] || wrong 'finished runs were lost'
done
# a worker that is killed while the manager lives is replaced
daedalus $many --out replaced >out 2>err </dev/null &
manager=$!
for i in 1 2 3; do
    sleep 0.05; victim=$(ps -o pid= --ppid $manager 2>/dev/null | awk 'NR == 1 {print $1}')
    [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null && workers=$((workers + 1))
done
wait $manager; equal $? 0; same_runs whole replaced
expect 0 $many --out killed --resume; same_runs whole killed
repeated=$(($(cat killed/log.* | wc -l) - 1000))
checks=$((checks + 1)); [ $repeated -le 40 ] || wrong "$repeated runs were done twice (2 workers, 20 kills)"
echo "$workers workers killed, $repeated runs in flight repeated"

# ---- interruption keeps what was done
checks=$((checks + 1))
daedalus sweep rober --sample 'k1~uniform(0.02,0.06):100000' --out stopped >out 2>err </dev/null &
child=$!
sleep 0.5; kill -TERM $child; wait $child; equal $? 143; says 'interrupted; [0-9]* of 100000 runs are kept' err
[ "$(wc -l <stopped/runs.csv)" -gt 2 ] || wrong 'runs.csv is missing after an interruption'

# ---- a full disk (a small file size limit stands for it): told, and what was done is kept
(ulimit -f 16; trap '' XFSZ; daedalus $many --out full >out 2>err </dev/null; echo $? >status)
equal "$(cat status)" 2; says 'too large\|No space' err; says 'kept' err
expect 0 $many --out full --resume; same_runs whole full

if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then # a disk that is really full
    daedalus $many --out small/d >out 2>err </dev/null; status=$?
    cp -r small/d rest; umount small
    equal $status 2; says 'No space left' err; says 'kept' err
    [ "$(finished rest)" -gt 50 ] || wrong 'a full disk lost finished runs'
    expect 0 $many --out rest --resume; same_runs whole rest
fi
expect 2 sweep cable-drum --vary mu=0:1:3 --out /proc/none/d; says '/proc/none/d' err

# ---- HDF5: beside the CSV file, or a file of its own with the folder beside it
expect 0 run vdpol-mu --set mu=2 --tend 1 --out v.h5 --quiet
if ! grep -q 'without HDF5' err; then
    head -c 4 v.h5 | grep -q HDF || wrong 'v.h5 is no HDF5 file'
    [ -s grid/runs.h5 ] || wrong 'runs.h5 is missing'
    expect 0 sweep cable-drum --vary mu=0:0.5:6 --points 3 --out drum.h5; says 'wrote drum.h5' err; [ -s drum.h5 ] && [ -s drum.sweep/runs.csv ] || wrong 'drum.h5'
    expect 2 sweep cable-drum --vary mu=0:0.5:6 --points 3 --out drum.h5; says 'resume goes on' err
    ln -s /dev/full full.h5; expect 2 run vdpol-mu --set mu=2 --tend 1 --out full.h5 --quiet; says 'No space left' err
    mkdir dir.h5; expect 2 run vdpol-mu --out dir.h5; says 'Is a directory' err; expect 2 sweep cable-drum --vary mu=0:1:3 --out dir.h5; says 'Is a directory' err
    if command -v h5dump >/dev/null; then # as others read it
        h5dump -d /mu drum.h5 >out; says '0, 0.1, 0.2, 0.3, 0.4, 0.5' out
        h5dump -d /series/y1 -H drum.h5 >out; says '( 6, 3 )' out
        h5dump -a command v.h5 >out; says 'daedalus run vdpol-mu --set mu=2 --tend 1' out
        h5dump -a parameter.mu v.h5 >out; says '(0): 2' out
    fi
fi
expect 0 sweep cable-drum --vary mu=0:0.5:6 --out drum2.csv --quiet; cmp -s drum2.csv drum2.sweep/runs.csv || wrong 'drum2.csv'
expect 2 run vdpol-mu --out /dev/full --quiet; says 'No space left' err
expect 2 run vdpol-mu --out none/v.csv; says 'No such file' err

# ---- model files: their parameters, with units; another model is another sweep
cat >arm.json <<'MODEL'
{"daedalus": 1, "kind": "mechanism", "name": "arm", "dimension": 2, "parameters": {"L": "1[m]", "m": 2}, "gravity": [0, -9.81],
 "bodies": [{"name": "rod", "mass": "m", "inertia": "m*L^2/12", "r": ["L/2", 0]}],
 "points": [{"name": "O", "body": "ground", "r": [0, 0]}, {"name": "P", "body": "rod", "r": ["-L/2", 0]}],
 "joints": [{"name": "pin", "type": "revolute", "a": "O", "b": "P"}], "simulation": {"t0": 0, "t1": 0.5}}
MODEL
expect 0 sweep arm.json --vary L=0.5:1.5:3 --set m=3 --out arm; says '3 of 3 runs finished, 0 failed' out; says '^run,L,status,reason,t,rod.x' arm/runs.csv; says '^# ,m,' arm/runs.csv
if [ -e arm/runs.h5 ] && command -v h5dump >/dev/null; then h5dump -a /L/unit arm/runs.h5 >out; says '"m"' out; fi
expect 0 run arm.json --set L=1.5 --set m=3 --json --quiet; x=$(sed 's/.*"y":\[\([^,]*\),.*/\1/' out)
equal "$(awk -F, '$1 == 2 {printf "%.9g", $6}' arm/runs.csv)" "$(echo "$x" | awk '{printf "%.9g", $1}')"
expect 2 sweep arm.json --vary K=1:2:3 --out arm2; says 'no parameter "K"; it has L, m' err
expect 2 sweep none.json --vary K=1:2:3 --out arm2; says 'No such file' err
expect 0 sweep arm.json --vary m=-1,1 --out arm3; says '1 failed' out
sed -i 's/9.81/9.80/' arm.json; expect 2 sweep arm.json --vary L=0.5:1.5:3 --set m=3 --out arm --resume; says 'the model differs' err

# ---- plots
if command -v gnuplot >/dev/null; then
    expect 0 sweep cable-drum --vary mu=0:0.5:6 --vary m1=1:100:3:log --points 5 --out p --plot svg --quiet; silent out; silent err
    for name in scatter bands heat; do says '</svg>' p/$name.svg; done
    expect 0 sweep vdpol-mu --vary mu=1:3:3 --tend 5 --out p1 --plot png --quiet; [ -s p1/scatter.png ] && [ ! -e p1/heat.png ] || wrong 'pictures of one axis'
fi

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
