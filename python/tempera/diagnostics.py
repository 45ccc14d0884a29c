"""Figures of Markov chain Monte Carlo for the chains of a run: effective sample size, R-hat, Monte Carlo error.

    import tempera

    run = tempera.RunFolder("run")
    for row in run.diagnostics():
        print(row.rung, row.quantity, row.ess_bulk, row.r_hat)

A chain is one answer of a prompt at one rung, and its draws are the records after the rounds of the last stage. The
definitions are those of Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and localization"
(Bayesian Analysis 16, 2021); arviz computes the same numbers and is the oracle of the tests.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

from tempera import wishes
from tempera.errors import BadInput, shown
from tempera.wishes import finite, several, text, token, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Draws = NDArray[np.float64]

#: The fewest draws of a chain that can be split in two halves with a variance each.
FEWEST_DRAWS = 4


def _array(name: str, values: ArrayLike, remedy: str) -> Draws:
    """Values as finite floats. Raises BadInput naming them."""
    import numpy

    try:
        given = numpy.asarray(None if isinstance(values, bytearray) else values)
        # NumPy would read texts as numbers, and leave out the imaginary part of others.
        if given.dtype.kind not in "biuf" and not (given.dtype.kind == "O" and all(isinstance(one, numbers.Real) for one in given.ravel())):
            raise TypeError
        found = given.astype(numpy.float64)
    except (ArithmeticError, TypeError, ValueError):
        raise BadInput(name, "is not an array of numbers", remedy) from None
    if not numpy.isfinite(found).all():
        raise BadInput(name, "contains NaN or infinity", "leave that answer out, or look for the model's fault")
    return found


def _chains(draws: ArrayLike) -> Draws:
    """Draws as an array of shape (chains, draws). One sequence is one chain."""
    found = _array("draws", draws, "give an array of shape (chains, draws)")
    if found.ndim == 1:
        found = found[None, :]
    if found.ndim != 2 or found.shape[0] == 0:
        raise BadInput("draws", f"have the shape {found.shape}", "give an array of shape (chains, draws)")
    if found.shape[1] < FEWEST_DRAWS:
        raise BadInput("draws", f"a chain has {found.shape[1]} draws", f"use at least {FEWEST_DRAWS}: more `rounds` give more")
    return found


def _halves(draws: Draws) -> Draws:
    """Each chain as two, without the middle draw where their number is odd."""
    import numpy

    half = draws.shape[1] // 2
    return numpy.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(draws: Draws) -> Draws:
    """z = Φ⁻¹((r − 3/8) / (S + 1/4)), r the rank among all S draws, equal draws sharing their mean rank."""
    import numpy

    flat = draws.ravel()
    values, place, counts = numpy.unique(flat, return_inverse=True, return_counts=True)
    last = numpy.cumsum(counts)
    ranks = last - (counts - 1) / 2
    normal = NormalDist()
    scores = numpy.array([normal.inv_cdf((rank - 0.375) / (flat.size + 0.25)) for rank in ranks])
    return scores[place.ravel()].reshape(draws.shape)


def _autocovariances(draws: Draws) -> Draws:
    """Σ_t (x_t − x̄)(x_{t+k} − x̄) / N of each chain, by lag k < N."""
    import numpy

    count = draws.shape[1]
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = numpy.fft.rfft(centred, n=2 * count, axis=1)
    products: Draws = numpy.fft.irfft(spectrum * spectrum.conj(), n=2 * count, axis=1)[:, :count] / count
    return products


def _effective_size(draws: Draws) -> float:
    """S / τ of chains as they are, τ = −1 + 2 Σ ρ_k by Geyer's initial monotone sequence; S if all draws are equal."""
    chains, count = draws.shape
    total = chains * count
    if draws.max() == draws.min():
        return float(total)
    covariances = _autocovariances(draws).mean(axis=0)
    within = float(covariances[0]) * count / (count - 1)
    spread = float(covariances[0])
    if chains > 1:
        spread += float(draws.mean(axis=1).var(ddof=1))
    rho = 1 - (within - covariances) / spread

    # Pairs of neighbouring lags have a positive sum in a reversible chain; the first that has not is noise. The last pair
    # is left out but for its even lag, as Stan does.
    pairs: list[list[float]] = [[1.0, float(rho[1])]]
    for lag in range(2, count - 2, 2):
        if sum(pairs[-1]) <= 0:
            break
        pairs.append([float(rho[lag]), float(rho[lag + 1])])
    last = pairs.pop()
    left = last[0] if last[0] > 0 or sum(last) >= 0 else 0.0
    for before, after in zip(pairs, pairs[1:]):
        if sum(after) > sum(before):
            after[:] = [sum(before) / 2] * 2
    tau = max(-1 + 2 * sum(map(sum, pairs)) + left, 1 / math.log10(total))
    return float(total / tau)


def ess(draws: ArrayLike, kind: Literal["bulk", "tail", "mean"] = "bulk") -> float:
    """The effective sample size S / τ of chains, split in halves.

    draws: of shape (chains, draws), or one chain. "bulk" takes normal scores of the ranks, "mean" the draws themselves, and
    "tail" the smaller of the sizes for the indicators x ≤ q05 and x ≤ q95. Draws that are all equal have the size S.
    Raises BadInput for fewer than four draws a chain, NaN or infinity.
    """
    import numpy

    chains, kind = _chains(draws), text("kind", kind)  # type: ignore[assignment]
    if kind == "bulk":
        return _effective_size(_normal_scores(_halves(chains)))
    if kind == "mean":
        return _effective_size(_halves(chains))
    if kind == "tail":
        tails = numpy.quantile(chains, (0.05, 0.95))
        return min(_effective_size(_halves((chains <= tail).astype(numpy.float64))) for tail in tails)
    raise BadInput("kind", f"there is no effective sample size {shown(kind)}", "give bulk, tail or mean")


def r_hat(draws: ArrayLike) -> float | None:
    """The rank-normalised split R-hat: the larger of that of x and that of |x − median|; None if all draws are equal.

    √((B / W + N − 1) / N) of the halves' normal scores, N draws each: B the variance of the halves' means times N, W the mean
    of their variances. Infinite if each half is constant and the halves differ. Raises BadInput as ess does.
    """
    import numpy

    halves = _halves(_chains(draws))
    found = []
    for values in (halves, abs(halves - numpy.median(halves))):
        scores = _normal_scores(values)
        stuck = (scores.max(axis=1) == scores.min(axis=1)).all()
        within = 0.0 if stuck else float(scores.var(axis=1, ddof=1).mean())
        between = float(scores.mean(axis=1).var(ddof=1))
        count = scores.shape[1]
        if within > 0:
            found.append(math.sqrt(between / within + (count - 1) / count))
        elif between > 0:
            found.append(math.inf)
    return max(found) if found else None


def mcse(draws: ArrayLike) -> float:
    """The Monte Carlo standard error of the mean: the draws' standard deviation by the root of ess(draws, "mean")."""
    chains = _chains(draws)
    return float(chains.std(ddof=1)) / math.sqrt(ess(chains, "mean"))


def autocorrelation(draws: ArrayLike) -> list[float]:
    """ρ_k by lag k from 0: the mean over the chains of their autocovariances, by that of lag 0. All 0 but ρ_0 if it is 0."""
    covariances = _autocovariances(_chains(draws)).mean(axis=0)
    if covariances[0] == 0:
        return [1.0] + [0.0] * (len(covariances) - 1)
    return [float(value) for value in covariances / covariances[0]]


def tv_at_least(run: ArrayLike, exact: ArrayLike, confidence: float = 0.95) -> float:
    """A lower bound of the total variation between the laws of two sets of independent draws, by a statistic of them.

    max(0, sup_x |F_n(x) − G_m(x)| − ε_n − ε_m), ε_n = √(log(4 / δ) / (2n)), δ = 1 − confidence. By the inequality of Dvoretzky,
    Kiefer, Wolfowitz and Massart each empirical distribution is within its ε with probability 1 − δ/2, and sup |F − G| ≤ TV.

    run, exact: one number for each answer, such as its log p0; the answers of each are independent. Raises BadInput.
    """
    import numpy

    confidence = wishes.confidence(confidence)
    sides = [_numbers(run, "run"), _numbers(exact, "exact")]
    points = numpy.concatenate(sides)
    below = [numpy.searchsorted(numpy.sort(side), points, side="right") / len(side) for side in sides]
    slack = sum(math.sqrt(math.log(4 / (1 - confidence)) / (2 * len(side))) for side in sides)
    return max(0.0, float(abs(below[0] - below[1]).max()) - slack)


def rank_test(run: ArrayLike, exact: ArrayLike, permutations: int = 9999, seed: int = 0) -> float:
    """The p-value of the hypothesis that two sets of independent draws have the same law, by their mean ranks.

    (1 + how many of B random permutations have a difference of mean ranks at least as large) / (1 + B). If the laws are the
    same, it is at most p with probability at most p, for every p. Raises BadInput.
    """
    import numpy

    sides = [_numbers(run, "run"), _numbers(exact, "exact")]
    permutations, seed = whole("permutations", permutations, 1), whole("seed", seed)
    _, place, counts = numpy.unique(numpy.concatenate(sides), return_inverse=True, return_counts=True)
    # Twice the rank, which is a whole number, so that equal sums are seen to be equal.
    ranks = (2 * numpy.cumsum(counts) - counts + 1)[place]
    size, total = len(sides[0]), len(ranks)
    middle = int(ranks.sum()) * size

    def distance(sum_of_ranks: int) -> int:
        return abs(sum_of_ranks * total - middle)

    observed = distance(int(ranks[:size].sum()))
    chance = numpy.random.default_rng(seed)
    extreme = sum(distance(int(chance.permutation(ranks)[:size].sum())) >= observed for _ in range(permutations))
    return (1 + extreme) / (1 + permutations)


def _numbers(values: ArrayLike, name: str) -> Draws:
    remedy = "give one number for each answer"
    found = _array(name, values, remedy)
    if found.ndim != 1 or found.size == 0:
        raise BadInput(name, f"has the shape {found.shape}", remedy)
    return found


@dataclass(frozen=True)
class AgainstExact:
    """How far the answers of a run are from exact draws to the same prompt, by one quantity."""

    id: str | None  #: the prompt
    quantity: str  #: "log_p0", "length" or "answer", which counts by its place in the order of all texts
    answers: int
    exact: int  #: how many exact draws
    tv_at_least: float  #: a lower bound of the total variation, at the confidence asked for, of this row alone
    p_value: float  #: of the rank test that both have one law


def _sample(name: str, value: Any) -> dict[str, Any]:
    """An answer as samples.jsonl has it. Raises BadInput."""
    if not isinstance(value, dict):
        raise BadInput(name, f"{shown(value)} is not an answer", "give dictionaries, as samples.jsonl has them")
    if value.get("id") is not None:
        text(f"{name}, id", value["id"])
    text(f"{name}, answer", value.get("answer"))
    finite(f"{name}, log_p0", value.get("log_p0"))
    several(f"{name}, tokens", value.get("tokens"), token, "[1, 2]")
    return value


def against(run: list[dict[str, Any]], exact: list[dict[str, Any]], confidence: float = 0.95) -> list[AgainstExact]:
    """Compares the answers to each prompt, as samples.jsonl has them, with exact draws to it.

    The answers of one run, and the two runs, must be independent: give them different seeds. Raises BadInput for a prompt without
    exact draws, and as tv_at_least.
    """
    sides: list[dict[str | None, list[dict[str, Any]]]] = [{}, {}]
    confidence = wishes.confidence(confidence)
    for name, side, samples in zip(("run", "exact"), sides, (run, exact)):
        for sample in several(name, samples, _sample, '[{"id": "a", "answer": "…", "tokens": [1, 2], "log_p0": -3.5}]'):
            side.setdefault(sample.get("id"), []).append(sample)
    found = []
    for prompt, answers in sides[0].items():
        if prompt not in sides[1]:
            raise BadInput("exact", f"has no answers to the prompt {shown(prompt)}", "draw both runs from the same prompts")
        pair = (answers, sides[1][prompt])
        place = {text: number for number, text in enumerate(sorted({sample["answer"] for side in pair for sample in side}))}
        figures: dict[str, Callable[[dict[str, Any]], float]] = {
            "log_p0": lambda sample: float(sample["log_p0"]),
            "length": lambda sample: len(sample["tokens"]),
            "answer": lambda sample: place[sample["answer"]],
        }
        for quantity, figure in figures.items():
            ours, theirs = ([figure(sample) for sample in side] for side in pair)
            bound = tv_at_least(ours, theirs, confidence)
            found.append(AgainstExact(prompt, quantity, len(ours), len(theirs), bound, rank_test(ours, theirs)))
    return found


@dataclass(frozen=True)
class Diagnostics:
    """The figures of one quantity of a prompt's chains at a rung."""

    id: str | None  #: the prompt
    rung: int  #: from 1
    quantity: str  #: "log_p0", "length" or "answer", whose mean is the share of the commonest
    chains: int
    draws: int  #: of each chain: the rounds of the last stage
    mean: float
    sd: float
    mcse: float  #: of the mean
    ess_bulk: float
    ess_tail: float
    r_hat: float | None  #: None if all draws are equal


def chains_of(events: Mapping[str, Any]) -> dict[tuple[str | None, str], NDArray[np.float64]]:
    """The chains of a run by prompt and quantity, of shape (chains, draws, rungs), from the columns of its rounds.

    Quantities are "log_p0", "length" and "answer": 1 for the record that the last rung holds most often in all chains together,
    and 0 for any other. Two records are the same if log p0 and length are.

    Only rounds of the last stage are draws. A chain that has fewer of them than another has not ended and is left out.
    """
    import numpy

    if not isinstance(events, Mapping):
        raise BadInput("events", f"{shown(events)} is not a dictionary of columns", 'give what RunFolder.events("round") returns')
    if not events:
        return {}
    stages = events.get("stage", ())
    for name in ("stage", "round", "sample", "log_p0", "lengths"):
        if name not in events or len(events[name]) != len(stages):
            raise BadInput("events", f'the column "{name}" is missing or of another length', 'give what RunFolder.events("round") returns')
    last, ids = max(stages), events.get("id", [None] * len(stages))
    series: dict[str | None, dict[int, list[int]]] = {}
    for line, stage in enumerate(stages):
        # Round 0 is the state before the first round, which block extension has left.
        if stage == last and events["round"][line] > 0:
            series.setdefault(ids[line], {}).setdefault(int(events["sample"][line]), []).append(line)
    found = {}
    for prompt, chains in series.items():
        longest = max(map(len, chains.values()))
        whole = [lines for _, lines in sorted(chains.items()) if len(lines) == longest]
        for quantity, column in (("log_p0", "log_p0"), ("length", "lengths")):
            found[prompt, quantity] = numpy.array([[events[column][line] for line in lines] for lines in whole], dtype=numpy.float64)
        found[prompt, "answer"] = _commonest(found[prompt, "log_p0"], found[prompt, "length"])
    return found


def _commonest(log_p0: Draws, length: Draws) -> Draws:
    """1 where a rung holds the record that the last rung holds most often, the likeliest of those that are tied, else 0."""
    import numpy

    records = numpy.stack([log_p0, length], axis=-1)
    kinds, counts = numpy.unique(records[:, :, -1].reshape(-1, 2), axis=0, return_counts=True)
    commonest = kinds[numpy.flatnonzero(counts == counts.max())[-1]]
    found: Draws = (records == commonest).all(axis=-1).astype(numpy.float64)
    return found


def diagnose(events: Mapping[str, Any]) -> list[Diagnostics]:
    """The figures of every prompt, rung and quantity, from the columns of a run's rounds.

    Raises BadInput if a chain has fewer than four draws.
    """
    found = []
    for (prompt, quantity), chains in chains_of(events).items():
        for rung in range(chains.shape[2]):
            draws = _chains(chains[:, :, rung])
            found.append(
                Diagnostics(
                    prompt, rung + 1, quantity, draws.shape[0], draws.shape[1], float(draws.mean()), float(draws.std(ddof=1)),
                    mcse(draws), ess(draws), ess(draws, "tail"), r_hat(draws),
                )
            )  # fmt: skip
    return found
