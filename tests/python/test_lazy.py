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
    for _ in range(150):
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
