"""MMLU: rows and records in each published form, several files, and wrong ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import write_records

from tempera.errors import BadInput
from tempera.eval.tasks import read_task

ROWS = 'Which is even?,1,2,3,5,B\r\n"Which is, ""odd"",\nand small?",0,2,4,1,D\r\n'
RECORDS = [
    {"question": "Which is even?", "subject": "numbers", "choices": ["1", "2", "3", "5"], "answer": 1},
    {"question": 'Which is, "odd",\nand small?', "A": "0", "B": "2", "C": "4", "D": "1", "answer": "D"},
]


def table(path: Path, text: str = ROWS) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("form", ["numbers_test.csv", "numbers_test.csv.gz", "numbers_test.jsonl", "numbers_test.json"])
def test_each_form_is_read_to_the_same_questions(tmp_path: Path, form: str) -> None:
    path = tmp_path / form
    if ".csv" in form:
        table(path)
    elif form.endswith(".jsonl"):
        write_records(path, RECORDS)
    else:
        path.write_text(json.dumps(RECORDS))
    task = read_task("mmlu", [path])
    assert task.title == "MMLU (numbers_test)" and task.template == task.raw_template == "boxed-letter"
    first, second = task.problems
    assert (first.id, first.answer) == ("numbers_test-1", "B") and (second.id, second.answer) == ("numbers_test-2", "D")
    assert first.fields == {"problem": "Which is even?", "options": "A) 1\nB) 2\nC) 3\nD) 5"}
    assert second.fields == {"problem": 'Which is, "odd",\nand small?', "options": "A) 0\nB) 2\nC) 4\nD) 1"}
    for said, correct in (("\\boxed{B}", True), ("\\boxed{C}", False), ("\\boxed{E}", False)):
        extracted = task.grader.extract(said, True, first)
        assert (extracted is not None and task.grader.judge(extracted, first).correct) == correct, said


def test_an_index_counts_from_0(tmp_path: Path) -> None:
    records = [RECORDS[0] | {"answer": index} for index in range(4)]
    assert [problem.answer for problem in read_task("mmlu", [write_records(tmp_path / "m.jsonl", records)]).problems] == list("ABCD")


def test_any_number_of_files_is_one_task(tmp_path: Path) -> None:
    paths = [table(tmp_path / "algebra_test.csv"), write_records(tmp_path / "law_test.jsonl", RECORDS)]
    task = read_task("mmlu", paths)
    assert task.title == "MMLU (2 files)"
    assert [problem.id for problem in task.problems] == ["algebra_test-1", "algebra_test-2", "law_test-1", "law_test-2"]
    with pytest.raises(BadInput, match='the id "algebra_test-1" is there twice'):
        read_task("mmlu", paths[:1] * 2)
    with pytest.raises(BadInput, match="there is no problem; give a file of MMLU"):
        read_task("mmlu", [table(tmp_path / "empty.csv", "\n")])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("?,1,2,3,A", "5 columns; six are expected"),
        ("?,1,2,3,4,A,numbers", "7 columns; six are expected"),
        ("question,A,B,C,D,answer", 'the answer "answer" is not a letter from A to D'),
        ("?,1,2,3,4,E", 'the answer "E" is not a letter from A to D'),
        ("?,1,2,3,4,AB", 'the answer "AB" is not a letter from A to D'),
        ("?,1,2,3,4,", 'the answer "" is not a letter from A to D'),
        (" ,1,2,3,4,A", "the question is empty"),
        ('"' + "x" * 200_000, "is not CSV: "),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_task("mmlu", [table(tmp_path / "m.csv", f"?,1,2,3,4,A\n{line}\n")])
    assert f"m.csv, line 2: {said}" in str(refused.value) and "; for mmlu a row of CSV is" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer": 4}, "the answer 4 is not an index from 0 to 3"),
        ({"answer": -1}, "the answer -1 is not an index from 0 to 3"),
        ({"answer": True}, 'the field "answer" is not text'),
        ({"answer": 1.0}, 'the field "answer" is not text'),
        ({"answer": "1"}, 'the answer "1" is not a letter from A to D'),
        ({"answer": "b"}, 'the answer "b" is not a letter from A to D'),
        ({"choices": ["1", "2", "3"]}, 'the field "choices" has 3 options; four are expected'),
        ({"choices": ["1", "2", "3", "4", "5"]}, 'the field "choices" has 5 options; four are expected'),
        ({"choices": ["1", "2", "3", 4]}, 'entry 4 of the field "choices" is not text'),
        ({"choices": "1234"}, 'the field "choices" is not a list'),
        ({"question": ""}, "the question is empty"),
    ],
)
def test_a_wrong_record_is_named(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_task("mmlu", [write_records(tmp_path / "m.jsonl", [RECORDS[0], RECORDS[0] | changes])])
    assert f"m.jsonl, line 2: {said}" in str(refused.value) and "; for mmlu a row of CSV is" in str(refused.value)


@pytest.mark.parametrize(("form", "name"), [(form, name) for form in (0, 1) for name in RECORDS[form] if name not in ("subject", "choices")])
def test_a_field_that_is_missing_is_named(tmp_path: Path, form: int, name: str) -> None:
    record = {key: value for key, value in RECORDS[form].items() if key != name}
    with pytest.raises(BadInput, match=f'line 1: the field "{name}" is missing'):
        read_task("mmlu", [write_records(tmp_path / "m.jsonl", [record])])
