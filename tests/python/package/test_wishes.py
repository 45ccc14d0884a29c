"""The checks of arguments at their bounds: the last value that each takes, and the first that it refuses."""
import math

import numpy as np
import pytest

from tempera import wishes
from tempera.errors import BadInput


@pytest.mark.parametrize("check, least, most", [
    (wishes.token, 0, 2**32 - 1),
    (wishes.whole, 0, 2**64 - 1),
    (lambda name, value: wishes.whole(name, value, 3, 7), 3, 7),
    (wishes._at_least_one, 1, 2**64 - 1),
])
def test_whole_numbers_are_taken_from_the_least_to_the_most(check, least, most):
    for value in (least, most, np.uint64(most)):
        assert check("it", value) == int(value)
    for value in (least - 1, most + 1, float(least), str(least), None, True):
        with pytest.raises(BadInput, match="it: "):
            check("it", value)


def test_a_truth_is_one_of_two_values_however_it_is_written():
    for value in (False, True, 0, 1, np.False_, np.True_, np.int64(0), np.int64(1)):
        assert wishes.truth("it", value) is bool(value)
    for value in (-1, 2, 10**30, np.int64(2), 0.0, 1.0, math.nan, "yes", "", None, []):
        with pytest.raises(BadInput, match="it: .*neither True nor False"):
            wishes.truth("it", value)
