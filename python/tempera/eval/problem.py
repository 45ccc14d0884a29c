"""One question of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Problem:
    """A question, its right answer, and what a grader needs beside the two.

    `fields` are the texts that a template may name: {problem} always, {options}, {starter} and {tests} if the task has them.
    """

    id: str
    fields: dict[str, str]
    answer: str
    details: dict[str, Any] = field(default_factory=dict)
