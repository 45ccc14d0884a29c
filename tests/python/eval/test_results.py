"""The figures of an evaluation, against sums that are written out: every optional value is missing in some of them."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tempera.eval.evaluation import Evaluation
from tempera.eval.grading import Grade
from tempera.eval.report import results
from tempera.eval.report.results import Edge, _expected, _result
from tempera.eval.samplers import Settings
from tempera.eval.sampling import Figures, Sampling
from tempera.eval.statistics import share_interval
from tempera.eval.tasks import Task

PPT = Settings("ppt", "ppt", (1.0, 2.0, 4.0), 28, 4, 3)


def test_round_trips_are_expected_only_if_every_seed_says_how_many() -> None:
    def figures(value: float | None) -> Figures:
        return Figures({} if value is None else {"round_trips_expected": value}, {}, {})

    for values in itertools.product((None, 0.0, 2.5), repeat=3):
        expected = None if None in values else sum(value or 0.0 for value in values)
        assert _expected([figures(value) for value in values]) == expected


def a_grade(chance: random.Random, problem: int, votes: bool, opinions: bool) -> Grade:
    def perhaps(value: Any) -> Any:
        return value if chance.random() < 0.7 else None

    return Grade(
        f"p{problem}", None, chance.random() < 0.5, chance.choice(["", "", "timed out"]),
        perhaps(chance.random() < 0.5) if opinions else None, None, perhaps(chance.random() < 0.5) if votes else chance.random() < 0.5,
        perhaps(-chance.randrange(1, 90) / 2), chance.randrange(1, 28), perhaps(-chance.random()), chance.random() < 0.6,
    )  # fmt: skip


def figures_of(chance: random.Random, is_measured: bool) -> Figures:
    edges = [{"powers": [1.0, 2.0], "attempts": chance.randrange(5, 9), "accepted": chance.randrange(5)} for _ in range(chance.randrange(3))]
    if not is_measured:
        return Figures({}, {}, {"horizon": 28})
    summary = {"decode_tokens": chance.randrange(1000), "round_trips": chance.randrange(9), "round_trips_expected": 1.5, "edges": edges}
    return Figures(summary, {"seconds": chance.random(), "cache_bytes": chance.randrange(1 << 30)}, {"horizon": 28})


@pytest.mark.parametrize("case", range(60))
def test_every_figure_is_its_sum(case: int, tmp_path: Path) -> None:
    chance = random.Random(case)
    seeds, problems = chance.randrange(1, 7), chance.randrange(1, 5)
    votes, opinions, is_measured = (chance.random() < 0.7 for _ in range(3))
    drawn = {seed: [a_grade(chance, problem, votes, opinions) for problem in range(problems)] for seed in range(seeds)}
    figures = {seed: figures_of(chance, is_measured) for seed in range(seeds)}
    for seed, grades in drawn.items():
        (tmp_path / f"{seed}").write_text("".join(json.dumps(dataclasses.asdict(grade)) + "\n" for grade in grades))
    column = chance.choice(["", "MATH500"])
    plan = SimpleNamespace(seeds=tuple(range(seeds)), matched=False, model="Qwen3-8B", limit=0, template="plain", chat=True)
    evaluation = SimpleNamespace(plan=plan, folder=tmp_path, grades_file=lambda _, seed: tmp_path / f"{seed}", run_folder=lambda _, seed: seed)
    task = SimpleNamespace(problems=[SimpleNamespace(id=f"p{problem}") for problem in range(problems)], paper_column=column, name="math500")
    found = _result(
        cast(Evaluation, evaluation), cast(Sampling, SimpleNamespace(figures=figures.get)), cast(Task, task), PPT, "Qwen3-8B", "Qwen3-8B", (1, seeds)
    )

    everything = [grade for grades in drawn.values() for grade in grades]
    right = tuple(sum(drawn[seed][problem].correct for seed in range(seeds)) for problem in range(problems))
    assert (found.problems, found.seeds, found.right) == (problems, seeds, right)
    assert found.interval == share_interval(right, seeds)
    assert found.by_seed == pytest.approx([sum(grade.correct for grade in drawn[seed]) / problems for seed in range(seeds)])
    assert found.accuracy == pytest.approx(sum(right) / (problems * seeds))
    shares = {"pass@1": sum(right) / (problems * seeds), "avg@1": sum(right) / (problems * seeds)}
    shares |= {f"pass@{seeds}": sum(map(bool, right)) / problems, f"avg@{seeds}": sum(right) / (problems * seeds)}
    assert found.at_k == pytest.approx(shares)
    if any(grade.vote_correct is None for grade in everything):
        assert found.vote_by_seed == ()
    else:
        assert found.vote_by_seed == pytest.approx([sum(bool(grade.vote_correct) for grade in drawn[seed]) / problems for seed in range(seeds)])
    asked = [grade for grade in everything if grade.second_opinion is not None]
    assert found.second_opinion_differs == (sum(grade.second_opinion is not grade.correct for grade in asked) if asked else None)
    assert found.failures == [{"seed": seed, "id": grade.id, "failure": grade.failure} for seed in range(seeds) for grade in drawn[seed] if grade.failure]
    assert found.log_likelihoods == [grade.log_p0 / grade.tokens for grade in everything if grade.log_p0 is not None and grade.tokens]
    assert found.confidences == [grade.confidence for grade in everything if grade.confidence is not None]
    if not is_measured:
        assert (found.hit_capacity, found.tokens_per_answer, found.seconds_per_answer, found.cache_gib) == (None,) * 4
        assert (found.edges, found.round_trips, found.round_trips_expected) == ([], None, None)
    else:
        runs = list(figures.values())
        assert found.hit_capacity == pytest.approx(sum(not grade.terminated for grade in everything) / len(everything))
        assert found.tokens_per_answer == sum(run.summary["decode_tokens"] for run in runs) / len(everything)
        assert found.seconds_per_answer == pytest.approx(sum(run.speed["seconds"] for run in runs) / len(everything))
        assert found.cache_gib == max(run.speed["cache_bytes"] for run in runs) / 2**30
        edges = [edge for run in runs for edge in run.summary["edges"]]
        sums = Edge((1.0, 2.0), sum(edge["attempts"] for edge in edges), sum(edge["accepted"] for edge in edges))
        assert found.edges == ([sums] if edges else [])
        assert found.round_trips == sum(run.summary["round_trips"] for run in runs) and found.round_trips_expected == 1.5 * seeds
    said = [difference for difference in found.differences if "(the paper: 5)" in difference]
    assert said == ([] if not column or seeds == 5 else [f"{seeds} seed{'s' if seeds > 1 else ''} (the paper: 5)"])


def test_grades_that_lack_a_problem_are_refused(tmp_path: Path) -> None:
    chance = random.Random(1)
    for there in range(3):
        (tmp_path / "0").write_text("".join(json.dumps(dataclasses.asdict(a_grade(chance, problem, True, True))) + "\n" for problem in range(there)))
        evaluation = SimpleNamespace(plan=SimpleNamespace(seeds=(0,)), folder=tmp_path, grades_file=lambda _, seed: tmp_path / f"{seed}")
        task = SimpleNamespace(problems=[SimpleNamespace(id=f"p{problem}") for problem in range(3)])
        with pytest.raises(results.BadInput, match=f"{3 - there} answers of ppt with seed 0 are not judged"):
            results._grades_of(cast(Evaluation, evaluation), cast(Task, task), PPT, 0)
