"""Answers that another program drew, from a file, so that they can be graded and reported alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tempera.errors import BadInput
from tempera.eval.evaluation import write_whole
from tempera.eval.input_files import read_records, text_field
from tempera.eval.sampling import Asked, Drawn, Figures, Prompt, Sampling

_FIELDS = ("id", "answer", "log_p0", "tokens", "confidence", "terminated")


class GivenAnswers(Sampling):
    """{"id", "answer"} a line, one for each problem; "log_p0", "tokens", "confidence" and "terminated" if known."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file

    def presets(self) -> dict[str, dict[str, Any]]:
        return {}

    def draw(self, prompts: list[Prompt], asked: Asked, folder: Path, progress: Callable[[int], None]) -> None:
        if self._file is None:
            raise BadInput(str(folder), "has no answers yet", "name their file with --answers")
        given = {}
        for where, record in read_records(self._file):
            for name in record:
                if name not in _FIELDS:
                    raise BadInput(where, f'the field "{name}" has no meaning here', f"give {', '.join(_FIELDS)}")
            identity = text_field(where, record, "id")
            if identity in given:
                raise BadInput(where, f'the id "{identity}" is there twice')
            text_field(where, record, "answer")
            for name, kinds in (("log_p0", (int, float)), ("tokens", (int,)), ("confidence", (int, float)), ("terminated", (bool,))):
                if not isinstance(record.get(name), (*kinds, type(None))):
                    raise BadInput(where, f'the field "{name}" is of the wrong kind')
            given[identity] = record
        for prompt in prompts:
            if prompt.id not in given:
                raise BadInput(str(self._file), f'there is no answer to "{prompt.id}"')
        lines = (json.dumps(given[prompt.id]) for prompt in prompts)
        write_whole(folder / "given.jsonl", "".join(line + "\n" for line in lines))

    def done(self, folder: Path) -> int:
        return 0

    def records(self, folder: Path) -> list[Drawn]:
        records = []
        for _, record in read_records(folder / "given.jsonl"):
            ended = record.get("terminated")
            records.append(
                Drawn(
                    record["id"],
                    0,
                    record["answer"],
                    record.get("log_p0"),
                    record.get("tokens"),
                    True if ended is None else ended,
                    record.get("confidence"),
                )
            )
        return records

    def figures(self, folder: Path) -> Figures:
        return Figures({}, {}, {})
