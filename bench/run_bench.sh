#!/bin/sh
# usage: run_bench.sh FOLDER PROGRAM...
# Runs each benchmark on one BLAS thread; stops at the first that fails.
folder=$1
shift
[ $# -gt 0 ] || { echo "there are no benchmarks (bench/bench_*.c)"; exit 0; }
export OPENBLAS_NUM_THREADS=1
for program in "$@"; do
    echo "== $program"
    "$folder/$program" || { echo "$program failed"; exit 1; }
done
