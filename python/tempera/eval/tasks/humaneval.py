"""HumanEval: functions to complete, tested by execution."""

from __future__ import annotations

from pathlib import Path

from tempera.eval.graders.function_tests import FunctionTestGrader
from tempera.eval.input_files import WrongRecord, read_records, text_field
from tempera.eval.problem import Problem
from tempera.eval.tasks.task import Task, expect_count, expect_different_ids, one_file


def read_humaneval(paths: list[Path], _subset: str = "") -> Task:
    """The 164 problems of HumanEval.jsonl(.gz), with the fields that its authors gave it."""
    path = one_file(paths, "HumanEval")
    problems = []
    for where, record in read_records(path):
        prompt = text_field(where, record, "prompt")
        entry_point = text_field(where, record, "entry_point")
        if f"def {entry_point}(" not in prompt:
            raise WrongRecord(where, f'the field "prompt" does not define "{entry_point}"')
        problems.append(
            Problem(
                text_field(where, record, "task_id"),
                {"problem": prompt},
                text_field(where, record, "canonical_solution"),
                {"prompt": prompt, "entry_point": entry_point, "test": f"{text_field(where, record, 'test')}\n\ncheck({entry_point})\n"},
            )
        )
    expect_count([path], problems, 164, "HumanEval")
    expect_different_ids([path], problems)
    return Task("humaneval", "HumanEval", problems, FunctionTestGrader(), "function", "plain", "HumanEval")
