"""ARC: questions of science with three to five options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tempera.eval.graders.letter import LetterGrader
from tempera.eval.input_files import WrongRecord, read_records, text_field, texts_field
from tempera.eval.problem import Problem
from tempera.eval.tasks.task import Task, expect_different_ids, lettered, one_file, title_of_part

_LETTERS, _DIGITS = "ABCDE", "12345"


def _published(where: str, question: dict[str, Any]) -> tuple[str, list[str], list[str]]:
    """The stem, the texts and the labels of {"stem", "choices": [{"text", "label"}]}."""
    inside = f'{where}, field "question"'
    choices = question.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise WrongRecord(inside, 'the field "choices" is not a list of objects')
    texts, labels = ([text_field(inside, choice, name) for choice in choices] for name in ("text", "label"))
    return text_field(inside, question, "stem"), texts, labels


def _by_columns(where: str, record: dict[str, Any]) -> tuple[str, list[str], list[str]]:
    """The same of {"question", "choices": {"text": [...], "label": [...]}}."""
    question, choices = text_field(where, record, "question"), record.get("choices")
    if not isinstance(choices, dict):
        raise WrongRecord(where, 'the field "choices" is not an object')
    inside = f'{where}, field "choices"'
    texts, labels = (texts_field(inside, choices, name) for name in ("text", "label"))
    if len(texts) != len(labels):
        raise WrongRecord(inside, f"{len(texts)} texts and {len(labels)} labels")
    return question, texts, labels


def read_arc(paths: list[Path], _subset: str = "") -> Task:
    """ARC-Easy or ARC-Challenge, as its authors or Hugging Face publish it; "answerKey" is one of the labels.

    The labels are A, B, C and so on, or 1, 2, 3 and so on. Options are shown in their order with letters, so that "2" is B.

    Raises BadInput for a field that is missing or of another kind, fewer than three or more than five options, labels in
    another order, an "answerKey" that is not a label, two questions of one id, and a file without a question.
    """
    path = one_file(paths, "ARC")
    problems = []
    for where, record in read_records(path):
        if isinstance(record.get("question"), dict):
            question, options, labels = _published(where, record["question"])
        else:
            question, options, labels = _by_columns(where, record)
        if not 3 <= len(options) <= 5:
            raise WrongRecord(where, f"{len(options)} options; three to five are expected")
        if labels not in (list(_LETTERS[: len(labels)]), list(_DIGITS[: len(labels)])):
            raise WrongRecord(where, f"the labels are {', '.join(labels)} and not A, B, C or 1, 2, 3 and so on")
        key = text_field(where, record, "answerKey")
        if key not in labels:
            raise WrongRecord(where, f'the field "answerKey" is "{key}", and the labels are {", ".join(labels)}')
        fields = {"problem": question.strip(), "options": lettered(options)}
        problems.append(Problem(text_field(where, record, "id"), fields, _LETTERS[labels.index(key)]))
    title = title_of_part("ARC", paths, problems)
    expect_different_ids(paths, problems)
    return Task("arc", title, problems, LetterGrader(_LETTERS[-1]), "boxed-option", "boxed-option")
