"""The benchmarks by name."""

from __future__ import annotations

import difflib
from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.tasks.gpqa import read_gpqa
from tempera.eval.tasks.humaneval import read_humaneval
from tempera.eval.tasks.livecodebench import read_livecodebench
from tempera.eval.tasks.mathematics import read_aime, read_aime24, read_aime25, read_gsm8k, read_math500
from tempera.eval.tasks.own import read_own
from tempera.eval.tasks.task import Task, TaskSource

__all__ = ["TASKS", "Task", "TaskSource", "read_task"]

TASKS: dict[str, TaskSource] = {
    "math500": TaskSource("500 problems of MATH", "MATH500.json or test.jsonl", read_math500),
    "gsm8k": TaskSource("1,319 grade-school problems", "gsm8k-test.jsonl", read_gsm8k),
    "humaneval": TaskSource("164 functions to complete", "HumanEval.jsonl.gz", read_humaneval),
    "aime24": TaskSource("AIME I and II of 2024", "30 lines of JSON", read_aime24),
    "aime25": TaskSource("AIME I and II of 2025", "30 lines of JSON", read_aime25),
    "aime": TaskSource("both years, as in the paper", "the file of 2024, then that of 2025", read_aime),
    "gpqa": TaskSource("198 questions with four options", "gpqa_diamond.csv", read_gpqa),
    "livecodebench": TaskSource("contest problems", "test*.jsonl", read_livecodebench, ("subset",)),
    "own": TaskSource("data of your own", "JSONL with prompt and answer", read_own, ("grader",)),
}


def read_task(name: str, paths: list[Path], subset: str = "", grader: str = "") -> Task:
    """Reads the data of a task; `subset` is LiveCodeBench's, `grader` that of a task of one's own."""
    source = TASKS.get(name)
    if source is None:
        near = difflib.get_close_matches(name, TASKS, 1)
        raise BadInput("--task", f'there is no task "{name}"', f"did you mean {near[0]}?" if near else f"give one of {', '.join(TASKS)}")
    if subset and "subset" not in source.options:
        raise BadInput("--subset", f"has no effect on the task {name}", "leave it out")
    if grader and "grader" not in source.options:
        raise BadInput("--grader", f"has no effect on the task {name}", "its grader is the benchmark's own")
    return source.read(paths, subset or grader)
