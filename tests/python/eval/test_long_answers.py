"""Answers of a model that repeats itself up to a long horizon: every grader comes to its end soon."""

from __future__ import annotations

import re
import time

import pytest

from tempera.eval.graders.boxed import stated_box
from tempera.eval.graders.contest_tests import ContestTestGrader
from tempera.eval.graders.function_tests import FunctionTestGrader
from tempera.eval.graders.letter import LetterGrader
from tempera.eval.graders.mathematics import MathematicsGrader
from tempera.eval.graders.numeric import NumericGrader
from tempera.eval.graders.numbers import number_of
from tempera.eval.graders.plain import ExactGrader, WorkedSumGrader
from tempera.eval.graders.verdict import Grader
from tempera.eval.problem import Problem

LENGTH = 65_536  # characters: four for each of 16,384 tokens
# Four times the length takes sixteen times as long where every pair of characters is looked at, whatever the machine does, and
# four times where each is. What takes less than this is not compared: an expression that looks at every pair takes four seconds.
NOT_LONG = 0.5  # seconds of this process
# Each is repeated up to that length. In a box, and as they are.
REPEATED = [
    "\\boxed{", "\\boxed ", "\\boxed $", "not \\boxed 5 ", "not \\boxed{5} ", "{", "}", "\\frac{", "\\frac", "\\sqrt", "\\sqrt{", "\\text{", "\\text{ ", "(", "1a", "1 ",
    "1,234,", ",", "1/", "^", "x^", "- ", "\\", "$", " ", "\n", "\t", "*", "answer is ", "the answer is: **", "answer", "#### ", "9", "9.", "a ",
    "```", "``` ", "```python\n", "```\n", "def f(x):\n", "    return x\n", "A) ", "=", "</think>", "or ", "degree", "million",
]  # fmt: skip
PROBLEM = Problem("p", {}, "B", {"prompt": "def f(x):\n", "entry_point": "f", "tests": [], "test": ""})


def texts(repeated: str, length: int) -> list[str]:
    run = repeated * (length // len(repeated))
    return [run, f"\\boxed{{{run}}}", f"The answer is {run}!", f"```{run}x", f"#### {run}x", f"\\boxed{{1{run}!}}"]


def seconds(grader: Grader, text: str) -> float:
    """Of this process."""
    begun = time.process_time()
    extracted = grader.extract(text, True, PROBLEM)
    if extracted is not None and not grader.needs_sandbox:
        grader.judge(extracted, PROBLEM)
        grader.same(extracted, extracted)
    return time.process_time() - begun


def slow_texts(grader: Grader, of: list[str], length: int = LENGTH) -> list[tuple[str, str]]:
    """The repeated words of texts that take more than their length allows, and how each text begins."""
    return [
        (repeated, text[:20])
        for repeated in of
        for text, quarter in zip(texts(repeated, length), texts(repeated, length // 4))
        if (whole := seconds(grader, text)) > NOT_LONG and whole > 10 * seconds(grader, quarter)
    ]


@pytest.mark.parametrize(
    "grader",
    [LetterGrader(), NumericGrader(), ExactGrader(), WorkedSumGrader(), FunctionTestGrader(), ContestTestGrader()],
    ids=lambda grader: type(grader).__name__,
)
def test_no_text_takes_long(grader: Grader) -> None:
    assert slow_texts(grader, REPEATED) == []


def test_a_text_that_takes_long_is_seen() -> None:
    class Pairs(ExactGrader):
        def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
            return "b" if re.search(r"(?:a )+0", text) else None

    assert ("a ", "a a a a a a a a a a ") in slow_texts(Pairs(), ["9", "a "], LENGTH // 3)


def test_no_text_takes_long_in_mathematics(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but sympy, whose process is ended after 10 s (test_mathematics)."""
    monkeypatch.setattr(MathematicsGrader, "_difference_is_zero", lambda grader, text: False)
    grader = MathematicsGrader(second_opinion=False)
    slow = slow_texts(grader, REPEATED)
    grader.close()
    assert slow == []


def test_the_last_box_of_many_is_found() -> None:
    assert stated_box("\\boxed{" * 20_000 + "7}")[0] == "7"
    assert stated_box("\\boxed{8} " + "\\boxed{" * 20_000)[0] == "8"


def test_a_long_text_is_no_number() -> None:
    assert number_of("9" * 4000) == 10**4000 - 1
    assert number_of("9" * 4001) is None
    assert not NumericGrader().judge("9" * 5000, Problem("", {}, "9")).correct
