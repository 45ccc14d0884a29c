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
        raise BadInput(str(path), "is not there", "the run has not ended; `tempera sample --resume` continues it")
    return _record(path.read_bytes(), str(path))


def lines(folder: Path, name: str, mark: str = "") -> Iterator[dict[str, Any]]:
    """The lines of samples.jsonl or events.jsonl in which `mark` is; none if the file is not there."""
    path = folder / name
    if not path.is_file():
        return
    sought = mark.encode()
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            # Half a line at the end is of a run that is under way, or that was killed.
            if sought in line and line.endswith(b"\n"):
                yield _record(line, f"{path}, line {number}")


def _record(text: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BadInput(where, "is damaged: it is not a JSON object", "draw the run again, into another folder")
    return found


def mark_of(kind: str) -> str:
    """The fields that lines of events.jsonl of this kind have, and no others."""
    return f'"kind":"{kind}"'


def answers_so_far(folder: Path) -> int:
    """How many answers samples.jsonl has."""
    path = folder / "samples.jsonl"
    return path.read_bytes().count(b"\n") if path.is_file() else 0
