# What the tests of the command line program share; to be read with `.`. $1 is the program. They work in a temporary
# folder of their own, with daedalus in the PATH.
program=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir bin && ln -s "$program" bin/daedalus && PATH=$folder/bin:$PATH
XDG_CACHE_HOME=$folder/cache
export XDG_CACHE_HOME
failures=0
checks=0

wrong() {
    failures=$((failures + 1))
    echo "FAILED: $*"
    echo "--- output:"; head -c 2000 out; echo "--- messages:"; head -c 2000 err
}
# expect STATUS ARGUMENTS...: runs, keeps out and err
expect() {
    status=$1
    shift
    checks=$((checks + 1))
    daedalus "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$status" ] || wrong "daedalus $*: exit status $got, expected $status"
}
says() { checks=$((checks + 1)); grep -q -- "$1" "$2" || wrong "$2 does not contain: $1"; }
silent() { checks=$((checks + 1)); [ ! -s "$1" ] || wrong "$1 is not empty"; }
lines() { checks=$((checks + 1)); [ "$(wc -l <"$2")" -eq "$1" ] || wrong "$2 has $(wc -l <"$2") lines, expected $1"; }
# key NAME: the value of a number or word at the top of the JSON object in out
key() { sed -n 's/^.*[{,]"'"$1"'":\("[^"]*"\|[^,}[]*\)[,}].*$/\1/p' out | head -n 1; }
equal() { checks=$((checks + 1)); [ "$1" = "$2" ] || wrong "$1 instead of $2"; }
# a_moment SECONDS: sleeps a random part of it
a_moment() { sleep "$(awk -v s="$1" -v seed="$(od -An -N4 -tu4 /dev/urandom)" 'BEGIN { srand(seed); printf "%.3f", s * rand() }')"; }
# same_runs A B: the runs of two sweeps without the CPU time, their last column where there are no series
same_runs() {
    sed 's/,[^,]*$//' "$1/runs.csv" >"$1.cut"; sed 's/,[^,]*$//' "$2/runs.csv" >"$2.cut"
    checks=$((checks + 1)); cmp -s "$1.cut" "$2.cut" || wrong "the runs of $1 and $2 differ"
}
# Whole lines in the logs of a sweep.
finished() { cat "$1"/log.* 2>/dev/null | grep -c '^[0-9a-f]\{8\},[0-9]*,.*[0-9]$'; }
