"""The stubs name what the extensions have, no more and no less, with the same arguments. mypy holds the package against them."""
import ast
import importlib
import inspect
import pathlib
import re

import pytest

import tempera


def arguments(function):
    """The names of the arguments that nanobind prints of a function, the object itself left out."""
    signature, inner = getattr(function, "__nb_signature__")[0][0], 1
    while inner:  # the types within types have names too
        signature, inner = re.subn(r"\[[^][]*\]", "", signature)
    names = re.findall(r"(?:\(|, )(\w+)(?=[:,)=])", signature.partition(" -> ")[0])
    return [name for name in names if name != "self"]


@pytest.mark.parametrize("name", ["_tempera", "_exact"])
def test_stubs_and_extensions_agree(name):
    module = importlib.import_module(f"tempera.{name}")
    stub = ast.parse(next(pathlib.Path(folder, f"{name}.pyi") for folder in tempera.__path__).read_text())
    told = {one.name: one for one in stub.body if isinstance(one, (ast.ClassDef, ast.FunctionDef))}
    assert set(told) == {one for one in vars(module) if not one.startswith("__")}
    for known, node in told.items():
        if isinstance(node, ast.FunctionDef):
            assert [one.arg for one in node.args.args] == arguments(getattr(module, known)), known
            continue
        members = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef) and one.name != "__init__"}
        of_class = vars(getattr(module, known))
        assert set(members) == {one for one in of_class if not one.startswith("__")}, known
        for member, function in members.items():
            decorators = {decorator.id for decorator in function.decorator_list}
            assert ("property" in decorators) == inspect.isdatadescriptor(of_class[member]), (known, member)
            if "property" not in decorators:
                expected = [one.arg for one in function.args.args if one.arg != "self"]
                assert expected == arguments(getattr(getattr(module, known), member)), (known, member)
