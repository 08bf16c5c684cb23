#!/bin/sh
# usage: tools/equation_examples.sh [DAEDALUS]    from the root of the source
# Draws docs/images/equations/*.svg and writes the list in docs/equation-examples.md from the files in examples/equations/.
daedalus=${1:-build/daedalus}
page=docs/equation-examples.md
mkdir -p docs/images/equations
sed '/^## chemistry/,$d' "$page" >"$page.part" || exit 1
for field in chemistry biology circuit control mechanics heat flow; do
    printf '## %s\n\n' "$field" >>"$page.part"
    for file in $(grep -l "^model [a-z_]* \"$field: " examples/equations/*.deq); do
        name=$(basename "$file" .deq)
        "$daedalus" run "$file" --plot "docs/images/equations/$name.svg" --points "$(grep -q "^plot.* against" "$file" && echo 3000 || echo 400)" --quiet >/dev/null || exit 1
        title=$(sed -n 's/^model [a-z_]* "[a-z]*: \(.*\)"$/\1/p' "$file")
        printf '### %s\n\n%s ([%s.deq](../%s))\n\n```deq\n%s\n```\n\n![%s](images/equations/%s.svg)\n\n' "$name" "$title" "$name" "$file" "$(cat "$file")" "$name" "$name" >>"$page.part"
    done
done
mv "$page.part" "$page"
