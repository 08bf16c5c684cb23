#!/bin/sh
# daedalus report, plot and scale as scripts see them. usage: report_test.sh PROGRAM SOURCE_DIR
source=$2
. "$(dirname "$0")/common.sh"

# ---- usage
expect 2 report; says 'PROBLEM is missing' err
expect 2 report hires --all; says 'give one of them' err
expect 2 report hirse; says 'did you mean hires?' err
expect 2 report no/such/model.json; says 'No such file' err
expect 2 report hires --render-only --out none; says 'needs results that are stored' err
expect 2 report hires --jobs 0; says 'whole number' err
: >file; expect 2 report hires --out file/x; says 'Not a directory' err
expect 2 plot; says 'is missing' err
expect 2 plot none.csv; says 'No such file' err
: >empty.csv; expect 2 plot empty.csv; says 'is empty' err
echo '{"a":1}' >bad.jsonl; expect 2 plot bad.jsonl; says 'line 1 is no record' err
expect 2 scale medakzo; says 'sizes are missing' err
expect 2 scale medakzo --set N=25,50 --linalg full; says 'expected some of auto, dense' err
expect 2 scale medakzo --set N=25,x; says 'positive numbers' err
expect 2 scale medakzo --set M=25,50 --solvers radau5; says 'M' err
expect 2 scale fekete --set N=4,8 --set n=1,2; says 'only one parameter' err

# ---- scale: banded linear algebra grows linearly, dense does not; records are taken over
grow="scale medakzo --set N=30,60,120 --solvers radau5 --linalg dense,banded --reps 1"
expect 0 $grow --out g.jsonl --json; lines 1 out; lines 6 g.jsonl
for name in problem parameter lines solver linear_algebra size n cpu_seconds exponent exponent_error exponent_last factor; do
    says "\"$name\":" out; done
says '"size":\[30.0,60.0,120.0\]' out; says '"n":\[60,120,240\]' out; says '"linear_algebra":"banded"' out
expect 0 $grow --out g.jsonl; lines 6 g.jsonl; says '^radau5, dense' out; says '^equations  *60  *120  *240' out
# the exponents of the table are those of the records, fitted here anew
checks=$((checks + 1))
sed -n 's/.*"settings":"N=\([0-9]*\) linear-algebra=banded".*"cpu_seconds":\([^,]*\),.*/\1 \2/p' g.jsonl >points
fit=$(awk '{x=log($1);y=log($2);n++;a+=x;b+=y;c+=x*x;d+=x*y} END {printf "%.2f",(n*d-a*b)/(n*c-a*a)}' points)
equal "$(sed -n 's/^radau5, banded\(  *[0-9.e-]*\)\{3\}  *\([-0-9.]*\) .*/\2/p' out)" "$fit"
expect 1 scale medakzo --set N=30,60 --solvers radau5 --max-seconds 0.001 --rtol 1e-12; says 'failed' out; says 'no exponent' err

command -v gnuplot >/dev/null || { echo "$checks checks, $failures failed (gnuplot is missing)"; [ "$failures" -eq 0 ]; exit; }
expect 0 $grow --out g.jsonl --plot g.svg --quiet; silent out; says 'radau5, dense: N^' g.svg

# ---- plot: what the other commands write
expect 0 run hires --out h.csv --dump h.sol --quiet
expect 0 plot h.csv; says 'wrote h.svg' err; says '</svg>' h.svg; says '>Pr<' h.svg
expect 0 plot h.csv --y Pr,E --log x --out a.svg --title 'R & D' --quiet; silent err; says 'R &amp; D' a.svg
checks=$((checks + 1)); ! grep -q '>PfrX<' a.svg || wrong 'a column that was not asked for'
expect 2 plot h.csv --y nonsense; says 'the file has t, Pr' err
expect 2 plot h.csv --log z; says 'expected x, y or xy' err
expect 2 plot h.csv --out h.gif; says '.svg, .png or .pdf' err
expect 2 plot h.csv --out no/such/folder/x.svg; says 'No such file' err
expect 2 plot h.csv --kind heat; says 'runs of a sweep' err
for end in png pdf; do expect 0 plot h.csv --out h.$end --quiet; [ "$(wc -c <h.$end)" -gt 3000 ] || wrong "h.$end is too small"; done
expect 0 plot h.sol --out s.svg; says '>Pr<' s.svg
if daedalus run hires --out h.h5 --quiet >out 2>err; then expect 0 plot h.h5 --out h5.svg; says '>Pr<' h5.svg; fi # where HDF5 is built in
expect 0 run hires --solver vode --rtol 1e-2 --out i.csv --quiet
expect 0 plot h.csv i.csv --y Pr --out two.svg; says 'Pr (h.csv)' two.svg; says 'Pr (i.csv)' two.svg
expect 0 workprec hires --solvers radau5,vode --range 4:6:1 --reps 1 --out w.jsonl --quiet
expect 0 plot w.jsonl; says 'correct digits' w.svg; says '>vode<' w.svg
expect 0 plot g.jsonl --out g2.svg; says 'N^' g2.svg
expect 0 matrix --problems rober,hires --solvers radau --every 16 --file m.jsonl --quiet
expect 2 plot m.jsonl; says 'runs of hires, rober; choose with --problem\|runs of rober, hires; choose' err
expect 0 plot m.jsonl --problem rober; says 'Robertson' m.svg
expect 0 table rober --solvers radau,radau5 --format csv; cp out t.csv; expect 0 plot t.csv; says 'correct digits' t.svg
expect 0 sweep vdpol-mu --vary mu=1:100:5:log --tend 20 --points 20 --out sweep --quiet
expect 0 plot sweep --out b.svg; says 'percent of the runs' b.svg
expect 0 plot sweep/runs.csv --kind scatter --out c.svg; says 'end of the runs' c.svg
expect 0 plot sweep/runs.csv --x mu --y y1 --log x --out d.svg; says '>mu<' d.svg
expect 2 plot h.csv w.jsonl; says 'one picture' err

# ---- report: a page with the right numbers, made again without a run
few="--solvers radau5,vode --range 5:8:1 --reps 1"
expect 0 report rober "$source/models/four_bar.json" $few --out pages
for file in index.html rober.html four_bar.html data/rober.csv data/rober.json data/rober.workprec.jsonl data/rober.table.jsonl \
    data/four_bar.model.json; do checks=$((checks + 1)); [ -s pages/$file ] || wrong "pages/$file is missing"; done
lines 8 pages/data/rober.workprec.jsonl
says '<h2 id="description">' pages/rober.html; says 'class="equations"' pages/rober.html
says '<td>radau</td><td>1e-07</td>.*<small>9.35</small>' pages/rober.html # mescd of RADAU in the report
daedalus run rober --json >out 2>err; scd=$(printf %.2f "$(key scd)")
says "scd $scd" pages/rober.html
says 'href="rober.html"' pages/index.html; says 'href="four_bar.html"' pages/index.html
says '1 degree of freedom' pages/four_bar.html; says '<td>coupler</td>' pages/four_bar.html
says 'id="energy"' pages/four_bar.html; says 'id="residuals"' pages/four_bar.html; says 'Failed runs' pages/four_bar.html
checks=$((checks + 1)); [ "$(grep -c 'data:image/svg+xml;base64,' pages/rober.html)" -eq 2 ] || wrong 'pictures of rober'
checks=$((checks + 1)); [ "$(grep -c 'data:image/svg+xml;base64,' pages/four_bar.html)" -eq 4 ] || wrong 'pictures of four_bar'
# nothing is loaded from elsewhere
# (the viewer of models is a script that the page's policy names by its hash)
beside() { awk '/^<h2 id="motion">/ { off = 1 } !off; off && /^<script>/ { run = 1 } run && /<\/script>$/ { off = run = 0 }' "$@"; }
checks=$((checks + 1)); ! beside pages/*.html | grep -q '<script\|<link\|src="http\|url(http\|@import' || wrong 'a page loads something'
cp pages/rober.html before.html; cat pages/data/*.jsonl >records
rm pages/rober.html pages/four_bar.html pages/index.html
expect 0 report --all --render-only --out pages
cmp -s before.html pages/rober.html || wrong 'another page without a run'
cat pages/data/*.jsonl | cmp -s - records || wrong 'runs with --render-only'
expect 0 report rober $few --out pages; cat pages/data/*.jsonl | cmp -s - records || wrong 'finished runs were repeated'
expect 2 report hires --render-only --out pages; says 'no stored run' err
checks=$((checks + 1)); [ ! -e pages/hires.html ] || wrong 'a page of nothing'
# derivatives: the table has the numbers that run tells, the picture its bands; another name is another run
few1="--solvers radau5 --range 5:6:1 --reps 1"
for what in hires:k1 "$source/models/pendulum.json:L" "$source/models/ball.deq:e"; do
    p=${what%:*} by=${what##*:}; page=$(basename "$p" .json)
    expect 0 report "$p" $few1 --sens "$by" --out sens --quiet; cp sens/$page.html sens.html
    expect 0 run "$p" --sens "$by" --json
    number=$(sed 's/.*"sensitivity":{"[^"]*":\[\([^,]*\),.*/\1/' out | awk '{ printf "%.8g", $1 }')
    says '<h2 id="sensitivity">' sens.html; says "<th>d/d$by</th>" sens.html; says "<td>$number</td></tr>" sens.html
    says 'off by 5 %' sens/data/$page.sensitivity.svg
done
expect 0 report --all --render-only --out sens --quiet; says '<th>d/dL</th>' sens/pendulum.html
expect 0 report hires $few1 --sens 'k2,E(0)' --out sens --quiet; says '<th>d/dE(0)</th>' sens/hires.html
expect 0 report hires $few1 --out sens --quiet
checks=$((checks + 1)); ! grep -q 'id="sensitivity"' sens/hires.html || wrong 'derivatives that were not asked for'
printf "model root\nparam k = 0\nvar y = 1\ny' = -y + sqrt(k)\nsolve t = 0 .. 1\n" >root.deq # has no derivative by k
expect 0 report root.deq $few1 --sens k --out sens --quiet; says 'component 2 of the right-hand side is not finite' sens/root.deq.html
expect 2 report hires $few1 --sens nonsense --out sens; says 'no parameter and no component "nonsense"' err
expect 2 report hires $few1 --sens k1,,k2 --out sens; says 'a name is empty' err
# texts of a model are escaped
sed 's/"doc": *"[^"]*"/"doc": "<script>a\&b<\/script>"/; s/"name": *"four_bar"/"name": "evil"/' "$source/models/four_bar.json" >evil.json
expect 0 report evil.json --solvers radau5 --range 5:6:1 --reps 1 --out pages; says '&lt;script&gt;a&amp;b' pages/evil.html
checks=$((checks + 1)); ! beside pages/evil.html | grep -q '<script' || wrong 'a model writes HTML'
# a failed run is shown with its reason
expect 0 report ringmod --solvers dopri5 --range 4:5:1 --reps 1 --max-seconds 0.02 --out pages --records pages/data
says '<td>dopri5</td><td>0.0001</td><td>diagram</td>' pages/ringmod.html; says 'Failed in the test set report' pages/ringmod.html
# what cannot be written is told, and what was done is kept
rm -rf locked; mkdir -p locked/data; : >locked/rober.html.part; chmod 555 locked/data
if ! touch locked/data/x 2>/dev/null; then expect 2 report rober --out locked; says 'Permission denied' err; fi
chmod 755 locked/data
GNUPLOT=$folder/none expect 2 report rober --out pages; says 'was not found' err

# ---- a browser shows it
if command -v chromium >/dev/null; then
    checks=$((checks + 1))
    timeout 60 chromium --headless --no-sandbox --disable-gpu --dump-dom "file://$folder/pages/rober.html" >dom 2>/dev/null
    [ ! -s dom ] || grep -q 'Made by daedalus' dom || wrong 'the browser does not show the end of the page'
fi

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
