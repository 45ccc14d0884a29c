"""Answers that another program drew, from a file, so that they can be graded and reported alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tempera.errors import BadInput
from tempera.eval.evaluation import write_whole
from tempera.eval.input_files import read_records, text_field
from tempera.eval.samplers import Settings
from tempera.eval.sampling import Asked, Drawn, Figures, Prompt, Sampling


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "log_p0": (_is_number, "a number"),
    "tokens": (lambda value: _is_number(value) and isinstance(value, int) and value > 0, "a whole number above 0"),
    "confidence": (_is_number, "a number"),
    "terminated": (lambda value: isinstance(value, bool), "true or false"),
}
_FIELDS = ("id", "answer", *_KINDS)


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
            for name, (is_so, what) in _KINDS.items():
                if record.get(name) is not None and not is_so(record[name]):
                    raise BadInput(where, f'the field "{name}" is not {what}')
            given[identity] = record
        for prompt in prompts:
            if prompt.id not in given:
                raise BadInput(str(self._file), f'there is no answer to "{prompt.id}"')
        lines = (json.dumps(given[prompt.id]) for prompt in prompts)
        write_whole(folder / "given.jsonl", "".join(line + "\n" for line in lines))

    def estimate(self, prompts: list[Prompt], asked: Asked) -> dict[str, Any]:
        raise BadInput("--answers", "hold finished answers", "name a --model to estimate what drawing costs")

    def ladder(self, prompts: list[Prompt], settings: Settings, file: Path) -> tuple[float, ...]:
        raise BadInput("--answers", "are not a model", "nothing can be drawn from them")

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
