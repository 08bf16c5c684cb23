#!/bin/sh
# usage: test_check_layers.sh WORK_DIR
# The layer check must find each of these faults, and no fault in the first tree.
check=$(dirname "$0")/check_layers.sh
work=$1

tree() { # file, include line
    rm -rf "$work" && mkdir -p "$work/include/daedalus" "$work/src/core" "$work/src/method/sundials" "$work/apps/cli" || exit 2
    echo '#include <stddef.h>' >"$work/include/daedalus/a.h"
    echo '#include "core/a.h"' >"$work/src/method/b.h"
    echo '#include "arguments.h"' >"$work/apps/cli/main.c"
    : >"$work/src/core/a.h"
    : >"$work/apps/cli/arguments.h"
    [ $# -eq 0 ] || echo "$2" >>"$work/$1"
}
expect() { # 0 or 1, what
    sh "$check" "$work" >"$work/log" 2>&1
    [ $? -eq "$1" ] || { echo "FAILED: $2 should give $1"; cat "$work/log"; exit 1; }
}

tree
expect 0 "a tree without faults"
tree src/core/a.h '#include "method/b.h"'
expect 1 "core above method"
tree src/core/a.h '#  include "method/b.h" /* indented */'
expect 1 "an indented include"
tree src/method/b.h '#include <klu.h>'
expect 1 "KLU outside linalg"
tree src/method/b.h '#include <cvode/cvode.h>'
expect 1 "SUNDIALS outside its folder"
tree src/method/sundials/c.h '#include <cvode/cvode.h>'
expect 0 "SUNDIALS in its folder"
tree src/method/b.h '#include <jansson.h>'
expect 1 "JSON below multibody"
tree include/daedalus/a.h '#include <stdio.h>'
expect 1 "stdio in a public header"
tree include/daedalus/a.h '#include <daedalus/b.h>'
expect 0 "a public header in another"
tree apps/cli/main.c '#include "core/a.h"'
expect 1 "a private header in a program"
tree apps/cli/main.c '#include <daedalus/a.h>'
expect 0 "a public header in a program"
tree src/method/b.h '#include "nowhere.h"'
expect 1 "a file that is not there"
echo "all faults are found"
