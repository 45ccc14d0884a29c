"""The graders on the benchmarks' own data, in the folder that $TEMPERA_DATA names. `./test --all` runs this."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

from tempera.eval.command import main
from tempera.eval.graders import prm800k_rules
from tempera.eval.graders.limited_worker import LimitedWorker
from tempera.eval.graders.program_text import function_program
from tempera.eval.problem import Problem
from tempera.eval.sandbox import Limits, run_python
from tempera.eval.tasks import Task, read_task

DATA = Path(os.environ["TEMPERA_DATA"])
TEMPERA = os.environ.get("TEMPERA", str(Path(__file__).parents[3] / "build/release/tempera"))


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
        source = f"{program}\n{MUTANTS[mutant].format(name=name)}\n{problem.details['test']}"
        if run_python(source, limits=Limits(seconds=3.0), tests=True).passed:
            passed.append(problem.id)
    assert passed == []


def reported(folder: Path) -> list[dict[str, str]]:
    """Grades and reports an evaluation; the rows of its table."""
    assert main(["grade", str(folder)]) == 0 and main(["report", str(folder)]) == 0
    with (folder / "results.csv").open() as file:
        return list(csv.DictReader(file))


def test_canonical_solutions_as_answers_go_through_the_whole_pipeline(tmp_path: Path) -> None:
    """docs/howto/evaluation.md, Answers of another program; with one answer taken away, one problem less is right."""
    with gzip.open(DATA / "HumanEval.jsonl.gz", "rt") as file:
        problems = [json.loads(line) for line in file]
    for missing, share in ((0, "100.0"), (1, "99.4")):
        answers = tmp_path / f"canonical-{missing}.jsonl"
        given = [{"id": one["task_id"], "answer": one["canonical_solution"] if n >= missing else "    pass\n"} for n, one in enumerate(problems)]
        answers.write_text("".join(json.dumps(one) + "\n" for one in given))
        out = tmp_path / f"out-{missing}"
        assert main(["run", "--task", "humaneval", "--data", str(DATA / "HumanEval.jsonl.gz"), "--answers", str(answers), "--out", str(out)]) == 0
        (row,) = reported(out)
        assert (row["pass@1"], row["n"], row["graders failed"]) == (share, "164", "0")


def test_a_real_model_answers_gsm8k(tmp_path: Path) -> None:
    """The whole pipeline on a language model; what it scores is in docs/howto/evaluation.md."""
    models = {model["name"]: model for model in json.loads(subprocess.run([TEMPERA, "models", "--json"], capture_output=True, text=True, check=True).stdout)}
    if not models["smollm2"]["obtained"]:
        pytest.skip("smollm2 is not there: tempera models get smollm2")
    out = tmp_path / "smol"
    asked = ["run", "--task", "gsm8k", "--data", str(DATA / "gsm8k-test.jsonl"), "--model", "smollm2", "--limit", "2", "--powers", "1.5,3"]
    asked += ["--horizon", "24", "--block", "12", "--rounds", "1", "--samplers", "standard,ppt", "--tempera", TEMPERA, "--out", str(out)]
    assert main(asked) == 0
    rows = reported(out)
    assert [row["sampler"] for row in rows] == ["standard", "ppt"] and all(row["n"] == "2" for row in rows)
    # The sharper sampler's answers are likelier; 24 tokens are too few for an answer.
    assert float(rows[0]["mean log-likelihood"]) < float(rows[1]["mean log-likelihood"]) < 0
