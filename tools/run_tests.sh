#!/bin/sh
# usage: run_tests.sh BUILD JOBS
# Runs every test but the long studies, and tells at the end how many minutes each suite (folder of tests/) took: sums of the
# times of its tests, of which JOBS run at a time.
build=$1 jobs=$2 log=$1/tests.log
{
    ctest --test-dir "$build" --output-on-failure -LE '^slow$' -j "$jobs"
    echo $? >"$log.status"
} | tee "$log"
awk '
/Test +#[0-9]+: / {
    name = $0; sub(/.*Test +#[0-9]+: */, "", name); sub(/\/.*/, "", name)
    seconds = $(NF - 1); if ($NF != "sec") next
    count[name]++; sum[name] += seconds; all += seconds
}
END {
    print "\nMinutes of each suite"
    for (name in count) printf "  %-12s %6.2f  %d tests\n", name, sum[name] / 60, count[name] | "sort -k2 -rn"
    close("sort -k2 -rn")
    printf "  %-12s %6.2f\n", "all", all / 60
}' "$log"
exit "$(cat "$log.status")"
