#!/usr/bin/env python3
"""usage: places.py DOCS: takes the places of the solvers from DOCS/gallery.md over into DOCS/methods/*.md."""
import pathlib
import re
import sys

docs = pathlib.Path(sys.argv[1])


def line(digits, problems, fastest, within, median):
    place = f"the fastest on {fastest}" if fastest != "0" else "never the fastest"
    return (f"* {digits} digits on {problems} problems: {place}, within twice the time of the fastest on {within}; "
            f"its median time is {median} times that of the fastest")


for row in (docs / "gallery.md").read_text().splitlines():
    cell = [c.strip() for c in row.strip("|").split("|")]
    page = docs / "methods" / f"{cell[0]}.md"
    if len(cell) != 9 or not page.exists():
        continue
    text = page.read_text()
    for digits, at in ((4, 1), (7, 5)):
        text = re.sub(rf"^\* {digits} digits on .*$", line(digits, *cell[at:at + 4]), text, flags=re.M)
    page.write_text(text)
