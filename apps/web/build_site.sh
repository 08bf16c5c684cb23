#!/bin/sh
# usage: build_site.sh SOURCE_DIR BUILD_DIR [JOBS]
# The static site in BUILD_DIR/web. What comes from npm is pinned by version and checksum in package-lock.json and
# stays in BUILD_DIR/web-build/npm.
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
sh "$source/apps/web/build_module.sh" "$source" "$build" "${3:-2}"
cmake --build "$build" -j "${3:-2}" --target daedalus markdown_html
npm="$build/web-build/npm"
sh "$source/apps/web/fetch_npm.sh" "$source" "$build"
node "$source/apps/web/build.mjs" "$source" "$build" "$npm"
