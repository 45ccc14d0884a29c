"""MATH500, GSM8K and AIME: problems with a short answer."""

from __future__ import annotations

import re
from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.graders.mathematics import MathematicsGrader
from tempera.eval.graders.numeric import IntegerGrader, NumericGrader
from tempera.eval.graders.numbers import number_of
from tempera.eval.graders.plain_text import plain
from tempera.eval.input_files import WrongRecord, read_records, text_field, text_or_number_field
from tempera.eval.problem import Problem
from tempera.eval.tasks.task import Task, expect_count, expect_different_ids, one_file


def read_math500(paths: list[Path], _subset: str = "") -> Task:
    """The 500 problems, as {"prompt", "answer", "id"} or {"problem", "answer", "unique_id"} a record."""
    path = one_file(paths, "MATH500")
    problems = []
    for where, record in read_records(path):
        question = "prompt" if "prompt" in record else "problem"
        name = "unique_id" if "unique_id" in record else "id"
        problems.append(
            Problem(
                text_field(where, record, name),
                {"problem": text_field(where, record, question)},
                text_field(where, record, "answer"),
            )
        )
    expect_count([path], problems, 500, "MATH500")
    expect_different_ids([path], problems)
    return Task("math500", "MATH500", problems, MathematicsGrader(), "boxed-answer", "boxed-answer", "MATH500")


def read_gsm8k(paths: list[Path], _subset: str = "") -> Task:
    """The 1,319 test problems, {"question", "answer"} a line; the answer ends in `#### NUMBER`."""
    path = one_file(paths, "GSM8K")
    problems = []
    for number, (where, record) in enumerate(read_records(path), 1):
        solution = text_field(where, record, "answer")
        gold = re.search(r"#### *(\S[^\n]*)\s*$", solution)
        if gold is None or number_of(gold.group(1)) is None:
            raise WrongRecord(where, 'the field "answer" does not end in "#### NUMBER"')
        problems.append(
            Problem(
                f"gsm8k-{number}",
                {"problem": text_field(where, record, "question")},
                gold.group(1).strip(),
                {"solution": solution},
            )
        )
    expect_count([path], problems, 1319, "the test split of GSM8K")
    return Task("gsm8k", "GSM8K", problems, NumericGrader(), "boxed-number", "boxed-number", "GSM8K")


def _read_aime_year(path: Path, year: str) -> list[Problem]:
    """30 problems. Some mirrors write 336 as $336$ or 336^\\circ; both are read."""
    problems = []
    for number, (where, record) in enumerate(read_records(path), 1):
        question = "question" if "question" in record else "problem"
        gold = text_or_number_field(where, record, "answer")
        if not re.fullmatch(r"[0-9]{1,3} ?°?", plain(gold).strip()):
            raise WrongRecord(where, 'the field "answer" is not an integer from 0 to 999')
        problems.append(
            Problem(f"aime{year}-{number}", {"problem": text_field(where, record, question)}, gold)
        )
    expect_count([path], problems, 30, f"AIME {year}")
    return problems


def read_aime24(paths: list[Path], _subset: str = "") -> Task:
    """AIME I and II of 2024, {"problem", "answer"} a line."""
    problems = _read_aime_year(one_file(paths, "AIME 24"), "24")
    return Task("aime24", "AIME 24", problems, IntegerGrader(), "boxed-integer", "boxed-integer")


def read_aime25(paths: list[Path], _subset: str = "") -> Task:
    """AIME I and II of 2025, {"problem", "answer"} a line."""
    problems = _read_aime_year(one_file(paths, "AIME 25"), "25")
    return Task("aime25", "AIME 25", problems, IntegerGrader(), "boxed-integer", "boxed-integer")


def read_aime(paths: list[Path], _subset: str = "") -> Task:
    """Both years, 2024 first, as the paper counts them: 60 problems."""
    if len(paths) != 2:
        raise BadInput("--data", "AIME 24&25 is two files", "give --data AIME24 --data AIME25, in this order")
    problems = _read_aime_year(paths[0], "24") + _read_aime_year(paths[1], "25")
    return Task("aime", "AIME 24&25", problems, IntegerGrader(), "boxed-integer", "boxed-integer", "AIME 24&25")
