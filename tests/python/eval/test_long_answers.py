"""Answers of a model that repeats itself up to a long horizon: every grader comes to its end soon."""

from __future__ import annotations

import time

import pytest

from tempera.eval.graders.boxed import last_boxed
from tempera.eval.graders.contest_tests import ContestTestGrader
from tempera.eval.graders.function_tests import FunctionTestGrader
from tempera.eval.graders.letter import LetterGrader
from tempera.eval.graders.mathematics import MathematicsGrader
from tempera.eval.graders.numeric import IntegerGrader, NumericGrader
from tempera.eval.graders.numbers import number_of
from tempera.eval.graders.plain import ExactGrader, WorkedSumGrader
from tempera.eval.graders.verdict import Grader
from tempera.eval.problem import Problem

LENGTH = 200_000  # characters: three times what 16,384 tokens have
# A grader that looks at every pair of characters takes minutes at this length; the slowest takes half a second.
HANGS = 120.0  # seconds of this process, whatever else the machine does
# Each is repeated up to that length. In a box, and as they are.
REPEATED = [
    "\\boxed{", "\\boxed ", "\\boxed $", "{", "}", "\\frac{", "\\frac", "\\sqrt", "\\sqrt{", "\\text{", "\\text{ ", "(", "1a", "1 ",
    "1,234,", ",", "1/", "^", "x^", "- ", "\\", "$", " ", "\n", "\t", "*", "answer is ", "the answer is: **", "answer", "#### ", "9", "9.", "a ",
    "```", "``` ", "```python\n", "```\n", "def f(x):\n", "    return x\n", "A) ", "=", "</think>", "or ", "degree", "million",
]  # fmt: skip
PROBLEM = Problem("p", {}, "B", {"prompt": "def f(x):\n", "entry_point": "f", "tests": [], "test": ""})


def texts(repeated: str) -> list[str]:
    run = repeated * (LENGTH // len(repeated))
    return [run, f"\\boxed{{{run}}}", f"The answer is {run}!", f"```{run}x", f"#### {run}x", f"\\boxed{{1{run}!}}"]


def seconds(grader: Grader, text: str) -> float:
    """Of this process."""
    begun = time.process_time()
    extracted = grader.extract(text, True, PROBLEM)
    if extracted is not None and not grader.needs_sandbox:
        grader.judge(extracted, PROBLEM)
        grader.same(extracted, extracted)
    return time.process_time() - begun


@pytest.mark.parametrize(
    "grader",
    [LetterGrader(), NumericGrader(), IntegerGrader(), ExactGrader(), WorkedSumGrader(), FunctionTestGrader(), ContestTestGrader()],
    ids=lambda grader: type(grader).__name__,
)
def test_no_text_takes_long(grader: Grader) -> None:
    slowest = max((seconds(grader, text), repeated) for repeated in REPEATED for text in texts(repeated))
    assert slowest[0] < HANGS, slowest


def test_no_text_takes_long_in_mathematics(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but sympy, whose process is ended after 10 s (test_mathematics)."""
    monkeypatch.setattr(MathematicsGrader, "_difference_is_zero", lambda grader, text: False)
    grader = MathematicsGrader(second_opinion=False)
    slowest = max((seconds(grader, text), repeated) for repeated in REPEATED for text in texts(repeated))
    grader.close()
    assert slowest[0] < HANGS, slowest


def test_the_last_box_of_many_is_found() -> None:
    assert last_boxed("\\boxed{" * 20_000 + "7}") == "7"
    assert last_boxed("\\boxed{8} " + "\\boxed{" * 20_000) == "8"


def test_a_long_text_is_no_number() -> None:
    assert number_of("9" * 4000) == 10**4000 - 1
    assert number_of("9" * 4001) is None
    assert not NumericGrader().judge("9" * 5000, Problem("", {}, "9")).correct
