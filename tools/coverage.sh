#!/bin/sh
# usage: coverage.sh BUILD_DIR
# Lines covered by the tests, per file of the library, worst first; from gcov alone.
build=$1
root=$(cd "$(dirname "$0")/.." && pwd)
find "$build/src" -name '*.gcda' | sort >"$build/gcda"
[ -s "$build/gcda" ] || { echo "coverage: no data in $build; run the tests there first" >&2; exit 1; }
xargs gcov -n <"$build/gcda" 2>/dev/null | awk -v root="$root/src/" '
    /^File / { name = $0; sub(/^File ./, "", name); sub(/.$/, "", name) }
    /^Lines executed/ && index(name, root) == 1 {
        split($0, a, /[:%]| of /)
        file = substr(name, length(root) + 1)
        if (file ~ /\.c$/ && !(file in lines)) { percent[file] = a[2]; lines[file] = a[4] }
        name = ""
    }
    END { for (f in lines) printf "%6.2f %% of %5d  %s\n", percent[f], lines[f], f }' | sort -n |
    awk '{ print; all += $4; hit += $1 * $4 / 100 } END { if (all) printf "%6.2f %% of %5d  all\n", 100 * hit / all, all }'
