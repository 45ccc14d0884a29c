"""MATH's grader: the last boxed answer, compared by the published rules."""

from __future__ import annotations

from tempera.errors import BadInput
from tempera.eval.graders import prm800k_rules
from tempera.eval.graders.boxed import stated_box
from tempera.eval.graders.limited_worker import Crashed, LimitedWorker, TimedOut
from tempera.eval.graders.verdict import Grader, Verdict, after_thinking
from tempera.eval.problem import Problem

_SECONDS = 10.0
_SECONDS_OF_THE_SECOND_OPINION = 10.0


def require_packages() -> None:
    """Refuses to grade without the two packages that the published rules need."""
    try:
        import pylatexenc  # type: ignore[import-untyped]  # noqa: F401
        import sympy  # type: ignore[import-untyped]  # noqa: F401
    except ImportError as error:
        raise BadInput("tempera.eval", f"{error.name} is missing", "pip install sympy pylatexenc") from None


class MathematicsGrader(Grader):
    r"""The last balanced box of a text that it does not deny; no box is a wrong answer.

    >>> grader = MathematicsGrader()
    >>> problem = Problem("1", {"problem": "?"}, r"\frac{1}{2}")
    >>> grader.judge(grader.extract(r"It is $\boxed{0.5}$.", True, problem), problem).correct
    True
    >>> grader.close()
    """

    def __init__(self, second_opinion: bool = True) -> None:
        require_packages()
        self._worker = LimitedWorker(_SECONDS, ["sympy"])
        self._second = LimitedWorker(_SECONDS_OF_THE_SECOND_OPINION, ["math_verify"]) if second_opinion else None

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        return stated_box(after_thinking(text))[0]

    def _difference_is_zero(self, text: str) -> bool:
        return bool(self._worker.ask("difference_is_zero", text))

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        failure = ""
        correct = False
        try:
            correct = prm800k_rules.equal(extracted, problem.answer, self._difference_is_zero)
        except TimedOut as error:
            failure = f"timed out {error}"
        except Crashed as error:
            failure = f"crashed: {error}"
        return Verdict(correct, failure, self._second_opinion(extracted, problem.answer))

    def _second_opinion(self, given: str, truth: str) -> bool | None:
        if self._second is None:
            return None
        try:
            opinion = self._second.ask("math_verify", given, truth)
        except (TimedOut, Crashed):
            return None
        return None if opinion is None else bool(opinion)

    def same(self, one: str, other: str) -> bool:
        try:
            return prm800k_rules.equal(one, other, self._difference_is_zero)
        except (TimedOut, Crashed):
            return False

    def close(self) -> None:
        self._worker.close()
        if self._second is not None:
            self._second.close()
