#!/usr/bin/env python3
"""usage: schema.py PROGRAM [docs/model.schema.json] > model.schema.json

The complete JSON Schema of model files: the committed one with the types of joints, forces and blocks that PROGRAM knows."""
import json
import pathlib
import subprocess
import sys

program = sys.argv[1]
base = sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parent.parent / "docs/model.schema.json"
schema = json.loads(pathlib.Path(base).read_text())
for section in "joints", "forces", "blocks":
    text = subprocess.run([program, "info", section, "--json"], check=True, capture_output=True, text=True).stdout
    schema["properties"][section]["items"] = json.loads(text)
json.dump(schema, sys.stdout, indent=1)
print()
