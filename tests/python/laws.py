"""What the tests of stand-ins share: laws written out, and what must be refused by name."""
import pathlib
from fractions import Fraction

import pytest
from tempera.check import law

PACKAGE = str(pathlib.Path(__file__).parents[2] / "python")
EIGHTHS = {0: Fraction(1, 8), 1: Fraction(1, 8), 2: Fraction(3, 4)}
QUARTERS = {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 4)}


def small(u):
    """0, 1 or 2 with probabilities 1/8, 1/8 and 3/4."""
    return 0 if u < 0.125 else 1 if u <= 0.25 else 2


def check_law(step, expected, within=0):
    found = law(step)
    assert sum(found.values()) == 1
    if within == 0:
        assert found == expected
    else:
        assert found.keys() == expected.keys()
        assert all(abs(found[end] - expected[end]) < within for end in found)


def check_refused(step, name):
    with pytest.raises(TypeError, match=name):
        law(step)
