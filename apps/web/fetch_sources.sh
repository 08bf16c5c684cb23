#!/bin/sh
# usage: fetch_sources.sh FOLDER
# Puts the sources of jansson and of SuiteSparse's KLU into FOLDER, for the WebAssembly build. They are the original
# archives of Debian's source packages, taken from the package sources that this machine has (nothing on it is
# changed: apt works below FOLDER) and checked against the sums below.
set -eu
[ -f "$1/done" ] && exit 0
mkdir -p "$1/lists/partial" "$1/cache/archives/partial" "$1/parts"
cd "$1"
here=$(pwd)

sums='c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b  jansson_2.14.orig.tar.gz
bb106c43049138c19675cd70322e72ff8e4fd8bdcab3a096307fd78488913faf  suitesparse_5.12.0+dfsg.orig.tar.xz'

if ! echo "$sums" | sha256sum --check --status 2>/dev/null; then
    for file in /etc/apt/sources.list.d/*.sources; do # the same places, for sources
        [ -f "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" > "parts/$(basename "$file")"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$file" ] && sed -n 's/^deb \(\[[^]]*\] \)*/deb-src \1/p' "$file" > "parts/$(basename "$file" .list).list"
    done
    apt="apt-get -q -o Acquire::Retries=3 -o APT::Sandbox::User=root -o Dir::Etc::sourcelist=/dev/null
         -o Dir::Etc::sourceparts=$here/parts -o Dir::State::lists=$here/lists -o Dir::Cache=$here/cache"
    echo "web: fetching the sources of jansson and suitesparse"
    # shellcheck disable=SC2086
    $apt update >apt.log 2>&1 && $apt source --download-only --tar-only jansson suitesparse >>apt.log 2>&1 || {
        cat apt.log >&2
        echo "web: apt-get could not get the source packages jansson and suitesparse; put their archives into $here" >&2
        exit 1
    }
fi
echo "$sums" | sha256sum --check --quiet || {
    echo "web: these are not the archives that this build was made for: another Debian release?" >&2
    exit 1
}
tar xf jansson_2.14.orig.tar.gz jansson-2.14/src jansson-2.14/android jansson-2.14/LICENSE
top=SuiteSparse-5.12.0
tar xf suitesparse_5.12.0+dfsg.orig.tar.xz $top/KLU/Source $top/KLU/Include $top/AMD/Source $top/AMD/Include \
    $top/COLAMD/Source $top/COLAMD/Include $top/BTF/Source $top/BTF/Include $top/SuiteSparse_config
rm -rf lists cache parts
touch done
