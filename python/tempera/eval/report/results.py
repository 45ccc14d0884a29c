"""The figures of an evaluation, from its grades and run folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tempera.errors import BadInput
from tempera.eval.evaluation import Evaluation
from tempera.eval.grading import Grade, read_grades
from tempera.eval.report import paper_values
from tempera.eval.samplers import Settings
from tempera.eval.sampling import Figures, Sampling
from tempera.eval.statistics import Interval, Paired, avg_at_k, deviation, mean, paired, pass_at_k, share_interval
from tempera.eval.tasks import Task

_GIB = 1 << 30


@dataclass(frozen=True)
class Edge:
    """Two neighbouring powers and the share of their swaps that was accepted, over all seeds."""

    powers: tuple[float, float]
    attempts: int
    accepted: int


@dataclass(frozen=True)
class SamplerResult:
    """The figures of one sampler; None if it was not measured. Shares are from 0 to 1.

    `at_k` has pass@k and avg@k under these names, for each k that was asked for.
    """

    settings: Settings
    problems: int
    seeds: int
    right: tuple[int, ...]
    by_seed: tuple[float, ...]
    interval: Interval
    at_k: dict[str, float]
    vote_by_seed: tuple[float, ...]
    second_opinion_differs: int | None
    failures: list[dict[str, Any]]
    hit_capacity: float | None
    tokens_per_answer: float | None
    seconds_per_answer: float | None
    cache_gib: float | None
    log_likelihoods: list[float]
    confidences: list[float]
    edges: list[Edge]
    round_trips: int | None
    round_trips_expected: float | None
    horizon: int | None
    paper: tuple[str, str] | None
    paper_vote: str | None
    paper_hit_capacity: str | None
    differences: list[str]

    @property
    def accuracy(self) -> float:
        """pass@1: the mean over seeds of the share of problems answered rightly."""
        return mean(self.by_seed)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of pass@1 over seeds."""
        return deviation(self.by_seed)


@dataclass(frozen=True)
class Comparison:
    """Two samplers on the same problems."""

    first: str
    second: str
    result: Paired


@dataclass(frozen=True)
class Results:
    """An evaluation's figures."""

    title: str
    evaluation: Evaluation
    paper_model: str
    paper_column: str
    paper_swap_acceptance: str | None
    samplers: list[SamplerResult]
    comparisons: list[Comparison] = field(default_factory=list)


def _grades_of(evaluation: Evaluation, task: Task, settings: Settings, seed: int) -> dict[str, Grade]:
    found = {grade.id: grade for grade in read_grades(evaluation.grades_file(settings, seed))}
    missing = sum(problem.id not in found for problem in task.problems)
    if missing:
        raise BadInput(
            str(evaluation.folder),
            f"{missing} answers of {settings.label} with seed {seed} are not judged",
            f"tempera eval grade {evaluation.folder}",
        )
    return found


def gather(evaluation: Evaluation, sampling: Sampling, paper_model: str | None = None, k: Sequence[int] = ()) -> Results:
    """All figures of an evaluation whose answers are judged; pass@k and avg@k for each of `k`, which seeds bound."""
    plan = evaluation.plan
    task = plan.read_task()
    task.grader.close()
    if not evaluation.is_graded_by(task.grader.file_digest):
        raise BadInput(plan.grader, "the grader has changed since it judged the answers", f"tempera eval grade {evaluation.folder}")
    model = paper_values.paper_model(plan.model) if paper_model is None else paper_model
    if model and model not in paper_values.models():
        raise BadInput("--paper-model", f'"{model}" is not in the paper', f"give one of {', '.join(paper_values.models())}")
    beside = model or "Qwen3-8B"
    samplers = [_result(evaluation, sampling, task, settings, model, beside, k) for settings in evaluation.samplers()]
    reference = next((one for one in samplers if one.settings.sampler == "ppt"), samplers[0])
    comparisons = [
        Comparison(reference.settings.label, one.settings.label, paired(reference.right, one.right, len(plan.seeds)))
        for one in samplers
        if one is not reference
    ]
    return Results(
        task.title,
        evaluation,
        beside if task.paper_column else "",
        task.paper_column,
        paper_values.swap_acceptance(beside, task.paper_column),
        samplers,
        comparisons,
    )


def _result(
    evaluation: Evaluation, sampling: Sampling, task: Task, settings: Settings, model: str, beside: str, k: Sequence[int] = ()
) -> SamplerResult:
    plan = evaluation.plan
    grades = [_grades_of(evaluation, task, settings, seed) for seed in plan.seeds]
    figures = [sampling.figures(evaluation.run_folder(settings, seed)) for seed in plan.seeds]
    everything = [grade for of_seed in grades for grade in of_seed.values()]
    identities = [problem.id for problem in task.problems]
    right = tuple(sum(of_seed[identity].correct for of_seed in grades) for identity in identities)
    voted = [[grade.vote_correct for grade in of_seed.values()] for of_seed in grades]
    opinions = [grade for grade in everything if grade.second_opinion is not None]
    measured = all(one.summary for one in figures)
    answers = len(everything)
    column = task.paper_column
    horizon = max((int(one.config["horizon"]) for one in figures if "horizon" in one.config), default=settings.horizon)
    return SamplerResult(
        settings=settings,
        problems=len(identities),
        seeds=len(plan.seeds),
        right=right,
        by_seed=tuple(mean([float(of_seed[identity].correct) for identity in identities]) for of_seed in grades),
        interval=share_interval(right, len(plan.seeds)),
        at_k={
            f"{name}@{one}": float(share(right, len(plan.seeds), one)) for one in k for name, share in (("pass", pass_at_k), ("avg", avg_at_k))
        },
        vote_by_seed=()
        if any(vote is None for of_seed in voted for vote in of_seed)
        else tuple(mean([float(bool(vote)) for vote in of_seed]) for of_seed in voted),
        second_opinion_differs=sum(grade.second_opinion != grade.correct for grade in opinions) if opinions else None,
        failures=[
            {"seed": seed, "id": grade.id, "failure": grade.failure}
            for seed, of_seed in zip(plan.seeds, grades, strict=True)
            for grade in of_seed.values()
            if grade.failure
        ],
        hit_capacity=mean([float(not grade.terminated) for grade in everything]) if measured else None,
        tokens_per_answer=sum(one.decode_tokens for one in figures) / answers if measured else None,
        seconds_per_answer=sum(one.speed["seconds"] for one in figures) / answers if measured else None,
        cache_gib=max(one.speed["cache_bytes"] for one in figures) / _GIB if measured else None,
        log_likelihoods=[grade.log_p0 / grade.tokens for grade in everything if grade.log_p0 is not None and grade.tokens],
        confidences=[grade.confidence for grade in everything if grade.confidence is not None],
        edges=_edges(figures) if settings.sampler == "ppt" else [],
        round_trips=sum(one.summary["round_trips"] for one in figures) if measured and settings.sampler == "ppt" else None,
        round_trips_expected=_expected(figures) if measured and settings.sampler == "ppt" else None,
        horizon=horizon,
        paper=paper_values.accuracy(settings, beside, column, plan.matched) if column else None,
        paper_vote=paper_values.voted(settings, beside, column) if column else None,
        paper_hit_capacity=paper_values.hit_capacity(settings, beside, column) if column else None,
        differences=_differences(evaluation, task, settings, figures, model, beside, horizon),
    )


def _edges(figures: list[Figures]) -> list[Edge]:
    edges: dict[tuple[float, float], list[int]] = {}
    for one in figures:
        for edge in one.summary.get("edges", []):
            counted = edges.setdefault((edge["powers"][0], edge["powers"][1]), [0, 0])
            counted[0] += edge["attempts"]
            counted[1] += edge["accepted"]
    return [Edge(powers, attempts, accepted) for powers, (attempts, accepted) in edges.items()]


def _expected(figures: list[Figures]) -> float | None:
    found = [one.summary.get("round_trips_expected") for one in figures]
    return None if any(value is None for value in found) else float(sum(value for value in found if value is not None))


def _list(powers: tuple[float, ...]) -> str:
    return ", ".join(f"{power:g}" for power in powers)


def _differences(
    evaluation: Evaluation, task: Task, settings: Settings, figures: list[Figures], model: str, beside: str, horizon: int | None
) -> list[str]:
    """The differences between this run and the paper's, with what the paper leaves open."""
    plan = evaluation.plan
    if not task.paper_column:
        return []
    found = []
    if not model:
        found.append(f"model {plan.model or 'unknown, answers from a file'} (the paper: {beside})")
    if plan.limit:
        found.append(f"the first {plan.limit} problems")
    if len(plan.seeds) != 5:
        found.append(f"{len(plan.seeds)} seed{'s' if len(plan.seeds) > 1 else ''} (the paper: 5)")
    if settings.sampler == "given":
        return [*found, "answers from a file"]
    found.append(f"template {plan.template} (the paper prints none)")
    in_paper = "qwen2.5" not in plan.model.lower()
    if model and plan.chat != in_paper:
        found.append(f"{'chat template' if plan.chat else 'raw prompt'} (the paper takes the other)")
    expected = paper_values.hyperparameters(beside, task.paper_column)
    if expected:
        if horizon != expected["T"]:
            found.append(f"T = {horizon} (the paper: {expected['T']})")
        if settings.sampler not in ("standard", "low-temperature", "best-of-n"):
            if settings.block is not None and settings.block != expected["B"]:
                found.append(f"B = {settings.block} (the paper: {expected['B']})")
            ladder = settings.sampler in ("ppt", "uncoupled-ladder", "uncoupled-ladder-by-likelihood")
            paper_powers = expected["powers"] if ladder else expected["powers"][-1:]
            if settings.used_powers != paper_powers:
                found.append(f"powers {_list(settings.used_powers)} (the paper: {_list(paper_powers)})")
            if ladder and settings.rounds != expected["rounds"]:
                found.append(f"N_m = {settings.rounds} (the paper: {expected['rounds']})")
    else:
        found.append("the paper gives no powers, B or N_m for this model")
    arithmetic = figures[0].config.get("arithmetic", "given by the finite model")
    found.append(f"arithmetic {arithmetic} (the paper: H100 GPUs)")
    if task.name == "livecodebench":
        found.append("the paper does not say which problems its LCB v5 are")
    return found
