#!/bin/sh
# usage: check_abi.sh [--update] SOURCE_DIR BUILD_DIR [COMPILER]
# The exported symbols and the sizes of the public structs must be those of symbols.txt. Symbols begin with dae_ or
# mbs_ and are declared in a public header; a function that is declared and not exported is listed as absent.
update=0
[ "$1" = --update ] && { update=1; shift; }
source=$1 build=$2 compiler=${3:-cc}
list=$source/tests/abi/symbols.txt
work=$build/tests/abi
mkdir -p "$work" || exit 2

library=$build/src/libdaedalus.so
[ -f "$library" ] || { echo "$library is missing"; exit 2; }
nm -D --defined-only "$library" | awk '{print "symbol", $NF}' | LC_ALL=C sort >"$work/exported"
if grep -v -E '^symbol (dae|mbs)_' "$work/exported"; then
    echo "these exported symbols begin with neither dae_ nor mbs_"
    exit 1
fi

# Names declared: the word before the first parenthesis that follows DAE_API.
cat "$source"/include/daedalus/*.h "$source"/include/daedalus/*.h.in | tr '\n' ' ' | grep -o 'DAE_API [^(;]*[(;]' |
    sed -n 's/^DAE_API .*[ *]\([a-z][a-z0-9_]*\) *(.*/symbol \1/p' | LC_ALL=C sort >"$work/declared"
if LC_ALL=C comm -13 "$work/declared" "$work/exported" | grep .; then
    echo "these symbols are exported but no public header declares them"
    exit 1
fi
LC_ALL=C comm -23 "$work/declared" "$work/exported" | sed 's/^symbol/absent/' >"$work/absent"

# A program that prints the size of every public struct.
{
    echo '#include <daedalus/daedalus.h>'
    echo '#include <stdio.h>'
    echo 'int main(void)'
    echo '{'
    sed -n 's/^typedef struct \([a-z0-9_]*\) {.*/\1/p' "$source"/include/daedalus/*.h | LC_ALL=C sort |
        sed 's/.*/    printf("struct & %zu\\n", sizeof(&));/'
    echo '    return (int)sizeof(void *);'
    echo '}'
} >"$work/sizes.c"
"$compiler" -std=c17 -I"$source/include" -I"$build/include" "$work/sizes.c" -o "$work/sizes" || exit 1
"$work/sizes" >"$work/structs"
pointer=$?


cat "$work/exported" "$work/absent" "$work/structs" >"$work/now"
if [ $update -eq 1 ]; then
    cp "$work/now" "$list"
    echo "wrote $list: $(wc -l <"$list") lines"
    exit 0
fi
cp "$list" "$work/then"
if [ $pointer -ne 8 ]; then # the sizes kept are those of 64-bit machines
    sed -i '/^struct /d' "$work/then" "$work/now"
fi
if ! diff -u "$work/then" "$work/now"; then
    echo "The binary interface changed. If that is meant: make abi-update, and after a release raise DAEDALUS_SOVERSION."
    exit 1
fi
echo "$(wc -l <"$work/now") symbols and struct sizes as in symbols.txt"
