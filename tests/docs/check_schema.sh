#!/bin/sh
# usage: check_schema.sh SOURCE_DIR PROGRAM
# docs/model.schema.json with the types of PROGRAM (tools/schema.py): it is a valid schema, all models and the models of docs/modelling.md fit it, mistakes do not.
# Skipped (exit status 77) without Python's jsonschema.
python3 -c 'from jsonschema import Draft202012Validator' 2>/dev/null ||
    { echo "SKIPPED: no jsonschema for python3 (Debian: package python3-jsonschema, 4.0 or later)"; exit 77; }
exec python3 - "$1" "$2" <<'END'
import copy, glob, json, re, subprocess, sys
from jsonschema import Draft202012Validator

source = sys.argv[1]
schema = json.loads(subprocess.run([sys.executable, source + "/tools/schema.py", sys.argv[2]], check=True, capture_output=True, text=True).stdout)
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
bad = 0

def fail(text):
    global bad
    bad = 1
    print("FAILED:", text)

models = {path: json.load(open(path)) for path in sorted(glob.glob(source + "/models/*.json"))}
text = open(source + "/docs/modelling.md").read()
for i, block in enumerate(re.findall(r"```json\n(.*?)```", text, re.S)):
    models["docs/modelling.md, model %d" % (i + 1)] = json.loads(block)
if len(models) < 16:
    fail("only %d models found" % len(models))
for name, model in models.items():
    for error in validator.iter_errors(model):
        fail("%s: %s: %s" % (name, error.json_path, error.message))

# One mistake at a time in a model that fits.
good = models[source + "/models/slider_crank.json"]
mistakes = {
    "unknown key": lambda m: m.update(bodys=[]),
    "no name": lambda m: m.pop("name"),
    "dimension 4": lambda m: m.update(dimension=4),
    "other version": lambda m: m.update(daedalus=2),
    "no bodies": lambda m: m.update(bodies=[]),
    "body without mass": lambda m: m["bodies"][0].pop("mass"),
    "mass is a list": lambda m: m["bodies"][0].update(mass=[1]),
    "joint type": lambda m: m["joints"][0].update(type="revolut"),
    "force type": lambda m: m["forces"][0].update(type="sprung"),
    "field of another type": lambda m: m["joints"][0].update(pitch=1),
    "frame": lambda m: m["forces"].append({"name": "x", "type": "force", "b": "A", "value": [1, 2], "frame": "wrld"}),
    "direction": lambda m: m["events"][0].update(direction="up"),
    "key of simulation": lambda m: m["simulation"].update(tend=1),
}
for what, change in mistakes.items():
    model = copy.deepcopy(good)
    change(model)
    if validator.is_valid(model):
        fail("the schema allows a mistake: " + what)
sys.exit(bad)
END
