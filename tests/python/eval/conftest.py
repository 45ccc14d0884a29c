"""What the tests share."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def write_records(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write_at_one_time(path: Path, text: str) -> None:
    """Writes a file whose time is always the same, so that only its length and its bytes say that it has changed."""
    path.write_text(text)
    os.utime(path, (1_700_000_000, 1_700_000_000))


class Page(HTMLParser):
    """Checks that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="session")
def tempera() -> str:
    """The command: $TEMPERA, or the release build. Without it the tests fail: they do not skip."""
    command = Path(os.environ.get("TEMPERA", ROOT / "build/release/tempera"))
    assert command.is_file(), f"{command} is not built"
    return str(command)


@pytest.fixture(scope="session")
def worked_sum() -> Path:
    return ROOT / "toy_models/worked_sum"


def _namespaces() -> bool:
    """True if bubblewrap works here at all; that ours contains programs is what the tests find out."""
    bwrap = shutil.which("bwrap")
    return bwrap is not None and not subprocess.run([bwrap, "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True).returncode


needs_sandbox = pytest.mark.skipif(not _namespaces(), reason="bubblewrap cannot make namespaces here: no program was contained")
