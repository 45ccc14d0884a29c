"""Numbers that are not drawn yet, where they are compared: against lengths of intervals, and the rates of two clocks."""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import sys
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from tempera.check import lab, lazy, law, own_code, serving, snapshots, uniform
from tempera.check.finite_model import Model

GRAIN = Fraction(1, 2**128)
POINTS = [Fraction(-1), Fraction(0), GRAIN / 2, GRAIN, 2 * GRAIN, Fraction(1, 3), 1 - 2 * GRAIN, 1 - GRAIN, 1 - GRAIN / 2, Fraction(1), Fraction(2)]


@pytest.mark.parametrize("place", range(len(POINTS)))
def test_what_is_below_the_grain_at_either_end_is_no_decision(place: int) -> None:
    point = POINTS[place]
    share = Fraction(0) if point < GRAIN else Fraction(1) if point > 1 - GRAIN else point
    expected = {is_below: part for is_below, part in ((True, share), (False, 1 - share)) if part}
    assert law(lambda: uniform() < point) == law(lambda: uniform() <= point) == expected
    assert law(lambda: not uniform() > point) == law(lambda: not uniform() >= point) == expected
    assert law(lambda: 2 * uniform() - 1 < 2 * point - 1) == law(lambda: -3 * uniform() > -3 * point) == expected


def test_nothing_is_below_or_above_what_is_no_number() -> None:
    for made in (lambda u: u, lambda u: 2 * u - 1, lambda u: u.log(), lambda u: (u + 1).log(), lambda u: (-u.log()).log(), lambda u: 3 / -u.log()):
        assert law(lambda: (made(uniform()) < math.nan, made(uniform()) > math.nan, made(uniform()) <= math.nan, made(uniform()) >= math.nan)) == {(False,) * 4: 1}
        below = {(True, False): 1}
        assert law(lambda: (made(uniform()) < math.inf, made(uniform()) > math.inf)) == below
        assert law(lambda: (made(uniform()) > -math.inf, made(uniform()) < -math.inf)) == below


def test_a_whole_number_is_drawn_by_the_length_of_what_is_cut_or_rounded_down_to_it() -> None:
    chance = random.Random(1)
    for _ in range(50):
        scale, shift = (Fraction(chance.randrange(-12, 13), chance.choice((1, 2, 3))) for _ in range(2))
        if scale == 0:
            continue
        low, high = sorted((shift, scale + shift))
        cut: dict[int, Fraction] = {}
        down: dict[int, Fraction] = {}
        for number in range(math.floor(low) - 1, math.ceil(high) + 2):
            for found, ends in ((down, (number, number + 1)), (cut, (number, number + 1) if number > 0 else (number - 1, number) if number < 0 else (-1, 1))):
                length = min(high, Fraction(ends[1])) - max(low, Fraction(ends[0]))
                if length > 0:
                    found[number] = length / abs(scale)
        assert law(lambda: math.floor(uniform() * scale + shift)) == down, (scale, shift)
        assert law(lambda: int(uniform() * scale + shift)) == cut, (scale, shift)


def changed(number: Any, kind: int, by: Any) -> Any:
    """One of the ways in which a program may change a number."""
    return (number + by, by + number, number - by, by - number, number * by, by * number, number / by, -number)[kind]


def test_a_number_that_is_changed_again_and_again_is_compared_as_what_it_has_become() -> None:
    """Against the same sums over fractions: where the line from u = 0 to u = 1 meets the point."""
    chance = random.Random(5)
    for _ in range(25):
        ways = [(chance.randrange(8), chance.choice((-3, 2, 0.5, -0.25, Fraction(1, 3), 5.0))) for _ in range(chance.randrange(1, 6))]

        def made(number: Any, ways: Any = ways) -> Any:
            for kind, by in ways:
                number = changed(number, kind, Fraction(by) if isinstance(number, Fraction) else by)
            return number

        first, last = made(Fraction(0)), made(Fraction(1))
        at = Fraction(chance.randrange(-1, 10), 8)
        point = first + at * (last - first)
        below = min(max(at if last > first else 1 - at, Fraction(0)), Fraction(1))
        expected = {end: part for end, part in ((True, below), (False, 1 - below)) if part}
        assert law(lambda: made(uniform()) < point) == law(lambda: made(uniform()) <= point) == expected, ways  # noqa: B023
        assert law(lambda: not made(uniform()) > point) == law(lambda: point > made(uniform())) == expected, ways  # noqa: B023


def test_a_number_that_is_asked_several_times_keeps_to_what_it_has_answered() -> None:
    """Against the answers of every interval between the points that are asked for."""
    chance = random.Random(6)
    for _ in range(30):
        asked = [(chance.randrange(3), Fraction(chance.randrange(1, 7), chance.choice((2, 3))) * chance.choice((-1, 1)), Fraction(chance.randrange(-6, 7), 4)) for _ in range(4)]

        def answers(u: Any, asked: Any = asked) -> tuple[Any, ...]:
            return tuple(scale * u + shift < 0 if kind == 0 else scale * u > shift if kind == 1 else math.floor(scale * u + shift) for kind, scale, shift in asked)

        cuts = {Fraction(0), Fraction(1)}
        for kind, scale, shift in asked:
            wholes = range(-12, 13) if kind == 2 else (0,)
            cuts |= {at for whole in wholes if 0 < (at := (shift / scale if kind == 1 else (whole - shift) / scale)) < 1}
        expected: dict[Any, Fraction] = {}
        for low, high in itertools.pairwise(sorted(cuts)):
            end = answers((low + high) / 2)
            expected[end] = expected.get(end, Fraction(0)) + high - low
        assert law(lambda: answers(uniform())) == expected, asked  # noqa: B023


# Functions of u that rise or fall throughout, of each form that a program may write.
FORMS = [
    lambda u: -math.log(u), lambda u: 1 - 2 * math.log(u), lambda u: math.log(u) / 3 + 1, lambda u: math.log(1 - u) * 2, lambda u: math.log(u) * 0.5 - 1,
    lambda u: 2 / -math.log(u), lambda u: 3 / math.log(u), lambda u: (2 / -math.log(u)) / 4, lambda u: (1 / -math.log(u)) * -2, lambda u: -(2 / -math.log(u)),
    lambda u: math.log(-math.log(u)), lambda u: -math.log(-math.log(u)) * 2 + 1, lambda u: 1 - math.log(-math.log(u)) / 3, lambda u: math.log(2 / -math.log(u)) - 1,
    lambda u: math.log(-math.log(u) / 3), lambda u: math.log(3 * -math.log(1 - u)), lambda u: 0.5 + math.log(-math.log(u)),
    lambda u: math.log(2 * u + 1) - 1, lambda u: 1 + math.log(3 - 2 * u), lambda u: math.log(u / 2) + 0.5, lambda u: math.log(1 - u / 2), lambda u: math.log(u + 1),
    lambda u: (1 - math.log(u)) * 2, lambda u: (2 - math.log(u)) * -3, lambda u: (math.log(u) - 1) / 4, lambda u: (math.log(-math.log(u)) + 1) * -2, lambda u: (3 - math.log(-math.log(u))) / 2,
    lambda u: 3 / (-2 * math.log(u)), lambda u: 3 / (math.log(u) / 2), lambda u: math.log(2 / (-3 * math.log(u))),
    lambda u: 3 * u - 1, lambda u: (1 - u) / 2, lambda u: 2 - u,
]  # fmt: skip


def share_below(form: Any, point: float) -> float:
    """The part of (0, 1) on which a form is below a point, by halving."""
    is_rising = form(0.75) > form(0.25)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle in (0.0, 1.0):
            break
        low, high = (middle, high) if (form(middle) < point) == is_rising else (low, middle)
    return low if is_rising else 1 - low


@pytest.mark.parametrize("place", range(len(FORMS)))
def test_every_form_is_compared_with_numbers_as_its_function_says(place: int) -> None:
    form, chance = FORMS[place], random.Random(place)
    for point in (0.0, form(chance.random()), form(chance.random()), chance.choice((-9.0, -0.5)), chance.choice((0.5, 9.0))):
        below = share_below(form, point)
        for asked in (lambda: form(uniform()) < point, lambda: form(uniform()) <= point, lambda: point > form(uniform()),
                      lambda: not form(uniform()) > point, lambda: not point <= form(uniform())):  # fmt: skip
            assert float(law(asked).get(True, 0)) == pytest.approx(below, abs=1e-9), (place, point)


PAIRS = [
    (lambda u: -math.log(u), lambda u: -2 * math.log(u)), (lambda u: math.log(u) / 3, lambda u: math.log(u)), (lambda u: 2 / -math.log(u), lambda u: 3 / -math.log(u)),
    (lambda u: -1 / -math.log(u), lambda u: -3 / -math.log(u)), (lambda u: math.log(-math.log(u)), lambda u: math.log(-math.log(u)) + 1),
    (lambda u: 1 - math.log(-math.log(u)), lambda u: -math.log(-math.log(u))), (lambda u: 2 * math.log(-math.log(u)) - 1, lambda u: 2 * math.log(-math.log(u))),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(PAIRS)))
def test_two_of_one_form_are_compared_as_their_functions_say(place: int) -> None:
    """The midpoint rule is off by 1/n at most where what is summed only rises or only falls."""
    one, other = PAIRS[place]
    n = 100
    expected = sum(1 - share_below(other, one((k + 0.5) / n)) for k in range(n)) / n
    for found in (law(lambda: one(uniform()) < other(uniform())), law(lambda: other(uniform()) > one(uniform()))):
        assert abs(float(found[True]) - expected) < 1 / n
    # The one that rings first is the largest if values fall with time, else the smallest.
    pick = min if one(0.25) > one(0.75) else max
    for first, second in ((one, other), (other, one)):
        three = law(lambda: pick(range(3), key=[first(uniform()), second(uniform()), first(uniform())].__getitem__))
        assert sum(three.values()) == 1 and float(three[0]) == pytest.approx(float(three[2]), rel=1e-12)
        below = [share_below(first, second((k + 0.5) / n)) for k in range(n)]
        both = sum((share if pick is max else 1 - share) ** 2 for share in below) / n
        assert abs(float(three[1]) - both) < 1 / n


def clock() -> Any:
    return -math.log(uniform())


def asked_again(first: Any, then: Any) -> Any:
    def step() -> Any:
        a, b, c = clock(), clock(), clock()
        return first(a, b, c), then(a, b, c)

    return step


@pytest.mark.parametrize("step", [
    asked_again(lambda a, b, c: a < b, lambda a, b, c: a < b), asked_again(lambda a, b, c: a < b, lambda a, b, c: a < 1), asked_again(lambda a, b, c: a < b, lambda a, b, c: b > 1),
    asked_again(lambda a, b, c: a < 1, lambda a, b, c: a < b), asked_again(lambda a, b, c: a < 1, lambda a, b, c: b < a),
    asked_again(lambda a, b, c: a < b, lambda a, b, c: max(a, c) < b), lambda: clock() < 2 / clock(), lambda: clock() < -2 / clock(), lambda: math.log(clock()) < clock(), lambda: clock() + 1 < clock() + 1, lambda: clock() + 1 < clock(), lambda: clock() < -clock(),
    lambda: clock() + clock() < 1, lambda: clock() * uniform() < 1, lambda: 1 / (clock() + 1) < 1, lambda: 1 / (1 / clock()) < 1, lambda: 1 / clock() + 1 < 2,
    lambda: math.log(clock() + 1) < 1, lambda: math.log(-clock()) < 1, lambda: math.log(math.log(clock())) < 1, lambda: -math.log(uniform() + 1) < 1, lambda: 1 / uniform() < 2,
    *(lambda kind=kind, ask=ask: ask(kind()) for kind in (uniform, clock, lambda: math.log(uniform() + 1))
      for ask in (lambda x: x**2, lambda x: 2**x, abs, round, bool, math.exp, math.sqrt, lambda x: x < uniform())),
    lambda: int(clock()), lambda: float(uniform() * 2), lambda: uniform() + uniform(), lambda: uniform() * uniform() < 1,
])  # fmt: skip
def test_what_has_no_exact_answer_is_refused(step: Any) -> None:
    with pytest.raises((lab.Refused, TypeError)):
        law(step)


@pytest.mark.parametrize(("one", "other"), list(itertools.product([(1.0, 0.0), (1.0, 0.5), (2.0, 0.0), (-1.0, 0.0), (0.5, 1.0)], repeat=2)))
def test_two_gumbels_of_one_scale_are_compared_by_their_rates_and_others_refused(one: tuple[float, float], other: tuple[float, float]) -> None:
    def gumbel(scale: float, shift: float) -> Any:
        return -(-uniform().log()).log() * scale + shift

    if one[0] != other[0]:
        with pytest.raises(lab.Refused, match="comparing these two"):
            law(lambda: gumbel(*one) < gumbel(*other))
        return
    weights = [math.exp(shift / scale) for scale, shift in (one, other)]
    # The larger of two rises with its shift if its scale is positive, and falls if not.
    share = weights[1] / sum(weights)
    assert float(law(lambda: gumbel(*one) < gumbel(*other))[True]) == pytest.approx(share if one[0] > 0 else 1 - share, rel=1e-12)


def test_an_error_is_at_the_innermost_line_of_the_program() -> None:
    def inner() -> None:
        json.loads("{")  # a library's lines are not the program's

    def outer() -> None:
        inner()

    with pytest.raises(ValueError) as raised:
        outer()
    assert lab.place_of(raised.value) == f"test_lazy.py:{inner.__code__.co_firstlineno + 1}"


def test_a_record_may_be_a_batch_of_one_as_deep_as_it_likes() -> None:
    for tokens in ([], [3], [1, 2, 3]):
        given: Any = tokens
        for depth in range(4):
            assert serving.record(given) == tokens and serving.record(tuple(given)) == tokens, depth
            assert serving.record(SimpleNamespace(tolist=lambda given=given: given)) == tokens
            assert serving.state_of([given, given], 2) == [tokens, tokens] and serving.state_of(given, 1) == tokens
            given = [given] if depth % 2 else (given,)
    for wrong in ([[1], [2]], [[[1, 2], [3]]]):
        with pytest.raises(TypeError):
            serving.record(wrong)


def test_tickets_are_numbers_below_2_to_the_64_and_texts_from_there_on() -> None:
    tickets = [0, 1, 2**53, 2**64 - 1, 2**64, 2**64 + 1, 10**30]
    lines = serving.Lines(lambda: "")
    lines.fork(tickets, "a:1")
    assert json.loads("".join(lines._lines)) == {"fork": [0, 1, 2**53, 2**64 - 1, str(2**64), str(2**64 + 1), str(10**30)], "at": "a:1"}


def test_a_prefix_has_tokens_that_another_may_follow() -> None:
    row = ["1/4", "1/4", "1/2"]
    model = Model({"vocabulary": ["a", "b", "e"], "terminal": [2], "horizon": 3, "powers": ["2"], "default": row})
    for length in range(4):
        for prefix in itertools.product(range(-1, 4), repeat=length):
            if all(token in (0, 1) for token in prefix):
                assert model.fractions(prefix) == [Fraction(one) for one in row]
                assert model.is_ended(prefix) == (length >= 3) and model.is_ended([*prefix, 2])
            else:
                with pytest.raises(ValueError, match="no token follows the prefix"):
                    model.fractions(prefix)


def test_only_what_is_installed_is_taken_from_what_python_has_compiled(tmp_path: Any) -> None:
    library = os.path.dirname(os.path.realpath(os.__file__))
    for folder, is_installed in (
        (library, True), (f"{library}/json", True), (f"{library}-mine", False), (os.path.dirname(library), False), ("/usr/lib/python3/dist-packages", True),
        ("/x/site-packages/numpy", True), ("/x/dist-packages/numpy/random", True), ("/x/site-packages-mine", False), ("/x/mine", False), (str(tmp_path), False),
    ):  # fmt: skip
        assert own_code._is_installed(folder) == is_installed, folder


def test_a_name_never_changes_if_nothing_that_it_holds_can() -> None:
    held: list[int] = []

    def plain(x: int, y: int = 3) -> int:
        return x

    def with_default(x: Any = held) -> None: ...
    def by_name(*, x: Any = held) -> None: ...
    def closed() -> list[int]:
        return held

    def attributed() -> None: ...

    attributed.calls = held  # type: ignore[attr-defined]
    for value in (1, 2.5, 1j, True, "a", b"a", None, (1, ("a", None)), frozenset((1, 2)), math, len, math.floor, plain):
        assert snapshots._is_constant(value), value
    for value in (held, {}, {1}, (1, held), [1].append, object(), with_default, by_name, closed, attributed, (by_name,), random.Random(1), iter(held)):
        assert not snapshots._is_constant(value), value
    assert sys.modules[__name__].GRAIN == lazy._GRAIN
