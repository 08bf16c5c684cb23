#!/bin/sh
# usage: check_snippets.sh SOURCE_DIR BUILD_DIR COMPILER CMOCKA_INCLUDE_DIR
# The fenced C blocks of CONTRIBUTING.md compile; the blocks of README.md are examples/robertson.c and models/pendulum.json.
source=$1 build=$2 compiler=$3 cmocka=$4
work=$build/tests/snippets
rm -rf "$work" && mkdir -p "$work" || exit 2

extract() { # file, prefix, language: block k goes to <prefix>k.<language>
    awk -v prefix="$2" -v language="$3" '$0 == "```" language { k++; inside = 1; next } /^```/ { inside = 0 }
        inside { print > (prefix k "." language) }' "$1"
}
extract "$source/CONTRIBUTING.md" "$work/contributing" c
extract "$source/README.md" "$work/readme" c
extract "$source/README.md" "$work/readme" json

bad=0
count=0
for file in "$work"/contributing*.c; do
    [ -f "$file" ] || { echo "CONTRIBUTING.md has no C block"; exit 1; }
    "$compiler" -std=c17 -D_POSIX_C_SOURCE=200809L -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
        -Wmissing-prototypes -Werror -I"$source/include" -I"$build/include" -I"$source/src" -I"$source/tests" \
        -I"$cmocka" "$file" || bad=1
    count=$((count + 1))
done
diff -u "$source/examples/robertson.c" "$work/readme1.c" || { echo "README.md differs from examples/robertson.c"; bad=1; }
diff -u "$source/models/pendulum.json" "$work/readme1.json" || { echo "README.md differs from models/pendulum.json"; bad=1; }
[ $bad -eq 0 ] && echo "$count blocks of CONTRIBUTING.md compile; README.md shows examples/robertson.c and models/pendulum.json"
exit $bad
