#!/bin/sh
# usage: performance.sh BUILD DOCS
# docs/performance.md from one run: our methods beside the Fortran codes and the engines of Debian's packages. Every peer has to be
# there. Python is Debian's, whose SciPy has the Fortran codes.
set -eu
build=$1 docs=$2
here=$(dirname "$0")
out=$build/performance.md
export OPENBLAS_NUM_THREADS=1
test -x "$build/bench/bench_engines" || { echo "peers: Simbody, MuJoCo and DART are missing: tools/setup.sh --peers" >&2; exit 1; }
{
    cat "$here/../bench/peers/performance.head"
    /usr/bin/python3 "$here/../bench/peers/peers.py" "$build/bench/peers.so" --points "$build/peers.json"
    echo
    echo "## Mechanisms beside Simbody, MuJoCo and DART"
    echo
    echo '```'
    "$build/bench/bench_engines" all
    echo '```'
    echo
    cat "$here/../bench/peers/mechanisms.head"
    echo
    echo '```'
    "$build/bench/bench_mechanisms"
    echo '```'
} > "$out"
mv "$out" "$docs/performance.md"
