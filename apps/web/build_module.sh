#!/bin/sh
# usage: build_module.sh SOURCE_DIR BUILD_DIR [JOBS]
# The library and the command line as one WebAssembly module: BUILD_DIR/web-build/wasm/daedalus.{js,wasm}.
set -eu
source=$(cd "$1" && pwd)
mkdir -p "$2/web-build/third"
build=$(cd "$2/web-build" && pwd)
sh "$source/apps/web/fetch_sources.sh" "$build/third"
[ -f "$build/wasm/build.ninja" ] || cmake -S "$source" -B "$build/wasm" -G Ninja -DDAEDALUS_WEB=ON \
    -DCMAKE_TOOLCHAIN_FILE="$source/cmake/wasm.cmake" -DTHIRD_PARTY="$build/third" -DBUILD_TESTING=OFF >"$build/configure.log"
cmake --build "$build/wasm" -j "${3:-2}" --target daedalus_web
