"""MBPP: short functions that are asked for in words, tested by execution."""

from __future__ import annotations

import ast
from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.graders.function_tests import FunctionTestGrader
from tempera.eval.graders.program_text import parsed
from tempera.eval.input_files import WrongRecord, read_records, text_field, texts_field, whole_number_field
from tempera.eval.problem import Problem
from tempera.eval.tasks.task import Task, expect_different_ids, one_file, title_of_part

# The problems that the authors evaluate on; the others are for prompts, validation and training.
_TEST_SPLIT = range(11, 511)


def _module(where: str, what: str, source: str) -> ast.Module:
    tree = parsed(source)
    if not isinstance(tree, ast.Module):
        raise WrongRecord(where, f"{what} is not Python: see its line {tree}")
    return tree


def _called(where: str, code: str, tests: list[str]) -> str:
    """The function that is asked for: the first that `code` defines and a test calls, the outermost call of a test first."""
    defined = {node.name for node in _module(where, 'the field "code"', code).body if isinstance(node, ast.FunctionDef)}
    trees = [_module(where, f'entry {number} of the field "test_list"', test) for number, test in enumerate(tests, 1)]
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in defined:
                return node.func.id
    raise WrongRecord(where, 'the field "test_list" calls no function that the field "code" defines')


def read_mbpp(paths: list[Path], subset: str = "") -> Task:
    """mbpp.jsonl with "text" and "test_setup_code", or sanitized-mbpp.json with "prompt" and "test_imports".

    The subset `test` is the problems 11 to 510, which the authors evaluate on. The imports, the set-up code and the tests of
    "test_list" are shown in the prompt and run after the answer's function; "challenge_test_list" is not used.

    Raises BadInput for another subset, a field that is missing or of another kind, code that is not Python, tests that call
    no function of "code", two problems of one id, and a file without a problem.
    """
    path = one_file(paths, "MBPP")
    if subset not in ("", "test"):
        raise BadInput("--subset", f'there is no subset "{subset}" of MBPP', "give test, its problems 11 to 510, or leave it out")
    problems = []
    for where, record in read_records(path):
        number = whole_number_field(where, record, "task_id")
        if "prompt" in record:
            asked, before = text_field(where, record, "prompt"), texts_field(where, record, "test_imports")
        else:
            asked, before = text_field(where, record, "text"), [text_field(where, record, "test_setup_code")]
        code, tests = text_field(where, record, "code"), texts_field(where, record, "test_list")
        name = _called(where, code, tests)
        script = "\n".join(filter(None, [*before, *tests]))
        if not subset or number in _TEST_SPLIT:
            fields = {"problem": asked.strip(), "tests": script}
            problems.append(Problem(str(number), fields, code, {"prompt": "", "entry_point": name, "test": script}))
    title = title_of_part("MBPP", paths, problems, "task_id 11 to 510" if subset else "")
    expect_different_ids(paths, problems)
    return Task("mbpp", title, problems, FunctionTestGrader(), "function-tests", "function-tests")
