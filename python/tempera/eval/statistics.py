"""Means, intervals and tests of shares of right answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tempera.errors import BadInput

_Z = 1.959963984540054  # the normal distribution's 97.5 % point


@dataclass(frozen=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float | None:
    """The standard deviation with n - 1, None of one value.

    >>> deviation([1.0, 3.0]) == math.sqrt(2)
    True
    """
    if len(values) < 2:
        return None
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def wilson(share: float, count: float) -> Interval:
    """Wilson's score interval of a share of `count` independent trials.

    >>> interval = wilson(0.425, 200)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.359, 0.494)
    """
    square = _Z * _Z / count
    centre = (share + square / 2) / (1 + square)
    half = _Z / (1 + square) * math.sqrt(share * (1 - share) / count + square / (4 * count))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def check_k(k: int, answers: int) -> None:
    """Raises BadInput if `answers` to each problem do not say what k answers would give: if k is not from 1 to `answers`."""
    if not 1 <= k <= answers:
        there = f"are {answers}" if answers > 1 else "is 1"
        raise BadInput(
            f"pass@{k}", f"takes {k} answers to each problem, and there {there}", f"give k from 1 to {answers}, or run with more --seeds"
        )


def pass_at_k(right: Sequence[int], answers: int, k: int) -> Fraction:
    """pass@k: the share of problems that at least one of k answers solves, from how many of `answers` were right of each.

    With n answers and c right ones it is the mean over problems of 1 - C(n - c, k) / C(n, k), the share of all choices of k
    of the n answers that hold a right one. So it is unbiased (Chen et al., 2021), and exact. Raises BadInput if k is not
    from 1 to n.

    >>> pass_at_k([0, 1, 2], 4, 2)
    Fraction(4, 9)
    """
    check_k(k, answers)
    choices = math.comb(answers, k)
    return Fraction(sum(choices - math.comb(answers - count, k) for count in right), choices * len(right))


def avg_at_k(right: Sequence[int], answers: int, k: int) -> Fraction:
    """avg@k: the mean accuracy of k answers to each problem, from how many of `answers` were right of each.

    It is the mean over all choices of k of the n answers, which is the mean over problems of c / n for every k. Exact.
    Raises BadInput if k is not from 1 to n.

    >>> avg_at_k([0, 1, 2], 4, 2)
    Fraction(1, 4)
    """
    check_k(k, answers)
    return Fraction(sum(right), answers * len(right))


def share_interval(right: Sequence[int], seeds: int) -> Interval:
    """The interval of the share of right answers over problems like these, from how many of `seeds` were right of each.

    Answers to one problem depend on each other, so the problems are what is counted: Wilson's interval with the number
    of independent trials that has the observed variance over problems, from the number of problems up to problems times
    seeds. With one seed it is Wilson's own.

    >>> share_interval([1] * 41 + [0] * 159, 1) == wilson(0.205, 200)
    True
    """
    problems = len(right)
    share = sum(right) / (problems * seeds)
    variance = math.fsum((count / seeds - share) ** 2 for count in right) / problems
    trials = float(problems)
    if seeds > 1 and 0 < share < 1:
        most = float(problems * seeds)
        trials = most if variance == 0 else min(most, max(trials, share * (1 - share) / variance * problems))
    return wilson(share, trials)


def sign_flip_p(differences: Sequence[int]) -> float:
    """The exact two-sided p-value of paired differences: of all ways to flip their signs, the share with a sum as large.

    With differences of -1, 0 and 1 it is McNemar's exact test.

    >>> sign_flip_p([1, 1, 1, 1, 1, -1]) == 14 / 64
    True
    """
    sums = {0: 1}
    for size, times in Counter(abs(difference) for difference in differences if difference).items():
        flips = [(size * (2 * up - times), math.comb(times, up)) for up in range(times + 1)]
        together: dict[int, int] = {}
        for total, ways in sums.items():
            for change, more in flips:
                together[total + change] = together.get(total + change, 0) + ways * more
        sums = together
    observed = abs(sum(differences))
    extreme = sum(ways for total, ways in sums.items() if abs(total) >= observed)
    return extreme / sum(sums.values())


@dataclass(frozen=True)
class Paired:
    """The difference between two samplers on the same problems: the difference of shares, its interval, the exact p-value."""

    difference: float
    interval: Interval
    p_value: float
    better: int
    worse: int


def paired(first: Sequence[int], second: Sequence[int], seeds: int) -> Paired:
    """The difference first - second, from how many of `seeds` answers were right of each problem.

    The interval is Agresti and Min's (2005): the mean of the differences by problem and 1.96 of its standard errors, with
    half a problem more of each outcome: both right, both wrong, and one right of either kind. So problems that all
    agree do not make it a point.

    >>> found = paired([1] * 50, [1] * 50, 1)
    >>> found.difference, round(found.interval.low, 3), round(found.interval.high, 3)
    (0.0, -0.038, 0.038)
    """
    differences = [a - b for a, b in zip(first, second, strict=True)]
    shares = [difference / seeds for difference in differences]
    count = len(shares) + 2
    centre = math.fsum(shares) / count
    variance = (math.fsum(share * share for share in shares) + 1) / count - centre * centre
    half = _Z * math.sqrt(variance / count)
    return Paired(
        mean(shares),
        Interval(max(-1.0, centre - half), min(1.0, centre + half)),
        sign_flip_p(differences),
        sum(difference > 0 for difference in differences),
        sum(difference < 0 for difference in differences),
    )
