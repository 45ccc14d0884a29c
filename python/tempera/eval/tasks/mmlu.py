"""MMLU: questions of many subjects with four options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tempera.eval.graders.letter import LetterGrader
from tempera.eval.input_files import WrongRecord, read_records, rows, text_field, texts_field
from tempera.eval.problem import Problem
from tempera.eval.tasks.task import Task, expect_different_ids, lettered, title_of_part

_LETTERS = "ABCD"


def _question(where: str, question: str, options: list[str], answer: str) -> tuple[str, list[str], str]:
    if not question.strip():
        raise WrongRecord(where, "the question is empty")
    if answer not in list(_LETTERS):
        raise WrongRecord(where, f'the answer "{answer}" is not a letter from A to D')
    return question.strip(), options, answer


def _of_row(where: str, row: list[str]) -> tuple[str, list[str], str]:
    if len(row) != 6:
        raise WrongRecord(where, f"{len(row)} columns; six are expected")
    return _question(where, row[0], row[1:5], row[5])


def _of_record(where: str, record: dict[str, Any]) -> tuple[str, list[str], str]:
    question = text_field(where, record, "question")
    if "choices" in record:
        options = texts_field(where, record, "choices")
    else:
        options = [text_field(where, record, letter) for letter in _LETTERS]
    if len(options) != 4:
        raise WrongRecord(where, f'the field "choices" has {len(options)} options; four are expected')
    index = record.get("answer")
    if not isinstance(index, int) or isinstance(index, bool):
        return _question(where, question, options, text_field(where, record, "answer"))
    if not 0 <= index <= 3:
        raise WrongRecord(where, f"the answer {index} is not an index from 0 to 3")
    return _question(where, question, options, _LETTERS[index])


def _questions(path: Path) -> Iterator[tuple[str, list[str], str]]:
    if ".csv" in path.suffixes:
        for where, row in rows(path):
            yield _of_row(where, row)
    else:
        for where, record in read_records(path):
            yield _of_record(where, record)


def read_mmlu(paths: list[Path], _subset: str = "") -> Task:
    """Any number of files: CSV of six columns without names, or JSONL with "question", "choices" or "A" to "D", and "answer".

    A question's id is its file's name and its number there.

    Raises BadInput for a row of another length, a field that is missing or of another kind, an answer that is not one of the
    four, two files of one name, and files without a question.
    """
    problems = []
    for path in paths:
        stem = path.name.partition(".")[0]
        for number, (question, options, answer) in enumerate(_questions(path), 1):
            problems.append(Problem(f"{stem}-{number}", {"problem": question, "options": lettered(options)}, answer))
    title = title_of_part("MMLU", paths, problems)
    expect_different_ids(paths, problems)
    return Task("mmlu", title, problems, LetterGrader(), "boxed-letter", "boxed-letter")
