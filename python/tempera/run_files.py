"""The files of a run folder, as they are read by all that reads one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tempera.errors import BadInput


def document(folder: Path, name: str) -> dict[str, Any]:
    """config.json, summary.json or speed.json. Raises BadInput if it is not there."""
    path = folder / name
    if not path.is_file():
        raise BadInput(str(path), "is not there", "the run has not ended; `tempera sample --resume` goes on")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def lines(folder: Path, name: str, mark: str = "") -> Iterator[dict[str, Any]]:
    """The lines of samples.jsonl or events.jsonl in which `mark` is; none if the file is not there."""
    path = folder / name
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as file:
        for line in file:
            # Half a line at the end is of a run that is under way, or that was killed.
            if mark in line and line.endswith("\n"):
                yield json.loads(line)


def mark_of(kind: str) -> str:
    """What is in a line of events.jsonl of this kind, and in no other."""
    return f'"kind":"{kind}"'


def answers_so_far(folder: Path) -> int:
    """How many answers samples.jsonl has."""
    path = folder / "samples.jsonl"
    return path.read_bytes().count(b"\n") if path.is_file() else 0
