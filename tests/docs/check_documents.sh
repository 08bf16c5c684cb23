#!/bin/sh
# usage: check_documents.sh DAEDALUS SOURCE_DIR
# docs/documents.md: its links lead somewhere, its commands, problems, solvers, formulations and models exist, every problem of the
# test set and every solver page that the documents name has its line, and the commands run.
daedalus=$1 page=$2/docs/documents.md
bad=0
fail() { echo "FAILED: $*"; bad=1; }
cd "$2/docs" || exit 2
for link in $(grep -o '](\([^)]*\))' "$page" | tr -d '()' | sed 's/^]//'); do
    [ -e "$link" ] || fail "no file $link"
done
for command in $(grep -o 'daedalus [a-z][a-z]*' "$page" | cut -d' ' -f2 | sort -u); do
    "$daedalus" help "$command" >/dev/null 2>&1 || fail "no command $command"
done
for name in $(grep -oE 'daedalus (run|compare|table|workprec|reference|scale|info|eval) [a-z0-9-]+' "$page" | cut -d' ' -f3 | grep -vx models | sort -u) \
    $(grep -oE -e '--solver [a-z0-9-]+' "$page" | cut -d' ' -f2 | sort -u) \
    $(grep -oE -e '--formulation [a-z0-9]+' "$page" | cut -d' ' -f2 | sort -u); do
    "$daedalus" info "$name" >/dev/null 2>&1 || fail "nothing is called $name"
done
for model in $(grep -oE 'models/[a-z_]+\.(json|deq)' "$page" | sort -u); do
    [ -e "../$model" ] || fail "no $model"
done
count=0
for problem in $("$daedalus" list problems | awk 'NR > 1 { print $1 }'); do
    count=$((count + 1))
    grep -q "problems/$problem.md" "$page" || fail "the page does not name $problem"
done
[ $count -ge 28 ] || fail "only $count problems"

# What the commands of the page are run with, and those that are left out: tables and diagrams of all solvers (their commands are run
# with one), references, servers, plug-ins and builds (tests of their own).
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
ln -s "$2/models" "$dir/models"
cd "$dir" || exit 2
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME
"$daedalus" run vdpol-mu --quiet --out FILE.csv >/dev/null 2>&1
echo '{"t":0,"y":[2,0]}' >FILE
grep -o '`daedalus [^`]*`' "$page" | tr -d '`' | sort -u >commands
count=0
while read -r _ command rest; do
    case "$command $rest" in
    matrix* | serve* | build* | reference* | sample* | *plugin* | *FILE.so* | "eval andrews"* | "eval PROBLEM" | *--kind* | *q1,q2* | "scale insulator-chain") continue ;;
    esac
    line=$(echo "$command $rest" | sed 's/PROBLEM/vdpol-mu/; s/SOLVER/radau5/; s/MODEL/models\/pendulum/; s/--rtol R/--rtol 1e-4/; s/--atol [AR]/--atol 1e-4/; s/--h0 H/--h0 1e-6/; s/index K/index 1/')
    case "$command $line" in
    table* | workprec* | report*) line="$line --solvers radau5" ;;
    esac
    case "$command" in
    workprec) line="$line --range 4:5:1 --repeat 1" ;;
    report) line="$line --range 4:5:1 --repeat 1 --out pages" ;;
    scale) line="$line --repeat 1" ;;
    esac
    count=$((count + 1))
    # shellcheck disable=SC2086
    "$daedalus" $line >out 2>&1 </dev/null || fail "daedalus $line: $(tail -2 out)"
done <commands
[ $count -ge 35 ] || fail "only $count commands"
exit $bad
