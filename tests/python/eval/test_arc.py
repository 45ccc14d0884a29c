"""ARC: both published forms with three to five options, and wrong files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import write_records

from tempera.errors import BadInput
from tempera.eval.prompts import template_named
from tempera.eval.tasks import Task, read_task

LABELS = ("ABC", "ABCD", "ABCDE", "123", "1234", "12345")


def published(labels: str = "ABCD", key: str = "B", **changes: Any) -> dict[str, Any]:
    """A line of the files of its authors."""
    choices = [{"text": f"option {number}", "label": label} for number, label in enumerate(labels, 1)]
    return {"id": f"q-{labels}-{key}", "question": {"stem": "Which? ", "choices": choices}, "answerKey": key} | changes


def by_columns(labels: str = "ABCD", key: str = "B", **changes: Any) -> dict[str, Any]:
    """A line as Hugging Face's files have it."""
    choices = {"text": [f"option {number}" for number in range(1, len(labels) + 1)], "label": list(labels)}
    return {"id": f"q-{labels}-{key}", "question": "Which? ", "choices": choices, "answerKey": key} | changes


FORMS = pytest.mark.parametrize("form", [published, by_columns])


def read(folder: Path, *records: dict[str, Any]) -> Task:
    return read_task("arc", [write_records(folder / "ARC-Easy-Test.jsonl", list(records))])


@FORMS
def test_options_are_lettered_by_their_order(tmp_path: Path, form: Any) -> None:
    asked = [(labels, key) for labels in LABELS for key in labels]
    task = read(tmp_path, *(form(labels, key) for labels, key in asked))
    assert task.title == "ARC (ARC-Easy-Test)" and task.template == task.raw_template == "boxed-option"
    for (labels, key), problem in zip(asked, task.problems, strict=True):
        letters = "ABCDE"[: len(labels)]
        options = "\n".join(f"{letter}) option {number}" for number, letter in enumerate(letters, 1))
        assert problem.fields == {"problem": "Which?", "options": options} and problem.id == f"q-{labels}-{key}"
        right = letters[labels.index(key)]
        for letter in "ABCDE":
            extracted = task.grader.extract(f"The answer is {letter}. \\boxed{{{letter}}}", True, problem)
            assert extracted == letter and task.grader.judge(extracted, problem).correct == (letter == right)
        prompt = template_named("boxed-option").fill(problem)
        assert f"Which?\n\n{options}" in prompt and "four" not in prompt


@FORMS
@pytest.mark.parametrize(
    ("labels", "key", "said"),
    [
        ("AB", "A", "2 options; three to five are expected"),
        ("ABCDEF", "A", "6 options; three to five are expected"),
        ("ABDC", "A", "the labels are A, B, D, C and not A, B, C or 1, 2, 3 and so on"),
        ("0123", "0", "the labels are 0, 1, 2, 3 and not"),
        ("AB3", "A", "the labels are A, B, 3 and not"),
        ("ABC", "D", 'the field "answerKey" is "D", and the labels are A, B, C'),
        ("1234", "A", 'the field "answerKey" is "A", and the labels are 1, 2, 3, 4'),
        ("ABCD", "AB", 'the field "answerKey" is "AB", and the labels'),
        ("ABCD", "", 'the field "answerKey" is "", and the labels'),
    ],
)
def test_options_that_are_not_arcs_are_refused(tmp_path: Path, form: Any, labels: str, key: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, form(), form(labels, key))
    assert f"ARC-Easy-Test.jsonl, line 2: {said}" in str(refused.value) and "; for arc a line has" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (published(answerKey=2), 'line 1: the field "answerKey" is not text'),
        (published(id=3), 'line 1: the field "id" is not text'),
        (published(question={"choices": []}), 'line 1, field "question": the field "stem" is missing'),
        (published(question={"stem": "?"}), 'line 1, field "question": the field "choices" is not a list of objects'),
        (published(question={"stem": "?", "choices": ["a", "b", "c"]}), 'field "choices" is not a list of objects'),
        (published(question={"stem": "?", "choices": [{"label": "A"}]}), 'field "question": the field "text" is missing'),
        (published(question={"stem": "?", "choices": [{"text": "a"}]}), 'field "question": the field "label" is missing'),
        (by_columns(question=3), 'line 1: the field "question" is not text'),
        (by_columns(choices=[]), 'line 1: the field "choices" is not an object'),
        (by_columns(choices={"text": ["a", "b", "c"]}), 'field "choices": the field "label" is missing'),
        (by_columns(choices={"text": ["a", "b", 3], "label": ["A", "B", "C"]}), 'entry 3 of the field "text" is not text'),
        (by_columns(choices={"text": ["a", "b", "c", "d"], "label": ["A", "B", "C"]}), 'field "choices": 4 texts and 3 labels'),
        (by_columns(choices={"text": ["a", "b", "c"], "label": ["", "AB", "C"]}), "the labels are , AB, C and not"),
    ],
)
def test_a_wrong_record_is_named(tmp_path: Path, record: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, record)
    assert said in str(refused.value) and "; for arc a line has" in str(refused.value)


@FORMS
@pytest.mark.parametrize("name", ["id", "question", "answerKey"])
def test_a_field_that_is_missing_is_named(tmp_path: Path, form: Any, name: str) -> None:
    with pytest.raises(BadInput, match=f'line 1: the field "{name}" is missing'):
        read(tmp_path, {key: value for key, value in form().items() if key != name})


def test_one_file_without_doubles_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match='the id "q-ABCD-B" is there twice'):
        read(tmp_path, published(), by_columns())
    with pytest.raises(BadInput, match="there is no problem; give a file of ARC"):
        read(tmp_path)
    with pytest.raises(BadInput, match="--data: ARC is one file"):
        read_task("arc", [tmp_path / "a", tmp_path / "b"])
