#!/bin/sh
# usage: cpu.sh OLD NEW    ratio of the user CPU times of two programs: per run the median of ten interleaved pairs
# Each run is measured by the program itself (cpu_seconds of --json, of many repetitions), so that its start does not count.
old=$1 new=$2
export OPENBLAS_NUM_THREADS=1
seconds() { "$@" --quiet --json 2>/dev/null | sed -n 's/.*"cpu_seconds":\([0-9.e+-]*\).*/\1/p'; }
while read -r run; do
    i=0
    while [ $i -lt 10 ]; do
        # shellcheck disable=SC2086
        echo "$(seconds "$old" run $run) $(seconds "$new" run $run)"
        i=$((i + 1))
    done | awk -v run="$run" '$1 > 0 && $2 > 0 { print $2 / $1 }' | sort -n |
        awk -v run="$run" '{ r[NR] = $1 } END { if (NR) printf "%-50s %.3f  (%.3f .. %.3f)\n", run, (r[int((NR + 1) / 2)] + r[int(NR / 2) + 1]) / 2, r[1], r[NR] }'
done <<END
hires --solver radau5 --repeat 20
ringmod --solver dassl --rtol 1e-6
beam --solver vode --repeat 10
andrews --solver phem56 --repeat 50
transamp --solver mebdfi --repeat 10
medakzo --solver radau --repeat 5
plei --solver dop853 --repeat 50
seven-body --solver mexx --repeat 50
fekete --solver pside --rtol 1e-4 --repeat 20
END
