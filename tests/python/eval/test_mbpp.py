"""MBPP: both published forms, the function that is asked for, the tests as they are shown and run, and wrong files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import needs_sandbox, write_records

from tempera.errors import BadInput
from tempera.eval.graders.program_text import function_program
from tempera.eval.prompts import template_named
from tempera.eval.tasks import Task, read_task


def full(number: int, **changes: Any) -> dict[str, Any]:
    """A line as in mbpp.jsonl, whose lines of code end in CR and LF."""
    return {
        "text": f"Write a function to add {number}.",
        "code": f"def add(x):\r\n    return x + {number}",
        "task_id": number,
        "test_setup_code": "",
        "test_list": [f"assert add(1) == {number + 1}", f"assert add(-{number}) == 0"],
        "challenge_test_list": ["assert add(1) == 0"],
    } | changes


def sanitized(number: int, **changes: Any) -> dict[str, Any]:
    """A record as in sanitized-mbpp.json."""
    return {
        "source_file": "a notebook",
        "task_id": number,
        "prompt": f"Write a function to add {number}.",
        "code": f"def add(x):\n    return x + {number}",
        "test_imports": ["import math"],
        "test_list": [f"assert math.isclose(add(1), {number + 1})"],
    } | changes


def read(folder: Path, *records: dict[str, Any], subset: str = "") -> Task:
    return read_task("mbpp", [write_records(folder / "mbpp.jsonl", list(records))], subset)


def test_both_published_forms_are_read(tmp_path: Path) -> None:
    lines = read(tmp_path, full(2), full(11))
    assert lines.title == "MBPP (mbpp)" and [problem.id for problem in lines.problems] == ["2", "11"]
    script = "assert add(1) == 12\nassert add(-11) == 0"
    problem = lines.problems[1]
    assert problem.fields == {"problem": "Write a function to add 11.", "tests": script}
    assert problem.details == {"prompt": "", "entry_point": "add", "test": script}
    array = tmp_path / "sanitized-mbpp.json"
    array.write_text(json.dumps([sanitized(7)]))
    task = read_task("mbpp", [array])
    assert task.title == "MBPP (sanitized-mbpp)"
    assert task.problems[0].fields["tests"] == "import math\nassert math.isclose(add(1), 8)" == task.problems[0].details["test"]
    # What is shown to the model, in a chat and without one.
    assert task.template == task.raw_template == "function-tests"
    asked = template_named("function-tests").fill(problem)
    assert "Write a function to add 11." in asked and f"```python\n{script}\n```" in asked


def test_the_test_split_is_that_of_the_authors(tmp_path: Path) -> None:
    task = read(tmp_path, *(full(number) for number in (10, 11, 510, 511)), subset="test")
    assert [problem.id for problem in task.problems] == ["11", "510"]
    assert task.title == "MBPP (mbpp, task_id 11 to 510)"
    with pytest.raises(BadInput, match="there is no problem in task_id 11 to 510"):
        read(tmp_path, full(10), full(511), subset="test")
    with pytest.raises(BadInput, match='--subset: there is no subset "train" of MBPP; give test'):
        read(tmp_path, full(11), subset="train")


@pytest.mark.parametrize(
    ("code", "tests", "name"),
    [
        ("def help(x): pass\ndef f(x): pass", ["assert set(f((1, 2))) == set((1,))"], "f"),
        ("class Pair: pass\ndef chain(a): pass", ["assert chain([Pair(), Pair()]) == 2"], "chain"),
        ("def decode(x): pass\ndef encode(x): pass", ["assert encode(decode(1)) == 1"], "encode"),
        ("def sum(a, b): pass", ["assert sum(1, 2) == 3"], "sum"),
        ("def f(x): pass", ["x = 3", "assert f(x)"], "f"),
    ],
)
def test_the_function_is_the_one_that_the_tests_call(tmp_path: Path, code: str, tests: list[str], name: str) -> None:
    assert read(tmp_path, full(1, code=code, test_list=tests)).problems[0].details["entry_point"] == name


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task_id": "1"}, 'the field "task_id" is not a whole number'),
        ({"task_id": True}, 'the field "task_id" is not a whole number'),
        ({"text": None}, 'the field "text" is not text'),
        ({"code": 3}, 'the field "code" is not text'),
        ({"code": "x = 1\ndef f("}, 'the field "code" is not Python: see its line 2'),
        ({"test_setup_code": ["import math"]}, 'the field "test_setup_code" is not text'),
        ({"test_list": "assert add(1)"}, 'the field "test_list" is not a list'),
        ({"test_list": ["assert add(1)", 3]}, 'entry 2 of the field "test_list" is not text'),
        ({"test_list": ["assert add(1)", "assert"]}, 'entry 2 of the field "test_list" is not Python'),
        ({"test_list": []}, 'the field "test_list" calls no function that the field "code" defines'),
        ({"test_list": ["assert other(1)"]}, 'the field "test_list" calls no function that the field "code" defines'),
        ({"prompt": "?"}, 'the field "test_imports" is missing'),
        ({"prompt": "?", "test_imports": [1]}, 'entry 1 of the field "test_imports" is not text'),
    ],
)
def test_a_wrong_record_is_named(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, full(1), full(2, **changes))
    assert f"mbpp.jsonl, line 2: {said}" in str(refused.value) and "; for mbpp a record has" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["task_id", "text", "code", "test_list", "test_setup_code"])
def test_a_field_that_is_missing_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=f'line 1: the field "{name}" is missing'):
        read(tmp_path, {key: value for key, value in full(1).items() if key != name})


def test_two_problems_of_one_id_and_none_at_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match='the id "3" is there twice'):
        read(tmp_path, full(3), full(3))
    with pytest.raises(BadInput, match="mbpp.jsonl: there is no problem; give a file of MBPP"):
        read(tmp_path)


def test_without_a_prompt_the_answer_has_to_define_the_function() -> None:
    for answer in ("    return x", "x): return 1", "return x", "def other(x):\n    return x", "It adds."):
        assert "def add" not in function_program(answer, "", "add")


@needs_sandbox
@pytest.mark.parametrize(
    ("answer", "correct"),
    [
        ("So:\n```python\nfrom math import inf\n\ndef add(x):\n    return x + 3\n```\nIt adds.", True),
        ("def add(x):\n    return x + 3\n\nassert add(1) == 5\n\nThis adds.", True),
        ("```python\nadd = lambda x: x + 3\n```", True),
        ("[BEGIN]\ndef add(x):\n    return x + 3\n[DONE]", True),
        ("```python\ndef add(x):\n    return 4\n```", False),
        ("```python\ndef add(x):\n    return 0\n```", False),
        ("```python\ndef add(x):\n    raise SystemExit\n```", False),
        ("```python\ndef add(x):\n    import os; os._exit(0)\n```", False),
        ("```python\ndef plus(x):\n    return x + 3\n```", False),
        ("I cannot.", False),
    ],
)
def test_an_answer_is_judged_by_all_tests(tmp_path: Path, answer: str, correct: bool) -> None:
    task = read(tmp_path, full(3))
    problem = task.problems[0]
    program = task.grader.extract(answer, True, problem)
    assert program is not None
    verdict = task.grader.judge(program, problem)
    assert (verdict.correct, verdict.failure) == (correct, "")


@needs_sandbox
def test_set_up_code_and_imports_are_there_for_the_tests(tmp_path: Path) -> None:
    """The set-up code may need a class of the answer, so it runs after it."""
    code = "class Node:\n    def __init__(self, n):\n        self.n = n\n\ndef value(node):\n    return node.n"
    setup = full(1, code=code, test_setup_code="root = Node(1) \r\nroot.n = 4", test_list=["assert value(root) == 4"])
    task = read(tmp_path, setup, sanitized(2))
    for problem in task.problems:
        program = task.grader.extract(f"```python\n{problem.answer}\n```", True, problem)
        assert program is not None and task.grader.judge(program, problem).correct, problem.id
