"""Figures of seeds that lack one."""

from __future__ import annotations

import itertools

from tempera.eval.report.results import _expected
from tempera.eval.sampling import Figures


def test_round_trips_are_expected_only_if_every_seed_says_how_many() -> None:
    def figures(value: float | None) -> Figures:
        return Figures({} if value is None else {"round_trips_expected": value}, {}, {})

    for values in itertools.product((None, 0.0, 2.5), repeat=3):
        expected = None if None in values else sum(value or 0.0 for value in values)
        assert _expected([figures(value) for value in values]) == expected
