"""log Z_α = log Σ_x p0(x)^α of a prompt's records, with intervals, from what a run has kept.

    import tempera

    for row in tempera.RunFolder("run").log_partition():
        print(row.power, row.log_z, row.low, row.high, row.method)

Exact rejection keeps a proposal with probability Z_α, so its counts give an unbiased estimate and an exact interval. In
PowerSMC the mean weights at which the particles were resampled have Z_α for the mean of their product. A
ladder gives the ratios of neighbouring rungs by stepping stones (Xie, Lewis, Fan, Kuo and Chen, Systematic Biology 60, 2011),
with errors by the jackknife over independent answers, and Z itself where the first power is 1. Thermodynamic integration of
d log Z_α / dα = E_α[log p0] is computed beside it, and a disagreement beyond the errors is a warning: the chains have then
not come to their targets, or the powers are too far apart.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

from tempera import diagnostics, native, wishes
from tempera.errors import BadInput, shown
from tempera.wishes import finite, number, several, text, truth, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray
    import numpy as np

#: How many standard errors two estimates of one number may differ by before it is a warning.
WARNING_ERRORS = 4.0


class PartitionWarning(UserWarning):
    """Two estimates of log Z disagree beyond their errors."""


@dataclass(frozen=True)
class Partition:
    """log Z_α of a prompt at a power, with an interval at the confidence that was asked for."""

    id: str | None  #: the prompt
    power: float
    log_z: float
    low: float
    high: float
    method: Literal["rejection", "particles", "stepping-stones", "power 1"]
    #: log Z_α by thermodynamic integration; None where it is not computed
    thermodynamic: float | None = None


def rejection_share(kept: int, proposals: int, confidence: float = 0.95) -> tuple[float, float, float]:
    """Z_α with an exact interval, from proposals that were made until `kept` of them were kept.

    The estimate is (k − 1)/(n − 1), which has no bias for k >= 2; of one answer it is 1/n. The interval inverts the two
    tests P(N <= n) and P(N >= n) of the number N of proposals (Clopper and Pearson, for inverse sampling): it covers Z_α with at
    least the confidence.
    """
    confidence, kept, proposals = wishes.confidence(confidence), whole("kept", kept), whole("proposals", proposals)
    if not 1 <= kept <= proposals:
        raise BadInput("kept", f"{kept} of {proposals} proposals", "give at least one, and no more than there are proposals")
    estimate, low, high = native.native().kept_share(kept, proposals, confidence)
    return float(estimate), float(low), float(high)


def minorization(log_z: float, horizon: int, moves: int, first: float | None = None) -> float:
    """(1 − ω(1) Z_α)^N: a proved bound of the total variation of one chain at power α >= 1 after N local moves.

    A move that restarts at the first position, which it does with probability ω(1), proposes the whole record from g_α, and the
    ratio is such that L(x, y) >= ω(1) Z_α π_α(y): the weights Π z_α of records are at most 1. With the low end of an interval for
    log Z_α the bound holds with its confidence. first: ω(1), 1/T if left out, which is that of uniform restarts.
    """
    horizon, moves = whole("horizon", horizon, 1), whole("moves", moves)
    restart = 1 / horizon if first is None else number("first", first)
    if not 0 < restart <= 1:
        raise BadInput("first", f"{restart:g} is not a probability above 0", "give that of a restart at the first position")
    if not number("log_z", log_z) <= 0:
        raise BadInput("log_z", f"{log_z} is not at most 0", "give log Z of a power of at least 1")
    return float((1 - math.exp(log_z) * restart) ** moves)


def _log_mean_exp(values: NDArray[np.float64]) -> float:
    import numpy

    largest = values.max()
    return float(largest + math.log(numpy.exp(values - largest).mean()))


def _jackknife(estimate: Callable[[NDArray[np.float64]], NDArray[np.float64]], chains: NDArray[np.float64]) -> tuple[Any, Any]:
    """An estimate and its covariance, by leaving out one chain after the other."""
    import numpy

    count = chains.shape[0]
    without = numpy.array([estimate(numpy.delete(chains, left_out, axis=0)) for left_out in range(count)])
    off = without - without.mean(axis=0)
    return estimate(chains), (count - 1) / count * off.T @ off


def stepping_stones(log_p0: ArrayLike, powers: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """log(Z_{α_k}/Z_{α_1}) for every rung k, and their standard errors.

    log_p0: of shape (chains, draws, rungs), log p0 of the record at each rung. log(Z_{k+1}/Z_k) =
    log E_k[p0^(α_{k+1} − α_k)], the mean over all draws at rung k. Raises BadInput for fewer than two chains.
    """
    import numpy

    ladder = _ladder(powers)
    chains = _chains(log_p0, ladder)
    steps = numpy.diff(ladder)

    ratios = [_log_mean_exp(step * chains[:, :, rung].ravel()) for rung, step in enumerate(steps)]
    log_means = [[_log_mean_exp(step * chain[:, rung]) for rung, step in enumerate(steps)] for chain in chains]
    _, errors = native.native().stepping_stone_errors(log_means)
    return numpy.concatenate([[0.0], numpy.cumsum(ratios)]), numpy.array([0.0, *errors])


def thermodynamic(log_p0: ArrayLike, powers: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The same by ∫ E_α[log p0] dα: estimates, standard errors, and what the rule may be off by between the rungs.

    The trapezoid is corrected by the variances at its ends, d E_α[log p0]/dα = Var_α[log p0]: h/2 (m_0 + m_1) + h²/12 (v_0 − v_1).
    The size of the correction is taken for what it leaves.
    """
    import numpy

    ladder = _ladder(powers)
    chains = _chains(log_p0, ladder)
    steps = numpy.diff(ladder)

    def corrections(some: NDArray[np.float64]) -> NDArray[np.float64]:
        variances = some.var(axis=(0, 1))
        return numpy.asarray(steps**2 / 12 * (variances[:-1] - variances[1:]))

    def integrals(some: NDArray[np.float64]) -> NDArray[np.float64]:
        means = some.mean(axis=(0, 1))
        return numpy.concatenate([[0.0], numpy.cumsum(steps / 2 * (means[:-1] + means[1:]) + corrections(some))])

    found, covariance = _jackknife(integrals, chains)
    left = numpy.concatenate([[0.0], numpy.cumsum(numpy.abs(corrections(chains)))])
    return found, numpy.sqrt(numpy.diag(covariance)), left


def _ladder(powers: Any) -> list[float]:
    """Positive powers that rise. Raises BadInput."""
    found = several("powers", powers, finite, "[1, 2, 4]")
    if not found or found[0] <= 0 or any(low >= high for low, high in zip(found, found[1:])):
        raise BadInput("powers", f"{found} is not a ladder", "give positive powers that rise")
    return found


def _chains(log_p0: ArrayLike, powers: Sequence[float]) -> NDArray[np.float64]:
    found = diagnostics._array("log_p0", log_p0, "give an array of shape (chains, draws, rungs)")
    if found.ndim != 3 or found.shape[2] != len(powers) or found.size == 0:
        raise BadInput("log_p0", f"has the shape {found.shape} for {len(powers)} powers", "give an array of shape (chains, draws, rungs)")
    if found.shape[0] < 2:
        raise BadInput("log_p0", "is of one answer, which says nothing of its error", "draw at least two: --samples 2")
    return found


def _check_id(id: Any) -> None:
    if id is not None:
        text("id", id)


def of_ladder(id: str | None, log_p0: ArrayLike, powers: Sequence[float], confidence: float = 0.95) -> list[Partition]:
    """log Z_α at every power of a ladder that begins at 1, or its ratios to the first power of another ladder.

    Warns (PartitionWarning) where thermodynamic integration disagrees.
    """
    confidence, powers = wishes.confidence(confidence), _ladder(powers)
    _check_id(id)
    quantile = NormalDist().inv_cdf((1 + confidence) / 2)
    stones, errors = stepping_stones(log_p0, powers)
    integral, integral_errors, left = thermodynamic(log_p0, powers)
    rows = []
    for rung, power in enumerate(powers):
        estimate, width = float(stones[rung]), quantile * float(errors[rung])
        off = abs(estimate - float(integral[rung]))
        # Where no record varies both errors are 0, and the two sums differ by rounding: 2^-52 of numbers below 4,096.
        if off > WARNING_ERRORS * math.hypot(errors[rung], integral_errors[rung]) + float(left[rung]) + 1e-12:
            warnings.warn(
                f"log Z at the power {power:g} is {estimate:.4g} by stepping stones and {float(integral[rung]):.4g} by thermodynamic integration, "
                "which is more than their errors: the chains have not come to their targets, or the powers are too far apart",
                PartitionWarning, stacklevel=2,
            )  # fmt: skip
        method: Literal["power 1", "stepping-stones"] = "power 1" if rung == 0 else "stepping-stones"
        rows.append(Partition(id, float(power), estimate, estimate - width, estimate + width, method, float(integral[rung])))
    return rows


def _event(name: str, value: Any) -> tuple[int, bool]:
    if not isinstance(value, tuple) or len(value) != 2:
        raise BadInput(name, f"{shown(value)} is not an event", "give pairs such as (3, True)")
    return whole(name, value[0], 1), truth(name, value[1])


def of_rejection(id: str | None, power: float, events: Iterable[tuple[int, bool]], confidence: float = 0.95) -> Partition:
    """log Z_α from the events of exact rejection: of each, how many proposals it tells of, and whether the last was kept."""
    _check_id(id)
    (power,) = _ladder([power])
    kept = proposals = 0
    for count, accepted in several("events", events, _event, "[(3, True)]"):
        proposals += count
        kept += accepted
    share, low, high = rejection_share(kept, proposals, confidence)
    log_z, log_low, log_high = (math.log(z) if z > 0 else -math.inf for z in (share, low, high))
    return Partition(id, float(power), log_z, log_low, log_high, "rejection")


def of_particles(id: str | None, power: float, log_estimates: Sequence[float], confidence: float = 0.95) -> Partition:
    """log Z_α from PowerSMC: the log of the mean of one unbiased estimate of Z_α for each answer.

    The interval is that of the normal law of the mean, and its low end -inf where it reaches 0. Raises BadInput for fewer than
    two answers.
    """
    import numpy

    confidence = wishes.confidence(confidence)
    _check_id(id)
    (power,) = _ladder([power])
    logs = numpy.array(several("log_estimates", log_estimates, finite, "[-3.1, -2.9]"))
    if logs.size < 2:
        raise BadInput("log_estimates", "are of one answer, which says nothing of its error", "draw at least two: --samples 2")
    largest = float(logs.max())
    shares = numpy.exp(logs - largest)
    mean = float(shares.mean())
    width = NormalDist().inv_cdf((1 + confidence) / 2) * float(shares.std(ddof=1)) / math.sqrt(logs.size)
    low = largest + math.log(mean - width) if width < mean else -math.inf
    return Partition(id, float(power), largest + math.log(mean), low, largest + math.log(mean + width), "particles")


def _particle_estimates(looks: dict[str, Any]) -> dict[str | None, list[float]]:
    """By prompt, log of each answer's estimate: Σ at the resamplings, and what the last look saw if it was none."""
    means = list(looks.get("log_mean_weight", []))
    if not means or any(mean is None or math.isnan(mean) for mean in means):
        raise BadInput("events", "have no mean weights of the particles", "draw the run again: an older version wrote it")
    ids = looks.get("id", [None] * len(means))
    done: dict[tuple[str | None, int], float] = {}
    since: dict[tuple[str | None, int], float] = {}
    for id, sample, mean, resampled in zip(ids, looks["sample"], means, looks["resampled"]):
        answer = (id, int(sample))
        done[answer] = done.get(answer, 0.0) + (float(mean) if resampled else 0.0)
        since[answer] = 0.0 if resampled else float(mean)
    by_prompt: dict[str | None, list[float]] = {}
    for answer, log_z in done.items():
        by_prompt.setdefault(answer[0], []).append(log_z + since[answer])
    return by_prompt


def of_run(config: dict[str, Any], events: Callable[[str], dict[str, Any]], confidence: float = 0.95) -> list[Partition]:
    """log Z_α for every prompt and power of a run, by whichever way its sampler gives."""
    sampler, powers = config.get("sampler", "ppt"), config["powers"]
    if sampler == "exact-rejection":
        moves = events("local_move")
        count = len(moves.get("accepted", []))
        ids = moves.get("id", [None] * count)
        proposals = moves.get("proposals", [1] * count)
        by_prompt: dict[str | None, list[tuple[int, bool]]] = {}
        for line in range(count):
            told = proposals[line]
            by_prompt.setdefault(ids[line], []).append((1 if told is None else int(told), bool(moves["accepted"][line])))
        return [of_rejection(id, powers[0], of_prompt, confidence) for id, of_prompt in by_prompt.items()]
    if sampler in ("power-smc", "ramped-smc"):
        return [of_particles(id, powers[-1], logs, confidence) for id, logs in _particle_estimates(events("resampling")).items()]
    if sampler != "ppt" or len(powers) < 2:
        raise BadInput("sampler", f"{sampler} with {len(powers)} power{'s' * (len(powers) != 1)} gives no log Z", "draw by exact-rejection or power-smc, or by ppt on a ladder")
    if powers[0] != 1:
        raise BadInput("powers", f"begin at {powers[0]:g}, so that only ratios of Z are known", "begin the ladder at 1, where Z is 1, or use tempera.partition.stepping_stones")
    chains = diagnostics.chains_of(events("round"))
    rows = []
    for (id, quantity), values in chains.items():
        if quantity == "log_p0":
            rows += of_ladder(id, values, powers, confidence)
    return rows
