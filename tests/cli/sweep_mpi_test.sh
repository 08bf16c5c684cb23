#!/bin/sh
# daedalus sweep under mpirun, with processes that are really killed. usage: sweep_mpi_test.sh PROGRAM
command -v mpirun >/dev/null && [ -x "$(dirname "$1")/daedalus-mpi" ] || { echo 'no MPI'; exit 77; }
. "$(dirname "$0")/common.sh"
# Containers run as root and have few cores; the leaks are those of the MPI library.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0
together() { mpirun --oversubscribe -n 3 daedalus "$@" >out 2>err </dev/null; }
together list >/dev/null || { echo 'mpirun does not work here'; head -5 err; exit 77; }

# ---- the same runs as without MPI
expect 0 sweep cable-drum --sample 'mu~normal(0.25,0.05):500' --points 3 --out local --quiet
together sweep cable-drum --sample 'mu~normal(0.25,0.05):500' --points 3 --out many; equal $? 0; says '500 of 500 runs' out
cut -d, -f1-18,20- local/runs.csv >a; cut -d, -f1-18,20- many/runs.csv >b
checks=$((checks + 1)); cmp -s a b || wrong 'the runs differ under mpirun'
lines 500 many/log.mpi

# ---- errors are told once, and nothing hangs
together sweep cable-drum --vary nu=0:1:3 --out wrong; equal $? 2; equal "$(grep -c 'no parameter "nu"' err)" 1
together sweep cable-drum --sample 'mu~normal(0.25,0.05):500' --points 3 --out many; equal $? 2; says 'resume goes on' err
together sweep cable-drum --vary mu=0:1:3 --out /proc/none/d; equal $? 2; says '/proc/none' err
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then # a full disk
    together sweep cable-drum --vary mu=0:0.5:2000 --out small/d; status=$?
    cp -r small/d full; umount small
    equal $status 2; says 'No space left' err; says 'kept' err
    [ "$(finished full)" -gt 20 ] || wrong 'a full disk lost finished runs'
    expect 0 sweep cable-drum --vary mu=0:0.5:2000 --out full --resume --quiet
    expect 0 sweep cable-drum --vary mu=0:0.5:2000 --out plain --quiet; same_runs plain full
fi

# ---- one process is killed at random, 20 times; nothing that was recorded is lost or done again
many="sweep orego --sample w~uniform(0.1,0.2):6000 --seed 3 --rtol 1e-9 --solver vode"
expect 0 $many --out whole --quiet
kills=0; managers=0; workers=0
while [ $kills -lt 20 ]; do
    before=$(finished killed)
    mpirun --oversubscribe -n 3 daedalus $many --out killed --resume >out 2>err </dev/null &
    mpi=$!
    i=0 # until it computes
    while [ $i -lt 200 ] && [ "$(finished killed)" -le "$before" ]; do sleep 0.02; i=$((i + 1)); done
    a_moment 0.03
    before=$(finished killed)
    which=$((kills % 3 + 1)); [ $which -eq 1 ] && managers=$((managers + 1)) || workers=$((workers + 1))
    victim=$(ps -o pid= --ppid $mpi 2>/dev/null | awk -v k=$which 'NR == k {print $1}')
    [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null
    wait $mpi 2>/dev/null
    kills=$((kills + 1))
    checks=$((checks + 1)); [ "$(finished killed)" -ge "$before" ] || wrong 'finished runs were lost'
done
left=$((6000 - $(finished killed)))
together $many --out killed --resume; equal $? 0; same_runs whole killed
lines 6000 killed/log.mpi
echo "$managers times the manager and $workers times a worker killed, $left runs left after that"

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
