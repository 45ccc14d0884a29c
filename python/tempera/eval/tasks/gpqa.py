"""GPQA-Diamond: questions with four options."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tempera.eval.graders.letter import LetterGrader
from tempera.eval.input_files import WrongRecord, rows
from tempera.eval.problem import Problem
from tempera.eval.tasks.task import Task, expect_count, expect_different_ids, lettered, one_file

_OPTIONS = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")


def shuffled_positions(identity: str, count: int = 4) -> list[int]:
    """A permutation that a question's id decides: positions ordered by the SHA-256 of id and position.

    It does not depend on which other questions are asked, or in which order.

    >>> shuffled_positions("rec06pnAkLOr2t2mp") == shuffled_positions("rec06pnAkLOr2t2mp")
    True
    >>> sorted(shuffled_positions("any id"))
    [0, 1, 2, 3]
    """

    def rank(position: int) -> bytes:
        return hashlib.sha256(f"{identity}\0{position}".encode()).digest()

    return sorted(range(count), key=rank)


def read_gpqa(paths: list[Path], _subset: str = "") -> Task:
    """The 198 questions of gpqa_diamond.csv, with the columns that its authors gave it."""
    path = one_file(paths, "GPQA-Diamond")
    found = rows(path)
    _, columns = next(found, ("", []))
    for name in ("Question", "Record ID", *_OPTIONS):
        if name not in columns:
            raise WrongRecord(f"{path}, line 1", f'the column "{name}" is missing')
    problems = []
    for where, values in found:
        row = dict(zip(columns, values))
        for name in ("Question", "Record ID", *_OPTIONS):
            if not row.get(name, "").strip():
                raise WrongRecord(where, f'the column "{name}" is empty')
        identity = row["Record ID"].strip()
        order = shuffled_positions(identity)
        options = [row[_OPTIONS[position]].strip() for position in order]
        problems.append(
            Problem(
                identity,
                {
                    "problem": row["Question"].strip(),
                    "options": lettered(options),
                },
                "ABCD"[order.index(0)],
            )
        )
    expect_count([path], problems, 198, "GPQA-Diamond")
    expect_different_ids([path], problems)
    return Task("gpqa", "GPQA-Diamond", problems, LetterGrader(), "boxed-letter", "boxed-letter", "GPQA")
