#!/bin/sh
# usage: check_install.sh SOURCE_DIR BUILD_DIR COMPILER
# Installs into a folder of its own, builds examples/robertson.c against that with pkg-config (shared, static) and
# with find_package (shared, static), and compares the numbers that each program prints.
source=$1 build=$2 compiler=$3
work=$build/tests/install
prefix=$work/prefix
rm -rf "$work" && mkdir -p "$work" || exit 2
unset DESTDIR
fail() { echo "FAILED: $*"; exit 1; }

cmake --install "$build" --prefix "$prefix" >"$work/install.log" 2>&1 || { cat "$work/install.log"; fail "install"; }
# Moved, to see that nothing in it remembers where it was.
mv "$prefix" "$work/moved" && prefix=$work/moved
libdir=$(dirname "$(find "$prefix" -name libdaedalus.a)")
export PKG_CONFIG_PATH="$libdir/pkgconfig"
grep -r -l -F "$source" "$prefix" --include='*.pc' --include='*.cmake' --include='*.h' && fail "an installed file names the source folder"

check() { # program: 7.15827e-01 9.18553e-06 within 1e-5 relative, independent of the method
    LD_LIBRARY_PATH=$libdir "$1" >"$work/out" 2>&1 || { cat "$work/out"; fail "$1"; }
    awk '$1 == "robertson" { a = ($2 - 7.15827e-01) / 7.15827e-01; b = ($3 - 9.18553e-06) / 9.18553e-06
         ok = a*a < 1e-10 && b*b < 1e-10 } END { exit !ok }' "$work/out" || { cat "$work/out"; fail "$1: numbers"; }
    echo "$(basename "$(dirname "$1")")/$(basename "$1"): $(cat "$work/out")"
}

flags="-std=c17 -Wall -Wextra -Wpedantic -Werror"
mkdir "$work/pkgconfig" || exit 2
# shellcheck disable=SC2046,SC2086
"$compiler" $flags $(pkg-config --cflags daedalus) "$source/examples/robertson.c" -o "$work/pkgconfig/shared" \
    $(pkg-config --libs daedalus) || fail "pkg-config --libs"
check "$work/pkgconfig/shared"
# -ldaedalus prefers the shared library where both are; the static one is named by its file.
# shellcheck disable=SC2046,SC2086
"$compiler" $flags $(pkg-config --cflags daedalus) "$source/examples/robertson.c" -o "$work/pkgconfig/static" \
    $(pkg-config --static --libs daedalus | sed 's/-ldaedalus/-l:libdaedalus.a/') || fail "pkg-config --static --libs"
check "$work/pkgconfig/static"

mkdir "$work/cmake" || exit 2
cp "$source/examples/robertson.c" "$work/cmake/"
cat >"$work/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(Daedalus 0.1 REQUIRED)
add_executable(shared robertson.c)
target_link_libraries(shared PRIVATE Daedalus::daedalus)
add_executable(static robertson.c)
target_link_libraries(static PRIVATE Daedalus::daedalus_static)
END
cmake -S "$work/cmake" -B "$work/cmake/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" \
    >"$work/cmake.log" 2>&1 && cmake --build "$work/cmake/build" >>"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; fail "find_package"; }
check "$work/cmake/build/shared"
check "$work/cmake/build/static"

ldd "$work/pkgconfig/static" | grep -q libdaedalus && fail "the static program needs the shared library"
if [ -x "$prefix/bin/daedalus" ]; then
    "$prefix/bin/daedalus" list problems >/dev/null || fail "the installed program"
    # the tutorial of docs/fitting.md, where the examples are installed
    cd "$prefix/share/doc/daedalus" && "$prefix/bin/daedalus" fit examples/fitting/enzyme.deq --data examples/fitting/enzyme.csv --free Vm,Km \
        --quiet >"$work/fit" 2>&1 && grep -q 'Vm  *0.00081274' "$work/fit" || { cat "$work/fit"; fail "the tutorial of fitting"; }
fi
exit 0
