"""The grader of HumanEval and MBPP: the function is defined and its tests are run, 3 seconds a problem.

A problem's details are `entry_point`, the function's name, `prompt`, the program that an answer may continue (empty if there
is none), and `test`, which runs after the function.
"""

from __future__ import annotations

from tempera.eval.graders.program_text import function_program
from tempera.eval.graders.verdict import Grader, Verdict
from tempera.eval.problem import Problem
from tempera.eval.sandbox import Limits, run_python

_LIMITS = Limits(seconds=3.0)


class FunctionTestGrader(Grader):
    """Right if the program and its tests come to their end within the limits."""

    votes = False
    needs_sandbox = True

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        return function_program(text, problem.details["prompt"], problem.details["entry_point"])

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        outcome = run_python(f"{extracted}\n\n{problem.details['test']}", limits=_LIMITS, tests=True)
        return Verdict(outcome.passed, "" if outcome.status in ("finished", "failed") else outcome.status)
