#!/bin/sh
# usage: build_viewer.sh SOURCE_DIR BUILD_DIR
# The viewer in 3D as BUILD_DIR/viewer/viewer.c, which the next build makes part of the library. Without node or npm nothing is
# made, and the small page serves.
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
command -v npm >/dev/null || { echo "viewer: npm is missing (Debian: package npm); --animate writes the small page"; exit 0; }
sh "$source/apps/web/fetch_npm.sh" "$source" "$build"
node "$source/apps/viewer/build.mjs" "$source" "$build" "$build/web-build/npm"
