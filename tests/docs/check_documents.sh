#!/bin/sh
# usage: check_documents.sh DAEDALUS SOURCE_DIR
# docs/documents.md: its links lead somewhere, its commands, problems, solvers, formulations and models exist, and every problem of the
# test set and every solver page that the documents name has its line.
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
exit $bad
