"""The benchmarks by name."""

from __future__ import annotations

import difflib
from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.input_files import WrongRecord
from tempera.eval.tasks.arc import read_arc
from tempera.eval.tasks.gpqa import read_gpqa
from tempera.eval.tasks.humaneval import read_humaneval
from tempera.eval.tasks.livecodebench import check_tests, read_livecodebench
from tempera.eval.tasks.mathematics import read_aime, read_aime24, read_aime25, read_gsm8k, read_math500
from tempera.eval.tasks.mbpp import read_mbpp
from tempera.eval.tasks.mmlu import read_mmlu
from tempera.eval.tasks.own import read_own
from tempera.eval.tasks.task import Task, TaskSource

__all__ = ["TASKS", "Task", "TaskSource", "read_task"]

_AIME = 'a line has "problem" and "answer", an integer from 0 to 999'
TASKS: dict[str, TaskSource] = {
    "math500": TaskSource(
        "500 problems of MATH", "MATH500.json or test.jsonl",
        'a record has "problem" or "prompt", "answer", and "unique_id" or "id"', read_math500,
    ),
    "gsm8k": TaskSource(
        "1,319 grade-school problems", "gsm8k-test.jsonl",
        'a line has "question" and "answer", which ends in "#### NUMBER"', read_gsm8k,
    ),
    "humaneval": TaskSource(
        "164 functions to complete", "HumanEval.jsonl.gz",
        'a line has "task_id", "prompt", "entry_point", "canonical_solution" and "test"', read_humaneval,
    ),
    "aime24": TaskSource("AIME I and II of 2024", "30 lines of JSON", _AIME, read_aime24),
    "aime25": TaskSource("AIME I and II of 2025", "30 lines of JSON", _AIME, read_aime25),
    "aime": TaskSource("both years, as in the paper", "the file of 2024, then that of 2025", _AIME, read_aime),
    "gpqa": TaskSource(
        "198 questions with four options", "gpqa_diamond.csv",
        'its columns are "Record ID", "Question", "Correct Answer" and "Incorrect Answer 1" to "Incorrect Answer 3"', read_gpqa,
    ),
    "livecodebench": TaskSource(
        "contest problems", "test*.jsonl",
        'a line has "question_id", "question_content", "contest_date", "starter_code", "metadata", "public_test_cases" and '
        '"private_test_cases", as published', read_livecodebench, ("subset",), check_tests,
    ),
    "mbpp": TaskSource(
        "functions and their tests", "mbpp.jsonl or sanitized-mbpp.json",
        'a record has "task_id", "code", "test_list", and "text" and "test_setup_code" or "prompt" and "test_imports"',
        read_mbpp, ("subset",),
    ),
    "mmlu": TaskSource(
        "questions with four options", "*_test.csv or JSONL, any number of them",
        'a row of CSV is the question, four options and the letter of the right one, and no row has names; a line of JSON has '
        '"question", "choices" or "A" to "D", and "answer", a letter or an index from 0', read_mmlu,
    ),
    "arc": TaskSource(
        "questions of science with three to five options", "ARC-*.jsonl",
        'a line has "id", "answerKey", and "question" with "stem" and "choices", or "question" and "choices" with "text" and "label"',
        read_arc,
    ),
    "own": TaskSource(
        "data of your own", "JSONL with prompt and answer",
        'a line has "prompt", "answer" and, if you like, "id"', read_own, ("grader",),
    ),
}  # fmt: skip


def read_task(name: str, paths: list[Path], subset: str = "", grader: str = "", is_checked: bool = False) -> Task:
    """Reads the data of a task; `subset` is LiveCodeBench's or MBPP's, `grader` that of a task of one's own.

    is_checked: whether the same files have been read before, and all that is in them looked at.
    """
    source = TASKS.get(name)
    if source is None:
        near = difflib.get_close_matches(name, TASKS, 1)
        raise BadInput("--task", f'there is no task "{name}"', f"did you mean {near[0]}?" if near else f"give one of {', '.join(TASKS)}")
    if subset and "subset" not in source.options:
        raise BadInput("--subset", f"has no effect on the task {name}", "leave it out")
    if grader and "grader" not in source.options:
        raise BadInput("--grader", f"has no effect on the task {name}", "its grader is the benchmark's own")
    try:
        task = source.read(paths, subset or grader)
        if source.check is not None and not is_checked:
            source.check(task)
        return task
    except WrongRecord as error:
        raise BadInput(error.place, error.problem, "; ".join(filter(None, (error.remedy, f"for {name} {source.form}")))) from None
