"""Programs that ran out of time beside others are tried once more, alone; all other answers are judged once."""

from __future__ import annotations

import threading
from collections import Counter

from tempera.eval.answers import Answer
from tempera.eval.grading import _grades
from tempera.eval.graders.verdict import Grader, Verdict
from tempera.eval.problem import Problem
from tempera.eval.sampling import Drawn


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
