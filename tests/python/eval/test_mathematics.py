"""The MATH grader: what the published rules say, rule by rule, and that each rule is needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tempera.eval.graders import hendrycks_rules, prm800k_rules
from tempera.eval.graders.boxed import stated_box
from tempera.eval.graders.limited_worker import Crashed, LimitedWorker, TimedOut
from tempera.eval.graders.mathematics import MathematicsGrader
from tempera.eval.problem import Problem

# given, truth, whether the published grader takes them for equal. The first block needs one rule of step 1 each.
STEP_1 = [
    ("1,\\!000", "1,000"),
    ("\\dfrac{x_1}{y_2}", "\\frac{x_1}{y_2}"),
    ("\\left[ x_1, \\emptyset \\right]", "[x_1,\\emptyset]"),
    ("5_6\\text{ in base six}", "5_6"),
    ("x_1\\%", "x_1"),
    (".5_6", "0.5_6"),
    ("k=5_6", "5_6"),
    ("\\sqrt{3}_1", "\\sqrt3_1"),
    ("x_1 + y_2", "x_1+y_2"),
    ("\\frac12_3", "\\frac{1}{2}_3"),
    ("0.5", "\\frac{1}{2}"),
    ("3/4", "\\frac{3}{4}"),
]
EQUAL = [
    ("\\text{(c)}", "\\text{(C)}"),
    ("480 degrees", "480"),
    ("$21", "21"),
    ("1,234", "1234"),
    ("7 million", "7*10^6"),
    ("\\{x\\}", "\\{x\\}"),
    ("2 + x", "x + 2"),
    ("(1, 2+x)", "(1, x+2)"),
    ("1.50", "1.5"),
    ("12.0", "12"),
    ("\\sqrt{12}", "2\\sqrt{3}"),
    ("3 or 5", "3,5"),
]
DIFFERENT = [
    ("2/4", "\\frac{1}{2}"),
    ("24/2", "12"),
    ("-16", "16"),
    ("(1,2]", "(1,2)"),
    ("(1,2,3)", "(1,2)"),
    ("(2,1)", "(1,2)"),
    ("", "3"),
    ("xyz", "zyx"),
    ("2^(3)+x", "8+x"),
    ("2^10+x", "1024+x"),
    ("\\FRAC{3}{56}", "\\frac{3}{56}"),
    ("7 million", "7000000"),
]


@pytest.fixture(scope="module")
def worker() -> Iterator[LimitedWorker]:
    started = LimitedWorker(60, ["sympy"])
    yield started
    started.close()


def equal(worker: LimitedWorker, given: str, truth: str) -> bool:
    return prm800k_rules.equal(given, truth, lambda text: bool(worker.ask("difference_is_zero", text)))


@pytest.mark.parametrize(("given", "truth"), STEP_1 + EQUAL)
def test_equal_answers(worker: LimitedWorker, given: str, truth: str) -> None:
    assert equal(worker, given, truth)


@pytest.mark.parametrize(("given", "truth"), DIFFERENT)
def test_different_answers(worker: LimitedWorker, given: str, truth: str) -> None:
    assert not equal(worker, given, truth)


@pytest.mark.parametrize("left_out", range(len(hendrycks_rules.RULES)))
def test_each_rule_of_step_1_decides_something(left_out: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = hendrycks_rules.RULES
    assert all(hendrycks_rules.normal_form(given) == hendrycks_rules.normal_form(truth) for given, truth in STEP_1)
    monkeypatch.setattr(hendrycks_rules, "RULES", rules[:left_out] + rules[left_out + 1 :])
    assert any(hendrycks_rules.normal_form(given) != hendrycks_rules.normal_form(truth) for given, truth in STEP_1)


def test_a_rule_that_does_not_fit_leaves_the_answer_as_it_is() -> None:
    assert hendrycks_rules.normal_form(" 3\\text{ a}\\text{ b} ") == "3\\text{ a}\\text{ b}"
    assert hendrycks_rules.normal_form("\\dfrac") == "\\dfrac"
    assert hendrycks_rules.normal_form("\\sqrt") == "\\sqrt"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("\\boxed{1} \\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{1} then \\boxed{2 is never closed", "1"),
        ("\\fbox{7}", "7"),
        ("\\boxed {8}", "8"),
        ("so \\boxed 5$ it is", "5"),
        ("\\boxed{{a}{b}} }}", "{a}{b}"),
        ("\\boxedminus{3}", None),
        ("none", None),
        ("\\boxed{}", ""),
    ],
)
def test_the_last_balanced_box(text: str, answer: str | None) -> None:
    assert stated_box(text)[0] == answer


def test_a_question_that_never_ends_is_ended_and_the_next_is_answered() -> None:
    worker = LimitedWorker(2, ["sympy"])
    with pytest.raises(TimedOut):
        worker.ask("difference_is_zero", "(9**9**9**9)-(1)")
    worker.seconds = 600
    assert worker.ask("difference_is_zero", "(x+x)-(2*x)") is True
    worker.close()


def test_what_a_process_said_before_it_ended_is_no_part_of_the_next_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python"
    monkeypatch.setattr(sys, "executable", str(program))
    whole = '{}\n{"imports": {"a.py": "0"}}\n{"answer": true}\n'

    def says(text: str, then: str) -> None:
        program.write_text(f"#!/bin/sh\nprintf '%s' '{text}'\n{then}\n")
        program.chmod(0o755)

    for cut in range(len(whole)):
        worker = LimitedWorker(60)
        says(whole[:cut], "read question" if "\n" in whole[:cut] else "exit 1")
        with pytest.raises(Crashed, match="ended"):
            worker.ask("own_function")
        says(whole.replace('"0"', '"1"'), "read question")
        assert worker.ask("own_function") is True, whole[:cut]
        # A module that was imported before is kept as it was then.
        assert worker.imports == {"a.py": "0" if "0" in whole[:cut] and whole[:cut].count("\n") == 2 else "1"}
        worker.close()


def test_a_crash_is_told(tmp_path: object) -> None:
    worker = LimitedWorker(600)
    with pytest.raises(Crashed, match="ZeroDivisionError"):
        worker.ask("own_function", "/nowhere.py", "1 / 0", "grade", "a", "b")
    worker.close()


@pytest.mark.parametrize("error", [TimedOut("after 1 s"), Crashed("no")])
def test_a_question_without_an_answer_is_no_equality(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(self: LimitedWorker, question: str, *arguments: str) -> bool:
        raise error

    monkeypatch.setattr(LimitedWorker, "ask", ask)
    grader = MathematicsGrader()
    problem = Problem("1", {"problem": "?"}, "x+y")
    assert not grader.same("y+x", "x+y") and grader.same("x+y", "x+y")
    verdict = grader.judge("y+x", problem)
    assert (verdict.correct, verdict.second_opinion) == (False, None)
    assert verdict.failure == ("timed out after 1 s" if isinstance(error, TimedOut) else "crashed: no")
    assert grader.judge("x+y", problem).correct


def test_a_grader_that_times_out_counts_as_wrong_and_says_so() -> None:
    grader = MathematicsGrader(second_opinion=False)
    grader._worker.seconds = 2
    verdict = grader.judge("9**9**9**9", Problem("1", {}, "x"))
    grader.close()
    assert not verdict.correct and verdict.failure.startswith("timed out")


def test_the_second_opinion_is_math_verifys() -> None:
    grader = MathematicsGrader()
    right = grader.judge("2/4", Problem("1", {}, "\\frac{1}{2}"))
    grader.close()
    try:
        import math_verify  # noqa: F401
    except ImportError:
        assert right.second_opinion is None
    else:
        assert not right.correct and right.second_opinion is True
