"""The graders on the benchmarks' own data, in the folder that $TEMPERA_DATA names. `./test --all` runs this."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tempera.eval.graders import prm800k_rules
from tempera.eval.graders.limited_worker import LimitedWorker
from tempera.eval.graders.program_text import function_program
from tempera.eval.problem import Problem
from tempera.eval.sandbox import Limits, run_python
from tempera.eval.tasks import Task, read_task

DATA = Path(os.environ["TEMPERA_DATA"])


def test_the_mathematics_grader_agrees_with_the_published_one() -> None:
    """On 2,600 pairs with the published grader's verdicts: every one of them."""
    pairs = [json.loads(line) for line in (DATA / "math_grader_pairs.jsonl").read_text().splitlines()]
    assert len(pairs) == 2600 and 0 < sum(pair["equal"] for pair in pairs) < 2600
    worker = LimitedWorker(60, ["sympy"])
    asked = []

    def difference_is_zero(text: str) -> bool:
        asked.append(text)
        return bool(worker.ask("difference_is_zero", text))

    differing = [pair for pair in pairs if prm800k_rules.equal(pair["given"], pair["truth"], difference_is_zero) != pair["equal"]]
    worker.close()
    print(f"{len(pairs) - len(differing)} of {len(pairs)} verdicts agree; sympy was asked {len(asked)} times")
    assert differing == [] and asked


def test_without_sympy_the_agreement_would_be_lost() -> None:
    pairs = [json.loads(line) for line in (DATA / "math_grader_pairs.jsonl").read_text().splitlines()]
    differing = sum(prm800k_rules.equal(pair["given"], pair["truth"], lambda text: False) != pair["equal"] for pair in pairs)
    assert differing / len(pairs) > 0.001


def golds_are_right(task: Task) -> None:
    for problem in task.problems:
        extracted = task.grader.extract(f"So it is $\\boxed{{{problem.answer}}}$.", True, problem)
        assert extracted is not None and task.grader.judge(extracted, problem).correct, problem
    task.grader.close()


def permuted_golds_are_wrong(task: Task) -> None:
    """Each problem is given the answer of the next problem that has another one."""
    answers = [problem.answer for problem in task.problems]
    for number, problem in enumerate(task.problems):
        other = next(a for a in answers[number + 1 :] + answers if a != problem.answer)
        assert not task.grader.judge(other, problem).correct, (problem, other)
    task.grader.close()


@pytest.mark.parametrize(
    ("name", "files"),
    [("gsm8k", ["gsm8k-test.jsonl"]), ("aime", ["aime24.jsonl", "aime25.jsonl"]), ("math500", ["MATH500.json"])],
)
def test_gold_answers_are_right_and_others_wrong(name: str, files: list[str]) -> None:
    task = read_task(name, [DATA / file for file in files])
    golds_are_right(task)
    if name != "math500":  # there 1/2 and 0.5 are answers to different problems
        permuted_golds_are_wrong(task)


def test_the_solutions_of_gsm8k_give_their_answers() -> None:
    task = read_task("gsm8k", [DATA / "gsm8k-test.jsonl"])
    for problem in task.problems:
        extracted = task.grader.extract(problem.details["solution"], True, problem)
        assert extracted is not None and task.grader.judge(extracted, problem).correct, problem


def humaneval() -> Task:
    return read_task("humaneval", [DATA / "HumanEval.jsonl.gz"])


def judged(task: Task, problem: Problem, answer: str) -> bool:
    extracted = task.grader.extract(answer, True, problem)
    return extracted is not None and task.grader.judge(extracted, problem).correct


@pytest.mark.parametrize("form", ["continuation", "fenced"])
def test_all_canonical_solutions_pass(form: str) -> None:
    task = humaneval()
    for problem in task.problems:
        prompt = problem.details["prompt"]
        answer = problem.answer if form == "continuation" else f"Here:\n```python\n{prompt}{problem.answer}\n```\n"
        assert judged(task, problem, answer), problem.id


# Wraps the right function: its first result is wrong, or it ends the program, or it is never reached.
MUTANTS = {
    "nothing": "def {name}(*a, **k): return None\n",
    "first call wrong": (
        "_right, _calls = {name}, []\n"
        "def {name}(*a, **k):\n"
        "    first = not _calls\n"
        "    _calls.append(1)\n"
        "    result = _right(*a, **k)\n"
        "    if not first: return result\n"
        "    return None if result else object()\n"
    ),
    "exit": "import os\ndef {name}(*a, **k): os._exit(0)\n",
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutated_solutions_fail(mutant: str) -> None:
    task = humaneval()
    passed = []
    for problem in task.problems:
        name = problem.details["entry_point"]
        program = function_program(problem.answer, problem.details["prompt"], name)
        source = f"{program}\n{MUTANTS[mutant].format(name=name)}\n{problem.details['test']}\ncheck({name})\n"
        if run_python(source, limits=Limits(seconds=3.0), tests=True).passed:
            passed.append(problem.id)
    assert passed == []
