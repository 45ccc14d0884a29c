"""A call that was made before with the same input and draws is answered by what it returned, once it was run twice."""
import os
import random
from fractions import Fraction

import pytest
from tempera.check import lab, law, merge
from tempera.check.repeated_calls import RepeatedCalls

runs = []


def slow(start):
    """Adds draws of 1 or 2 from a start until 4 is reached: a list, which the program may change."""
    runs.append(start)
    total = [start]
    while total[-1] < 4:
        total.append(total[-1] + random.choices([1, 2], weights=[1, 3])[0])
    return total


def step(call):
    first = call(random.randrange(3))
    first.append(first[-1] % 2)
    second = call(first[-1])
    return first + second


def test_the_law_is_the_same_and_each_call_is_run_twice():
    known = RepeatedCalls(list, lambda a, b: a == b)
    runs.clear()
    expected = law(lambda: step(slow))
    without = len(runs)
    runs.clear()
    assert law(lambda: step(lambda start: known.call(start, lambda: slow(start)))) == expected
    # Paths from 0, 1 and 2: of the sums 1 or 2 to at least 4 there are 8, 5 and 3. One run more is a trial's.
    assert without > 2 * (8 + 5 + 3) >= len(runs)
    runs.clear()
    assert law(lambda: step(lambda start: known.call(start, lambda: slow(start)))) == expected
    assert not runs


def test_a_call_that_returns_something_else_is_refused():
    known = RepeatedCalls(list, lambda a, b: a == b)
    count = []

    def worn(start):
        count.append(0)
        return [random.randrange(2), len(count)]

    with pytest.raises(lab.NotDeterministic, match="returns something else"):
        law(lambda: known.call(0, lambda: worn(0))[0])


def test_a_call_that_catches_a_refusal_is_not_kept():
    known = RepeatedCalls(list, lambda a, b: a == b)

    def reading():
        try:
            return list(os.urandom(1))
        except TypeError:
            return [0]

    for _ in range(4):
        with pytest.raises(lab.Refused, match="os.urandom"):
            law(lambda: known.call(0, reading)[0])


def test_a_call_that_draws_otherwise_is_refused():
    known = RepeatedCalls(list, lambda a, b: a == b)
    count = []

    def worn():
        count.append(0)
        return [random.randrange(2 + len(count) % 3)]

    with pytest.raises(lab.NotDeterministic):
        law(lambda: known.call(0, worn)[0])


@pytest.mark.parametrize("later, message", [
    ([], "returns something else"),  # no draw where there was one
    ([2, 3], "after the same draws"),  # another draw after those that there were
    ([3], "the tickets at"),  # another draw in its place
    ([2], None),
])
def test_a_call_that_draws_fewer_times_or_more_or_others_is_refused(later, message):
    known = RepeatedCalls(list, lambda a, b: a == b)
    drawn = [[2]] * 3 + [later] * 100

    def worn():
        for count in drawn.pop(0):
            random.randrange(count)
        return ["the same"]

    def step():
        return known.call(0, worn)[0]

    if message is None:
        assert law(step) == {"the same": 1}
        return
    with pytest.raises(lab.NotDeterministic, match=message):
        law(step)


def test_a_call_that_merges_is_run_every_time():
    known = RepeatedCalls(list, lambda a, b: a == b)
    count = []

    def merging():
        count.append(0)
        merge("within")
        return [random.randrange(3)]

    for _ in range(3):
        assert law(lambda: known.call(0, merging)[0]) == {k: Fraction(1, 3) for k in range(3)}
    assert len(count) >= 9
