"""What repeats the rows of settings/fields.hpp is what they say: the page, the Python types, and the copy in the package."""

from __future__ import annotations

import json
import subprocess
import sys

from conftest import TREE

from tempera.native import native
from tempera.settings import described, kinds, takes
from tempera.wishes import SAMPLER


def test_what_is_written_from_the_rows_is_up_to_date() -> None:
    rows = native().describe_settings()
    assert described() == json.loads(rows)
    done = subprocess.run([sys.executable, "-m", "tempera.settings", "--check", str(TREE)], input=rows, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_row_that_changes_is_noticed() -> None:
    rows = json.loads(native().describe_settings())
    rows["settings"].append({**rows["settings"][-1], "key": "new_setting"})
    done = subprocess.run(
        [sys.executable, "-m", "tempera.settings", "--check", str(TREE)], input=json.dumps(rows), capture_output=True, text=True
    )
    assert done.returncode == 2
    for file in ("wishes.py", "_settings.py"):
        assert file in done.stderr


def test_arguments_are_the_settings() -> None:
    assert set(SAMPLER) == {*kinds(), "max_tokens"}
    assert takes("ppt", "schedule")
    assert not takes("best-of-n", "rounds")
    assert not takes("given", "horizon")
