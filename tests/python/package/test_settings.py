"""What repeats the rows of settings/fields.hpp is what they say: the page, the Python types, and the copy in the package."""

from __future__ import annotations

import json
import subprocess
import sys

from conftest import TREE

from tempera.native import native
from tempera import settings
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


def test_each_question_about_the_settings_is_answered_by_their_rows() -> None:
    rows = described()
    for setting in rows["settings"]:
        assert settings.default(setting["key"]) == setting["default"] and kinds()[setting["key"]] == setting["kind"]
        takers = [sampler["name"] for sampler in rows["samplers"] if setting["key"] in sampler["takes"]]
        assert list(settings.samplers_taking(setting["key"])) == takers
        for sampler in rows["samplers"]:
            assert takes(sampler["name"], setting["key"]) == (sampler["name"] in takers)
    for sampler in rows["samplers"]:
        assert settings.has_ladder(sampler["name"]) == (sampler["powers"] == "ladder")
    assert {settings.has_ladder(sampler["name"]) for sampler in rows["samplers"]} == {True, False} and not settings.has_ladder("none")
    assert settings.samplers_taking("none") == () and not takes("none", "horizon")


def test_a_page_has_a_row_for_each_setting() -> None:
    found = {
        "settings": [
            {"key": "a", "alias": "b", "help": "A.", "schema": {"minimum": 1, "maximum": 9}, "default": [1.0, 1.5], "default_more": " (x)", "body": True, "beside": False, "config": True, "kind": "powers"},
            {"key": "c", "help": "C.", "schema": {"oneOf": [{"items": {"minimum": 0, "maximum": 3}}, {}]}, "default": None, "default_more": "!", "body": False, "beside": True, "config": False, "kind": "count"},
            {"key": "d", "help": "D.", "schema": {"enum": ["u", "v"]}, "default": 3, "default_more": "", "body": False, "beside": False, "config": True, "kind": "choice"},
            {"key": "e", "help": "E.", "schema": {"enum": ["u", "v", "w", "x"]}, "default": "u", "default_more": "", "body": False, "beside": False, "config": False, "kind": "text"},
            {"key": "f", "help": "F.", "schema": {"enum": ["u", "v", "w"]}, "default": False, "default_more": "", "body": True, "beside": True, "config": True, "kind": "truth"},
        ],
        "samplers": [{"name": "s", "takes": ["a", "c"], "powers": "ladder"}, {"name": "t", "takes": ["a", "d"], "powers": "one"}],
    }  # fmt: skip
    assert [line for line in settings._page(found).splitlines() if line.startswith("| `")] == [
        "| `a`, `b` | A. | 1 to 9 | 1, 1.5 (x) | yes | yes | all |", "| `c` | C. | 0 to 3 |  | body |  | s |", "| `d` | D. | u or v | 3 |  | yes | t |", "| `e` | E. |  | u |  |  |  |",
        "| `f` | F. | u or v or w | False | yes | yes |  |",
    ]  # fmt: skip
    source = "before\n" + settings._MARK + "    old: str\n    older: int\n\n\nclass After:\n    x = 1\n"
    assert settings._types(found, source) == "before\n" + settings._MARK + (
        "    a: Powers | None\n    b: Powers | None\n    c: int | None\n    d: str | None\n    e: str | None\n    f: bool | None\n\n\nclass After:\n    x = 1\n"
    )
    space: dict[str, str] = {}
    exec(settings._copy(found), space)
    assert json.loads(space["TEXT"]) == found
