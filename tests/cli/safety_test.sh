#!/bin/sh
# usage: safety_test.sh DAEDALUS SOURCE_DIR
# What users write stays where it is put (pages, pictures, names of files), files are there as a whole or not at all, and
# inputs that never end, end.
source=$2
. "$source/tests/cli/common.sh"
# model NAME FILE: a pendulum of that name
model() {
    printf '{"daedalus": 1, "kind": "mechanism", "name": "%s", "doc": "%s", "dimension": 2, "gravity": [0, -9.81],
 "bodies": [{"name": "rod", "mass": 1, "inertia": 0.1, "r": [0.5, 0]}],
 "points": [{"name": "O", "body": "ground", "r": [0, 0]}, {"name": "A", "body": "rod", "r": [-0.5, 0]}],
 "joints": [{"name": "pin", "type": "revolute", "a": "O", "b": "A"}], "simulation": {"t1": 1}}\n' "$1" "$1" >"$2"
}

# ---- Names in pages and pictures
model '</script><script>alert(1)</script>' page.json
expect 0 run page.json --quiet --animate page.html
checks=$((checks + 1)); grep -q 'alert(1)</script>' page.html && wrong "the name of a model is a script of its page"
says '003c/script..003e..003cscript..003ealert(1)' page.html
says "Content-Security-Policy.*default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]*='" page.html
# the hash is that of the script, of the viewer in 3D (where it is built in) as of the small page
script() { awk '/^<script>/ && !on { on = 1; sub(/^<script>/, "") } on && /<\/script>/ { sub(/<\/script>.*/, ""); printf "%s", $0; exit } on' "$1"; }
expect 0 run page.json --quiet --animate small.html --viewer small
if command -v openssl >/dev/null; then
    for page in page.html small.html; do
        hash=$(sed -n "s/.*script-src 'sha256-\([^']*\)'.*/\1/p" $page)
        equal "$(script $page | openssl dgst -sha256 -binary | openssl base64)" "$hash"
    done
fi
# what a page has beside the viewer
beside() { awk '/^<h2 id="motion">/ { off = 1 } !off; off && /^<script>/ { run = 1 } run && /<\/script>$/ { off = run = 0 }' "$1"; }
if command -v gnuplot >/dev/null; then
    model 'a`touch hurt`\"\\u0026</text><script>alert(1)</script>' picture.json
    expect 0 run picture.json --quiet --plot picture.svg
    checks=$((checks + 1)); [ ! -e hurt ] || wrong "a name is a command of gnuplot"
    checks=$((checks + 1)); grep -q '<script' picture.svg && wrong "a name is a script of a picture"
    expect 0 report page.json --solvers radau5 --range 4:5:1 --reps 1 --budget 1 --quiet --out pages
    for page in pages/*.html; do
        says "Content-Security-Policy.*default-src 'none'" "$page"
        checks=$((checks + 1)); beside "$page" | grep -q '<script' && wrong "$page has a script"
    done
fi

# ---- Names of files
mkdir -p deep/cache
XDG_CACHE_HOME=$folder/deep/cache
model '../../x' path.json
expect 0 reference path.json --quiet
equal "$(find . -path ./cache -prune -o -name "*-*.json" -print | sed 's/-[0-9a-f]*\.json/-HASH/')" ./deep/cache/daedalus/_._.._x-HASH
XDG_CACHE_HOME=$folder/cache

# ---- A checkpoint is of one run
model pendulum run.json
expect 4 run run.json --max-steps 5 --checkpoint run.check --quiet
expect 0 run run.json --json; whole=$(key y)
expect 0 run run.json --resume run.check --json; equal "$(key y)" "$whole"
sed 's/"mass": 1,/"mass": 2,/' run.json >other.json
expect 2 run other.json --resume run.check; says 'was made with .model' err
sed 's/"name": "pendulum"/"name": "another"/' run.json >other.json
expect 2 run other.json --resume run.check; says 'problem pendulum.*problem another' err
expect 2 run run.json --resume run.check --rtol 1e-3; says 'was made with --rtol .*--change-tolerances' err
expect 0 run run.json --resume run.check --rtol 1e-3 --change-tolerances --json; equal "$(key rtol)" 0.001
expect 2 run run.json --change-tolerances; says 'goes with --resume' err

# the files that a problem names are part of it: a table, a mechanism, what is included, a mesh
cp "$source/models/heater.deq" "$source/models/ambient.csv" "$source/examples/equations/crane.deq" "$source/examples/equations/pole.json" .
echo '{ "include": ["plain.json"], "daedalus": 1, "kind": "mechanism", "name": "including", "dimension": 2, "simulation": { "t1": 1 } }' >including.json
printf '{ "dimension": 2, "bodies": [ { "name": "b", "mass": 1, "inertia": 1, "v": [1, 0], "shapes": [ { "kind": "mesh", "file": "mesh.obj" } ] } ],\n%s\n' \
    '"forces": [ { "name": "F", "type": "force", "b": "P", "value": ["if(t < 0.5, 0, 1)", 0] } ], "points": [ { "name": "P", "body": "b", "r": [0, 0] } ] }' >plain.json
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n' >mesh.obj
while read -r run file from to; do
    expect 4 run "$run" --max-steps 3 --checkpoint files.check --quiet
    sed "s/$from/$to/" "$file" >changed; cp "$file" before; mv changed "$file"
    checks=$((checks + 1)); ! cmp -s before "$file" || wrong "$file: nothing was changed"
    expect 2 run "$run" --resume files.check; says 'was made with .model' err
    mv before "$file"
    expect 0 run "$run" --resume files.check --quiet
done <<end
heater.deq ambient.csv ^600,281.60 600,281.61
crane.deq pole.json A.cart A_cart
including.json plain.json 0.5,.0 0.6,0
including.json mesh.obj ^v.0.1.0 v\ 0\ 2\ 0
end

# a letter of an option that changed is noticed, in the lines as in the bytes
LC_ALL=C sed 's/^option tend=/op|ion tend=/' run.check >letter.check
expect 2 run run.json --resume letter.check; says 'damaged file' err
LC_ALL=C sed 's/^option tend=./option tend=9/' run.check >digit.check
expect 2 run run.json --resume digit.check; says 'damaged file' err

# ---- Whole or not at all
pictures=
if command -v gnuplot >/dev/null; then pictures="svg png pdf"; fi
for what in "--out old.csv" "--checkpoint old.check" "--animate old.html" "--dump old.dump" $(printf -- '--plot=old.%s ' $pictures); do
    file=${what#*[ =]}
    echo old >"$file"
    # files may have 4096 bytes here: as on a full disk
    ( ulimit -f 8; trap '' XFSZ; daedalus run "$source/models/truck.json" --quiet --tend 1 $what ) >out 2>err </dev/null
    got=$?
    checks=$((checks + 1)); [ "$got" -ne 0 ] || wrong "run $what on a full disk: exit status 0"
    says "could not be written" err
    equal "$(cat "$file")" old
done
expect 2 run hires --out /dev/full
says 'No space left' err
expect 2 run "$source/models/pendulum.json" --animate /dev/full
equal "$(find . -name '*.part' | wc -l)" 0
# a kill in the middle of a run
echo old >old.csv
daedalus run medakzo --set N=2000 --solver radau5 --rtol 1e-10 --quiet --out old.csv >out 2>err </dev/null &
sleep 0.5
kill -9 $!
wait $! 2>/dev/null
equal "$(cat old.csv)" old
rm -f old.csv.*.part
# the mode stays, a link stays a link
echo old >mode.csv; chmod 600 mode.csv; ln -s mode.csv link.csv
expect 0 run hires --quiet --out link.csv
equal "$(stat -c %a mode.csv)" 600
checks=$((checks + 1)); [ -L link.csv ] || wrong "a link was replaced by a file"
says '^t,' mode.csv
# what is protected stays
if [ "$(id -u)" -ne 0 ]; then
    echo old >kept.csv; chmod 400 kept.csv
    expect 2 run hires --quiet --out kept.csv
fi
expect 2 run hires --out .
says 'irectory' err

# ---- Inputs
printf 'a,b\n1",2\n3,4\n5,6\n7,8\n9,10\n11,12\n' >quote.csv
if command -v gnuplot >/dev/null; then expect 0 plot quote.csv --out quote.svg; fi
for command in "run /dev/zero" "plot /dev/zero --out x.svg" "eval hires --state /dev/zero" "sample /dev/zero" "run hires --resume /dev/zero"; do
    expect 2 $command
    checks=$((checks + 1)); [ "$(wc -l <err)" -eq 1 ] || wrong "$command: not one message"
done
model pendulum plain.json
printf '\357\273\277' | cat - plain.json >marked.json
expect 0 run plain.json --quiet --out plain.csv
expect 0 run marked.json --quiet --out marked.csv
checks=$((checks + 1)); cmp -s plain.csv marked.csv || wrong "a byte order mark changes the run"
printf '\357\273\277' | cat - "$source/models/pendulum.deq" >marked.deq
expect 0 run marked.deq --quiet --tend 0.1
echo "$checks checks, $failures failures"
[ "$failures" -eq 0 ]
