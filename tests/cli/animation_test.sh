#!/bin/sh
# usage: animation_test.sh DAEDALUS SOURCE_DIR
# Opens the small animation pages in a browser without a window and uses them: draw, scrub, step, zoom, turn, play. Skipped (exit
# status 77) where there is no Chromium; CHROMIUM names another one.
daedalus=$1 source=$2
browser=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name)
done
[ -n "$browser" ] || { echo "SKIPPED: no chromium found (Debian: package chromium)"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# What a reader does with the page. The last line of the document tells what was seen.
cat >"$work/use.html" <<'END'
<script>
"use strict";
const seen = [];
function expect(what, ok) { seen.push((ok ? "ok " : "FAILED ") + what); }
function picture() { return view.toDataURL(); }
function inked() { return ctx.getImageData(0, 0, view.width, view.height).data.some(byte => byte > 0); }
function changes(what, action) {
  const before = picture();
  action();
  expect(what, picture() !== before && inked());
}
expect("ready", +document.body.dataset.ready === model.t.length && model.t.length > 10);
expect("title", document.title === model.name);
expect("drawn", inked());
changes("scrub", () => { slider.value = Math.floor(model.t.length / 3); slider.oninput(); });
expect("clock", clock.textContent === "t = " + model.t[Math.floor(model.t.length / 3)].toFixed(4) + " s");
changes("step", () => window.onkeydown({key: "ArrowRight"}));
expect("stepped", frame === Math.floor(model.t.length / 3) + 1);
changes("zoom", () => view.dispatchEvent(new WheelEvent("wheel", {deltaY: -300, cancelable: true})));
changes("drag", () => view.onpointermove({buttons: 1, movementX: 40, movementY: 15, shiftKey: false}));
changes("fit", () => document.getElementById("fit").click());
// The browser's clock runs ahead of its screen here: frames are asked for by the clock.
window.requestAnimationFrame = draw => setTimeout(() => draw(performance.now()), 16);
show(0);
play.click();
expect("playing", play.textContent === "Pause");
let left = 80; // looks at the playing page, 50 ms apart
const watch = setInterval(() => {
  if (frame === 0 && --left > 0) return;
  clearInterval(watch);
  expect("frames advance", frame > 0);
  play.click();
  expect("paused", play.textContent === "Play");
  const said = document.createElement("pre");
  said.textContent = "\n" + seen.join("\n") + "\nend of the test\n";
  document.body.append(said);
}, 50);
</script>
END

bad=0
for model in pendulum four_bar spinning_top truck; do
    "$daedalus" run "$source/models/$model.json" --quiet --viewer small --animate "$work/$model.html" || { echo "FAILED: run $model"; exit 1; }
    sed -i '/Content-Security-Policy/d' "$work/$model.html" # it would refuse the script of the test, as the check below shows
    cat "$work/use.html" >>"$work/$model.html"
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --virtual-time-budget=6000 \
        --dump-dom "file://$work/$model.html" >"$work/dom" 2>"$work/err"
    if ! grep -q '^end of the test' "$work/dom" || grep -q '^FAILED' "$work/dom"; then
        bad=1
        echo "FAILED: the page of $model"
        grep '^\(ok\|FAILED\) ' "$work/dom"
        grep -i 'console' "$work/err"
    fi
done

# A page as it is: its own script runs, nothing else does, whatever the names are.
sed 's|"name": "pendulum"|"name": "</script><script>document.title=1;document.body.dataset.hurt=1</script>"|' \
    "$source/models/pendulum.json" >"$work/hostile.json"
"$daedalus" run "$work/hostile.json" --quiet --viewer small --animate "$work/hostile.html" || { echo "FAILED: run hostile"; exit 1; }
echo '<script>document.body.dataset.hurt=2</script>' >>"$work/hostile.html"
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --virtual-time-budget=6000 \
    --dump-dom "file://$work/hostile.html" >"$work/dom" 2>"$work/err"
grep -q '<body data-ready="[1-9]' "$work/dom" || { bad=1; echo "FAILED: the page does not run its own script"; }
if grep -q '<body[^>]*data-hurt' "$work/dom"; then bad=1; echo "FAILED: the page runs a script that is not its own"; fi
exit $bad
