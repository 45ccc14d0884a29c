"""The site is built without a warning, and both its builder and what runs its snippets notice planted mistakes.

TEMPERA names the command (default: build/release/tempera)."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[3]
TEMPERA = os.environ.get("TEMPERA", str(TREE / "build/release/tempera"))
BINDINGS = TREE / "build/release/python/bindings"


def ran(tree: pathlib.Path, program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, tree / "docs" / program, "--tempera", TEMPERA, "--bindings", BINDINGS, *arguments]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


@pytest.fixture
def copy(tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of the tree whose pages may be changed."""
    for path in TREE.iterdir():
        if path.name == "docs":
            shutil.copytree(path, tmp_path / path.name)
        elif path.is_file():
            shutil.copy(path, tmp_path)
        elif path.name != "build" and not path.name.startswith("."):
            (tmp_path / path.name).symlink_to(path)
    return tmp_path


def test_the_site_is_built_without_a_warning() -> None:
    done = ran(TREE, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    html = TREE / "build/site/html"
    # Each kind of page, and each page that a program prints.
    for page in ("tutorials/first_counterexample", "howto/serve", "explanation/promises", "project/hacking"):
        assert (html / f"{page}.html").is_file(), page
    for page, text in {
        "reference/commands": "tempera certify-run",
        "reference/settings": "restart_weights",
        "reference/presets": "qwen3/math500",
        "reference/all_claims": "absorbing-law",
        "reference/http": "POST /v1/completions",
        "reference/cpp": "log_p0",
        "reference/python_api": "from_transformers",
    }.items():
        assert text in (html / f"{page}.html").read_text(), page
    assert (html / "searchindex.js").stat().st_size > 100_000


def test_a_python_without_sphinx_goes_on_in_the_one_that_has_it(copy: pathlib.Path) -> None:
    alone = [sys.executable, "-S", copy / "docs/build", "--tempera", TEMPERA]
    done = subprocess.run(alone, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "./test installs it" in done.stderr
    python = copy / "build/venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho again $2 $3\n")
    python.chmod(0o755)
    done = subprocess.run(alone, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"again --tempera {TEMPERA}\n"), done.stderr


@pytest.mark.parametrize(
    "page, text, said",
    [
        ("docs/howto/chat.md", "[gone](gone.md)", ["leads to no file"]),
        ("docs/howto/unlisted.md", "# A page", ["docs/index.md lists no howto/unlisted.md"]),
        ("docs/howto/chat.md", "[gone](sample.md#no-heading)\n\n```{nothing}\n```", ["no-heading", "nothing"]),
    ],
)
def test_a_planted_mistake_ends_the_build(copy: pathlib.Path, page: str, text: str, said: list[str]) -> None:
    with open(copy / page, "a") as file:
        file.write(f"\n{text}\n")
    done = ran(copy, "build")
    assert done.returncode == 1
    assert all(one in done.stdout + done.stderr for one in said)


def test_notebooks_are_kept_as_they_are_before_a_run() -> None:
    for path in (TREE / "docs").rglob("*.ipynb"):
        cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
        assert cells and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells), path
        assert any((TREE / "build/site/html/_downloads").rglob(path.name)), path


def test_the_snippets_of_all_pages_print_what_the_pages_show() -> None:
    done = ran(TREE, "snippets")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].endswith(" 0 wrong")


@pytest.mark.parametrize(
    "block, said",
    [
        ("```console\n$ echo one\ntwo\n```", "prints something else"),
        ("```console\n$ false\n```", "ended with 1 and not 0"),
        ("```console\n$ true  # exit code 2\n```", "ended with 0 and not 2"),
        ("```console\none\n```", "is not a command"),
        ("```console\n$ readlink proofs\n/home/me/tempera/proofs\n```", "the folder of this tree"),
        ("```pycon\n>>> 1 + 1\n3\n```", "Expected"),
        ("<!-- runs: 0 -->\n```\nfalse\ntrue\n```", "ended with 1 and not 0"),
        ("```\ntempera sample --rouns 3\n```", "no option --rouns"),
        ("    tempera samples x\n```\ntempera samples x\n```", "no command 'tempera samples'"),
        ("```\ntempera sample x \\\n  --rouns 3\n```", "no option --rouns"),
    ],
)
def test_a_planted_snippet_is_noticed(copy: pathlib.Path, block: str, said: str) -> None:
    page = copy / "docs/howto/planted.md"
    page.write_text(f"# A page\n\n{block}\n")
    done = ran(copy, "snippets", page)
    assert done.returncode == 1
    assert said in done.stdout


@pytest.mark.parametrize(
    "block",
    [
        "<!-- varies: \\d+ -->\n```console\n$ echo 1 of 2\n3 of 4\n```",
        "<!-- file: name.txt -->\n```\ntext\n```\n\n```console\n$ cat name.txt\ntext\n```",
        "<!-- needs: no_such_package -->\n```console\n$ false\n```",
        "<!-- runs: 3 -->\n```\necho what is not shown\nexit 3\n```",
        "```console\n$ echo one \\\n  two\none two\n$ tempera --round 2>/dev/null  # exit code 2\n```",
        "```pycon\n>>> import tempera\n>>> tempera.exact.FiniteModel.open('toy_models/four_state.json').power_law(horizon=2, power=2)\nLaw({'a a': 1/6, ...})\n```",
        "```\ntempera sample PROMPT --rounds 3 | other --rouns\n```",
    ],
)
def test_what_a_page_may_write(copy: pathlib.Path, block: str) -> None:
    page = copy / "docs/howto/planted.md"
    page.write_text(f"# A page\n\n{block}\n")
    done = ran(copy, "snippets", page)
    assert done.returncode == 0, done.stdout
    assert ("SKIPPED" in done.stdout) == ("needs" in block)


def test_write_renews_a_page_and_keeps_what_failed(copy: pathlib.Path) -> None:
    page = copy / "docs/howto/planted.md"
    page.write_text("# A page\n\n```console\n$ echo one\ntwo\n$ false\nkept\n```\n")
    assert ran(copy, "snippets", "--write", page).returncode == 1
    assert page.read_text() == "# A page\n\n```console\n$ echo one\none\n$ false\nkept\n```\n"
