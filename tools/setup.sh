#!/bin/sh
# Installs the Debian packages that are missing; silent when nothing is. Without an argument those of the main job: the program
# and the library. With --extras also what parts of it can use (SUNDIALS, HDF5, MPI, the web server), with --test those
# too and what the tests and the Python and Octave packages need, with --dev those for developers, with --peers the codes that
# `make peers` compares with, with --web those of the web page: WebAssembly, node, and the browser that tests it.
set -u

# program or package to look for : package that brings it
programs="gcc:gcc cmake:cmake ninja:ninja-build make:make pkg-config:pkg-config gnuplot:gnuplot-nox"
libraries="libc6-dev libopenblas-dev liblapacke-dev libsuitesparse-dev libjansson-dev"
if [ "${1-}" = --extras ] || [ "${1-}" = --test ]; then
    programs="$programs mpirun:openmpi-bin"
    libraries="$libraries libsundials-dev libhdf5-dev libopenmpi-dev libmicrohttpd-dev libseccomp-dev libnlopt-dev"
fi
if [ "${1-}" = --test ]; then
    programs="$programs nm:binutils gfortran:gfortran"
    libraries="$libraries libcmocka-dev python3-dev python3-numpy python3-scipy python3-pytest python3-pip octave octave-dev"
fi
if [ "${1-}" = --dev ]; then
    programs="$programs clang:clang clang-format:clang-format valgrind:valgrind rsvg-convert:librsvg2-bin"
    libraries="$libraries libclang-rt-14-dev" # sanitizers and libFuzzer
fi
if [ "${1-}" = --peers ]; then # what `make peers` compares with
    programs="$programs g++:g++"
    libraries="$libraries python3-scipy r-cran-desolve octave libsimbody-dev libmujoco-dev libdart-dev"
fi
if [ "${1-}" = --web ]; then
    programs="$programs emcc:emscripten clang-14:clang-14 llvm-ar-14:llvm-14 node:nodejs npm:npm chromium:chromium xz:xz-utils bwrap:bubblewrap"
fi

missing=""
for entry in $programs; do
    command -v "${entry%%:*}" >/dev/null 2>&1 || missing="$missing ${entry#*:}"
done
if command -v dpkg >/dev/null 2>&1; then
    for package in $libraries; do
        dpkg -s "$package" 2>/dev/null | grep -q '^Status: .* ok installed$' || missing="$missing $package"
    done
elif [ -n "$missing" ]; then
    echo "setup: this is not a Debian system. Install what brings these Debian packages, then: make SETUP=no" >&2
    echo "   $missing" >&2
    exit 1
else
    exit 0 # cmake says what else is missing
fi
[ -z "$missing" ] && exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        as_root="sudo"
    else
        echo "setup: these packages are missing and this user cannot install them:$missing" >&2
        echo "setup: run as root: apt-get install$missing" >&2
        echo "setup: or, where the libraries are in place by other means: make SETUP=no" >&2
        exit 1
    fi
fi
echo "setup: installing$missing"
apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300"
$apt update || echo "setup: apt-get update failed; trying with the lists there are" >&2
# shellcheck disable=SC2086
if ! $apt install --no-install-recommends $missing; then
    echo "setup: apt-get could not install:$missing" >&2
    echo "setup: check the network and /etc/apt/sources.list, then run make again" >&2
    exit 1
fi
