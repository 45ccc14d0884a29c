"""The figures of an evaluation, against sums that are written out: every optional value is missing in some of them."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tempera.eval.evaluation import Evaluation
from tempera.eval.grading import Grade
from tempera.eval.report import paper_values, results, side_by_side, svg
from tempera.eval.report.page import page
from tempera.eval.report.results import Edge, SamplerResult, _expected, _result
from tempera.eval.report.tables import escape_latex, name_of
from tempera.eval.samplers import SAMPLERS, Settings
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
        return Figures({}, {}, {"horizon": 28} if chance.random() < 0.7 else {})
    summary = {"decode_tokens": chance.randrange(1000), "round_trips": chance.randrange(9), "round_trips_expected": 1.5, "edges": edges}
    return Figures(summary, {"seconds": chance.random(), "cache_bytes": chance.randrange(1 << 30)}, {"horizon": chance.randrange(20, 40)})


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
    horizons = [run.config["horizon"] for run in figures.values() if run.config]
    assert found.horizon == (max(horizons) if horizons else PPT.horizon)
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


def a_result(name: str, right: tuple[int, ...], **changes: Any) -> SamplerResult:
    values: dict[str, Any] = {one.name: None for one in dataclasses.fields(SamplerResult)}
    settings = dataclasses.replace(PPT, label=name, sampler=changes.pop("sampler", name))
    lists: dict[str, Any] = {name: [] for name in ("failures", "log_likelihoods", "confidences", "edges", "differences")}
    shares = {"by_seed": (sum(right) / len(right),), "interval": share_interval(right, 1), "at_k": {}, "vote_by_seed": ()}
    return SamplerResult(**{**values, **lists, **shares, "settings": settings, "problems": len(right), "seeds": 1, "right": right, **changes})


PLAN = SimpleNamespace(seeds=(1,), sweep="", template="", data=("d",), data_digests=("0",), model="m", matched=False, grader="g")


@pytest.mark.parametrize("order", list(itertools.permutations(("standard", "ppt", "power-smc"))))
def test_samplers_are_compared_with_ppt_wherever_it_is_and_else_with_the_first(order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    right = {"standard": (1, 0, 0, 0), "ppt": (1, 1, 1, 0), "power-smc": (0, 1, 0, 1)}
    monkeypatch.setattr(results, "_result", lambda evaluation, sampling, task, settings, *_: a_result(settings, right[settings]))
    task = SimpleNamespace(grader=SimpleNamespace(close=lambda: None, file_digest=""), title="T", paper_column="")
    for names in (order, tuple(name for name in order if name != "ppt")):
        plan = SimpleNamespace(**{**vars(PLAN), "read_task": lambda: task})
        evaluation = SimpleNamespace(plan=plan, folder="f", is_graded_by=lambda _: True, samplers=lambda names=names: names)
        found = results.gather(cast(Evaluation, evaluation), cast(Sampling, None))
        first = "ppt" if "ppt" in names else names[0]
        assert [(one.first, one.second) for one in found.comparisons] == [(first, name) for name in names if name != first]
        assert all(one.result.difference == (sum(right[first]) - sum(right[one.second])) / 4 for one in found.comparisons)


def test_the_page_names_every_sampler_of_the_highest_share() -> None:
    for shares in itertools.product((1, 2, 3), repeat=3):
        names = ("standard", "ppt", "exact-rejection")
        samplers = [a_result(name, (1,) * share + (0,) * (4 - share)) for name, share in zip(names, shares)]
        found = results.Results("T", cast(Evaluation, SimpleNamespace(plan=PLAN)), "", "", None, samplers)
        best = ", ".join(name for name, share in zip(names, shares) if share == max(shares))
        assert f", of {best}.</p>" in page(found)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_sampler_is_named_with_the_number_that_its_cost_grows_with(sampler: str) -> None:
    numbers = {"power-smc": f", N = {PPT.particles}", "best-of-n": f", N = {PPT.particles}", "fixed-horizon": ", N_m = 3", "power-sampling": ", N_m = 3"}
    assert name_of(a_result(sampler, (1,))) == sampler + numbers.get(sampler, "")
    assert name_of(a_result("mine", (1,), sampler=sampler)) == "mine"


@pytest.mark.parametrize("block", [None, 192, 4])
@pytest.mark.parametrize("horizon", [3072, 28])
def test_what_is_left_open_does_not_differ_from_the_paper(block: int | None, horizon: int) -> None:
    settings = dataclasses.replace(PPT, block=block, rounds=10, powers=(2.0, 2.3, 2.6, 3.0, 3.5, 4.0))
    plan = SimpleNamespace(model="Qwen3-8B", limit=0, seeds=(1, 2, 3, 4, 5), template="t", chat=True)
    task = SimpleNamespace(paper_column="GSM8K", name="gsm8k")
    found = results._differences(cast(Evaluation, SimpleNamespace(plan=plan)), cast(Task, task), settings, [Figures({}, {}, {})], "Qwen3-8B", "Qwen3-8B", horizon)
    expected = ["template t (the paper prints none)"] + ["T = 28 (the paper: 3072)"] * (horizon == 28) + ["B = 4 (the paper: 192)"] * (block == 4)
    assert found == [*expected, "arithmetic given by the finite model (the paper: H100 GPUs)"]


def test_a_row_is_the_papers_if_one_of_its_cells_is_its_sampler() -> None:
    evaluations = [SimpleNamespace(samplers=[a_result("ppt", (1,), sampler=sampler)], paper_model="Qwen3-8B", paper_column="GSM8K") for sampler in ("ppt", "given")]
    for of_model in itertools.permutations([*evaluations, SimpleNamespace(samplers=[])]):
        assert side_by_side._our_row(side_by_side.SideBySide(), "ppt", cast(list[results.Results], list(of_model))).in_paper == "PPT"
    assert side_by_side._our_row(side_by_side.SideBySide(), "ppt", cast(list[results.Results], evaluations[1:])).in_paper == ""


def test_a_model_is_the_papers_by_the_nearest_of_its_names() -> None:
    for name, model in (("Qwen2.5-Math-7B", "Qwen 2.5 MATH"), ("Qwen2.5-7B-Instruct", "Qwen 2.5"), ("Qwen3-8B", "Qwen3-8B"), ("Qwen3-4B", "Qwen3-4B"), ("Qwen3.5-9B", "Qwen3.5-9B"),
                        ("Phi-3.5-mini-instruct", "Phi 3.5 instruct"), ("Llama-3.1-Tulu-3-8B", "Tulu"), ("Qwen3-14B", ""), ("smollm2", "")):  # fmt: skip
        for form in (name, name.lower(), name.replace("-", "_"), f"/models/{name}", f"{name}.gguf", name.replace("Qwen", "qwen-")):
            assert paper_values.paper_model(form) == model, form


def test_ticks_are_all_round_numbers_of_their_step_from_end_to_end() -> None:
    chance = random.Random(2)
    for _ in range(2000):
        digits = chance.randrange(4)
        low, high = sorted(chance.sample(range(-300, 300), 2))
        ends = Fraction(low, 10**digits), Fraction(high, 10**digits)
        found = [Fraction(str(value)) for value in svg.ticks(float(ends[0]), float(ends[1]))]
        (step,) = {after - before for before, after in zip(found, found[1:])}
        assert step.numerator in (1, 2, 5) or str(step.numerator).rstrip("0") in ("1", "2", "5")
        assert ends[0] <= found[0] < ends[0] + step and ends[1] - step < found[-1] <= ends[1], ends
        assert all((value / step).denominator == 1 for value in found)


def test_a_plot_tells_its_curves_apart_and_writes_names_that_it_has_room_for() -> None:
    lines = re.findall(r"<line [^>]*>", svg.legend([str(number) for number in range(2 * svg.COLOURS)]))
    assert len({re.sub(r"[xy][12]=", "", line) for line in lines}) == 2 * svg.COLOURS
    assert [("dasharray" in line) for line in lines] == [number >= svg.COLOURS for number in range(2 * svg.COLOURS)]
    longest = max(len(name) for name in SAMPLERS)
    for length in range(1, 60):
        name = "a" * length
        assert svg._short(name) == (name if length <= longest else f"{'a' * (longest - 1)}…<title>{name}</title>")


def test_no_sign_that_latex_reads_is_left_as_it_is() -> None:
    plain = {sign for sign in map(chr, range(32, 127)) if escape_latex(sign) == sign}
    assert plain == {sign for sign in map(chr, range(32, 127)) if sign.isalnum() or sign in " !\"'()*+,-./:;=?@[]`"}
    for sign in "&%$#_{}":
        assert escape_latex(sign) == "\\" + sign
