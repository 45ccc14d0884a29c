"""Intervals and tests, held against counting by hand and by simulation; votes."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from tempera.errors import BadInput
from tempera.eval.answers import likeliest, vote
from tempera.eval.sampling import Drawn
from tempera.eval.statistics import avg_at_k, deviation, mean, paired, pass_at_k, share_interval, sign_flip_p, wilson


def by_hand(differences: list[int]) -> float:
    sums = [sum(sign * d for sign, d in zip(signs, differences, strict=True)) for signs in itertools.product((1, -1), repeat=len(differences))]
    return sum(abs(total) >= abs(sum(differences)) for total in sums) / len(sums)


def test_the_paired_test_counts_all_flips() -> None:
    chance = random.Random(1)
    for _ in range(50):
        differences = [chance.randint(-3, 3) for _ in range(chance.randint(1, 9))]
        assert sign_flip_p(differences) == by_hand(differences)


def test_the_paired_test_is_mcnemars_with_one_seed() -> None:
    # 10 problems only the first solves, 2 only the second: 2 * P(X <= 2), X binomial(12, 1/2).
    assert sign_flip_p([1] * 10 + [-1] * 2 + [0] * 30) == pytest.approx(2 * (1 + 12 + 66) / 4096, abs=1e-15)
    assert sign_flip_p([0, 0]) == 1.0


def test_wilson_has_its_published_values() -> None:
    # Newcombe 1998, table I, method 3: 81/263, 15/148, 0/20, 1/29.
    for right, count, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)):
        interval = wilson(right / count, count)
        assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_more_seeds_narrow_the_interval_only_as_far_as_problems_differ() -> None:
    # Every problem right half of the time: as good as 100 x 4 independent trials.
    assert share_interval([2] * 100, 4) == wilson(0.5, 400)
    # Problems always right or always wrong: the seeds tell nothing new.
    assert share_interval([4] * 50 + [0] * 50, 4) == wilson(0.5, 100)
    assert share_interval([5] * 30, 5) == wilson(1.0, 30)


def test_the_interval_is_that_of_its_definition() -> None:
    """All counts of right answers of up to four problems and three seeds: the trials are at least the problems, at most the answers."""
    for problems, seeds in itertools.product(range(1, 5), range(1, 4)):
        for right in itertools.product(range(seeds + 1), repeat=problems):
            share = Fraction(sum(right), problems * seeds)
            variance = sum((Fraction(count, seeds) - share) ** 2 for count in right) / problems
            trials = Fraction(problems)
            if seeds > 1 and 0 < share < 1:
                independent = share * (1 - share) / variance * problems if variance else Fraction(10**9)
                trials = sorted([Fraction(problems), independent, Fraction(problems * seeds)])[1]
            found, expected = share_interval(right, seeds), wilson(float(share), float(trials))
            assert found.low == pytest.approx(expected.low, abs=1e-12) and found.high == pytest.approx(expected.high, abs=1e-12), right


def test_the_interval_covers_as_often_as_it_says() -> None:
    # 2000 data sets of 60 problems and 3 seeds, of problems whose own shares are drawn anew: their mean is 0.6.
    chance = random.Random(3)
    covered = 0
    for _ in range(2000):
        shares = [chance.betavariate(1.2, 0.8) for _ in range(60)]
        right = [sum(chance.random() < share for _ in range(3)) for share in shares]
        interval = share_interval(right, 3)
        covered += interval.low <= 0.6 <= interval.high
    # 0.95 of 2000, and 4.5 standard deviations sqrt(0.95 * 0.05 / 2000) to both sides, is 0.928 to 0.972.
    assert 0.928 <= covered / 2000 <= 0.972


def test_an_interval_that_takes_every_answer_for_independent_would_be_caught() -> None:
    chance = random.Random(3)
    covered = 0
    for _ in range(2000):
        shares = [chance.betavariate(0.12, 0.08) for _ in range(60)]
        right = [sum(chance.random() < share for _ in range(3)) for share in shares]
        interval = wilson(sum(right) / 180, 180)
        covered += interval.low <= 0.6 <= interval.high
    assert covered / 2000 < 0.928


def test_pass_and_avg_at_k_are_means_over_all_choices_of_k_answers() -> None:
    """Every way in which up to three problems have up to five answers right, and every k: all choices counted one by one."""
    for problems, answers in itertools.product(range(1, 4), range(1, 6)):
        for right in itertools.product(range(answers + 1), repeat=problems):
            drawn = [[number < count for number in range(answers)] for count in right]
            for k in range(1, answers + 1):
                choices = list(itertools.combinations(range(answers), k))
                taken = [[of_problem[number] for number in choice] for of_problem in drawn for choice in choices]
                assert pass_at_k(right, answers, k) == Fraction(sum(map(any, taken)), len(taken)), (right, answers, k)
                assert avg_at_k(right, answers, k) == sum(Fraction(sum(one), k) for one in taken) / len(taken), (right, answers, k)
            assert pass_at_k(right, answers, 1) == avg_at_k(right, answers, 1) == Fraction(sum(right), problems * answers)


def test_many_answers_give_an_exact_share() -> None:
    # 1 - (999/1000 * 998/999 * ... * 900/901) = 1 - 900/1000; floats of the two binomials are infinite.
    assert pass_at_k([1], 1000, 100) == Fraction(1, 10)
    assert pass_at_k([500, 0], 1100, 601) == Fraction(1, 2)


@pytest.mark.parametrize("k", [-1, 0, 4])
def test_k_is_at_most_the_answers(k: int) -> None:
    for of_k in (pass_at_k, avg_at_k):
        with pytest.raises(BadInput) as refused:
            of_k([1, 2], 3, k)
        assert str(refused.value) == f"pass@{k}: takes {k} answers to each problem, and there are 3; give k from 1 to 3, or run with more --seeds"


def test_differences_are_taken_by_problem() -> None:
    found = paired([3, 3, 0, 1], [0, 3, 0, 2], 3)
    assert found.difference == pytest.approx(2 / 12)
    assert (found.better, found.worse) == (1, 1)
    assert found.p_value == sign_flip_p([3, 0, 0, -1]) == 1.0
    assert deviation([1.0]) is None and mean([1.0, 2.0]) == 1.5


@pytest.mark.parametrize("problems", [12, 60])
def test_the_interval_of_a_difference_covers_as_often_as_it_says(problems: int) -> None:
    # 2000 data sets of problems whose own shares are drawn anew, the second sampler right 0.1 less often on each.
    chance = random.Random(5)
    covered = 0
    for _ in range(2000):
        right = [[0, 0] for _ in range(problems)]
        for counts in right:
            share = 0.1 + 0.9 * chance.betavariate(1.2, 0.8)
            for _ in range(3):
                counts[0] += chance.random() < share
                counts[1] += chance.random() < share - 0.1
        interval = paired([one for one, _ in right], [other for _, other in right], 3).interval
        covered += interval.low <= 0.1 <= interval.high
    # At least 0.95 of 2000 less 4.5 standard deviations; it is wider than needed with few problems.
    assert covered / 2000 >= 0.928


def test_problems_that_all_agree_make_no_certainty() -> None:
    for first, second in (([1] * 6, [1] * 6), ([1] * 6, [0] * 6)):
        interval = paired(first, second, 1).interval
        assert interval.high - interval.low > 0.2 and -1 <= interval.low < interval.high <= 1


def test_the_majority_wins_and_ties_go_to_the_likeliest_record() -> None:
    def same(one: str, other: str) -> bool:
        return one.strip() == other.strip()

    assert vote([(None, 0.0)], same) is None
    result = vote([("4", -50.0), (" 4", -60.0), ("5", -1.0), (None, 0.0)], same)
    assert result is not None and (result.winner, result.votes, result.voters) == ("4", 2, 3)
    tied = vote([("4", -3.0), ("5", -2.0), ("4", -9.0), ("5", -8.0)], same)
    assert tied is not None and tied.winner == "5"
    # Cumulative, not averaged, and not the sum over the group, which would favour small groups' likely records less.
    sums = vote([("4", -5.0), ("4", -5.0), ("5", -4.0), ("5", -100.0)], same)
    assert sums is not None and sums.winner == "5"


def test_the_likeliest_record_is_the_first_of_tied_ones() -> None:
    def drawn(sample: int, log_p0: float) -> Drawn:
        return Drawn("a", sample, "", log_p0, 1, True, None)

    assert likeliest([drawn(0, -2.0), drawn(1, -1.0 - 2.0**-17), drawn(2, -1.0)]).sample == 1
    assert likeliest([drawn(0, -2.0), drawn(1, -1.0 - 2.0**-15), drawn(2, -1.0)]).sample == 2
    # The last distance that is a tie, and the first double above it.
    assert likeliest([drawn(0, -1.0 - 2.0**-16), drawn(1, -1.0)]).sample == 0
    assert likeliest([drawn(0, -1.0 - 2.0**-16 - 2.0**-52), drawn(1, -1.0)]).sample == 1


def test_the_interval_of_a_difference_is_that_of_its_definition() -> None:
    """Agresti and Min's: the mean and 1.96 standard errors, over two problems more: half a one of each outcome, (1, 1), (0, 0), (1, 0) and (0, 1)."""
    chance = random.Random(7)
    for _ in range(200):
        seeds, problems = chance.randrange(1, 4), chance.randrange(1, 12)
        first, second = ([chance.randrange(seeds + 1) for _ in range(problems)] for _ in range(2))
        # Each problem counts twice here, and so each outcome once.
        shares = [Fraction(a - b, seeds) for a, b in zip(first, second)] * 2 + [Fraction(0), Fraction(0), Fraction(1), Fraction(-1)]
        centre = sum(shares) / len(shares)
        variance = sum((share - centre) ** 2 for share in shares) / len(shares)
        half = 1.959963984540054 * float(variance / (len(shares) // 2)) ** 0.5
        found = paired(first, second, seeds)
        assert found.interval.low == pytest.approx(max(-1.0, float(centre) - half), abs=1e-12)
        assert found.interval.high == pytest.approx(min(1.0, float(centre) + half), abs=1e-12)
        assert found.difference == pytest.approx(float(Fraction(sum(first) - sum(second), seeds * problems)), abs=1e-12)
        assert (found.better, found.worse) == (sum(a > b for a, b in zip(first, second)), sum(a < b for a, b in zip(first, second)))
        assert found.p_value == by_hand([a - b for a, b in zip(first, second)])
