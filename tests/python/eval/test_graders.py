"""Numbers, letters, texts and functions of one's own."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path

import pytest
from conftest import write_at_one_time

from tempera.errors import BadInput
from tempera.eval.graders.denied import is_denied
from tempera.eval.graders.letter import LETTERS, LetterGrader, letter_of
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


# Where an answer may be stated, what decides first to begin with: the line that it is in (at the text's begin, within it, at its end).
STATED_LETTERS = (
    (1, "So \\boxed{%s} it is."), (1, "The answer is %s."), (1, "Option %s is correct."), (2, "%s"), (0, "%s"),
)  # fmt: skip
STATED_NUMBERS = ((1, "So \\boxed{%s} it is."), (1, "#### %s"), (1, "The answer is %s."), (1, "We count %s ducks"))


def test_of_two_places_that_state_an_answer_the_stronger_one_decides() -> None:
    for grader, places, answers in ((LetterGrader(), STATED_LETTERS, "BC"), (NumericGrader(), STATED_NUMBERS, "57")):
        for stronger, weaker in combinations(places, 2):
            for one, other in permutations(answers):
                stated = [(stronger[0], stronger[1] % one), (weaker[0], weaker[1] % other)]
                for order in permutations(stated):
                    # Sorted by line alone, so that two within the text keep the order of this turn.
                    lines = sorted([*order, (0.5, "Let us see."), (1.5, "Is that all?")], key=lambda line: line[0])
                    text = "\n".join(line for _, line in lines)
                    assert grader.extract(text, True, Problem("1", {}, "")) == one, text


@pytest.mark.parametrize(
    ("grader", "form", "which"),
    [
        (LetterGrader(), "So \\boxed{%s} it is.", -1), (LetterGrader(), "The answer is %s.", -1), (LetterGrader(), "Option %s is correct.", -1),
        (NumericGrader(), "So \\boxed{%s} it is.", -1), (NumericGrader(), "#### %s", 0), (NumericGrader(), "The answer is %s.", -1),
        (NumericGrader(), "We count %s ducks.", -1),
    ],
)  # fmt: skip
def test_of_several_answers_in_one_form_the_last_counts_and_the_first_after_the_signs(grader: Grader, form: str, which: int) -> None:
    for answers in permutations("ABC" if isinstance(grader, LetterGrader) else ("5", "17", "230")):
        text = "\n".join(form % answer for answer in answers)
        assert grader.extract(text, True, Problem("1", {}, "")) == answers[which], text


@pytest.mark.parametrize("letter", LETTERS)
def test_a_right_letter_is_one_in_brackets_or_with_a_point_and_nothing_else(letter: str) -> None:
    for written in (letter, letter.lower(), f"({letter})", f"({letter.lower()})", f"{letter}.", f"{letter})", f" {letter} ", f"({letter}).", f" ({letter}). "):
        assert letter_of(written) == letter and grader_named("letter").fault_of(written) == "", written
    for written in ("", letter * 2, f"{letter} B", f"{letter}:", f"[{letter}]", "K", "1", "é"):
        assert letter_of(written) == "" and "is not a letter from A to J" in grader_named("letter").fault_of(written), written


def test_a_mixed_number_has_a_part_between_0_and_1() -> None:
    for above in range(7):
        for below in range(1, 6):
            value = 2 + Fraction(above, below) if 0 < above < below else None
            assert number_of(f"2 {above}/{below}") == value, (above, below)
            assert number_of(f"2\\frac{{{above}}}{{{below}}}") == value, (above, below)


# The data may have any of these as a right answer; a grader refuses those that no answer can equal.
RIGHT_ANSWERS = (
    "7", "-3", "0", "7.0", "7.5", "1/2", "4/2", "\\frac{6}{3}", "\\frac{1}{3}", "1,000", "12,34", "x", "", " ", "B", "b", "(B)", "K", "AB", "1e3", "5 cm", "3 1/2",
)  # fmt: skip


@pytest.mark.parametrize("name", ["exact", "integer", "letter", "number"])
def test_an_answer_of_the_data_is_faulty_if_no_answer_can_equal_it(name: str) -> None:
    grader = grader_named(name)
    for answer in RIGHT_ANSWERS:
        can_be_equal = any(grader.judge(given, Problem("1", {}, answer)).correct for given in (answer, answer.strip(), letter_of(answer)) if given or name == "exact")
        assert (grader.fault_of(answer) == "") == can_be_equal, answer


def test_an_exact_answer_is_that_of_the_data_but_for_spaces_at_the_ends() -> None:
    for before, after in ((" ", ""), ("", "\n"), ("\t", "  "), ("", "")):
        for inner in ("42", "a  b", "é"):
            assert right(grader_named("exact"), f"<think>1</think>{before}{inner}{after}", f"{after}{inner}{before}")
            assert not right(grader_named("exact"), f"{before}{inner}{after}", f"{inner}x") and not right(grader_named("exact"), inner.replace(" ", "") + "y", inner)


@pytest.mark.parametrize("after", [" is wrong.", " is incorrect.", " was not the answer.", ", wrong.", " (incorrect)", " isn't the answer.", " cannot be right.",
                                   " doesn't work.", " does not work.", ", sorry.", ", no wait, C.", ", or rather C.", "? No.", ". Wait, that is wrong."])  # fmt: skip
def test_what_is_denied_is_denied_though_it_may_be_called_wrong(after: str) -> None:
    """A question for what is wrong lets its answer be called so, and denied no more than any other."""
    is_called_wrong = after in (" is wrong.", " is incorrect.", " was not the answer.", ", wrong.", " (incorrect)")
    assert is_denied("The answer is ", after) and is_denied("The answer is ", after, may_be_wrong=True) != is_called_wrong


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
    assert right(grader, "<think>13</think>\n 12 and more", "12") and grader.extract("<think>1</think> \n2 \n", True, Problem("1", {}, "")) == "2"
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
