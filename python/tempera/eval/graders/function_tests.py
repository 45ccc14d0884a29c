"""HumanEval's grader: the function is defined and its tests are run, 3 seconds a problem."""

from __future__ import annotations

from tempera.eval.graders.program_text import function_program
from tempera.eval.graders.verdict import Grader, Verdict
from tempera.eval.problem import Problem
from tempera.eval.sandbox import Limits, run_python

_LIMITS = Limits(seconds=3.0)


class FunctionTestGrader(Grader):
    """Right if the program and `check(function)` come to their end within the limits."""

    votes = False
    needs_sandbox = True

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        return function_program(text, problem.details["prompt"], problem.details["entry_point"])

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        check = f"\n\ncheck({problem.details['entry_point']})\n"
        outcome = run_python(f"{extracted}\n\n{problem.details['test']}{check}", limits=_LIMITS, tests=True)
        return Verdict(outcome.passed, "" if outcome.status in ("finished", "failed") else outcome.status)
