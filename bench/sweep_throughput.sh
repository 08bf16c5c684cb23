#!/bin/sh
# usage: sweep_throughput.sh PROGRAM [RUNS] [ROUNDS]
# Throughput of a sweep of the cable drum with random mu: one job, two jobs, and mpirun -n 3 (one manager, two that
# compute), in turns; the fastest of each counts. Two sweeps of one job each at the same time show what the machine itself
# gives (cores may be shared with others). The folders are made in the present one and removed.
program=$1 runs=${2:-10000} rounds=${3:-5}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
folder=$(mktemp -d ./sweep.XXXXXX) || exit 1
trap 'rm -rf "$folder"' EXIT
# seconds COMMAND...
seconds() {
    begin=$(date +%s.%N); "$@" || exit 1; end=$(date +%s.%N)
    rm -rf "$folder"/d; echo "$begin $end" | awk '{printf "%.4f\n", $2 - $1}'
}
both() { "$program" "$@" --jobs 1 & "$program" "$@" --jobs 1 --out "$folder/e"; wait; rm -rf "$folder/e"; }
i=0
while [ "$i" -lt "$rounds" ]; do
    i=$((i + 1))
    set -- sweep cable-drum --sample "mu~normal(0.25,0.05):$runs" --out "$folder/d" --quiet
    seconds "$program" "$@" --jobs 1 >>"$folder/one"
    seconds "$program" "$@" --jobs 2 >>"$folder/two"
    seconds both "$@" >>"$folder/both"
    if command -v mpirun >/dev/null && [ -x "$(dirname "$program")/daedalus-mpi" ]; then
        seconds mpirun --oversubscribe -n 3 "$program" "$@" >>"$folder/mpi"
    fi
done
best() { sort -n "$folder/$1" 2>/dev/null | head -n 1; }
awk -v n="$runs" -v one="$(best one)" -v two="$(best two)" -v both="$(best both)" -v mpi="$(best mpi)" 'BEGIN {
    printf "%d runs of cable-drum, mu random; fastest of each\n", n
    printf "  1 job        %8.3f s  %8.0f runs/s\n", one, n / one
    printf "  2 jobs       %8.3f s  %8.0f runs/s  %.2f times one job\n", two, n / two, one / two
    printf "  two sweeps of one job at the same time: %.2f times one\n", 2 * one / both
    if (mpi) printf "  mpirun -n 3  %8.3f s  %8.0f runs/s  (with the start of mpirun)\n", mpi, n / mpi
}'
