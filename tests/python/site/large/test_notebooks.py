"""The notebooks of docs/tutorials are executed, and print what is exact or fixed by a seed."""

from __future__ import annotations

import os
import pathlib
import runpy

import nbclient
import nbformat
import pytest

TREE = pathlib.Path(__file__).resolve().parents[4]
BINDINGS = pathlib.Path(os.environ.get("TEMPERA", str(TREE / "build/release/tempera"))).parent / "python/bindings"
COUNTEREXAMPLE = """\
samples its target: False
one step moves it by 200/1168767
(a b a) -> (b e) flows 1/84, back 1/42; one step changes the mass of (b e) from 2/7 to 11/42
on horizon 3, {"name":"model","vocabulary":["a","b","e"],"terminal":["e"],"next":{"":{"a":"1/2","b":"1/2"},"a":{"b":"1"}},"default":{"a":"1/2","e":"1/2"}}
samples its target: True
one step moves it by 0
"""
# The sums themselves follow the counts: seed 1 fixes every bit of them.
TEN_SUMS = """\
10 sums such as 3+9+2+1+7+2+3+3?
greedy      0 of 10 right,   4.0 decode tokens an answer
the model   2 of 10 right,  14.2 decode tokens an answer
PPT        10 of 10 right, 553.6 decode tokens an answer
"""


def printed(name: str, python: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYTHONPATH", str(python))
    book = nbformat.read(TREE / "docs/tutorials" / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(TREE)}}).execute()
    return "".join(output["text"] for cell in book.cells for output in cell.get("outputs", []) if output.get("name") == "stdout")


@pytest.mark.parametrize("name, begins", [("counterexample", COUNTEREXAMPLE), ("ten_sums", TEN_SUMS)])
def test_a_notebook_prints_what_is_exact(name: str, begins: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = runpy.run_path(str(TREE / "docs/build"))["package"](BINDINGS, tmp_path)
    said = printed(name, package, monkeypatch)
    assert said.startswith(begins), said
    assert said == begins or name == "ten_sums"


def test_every_notebook_is_executed() -> None:
    assert {path.stem for path in (TREE / "docs").rglob("*.ipynb")} == {"counterexample", "ten_sums"}
