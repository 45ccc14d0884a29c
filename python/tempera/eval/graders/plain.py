"""Graders that compare texts."""

from __future__ import annotations

from tempera.eval.graders.verdict import Grader, Verdict, after_thinking
from tempera.eval.problem import Problem


class ExactGrader(Grader):
    """The whole text, without spaces at its ends, is the answer.

    >>> ExactGrader().judge("42", Problem("", {}, "42")).correct
    True
    """

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        return after_thinking(text).strip() or None

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        return Verdict(extracted == problem.answer.strip())


class WorkedSumGrader(Grader):
    """The rule of toy_models/worked_sum: the text has ended, and what follows its last `=` is the answer.

    >>> grader = WorkedSumGrader()
    >>> problem = Problem("", {"problem": "3+9?"}, "12")
    >>> grader.extract("<03,12=12", True, problem), grader.extract("=12", False, problem)
    ('12', None)
    """

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        _, sign, answer = text.rpartition("=")
        return answer if sign and terminated else None

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        return Verdict(extracted == problem.answer)
