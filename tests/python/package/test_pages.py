"""The Python of docs/howto/python.md and python_models.md runs as it is written, from the root of the source tree."""
import os
import re

import pytest
from conftest import TREE


@pytest.mark.parametrize("page", ["docs/howto/python.md", "docs/howto/python_models.md"])
def test_every_block_runs(page, monkeypatch, tmp_path):
    text = (TREE / page).read_text()
    blocks = [(match.group(1), text[: match.start()].count("\n")) for match in re.finditer(r"```python\n(.*?)```", text, re.S)]
    assert blocks
    monkeypatch.chdir(tmp_path)
    os.symlink(TREE / "toy_models", tmp_path / "toy_models")
    names = {"__name__": "page"}
    for block, lines in blocks:
        # In one room, in their order, with their own lines.
        exec(compile("\n" * (lines + 1) + block, page, "exec"), names)
