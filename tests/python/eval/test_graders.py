"""Numbers, letters, texts and functions of one's own."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from conftest import write_at_one_time

from tempera.errors import BadInput
from tempera.eval.graders.letter import LETTERS, LetterGrader
from tempera.eval.graders.numeric import IntegerGrader, NumericGrader
from tempera.eval.graders.numbers import number_of
from tempera.eval.graders.verdict import Grader
from tempera.eval.problem import Problem
from tempera.eval.tasks.own import grader_named


def right(grader: Grader, text: str, answer: str, terminated: bool = True) -> bool:
    problem = Problem("1", {"problem": "?"}, answer)
    extracted = grader.extract(text, terminated, problem)
    return extracted is not None and grader.judge(extracted, problem).correct


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18", 18), ("-18", -18), ("1,234", 1234), ("1{,}234", 1234), ("$18", 18), ("\\$18.00", 18), ("18\\%", 18),
        ("18 dollars", 18), ("18\\text{ cm}", 18), ("3/4", Fraction(3, 4)), ("\\frac{3}{4}", Fraction(3, 4)),
        ("-\\frac{3}{4}", Fraction(-3, 4)), ("0.75", Fraction(3, 4)), (".5", Fraction(1, 2)), ("18.", 18), ("+5", 5),
        ("", None), ("x", None), ("3/0", None), ("12,34", None), ("1 2", None), ("-", None), (".", None),
    ],
)  # fmt: skip
def test_numbers(text: str, value: Fraction | int | None) -> None:
    assert number_of(text) == value


@pytest.mark.parametrize(
    ("text", "answer", "verdict"),
    [
        ("She has 3 + 4 = 7 ducks. \\boxed{7}", "7", True),
        ("\\boxed{7} and then \\boxed{8}", "7", False),
        ("It takes 2 days.\n#### 1,200", "1200", True),
        ("The answer is 18, because 20 - 2 = 18 and 5 are left.", "18", True),
        ("The final answer is: **$18.50**.", "18.5", True),
        ("so 3 of 12 are left, 9", "9", True),
        ("<think>\\boxed{5}</think> It is 6.", "6", True),
        ("no number", "0", False),
        ("7.5", "7", False),
        ("\\boxed{seven}", "7", False),
    ],
)
def test_the_final_number(text: str, answer: str, verdict: bool) -> None:
    assert right(NumericGrader(), text, answer) == verdict


def test_an_integer_answer_is_an_integer() -> None:
    assert right(IntegerGrader(), "\\boxed{073}", "73")
    assert not right(IntegerGrader(), "\\boxed{7.5}", "7")
    assert not right(IntegerGrader(), "\\boxed{15/2}", "7.5")
    assert NumericGrader().same("7.0", "7") and not NumericGrader().same("7.5", "7")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("\\boxed{C}", "C"), ("\\boxed{(c)}", "C"), ("\\boxed{\\text{C}}", "C"), ("\\boxed{C) 5 m}", "C"),
        ("The answer is **C**.", "C"), ("Answer: (C)", "C"), ("A is wrong. The answer is B; no, the answer is C", "C"),
        ("the answer is (b)", "B"), ("the answer is a prime", None), ("\\boxed{a prime}", None), ("\\boxed{b.}", "B"), ("\\boxed{c}", "C"),
        ("The answer is:\n**B**", "B"), ("ANSWER: D", "D"), ("\\boxed{Carbon}", None), ("\\boxed{5}", None), ("C", "C"), ("the answer is Carbon", None),
    ],
)  # fmt: skip
def test_letters(text: str, letter: str | None) -> None:
    assert LetterGrader().extract(text, True, Problem("", {}, "C")) == letter


@pytest.mark.parametrize("asked", ["false", "incorrect", "wrong", "NOT true", "impossible, except one"])
def test_a_letter_that_is_asked_for_as_wrong_may_be_called_so(asked: str) -> None:
    """An answer to "Which statement is false?" says that it is; it is denied all the same if it is not the answer."""
    problem = Problem("", {"problem": f"Which statement is {asked}?"}, "C")
    text = "The answer is C, which is incorrect."
    assert LetterGrader().extract(text, True, problem) == "C"
    assert LetterGrader().extract(text, True, Problem("", {"problem": "Which statement is true?"}, "C")) is None
    assert LetterGrader().extract("The answer is not C.", True, problem) is None


@pytest.mark.parametrize("letter", LETTERS)
def test_a_letter_that_is_a_word_too_needs_more_than_a_word_after_it(letter: str) -> None:
    """A and I begin sentences, and no other letter does."""
    grader = LetterGrader(LETTERS[-1])
    found = {text: grader.extract(text.replace("_", letter), True, Problem("", {}, letter)) for text in (
        "\\boxed{_ think}", "The answer is _ think so", "\\boxed{_}", "\\boxed{(_) think}", "The answer is _, which is right", "The answer is _.",
    )}  # fmt: skip
    is_word = letter in "AI"
    assert list(found.values()) == [None if is_word else letter] * 2 + [letter] * 4, found


def test_worked_sums_must_have_ended() -> None:
    grader = grader_named("worked-sum")
    assert right(grader, "<03,12=12", "12") and right(grader, "=12", "12")
    assert not right(grader, "<03,12=12", "12", terminated=False)
    assert not right(grader, "=12", "13") and not right(grader, "12", "12") and not right(grader, "12=", "12")


def test_a_grader_of_ones_own_is_compiled_from_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the file nor what it imports is taken from __pycache__, and the function is the file's when the grader was made."""
    file, beside = tmp_path / "mine.py", tmp_path / "beside_mine.py"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    for sign, other, expected in (("==", "True ", True), ("!=", "True ", False), ("!=", "False", True)):
        write_at_one_time(file, f"import beside_mine\ndef grade(text, answer):\n    return (text {sign} answer) is beside_mine.WORD\n")
        write_at_one_time(beside, f"WORD = {other}\n")
        grader = grader_named(f"{file}:grade")
        assert right(grader, "12", "12") == expected
        write_at_one_time(file, "def grade(text, answer):\n    return None\n")
        assert right(grader, "12", "12") == expected
        grader.close()
    assert not (tmp_path / "__pycache__").exists()


def test_a_grader_of_ones_own_may_ask_for_its_module(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from __future__ import annotations\nimport dataclasses, sys\n@dataclasses.dataclass\nclass Pair:\n    one: int\n"
        "def grade(text, answer):\n    return __file__ == text and sys.modules[__name__].Pair(1).one == 1\n"
    )
    grader = grader_named(f"{file}:grade")
    assert right(grader, str(file), "")
    grader.close()


def test_a_function_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def grade(text, answer):\n"
        "    print('this must not be read as an answer')\n"
        "    if text == 'crash': raise RuntimeError('no')\n"
        "    if text == 'exit': import os; os._exit(0)\n"
        "    if text == 'number': return 1\n"
        "    return text.startswith(answer)\n"
    )
    grader = grader_named(f"{file}:grade")
    assert right(grader, "12 and more", "12") and not right(grader, "13", "12")
    problem = Problem("1", {}, "12")
    assert "no" in grader.judge("crash", problem).failure
    assert "ended" in grader.judge("exit", problem).failure
    assert "not True or False" in grader.judge("number", problem).failure
    assert right(grader, "12", "12")
    grader.close()
    with pytest.raises(BadInput, match='there is no function "other"'):
        grader_named(f"{file}:other")
    with pytest.raises(BadInput, match='there is no grader "exakt"'):
        grader_named("exakt")
