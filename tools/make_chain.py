#!/usr/bin/env python3
"""Writes the model of a hanging chain of N rods on revolute joints, for `daedalus run`.

usage: make_chain.py N [spatial] > chain.json

Each rod has mass 1 and length 1; the first hangs at the origin. The chain starts straight, 30 degrees off the horizontal
line. Spatial: the axes of the joints are z and the rod's own y in turn, so that the chain leaves its plane.
"""
import json
import math
import sys


def chain(n, spatial):
    lift = math.radians(-30)
    bodies, points, joints = [], [{"name": "O", "body": "ground", "r": [0, 0] + [0] * spatial}], []
    for k in range(1, n + 1):
        at = [(k - 0.5) * math.cos(lift), (k - 0.5) * math.sin(lift)]
        body = {"name": f"rod{k}", "mass": 1, "inertia": 1 / 12, "r": at, "angle": lift}
        if spatial:
            body = {"name": f"rod{k}", "mass": 1, "inertia": [0.01, 1 / 12, 1 / 12], "r": at + [0],
                    "q": [math.cos(lift / 2), 0, 0, math.sin(lift / 2)], "omega": [0, 0.5, 0] if k == n else [0, 0, 0]}
        joint = {"name": f"pin{k}", "type": "revolute", "a": f"end{k - 1}" if k > 1 else "O", "b": f"top{k}"}
        if spatial:
            joint["axis"] = [0, 0, 1] if k % 2 else [0, 1, 0]
        bodies.append(body)
        points.append({"name": f"top{k}", "body": f"rod{k}", "r": [-0.5, 0] + [0] * spatial})
        points.append({"name": f"end{k}", "body": f"rod{k}", "r": [0.5, 0] + [0] * spatial})
        joints.append(joint)
    return {"daedalus": 1, "kind": "mechanism", "name": f"chain{n}", "dimension": 3 if spatial else 2,
            "doc": f"A chain of {n} rods, written by tools/make_chain.py.", "gravity": [0, -9.81] + [0] * spatial,
            "bodies": bodies, "points": points, "joints": joints,
            "sensors": [{"name": "E", "value": "energy.total", "unit": "J"}],
            "simulation": {"t1": 1, "rtol": 1e-8, "atol": 1e-8, "output": {"every": 0.02}}}


def main():
    words = sys.argv[1:]
    if not words or not words[0].isdigit() or int(words[0]) < 1 or words[1:] not in ([], ["spatial"]):
        sys.exit(__doc__)
    json.dump(chain(int(words[0]), words[1:] == ["spatial"]), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
