"""The first stage: draws all answers."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.answers import Answer, likeliest
from tempera.eval.evaluation import Evaluation, folder_name, write_whole
from tempera.eval.progress import Progress
from tempera.eval.samplers import Settings
from tempera.eval.sampling import Asked, Prompt, Sampling
from tempera.settings import takes

# Pilots draw from other seeds than the runs, so that no word of chance is used twice.
_PILOT_SEED = 1 << 48
_MOST_PILOTS = 7
_NEAR = 0.03


def prompts_of(evaluation: Evaluation) -> list[Prompt]:
    """The prompts of an evaluation."""
    task = evaluation.plan.read_task()
    return [Prompt(problem.id, evaluation.plan.prompt(problem)) for problem in task.problems]


def run(evaluation: Evaluation, sampling: Sampling, shard: str = "") -> None:
    """Draws what is missing; a run that is there is left as it is. A shard, "I/N", draws its part of every run."""
    prompts = prompts_of(evaluation)
    for is_asked, name, find in (
        (any(settings.is_to_find for settings in evaluation.plan.samplers), "ladder.json", find_ladder),
        (evaluation.plan.matched, "matched.json", match_tokens),
    ):
        if is_asked and not (evaluation.folder / name).exists():
            if shard:
                raise BadInput("--shard", "needs pilots first, which one process draws", "run once without --shard up to them")
            find(evaluation, sampling, prompts)
    for asked, folder, what in _runs(evaluation):
        _draw(sampling, prompts, asked, folder, what, is_part=bool(shard))


def estimate(evaluation: Evaluation, sampling: Sampling) -> str:
    """The expected tokens, seconds and memory of every run, each by its pilot, and of all; a line each. Nothing is written.

    The runs are independent, so the half-widths of their intervals add up as the root of their squares.
    """
    prompts = prompts_of(evaluation)
    found = [(what, sampling.estimate(prompts, asked)) for asked, _, what in _runs(evaluation)]
    lines = [_cost_line(what, cost["decode_tokens"], cost["seconds"], cost["cache_bytes"]) for what, cost in found]
    tokens, seconds = (_limits([cost[name] for _, cost in found]) for name in ("decode_tokens", "seconds"))
    caches = max((cost["cache_bytes"] for _, cost in found), key=lambda size: size["expected"])
    lines.append(_cost_line(f"all {len(found)} runs", tokens, seconds, caches))
    if any(cost["is_guess"] for _, cost in found):
        lines.append("some steps of a run have not been seen in its pilot: the upper limits are what the settings allow")
    return "".join(line + "\n" for line in lines)


def _limits(figures: list[dict[str, float]]) -> dict[str, float]:
    """The sum of independent expectations with its limits."""
    expected = math.fsum(figure["expected"] for figure in figures)
    below, above = (math.hypot(*(figure["expected"] - figure[side] for figure in figures)) for side in ("low", "high"))
    return {"expected": expected, "low": expected - below, "high": expected + above}


def _cost_line(what: str, tokens: dict[str, float], seconds: dict[str, float], caches: dict[str, float]) -> str:
    return (
        f"{what}: {tokens['expected']:.0f} decode tokens ({tokens['low']:.0f} to {tokens['high']:.0f}), "
        f"{seconds['expected']:.3g} s ({seconds['low']:.3g} to {seconds['high']:.3g}), "
        f"caches {caches['expected'] / 2**20:.3g} MiB (at most {caches['high'] / 2**20:.3g})"
    )


def _runs(evaluation: Evaluation) -> Iterator[tuple[Asked, Path, str]]:
    """The request, folder and name of each run."""
    for settings in evaluation.samplers():
        for number, seed in enumerate(evaluation.plan.seeds, 1):
            rungs: list[int | None] = [None, *evaluation.other_rungs(settings)]
            for rung in rungs:
                what = f"{settings.label}, seed {number} of {len(evaluation.plan.seeds)}"
                yield Asked(settings, seed, rung), evaluation.run_folder(settings, seed, rung), what


def merge(evaluation: Evaluation, merge_run: Callable[[Path], None]) -> int:
    """Makes every run of its shards by `merge_run`, but those that are made. Returns how many runs there are."""
    count = 0
    for count, (_, folder, _) in enumerate(_runs(evaluation), 1):
        done = folder.with_name(folder.name + ".done")
        if not done.exists():
            merge_run(folder)
            write_whole(done, "")
    return count


def _draw(
    sampling: Sampling, prompts: list[Prompt], asked: Asked, folder: Path, what: str, is_part: bool = False
) -> None:
    done = folder.with_name(folder.name + ".done")
    if done.exists():
        return
    progress = Progress(what, len(prompts) * asked.settings.samples, sampling.done(folder))
    try:
        sampling.draw(prompts, asked, folder, progress.show)
    finally:
        progress.end()
    if not is_part:
        write_whole(done, "")


def answers(evaluation: Evaluation, sampling: Sampling, settings: Settings, seed: int) -> list[Answer]:
    """The answers of one sampler and seed, in the order of the problems."""
    given = answers_of(sampling, settings, evaluation.run_folder(settings, seed))
    others = [
        sampling.records(evaluation.run_folder(settings, seed, rung)) for rung in evaluation.other_rungs(settings)
    ]
    if not others:
        return given
    return [
        Answer(answer.returned, [rung[number] for rung in others] + [answer.returned])
        for number, answer in enumerate(given)
    ]


def answers_of(sampling: Sampling, settings: Settings, folder: Path) -> list[Answer]:
    """The answers of one run folder, in the order of its prompts."""
    drawn = sampling.records(folder)
    if settings.sampler != "best-of-n":
        return [Answer(record) for record in drawn]
    size = settings.samples
    groups = [drawn[start : start + size] for start in range(0, len(drawn), size)]
    return [Answer(likeliest(group), group) for group in groups]


def nearest_amount(cost: Callable[[int], float], target: float, first: int) -> tuple[int, dict[int, float]]:
    """The amount whose cost is nearest to the target, and all costs that were measured.

    Costs grow with the amount, but not in proportion: more rounds find longer records. So each next amount is what the
    two nearest measurements around the target say, until one is within 3 % or nothing new is left to try.

    >>> nearest_amount(lambda amount: 10.0 * amount**1.5, 1000.0, 4)[0]
    22
    """
    costs: dict[int, float] = {}
    amount = first
    for _ in range(_MOST_PILOTS):
        costs[amount] = cost(amount)
        if abs(costs[amount] - target) <= _NEAR * target:
            break
        below = [one for one in costs if costs[one] < target]
        above = [one for one in costs if costs[one] >= target]
        if below and above:
            low, high = max(below), min(above)
            slope = (costs[high] - costs[low]) / (high - low) if high != low else 0.0
            amount = low + round((target - costs[low]) / slope) if slope > 0 else (low + high) // 2
            amount = min(max(amount, low + 1), high - 1) if high - low > 1 else low
        else:
            nearest = max(below) if below else min(above)
            amount = max(1, round(nearest * min(4.0, target / costs[nearest])))
        if amount in costs:
            break
    return min(costs, key=lambda one: (abs(costs[one] - target), one)), costs


def find_ladder(evaluation: Evaluation, sampling: Sampling, prompts: list[Prompt]) -> None:
    """Finds the equi-accepting ladder of a sweep by pilots on the first problems. The result is printed and kept in ladder.json."""
    few = prompts[: evaluation.plan.pilot_problems]
    asked = next(settings for settings in evaluation.plan.samplers if settings.is_to_find)
    found = sampling.ladder(few, asked, evaluation.folder / "pilots" / "ladder.prompts.jsonl")
    powers = [round(power, 6) for power in found]
    write_whole(evaluation.folder / "ladder.json", json.dumps({"powers": powers, "pilot_problems": len(few)}, indent=1) + "\n")
    print(f"{asked.label}: powers {', '.join(f'{power:g}' for power in powers)} (pilots of {len(few)} problems)", file=sys.stderr)


def match_tokens(evaluation: Evaluation, sampling: Sampling, prompts: list[Prompt]) -> None:
    """Chooses rounds and particles so that each sampler takes about PPT's decode tokens, by pilots.

    The first pilot of an uncoupled ladder has PPT's rounds, as the paper's has; if these are within 3 %, they stay.

    Pilots answer the first problems with seeds of their own. What is chosen is printed and kept in matched.json; what
    each sampler then took on all problems is in the report.
    """
    few = prompts[: evaluation.plan.pilot_problems]

    def cost(settings: Settings) -> float:
        folder = evaluation.folder / "pilots" / folder_name(f"{settings.label} {settings.amount}")
        _draw(sampling, few, Asked(settings, _PILOT_SEED), folder, f"pilot of {settings.label}, {settings.amount}")
        return sampling.figures(folder).decode_tokens / len(few)

    samplers = evaluation.with_found_ladder()
    reference = next(settings for settings in samplers if settings.sampler == "ppt")
    target = cost(reference)
    rows = []
    for settings in samplers:
        if settings is reference or not (takes(settings.sampler, "rounds") or takes(settings.sampler, "particles")):
            continue
        amount, costs = nearest_amount(lambda one: cost(settings.with_amount(one)), target, settings.amount)
        rows.append({"label": settings.label, "amount": amount, "decode_tokens": costs[amount], "pilots": costs})
        unit = {"power-smc": "particles", "best-of-n": "records"}.get(settings.sampler, "rounds")
        print(
            f"{settings.label}: {amount} {unit}, {costs[amount]:.0f} decode tokens an answer, and ppt takes {target:.0f} "
            f"(pilots of {len(few)} problems)",
            file=sys.stderr,
        )
    document = {"ppt_decode_tokens_per_answer": target, "pilot_problems": len(few), "samplers": rows}
    write_whole(evaluation.folder / "matched.json", json.dumps(document, indent=1) + "\n")
