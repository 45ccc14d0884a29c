"""Programs that ran out of time beside others are tried once more, alone; all other answers are judged once, and a judging that was
killed goes on to the same grades."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tempera.eval.answers import Answer
from tempera.eval.grading import _grade_file, _grades
from tempera.eval.graders import contest_tests, function_tests
from tempera.eval.graders.verdict import Grader, Verdict
from tempera.eval.problem import Problem
from tempera.eval.sampling import Drawn
from tempera.eval.sandbox import Outcome
from tempera.eval.tasks import Task


class Busy(Grader):
    """An answer says how often it runs out of time; the last trial must be alone."""

    votes = False
    needs_sandbox = True

    def __init__(self) -> None:
        self.trials: Counter[str] = Counter()
        self.under_way = 0
        self.lock = threading.Lock()
        self.most_beside_last = 0

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        return text

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        with self.lock:
            self.under_way += 1
            self.trials[problem.id] += 1
            trial = self.trials[problem.id]
            if trial > 1:
                self.most_beside_last = max(self.most_beside_last, self.under_way)
        with self.lock:
            self.under_way -= 1
        return Verdict(False, "timed out") if trial <= int(extracted) else Verdict(True)


def test_who_ran_out_of_time_is_tried_once_more_alone() -> None:
    late = {"quick": 0, "slow": 1, "endless": 9, "slow too": 1, "quick too": 0}
    grader = Busy()
    problems = {name: Problem(name, {}, "") for name in late}
    left = [Answer(Drawn(name, 0, str(times), None, None, True, None)) for name, times in late.items()]
    grades = {grade.id: grade for grade in _grades(grader, left, problems, workers=4)}
    assert {name: (grade.correct, grade.failure) for name, grade in grades.items()} == {
        name: (False, "timed out") if name == "endless" else (True, "") for name in late
    }
    assert grader.trials == {name: 1 if times == 0 else 2 for name, times in late.items()}
    assert grader.most_beside_last == 1


@pytest.mark.parametrize("status", ["finished", "failed", "timed out", "too much output"])
@pytest.mark.parametrize("output", [b"4", b"5"])
@pytest.mark.parametrize("form", ["function", "program", "called"])
def test_what_a_sandbox_says_is_a_verdict_and_what_it_ended_is_named(
    form: str, output: bytes, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer is right if its program finishes and gives the answer; a limit that it broke is the failure, and nothing else is."""
    runs = []

    def run(*_: Any, **__: Any) -> Outcome:
        # The second of two tests alone ends like this.
        runs.append(status)
        is_last = form == "function" or len(runs) == 2
        return Outcome(status, output, passed=status == "finished" and output == b"4") if is_last else Outcome("finished", b"4")

    for module in (function_tests, contest_tests):
        monkeypatch.setattr(module, "run_python", run)
    tests = [{"input": "1", "output": "4", "testtype": "stdin"}] * 2
    details = {"entry_point": "f", "test": "", "tests": lambda: tests, "function": "f" if form == "called" else ""}
    grader = function_tests.FunctionTestGrader() if form == "function" else contest_tests.ContestTestGrader()
    verdict = grader.judge("program", Problem("p", {}, "", details))
    assert verdict.correct == (status == "finished" and output == b"4")
    assert verdict.failure == ("" if status in ("finished", "failed") else status)


class Counting(Grader):
    """Right if the answer is 1; counts what it judges."""

    votes = False
    needs_sandbox = False

    def __init__(self) -> None:
        self.judged: Counter[str] = Counter()

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        return text

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        self.judged[problem.id] += 1
        return Verdict(extracted == "1")


def test_a_judging_that_was_killed_at_any_byte_goes_on_to_the_same_grades(tmp_path: Path) -> None:
    texts = {"one": "1", "two": "2", "three": "1"}
    given = [Answer(Drawn(name, 0, text, -1.5, 7, True, None)) for name, text in texts.items()]
    path = tmp_path / "grades.jsonl"

    def judged() -> Counter[str]:
        grader = Counting()
        _grade_file(cast(Task, SimpleNamespace(grader=grader, problems=[Problem(name, {}, "") for name in texts])), given, path, "grading", 0)
        return grader.judged

    assert judged() == {name: 1 for name in texts}
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        assert judged() == {name: 1 for name in list(texts)[whole[:cut].count(b"\n") :]}, cut
        assert path.read_bytes() == whole, cut
