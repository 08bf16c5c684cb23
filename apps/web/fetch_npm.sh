#!/bin/sh
# usage: fetch_npm.sh SOURCE_DIR BUILD_DIR
# What page and viewer take from npm, in BUILD_DIR/web-build/npm: pinned by version and checksum in apps/web/package-lock.json.
set -eu
npm="$2/web-build/npm"
mkdir -p "$npm"
if ! cmp -s "$1/apps/web/package-lock.json" "$npm/installed"; then
    cp "$1/apps/web/package.json" "$1/apps/web/package-lock.json" "$npm"
    (cd "$npm" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    cp "$1/apps/web/package-lock.json" "$npm/installed"
fi
