"""Votes that tie, in every order of the ballots, and answers without a ballot."""

from __future__ import annotations

import math
from itertools import permutations, product

import pytest

from tempera.eval.answers import Answer, Vote, vote
from tempera.eval.grading import judge
from tempera.eval.graders.letter import LetterGrader
from tempera.eval.graders.numeric import NumericGrader
from tempera.eval.graders.plain import ExactGrader
from tempera.eval.problem import Problem
from tempera.eval.sampling import Drawn

Ballot = tuple["str | None", "float | None"]


def same(one: str, other: str) -> bool:
    return one.strip() == other.strip()


def naive(ballots: list[Ballot]) -> Vote | None:
    """The definition: the answer with most ballots; of several the one with the likeliest ballot; of several the first given."""
    cast = [(answer, -math.inf if log_p0 is None else log_p0) for answer, log_p0 in ballots if answer is not None]
    if not cast:
        return None
    counts = {answer.strip(): sum(same(answer, other) for other, _ in cast) for answer, _ in cast}
    leading = [answer for answer, count in counts.items() if count == max(counts.values())]
    likeliest = {answer: max(log_p0 for other, log_p0 in cast if same(other, answer)) for answer in leading}
    winner = next(answer for answer in counts if answer in leading and likeliest[answer] == max(likeliest.values()))
    written = next(answer for answer, log_p0 in cast if same(answer, winner) and log_p0 == likeliest[winner])
    return Vote(written, counts[winner], len(cast))


BALLOTS: list[list[Ballot]] = [
    [("a", -5.0), ("a ", -3.0), ("b", -1.0), (" b", -9.0), (None, -0.1)],
    [("a", -1.0), ("b", -2.0), ("c", -3.0)],
    [("a", -2.0), ("a ", -2.0), ("b", -1.0), ("b ", -7.0), ("c", -0.5)],
    [("a", None), ("b", -1e9), ("c", None)],
    [("a", None), ("b", None), (None, None)],
    [("a", -1.0), ("b", -1.0), ("a ", -4.0), ("b ", -8.0)],
    [("a", -5.0), ("b", -1.0), ("a ", -6.0), (None, 0.0), (None, 0.0)],
    [(None, 0.0), (None, None)],
    [("a", -1.0), (None, None)],
]


@pytest.mark.parametrize("ballots", BALLOTS)
def test_a_vote_is_the_definition_in_every_order(ballots: list[Ballot]) -> None:
    for order in permutations(ballots):
        assert vote(list(order), same) == naive(list(order)), order


def test_all_votes_of_four_ballots_are_the_definition() -> None:
    for ballots in product([("a", -1.0), ("a", -3.0), ("b", -2.0), ("b", None), (None, 0.0)], repeat=4):
        assert vote(list(ballots), same) == naive(list(ballots)), ballots


def test_a_tie_goes_to_the_likeliest_record_in_every_order() -> None:
    for order in permutations(BALLOTS[0]):
        assert vote(list(order), same) == Vote("b", 2, 4)
    assert vote([("b", -1.0), ("a", -1.0)], same) == Vote("b", 1, 2) and vote([("a", -1.0), ("b", -1.0)], same) == Vote("a", 1, 2)


def drawn(text: str, log_p0: float | None = -1.0, terminated: bool = True) -> Drawn:
    return Drawn("p", 1, text, log_p0, 3, terminated, None)


def test_an_answer_without_a_ballot_has_no_vote() -> None:
    """Of no record, of one, and of several that say nothing; the returned record's own verdict stays."""
    problem = Problem("p", {"problem": "?"}, "5")
    for traces, winner, is_right in (
        ([], None, None), ([drawn("7")], None, None), ([drawn("none"), drawn("nothing")], None, False), ([drawn("none"), drawn("It is 5 or 6")], None, False), ([drawn("The answer is 5 or 6."), drawn("none")], None, False),
        ([drawn("none"), drawn("5")], "5", True), ([drawn("7", -1.0), drawn("5", -2.0)], "7", False), ([drawn("7", -2.0), drawn("5", -1.0)], "5", True), ([drawn("7"), drawn("5", -9.0), drawn("5.0", None)], "5", True),
    ):  # fmt: skip
        grade = judge(NumericGrader(), Answer(drawn("5"), traces), problem)
        assert (grade.correct, grade.vote, grade.vote_correct) == (True, winner, is_right)


def test_equal_answers_are_one_ballot_by_each_grader() -> None:
    for grader, texts, winner in (
        (NumericGrader(), ["\\boxed{0.5}", "\\boxed{4}", "\\boxed{\\frac12}", "\\boxed{4}", "1/2"], "0.5"),
        (LetterGrader(), ["\\boxed{B}", "Answer: C", "(c)", "?"], "C"),
        (ExactGrader(), ["x", " y", "y ", ""], "y"),
    ):  # fmt: skip
        for order in permutations(texts):
            traces = [drawn(text, -1.0 - number) for number, text in enumerate(order)]
            found = judge(grader, Answer(drawn("none"), traces), Problem("p", {}, winner)).vote
            assert found is not None and grader.same(found, winner), order
