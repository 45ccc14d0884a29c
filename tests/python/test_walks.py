"""A walk at its bounds: the last decision of a path, a program that ends early, and weights that make no law."""
import math
import random
from fractions import Fraction

import pytest

from tempera.check import lab, law, walks


@pytest.mark.parametrize("decisions", range(1, 8))
def test_a_path_has_as_many_decisions_as_it_may_and_no_more(monkeypatch, decisions):
    monkeypatch.setattr(walks, "most_decisions", 5)

    def step():
        return sum(random.randrange(2) for _ in range(decisions))

    if decisions > 5:
        with pytest.raises(RecursionError, match="draws without end, 5 times"):
            law(step)
        return
    assert law(step) == {total: Fraction(math.comb(decisions, total), 2**decisions) for total in range(decisions + 1)}


@pytest.mark.parametrize("draws", range(1, 4))
@pytest.mark.parametrize("runs", range(2, 5))
def test_a_program_that_ends_before_it_has_drawn_as_before_is_refused(draws, runs):
    # The first run is a trial; a path is walked to its end before the next begins.
    left = [draws] * runs + [draws - 1] * 100

    def step():
        count = left.pop(0)
        for _ in range(count):
            random.randrange(8)
        return 0

    with pytest.raises(lab.NotDeterministic, match="it ended, and had drawn once more before"):
        law(step)


@pytest.mark.parametrize("weights, why", [
    ([1, -1], "below 0"), ([2, -1], "below 0"), ([1.0, -0.25], "below 0"), ([Fraction(-1, 3), 1], "below 0"),
    ([0, 0], "all 0"), ([0.0], "all 0"), ([], "from nothing"), ([1.0, math.nan], "is nan"), ([math.inf, 1.0], "is inf"),
])
def test_weights_that_make_no_law_are_refused(weights, why):
    with pytest.raises(ValueError, match=why):
        lab.tickets_of(weights)


@pytest.mark.parametrize("weights, tickets, winners", [
    ([0, 3], [0, 1], [1]), ([-0.0, 1.0], [0, 1], [1]), ([2, 4], [1, 2], [0, 1]), ([Fraction(1, 3), Fraction(1, 2)], [2, 3], [0, 1]),
    ([0.5, 1], [1, 2], [0, 1]),
])
def test_tickets_are_the_least_whole_numbers_in_proportion(weights, tickets, winners):
    assert lab.tickets_of(weights) == (tickets, winners)
