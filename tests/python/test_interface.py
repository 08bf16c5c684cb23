"""The stub file says what the package has."""
import ast
import inspect
import pathlib

import daedalus

STUB = pathlib.Path(daedalus.__file__).with_suffix(".pyi")


def test_stub_names_what_there_is():
    tree = ast.parse(STUB.read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            if node.name == "Table":
                continue
            have = getattr(daedalus, node.name)
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    assert hasattr(have, item.name), f"{node.name}.{item.name}"
        elif isinstance(node, ast.FunctionDef):
            signature = inspect.signature(getattr(daedalus, node.name))
            names = [a.arg for a in node.args.args + node.args.kwonlyargs]
            mine = [p for p, x in signature.parameters.items() if x.kind not in (x.VAR_KEYWORD, x.VAR_POSITIONAL)]
            assert names == mine, node.name


def test_everything_public_is_documented_and_in_the_stub():
    stub = {n.name for n in ast.parse(STUB.read_text()).body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    for name, thing in vars(daedalus).items():
        if name.startswith("_") or inspect.ismodule(thing) or name == "annotations":
            continue
        assert inspect.getdoc(thing), name
        assert name in stub, name
        if inspect.isclass(thing):
            for key, member in vars(thing).items():
                if not key.startswith("_") and inspect.isfunction(member):
                    assert inspect.getdoc(member), f"{name}.{key}"
    assert (STUB.parent / "py.typed").exists()
