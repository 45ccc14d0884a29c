"""The judge of models against sums that are written out: two rows, a finding, a vocabulary; and its longest prefix."""
import itertools
import math
import random
from types import SimpleNamespace

import numpy as np
import pytest

import tempera
from tempera import check
from tempera.check import model_judging
from tempera.errors import BadInput


@pytest.mark.parametrize("positions", [0, *range(3, 24)])
def test_no_prefix_is_longer_than_the_model_takes(positions):
    longest = 0

    def logits(prefixes):
        nonlocal longest
        longest = max(longest, *map(len, prefixes))
        return np.array([[(sum(prefix) * 7 + token * token) % 5 for token in range(8)] for prefix in prefixes], dtype=np.float32)

    model = tempera.Model.from_callable(logits, 8, terminal=7, positions=positions)
    asked = {"length": 4 + positions} if positions else {"length": 12}
    prompts = [[number % 6 + 1] * (positions or 12) for number in range(3)]
    for given in ({**asked, "rows": 3}, {"prompts": prompts}):
        longest = 0
        assert check.model(model, **given).equal
        assert (longest <= positions if positions else longest > 12) and longest >= 3


def test_a_wrong_number_is_no_rounding_and_any_other_difference_may_be():
    for claim, unequal, logit in itertools.product(model_judging._CLAIMS, (0, 1), (0.0, 0.5, 1.0, math.inf, math.nan)):
        found = model_judging.Finding(claim, 3, unequal, logit, 0.0, "", 0.5)
        assert found.sound == (unequal == 0 or (claim not in ("numbers", "vocabulary") and logit <= 0.5)), found


def test_the_differences_of_two_rows_are_those_of_their_numbers():
    chance = random.Random(4)
    for _ in range(400):
        row = lambda: [chance.choice((-math.inf, -30.0, -10.0, 0.0, 1.5, 3.0)) for _ in range(4)] + [0.5]  # noqa: E731
        pairs = [(row(), row()) for _ in range(chance.randrange(1, 4))]
        if chance.random() < 0.3:
            pairs[0] = pairs[0][0], list(pairs[0][0])
        found = model_judging._Compared("batch")
        logit = log_p = 0.0
        for got, expected in pairs:
            found.take(np.array(got, np.float32), np.array(expected, np.float32), "row")
            logit = max([logit, *(abs(a - b) for a, b in zip(got, expected) if a != b)])
            here, there = ([one - math.log(sum(map(math.exp, of))) for one in of] for of in (got, expected))
            # A token that one of the two rows gives a probability of more than 2^-20.
            log_p = max([log_p, *(abs(a - b) for a, b in zip(here, there) if a != b and max(a, b) > -20 * math.log(2))])
        assert (found.rows, found.unequal) == (len(pairs), sum(got != expected for got, expected in pairs))
        assert found.logit == logit and found.log_p == pytest.approx(log_p, rel=1e-9, abs=1e-12)


def test_a_token_that_the_vocabulary_does_not_have_is_told():
    for size, terminal, coded in itertools.product((1, 2, 5), (-1, 0, 1), (-1, 0, 1)):
        model = SimpleNamespace(terminal=[size + terminal], vocabulary_size=size, decode=str, encode=lambda text: [0, size + coded])  # noqa: B023
        found = model_judging._Compared("vocabulary")
        model_judging._vocabulary(model, found)
        tokens = len({0, size // 2, size - 1})
        assert (found.rows, found.unequal) == (1 + tokens, (terminal >= 0) + tokens * (coded >= 0))


def test_prompts_are_two_at_least_of_two_tokens_at_least():
    model = tempera.Model.from_callable(lambda prefixes: np.zeros((len(prefixes), 4), np.float32), 4)
    for sizes in itertools.chain(itertools.product(range(4), repeat=1), itertools.product(range(4), repeat=2), [()]):
        prompts = [[1] * size for size in sizes]
        if len(sizes) == 2 and min(sizes) >= 2:
            assert check.model(model, prompts=prompts).sound
        else:
            with pytest.raises(BadInput, match="^prompts: are fewer than two, or have fewer than two tokens"):
                check.model(model, prompts=prompts)
