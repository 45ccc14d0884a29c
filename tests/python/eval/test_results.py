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
    powers = [(1.0, 2.0), (2.0, 4.0), (1.0, 4.0)]
    edges = [{"powers": [*of], "attempts": chance.randrange(5, 9), "accepted": chance.randrange(5)} for of in chance.choices(powers, k=chance.randrange(4))]
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
    sampler, model, matched = chance.choice(["ppt", "uncoupled-ladder", "fixed-horizon"]), chance.choice(["Qwen3-8B", ""]), chance.random() < 0.5
    settings, beside = dataclasses.replace(PPT, sampler=sampler), model or "Qwen3-4B"
    plan = SimpleNamespace(seeds=tuple(range(seeds)), matched=matched, model="Qwen3-8B", limit=0, template="plain", chat=True)
    evaluation = SimpleNamespace(plan=plan, folder=tmp_path, grades_file=lambda _, seed: tmp_path / f"{seed}", run_folder=lambda _, seed: seed)
    task = SimpleNamespace(problems=[SimpleNamespace(id=f"p{problem}") for problem in range(problems)], paper_column=column, name="math500")
    found = _result(
        cast(Evaluation, evaluation), cast(Sampling, SimpleNamespace(figures=figures.get)), cast(Task, task), settings, model, beside, (1, seeds)
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
        sums = [
            Edge(tuple(powers), *(sum(edge[name] for edge in edges if edge["powers"] == powers) for name in ("attempts", "accepted")))
            for number, powers in enumerate(edge["powers"] for edge in edges) if powers not in [edge["powers"] for edge in edges[:number]]
        ]  # fmt: skip
        trips = sum(run.summary["round_trips"] for run in runs)
        # Only replicas of ppt exchange anything, whatever the summary of another sampler has.
        assert (found.edges, found.round_trips, found.round_trips_expected) == ((sums, trips, 1.5 * seeds) if sampler == "ppt" else ([], None, None))
    horizons = [run.config["horizon"] for run in figures.values() if run.config]
    assert found.horizon == (max(horizons) if horizons else PPT.horizon)
    if not column:
        assert (found.paper, found.paper_vote, found.paper_hit_capacity) == (None, None, None)
    else:
        assert found.paper == paper_values.accuracy(settings, beside, column, matched)
        assert found.paper_vote == paper_values.voted(settings, beside, column)
        assert found.paper_hit_capacity == paper_values.hit_capacity(settings, beside, column)
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


PAPER = json.loads((Path(__file__).parents[3] / "proofs/paper_tables.json").read_text())
MODELS = ("Qwen3.5-9B", "Qwen3-8B", "Qwen3-4B", "Qwen 2.5 MATH", "Qwen 2.5", "Phi 3.5 instruct", "Tulu")
COLUMNS = ("MATH500", "GPQA", "HumanEval", "GSM8K", "AIME 24&25", "LCB v5")


def in_paper(table: str, group: str, row: str, column: str) -> str | None:
    """A cell of the paper, None if it has none."""
    found = PAPER[table]
    return dict(zip(found["columns"], found["groups"].get(group, {}).get(row, ()))).get(column)


# Each sampler's row of the two tables by task, and where else its values are: the table, the row and the column of a task.
OF_TASKS = {"standard": "Standard", "low-temperature": "Lower Temperature", "power-sampling": "Power Sampling", "power-smc": "PowerSMC", "ppt": "PPT"}
OF_MATCHED = {"uncoupled-ladder": "Uncoupled ladder, coldest rung", "uncoupled-ladder-by-likelihood": "Uncoupled ladder", "best-of-n": "Best-of-N"}
VOTES = {"uncoupled-ladder": "Uncoupled ladder", "uncoupled-ladder-by-likelihood": "Uncoupled ladder", "best-of-n": "Best-of-N", "ppt": "PPT"}
CUT = {"power-sampling": "Truncating, K = 1", "fixed-horizon": "Fixed-horizon, K = 1", "ppt": "PPT"}


@pytest.mark.parametrize("model", [*MODELS, "another"])
def test_the_papers_values_are_its_tables_cells(model: str) -> None:
    """Every sampler, task, schedule and kind of run, each looked up in the one table that the paper has it in."""
    there = 0
    for column, sampler, schedule, matched in itertools.product([*COLUMNS, ""], SAMPLERS, ("adj", "deo"), (False, True)):
        settings = dataclasses.replace(PPT, sampler=sampler, schedule=schedule)
        places = []
        if schedule == "deo":
            places = [("tab:deo-adj", "DEO", column)] if sampler != "exact-rejection" else []
        elif sampler == "fixed-horizon" and matched:
            places = [("tab:compute-matched-single-chain", "Single chain", column)]
        elif sampler == "fixed-horizon" and column == "MATH500":
            places = [("tab:cold-replica-results", "Fixed-horizon, K = 1", "Accuracy")]
        elif sampler in OF_MATCHED:
            places = [("tab:compute-matched-app", OF_MATCHED[sampler], f"{column} Pass@1")]
        elif sampler in OF_TASKS:
            places = [("tab:main-results-extended", OF_TASKS[sampler], column), ("tab:qwen35-9b", OF_TASKS[sampler], column)]
        values = [(in_paper(table, model, row, at), table) for table, row, at in places if in_paper(table, model, row, at) is not None]
        assert [paper_values.accuracy(settings, model, column, matched)] == (values or [None]), (sampler, column, schedule, matched)
        assert paper_values.voted(settings, model, column) == in_paper("tab:compute-matched-app", model, VOTES.get(sampler, ""), f"{column} Vote")
        cut = in_paper("tab:cold-replica-results", model, CUT.get(sampler, ""), "Hit capacity") if column == "MATH500" else None
        assert paper_values.hit_capacity(settings, model, column) == cut
        there += bool(values)
    assert there > 5 or model == "another"
    tables = ("tab:main-results-extended", "tab:qwen35-9b")
    rows = next((list(PAPER[table]["groups"][model]) for table in tables if model in PAPER[table]["groups"]), [])
    assert paper_values.rows_of(model) == rows
    for column, row in itertools.product(COLUMNS, [*rows, "another"]):
        values = [(in_paper(table, model, row, column), table) for table in tables if in_paper(table, model, row, column) is not None]
        assert [paper_values.of_row(model, row, column)] == (values or [None])
        assert paper_values.deviation(model, row, column) == in_paper("tab:main-results-extended, deviations", model, row, column)
        assert paper_values.swap_acceptance(model, column) == in_paper("tab:swap-acceptance", "acceptance", column, model)


@pytest.mark.parametrize("model", [*MODELS, "another"])
def test_the_papers_settings_are_those_of_its_tables(model: str) -> None:
    table, group = {"Qwen3.5-9B": ("tab:ppt-hyperparams-qwen35-9b", "Qwen3.5-9B")}.get(model, ("tab:ppt-hyperparams-qwen3-4b", "Qwen3"))
    for column in [*COLUMNS, ""]:
        cells = PAPER[table]["groups"][group].get(column)
        if model not in ("Qwen3.5-9B", "Qwen3-8B", "Qwen3-4B") or cells is None:
            assert paper_values.hyperparameters(model, column) is None
            continue
        replicas, horizon, block, rounds, *powers = cells
        assert [name for name in PAPER[table]["columns"] if not name.startswith("alpha")] == ["K", "T", "B", "N_MCMC"]
        found = paper_values.hyperparameters(model, column)
        assert found == {"T": int(horizon), "B": int(block), "rounds": int(rounds), "powers": tuple(float(power) for power in powers if power)}
        assert len(found["powers"]) == int(replicas)


# The samplers that take each setting whose value is compared with the paper's.
LADDERS = ("ppt", "uncoupled-ladder", "uncoupled-ladder-by-likelihood")
BLOCKS = (*LADDERS, "power-sampling", "fixed-horizon", "power-smc")


@pytest.mark.parametrize(("model", "column"), [("Qwen3-8B", "MATH500"), ("Qwen3-4B", "GPQA"), ("Qwen3.5-9B", "LCB v5"), ("Qwen 2.5", "GSM8K")])
@pytest.mark.parametrize("sampler", [*paper_values.PAPER_ROWS, "given"])
def test_each_difference_from_the_paper_is_told_by_itself(sampler: str, model: str, column: str) -> None:
    """From a run that is as the paper's: each change adds the one sentence about it, and only where the sampler takes it."""
    known = paper_values.hyperparameters(model, column)
    paper = known or {"T": 8, "B": 4, "rounds": 3, "powers": (1.0, 2.0, 4.0)}
    ladder, last = paper["powers"], paper["powers"][-1]

    def told(config: dict[str, str] | None = None, own: str | None = None, **changes: Any) -> list[str]:
        in_settings = {name: changes.pop(name) for name in ("block", "rounds", "powers") if name in changes}
        settings = Settings("a", sampler, **{"powers": ladder, "horizon": 1, "block": paper["B"], "rounds": paper["rounds"], **in_settings})
        name = {"Qwen 2.5": "/models/Qwen2.5-7B"}.get(model, f"/models/{model}")
        plan = {"model": name, "limit": 0, "seeds": (3, 4, 5, 6, 7), "template": "t", "chat": model != "Qwen 2.5", **changes}
        task = SimpleNamespace(paper_column=plan.pop("column", column), name=plan.pop("task", "x"))
        horizon = plan.pop("horizon", paper["T"])
        evaluation = cast(Evaluation, SimpleNamespace(plan=SimpleNamespace(**plan)))
        figures = [Figures({}, {}, config or {"arithmetic": "host"}), Figures({}, {}, {"arithmetic": "of another seed"})]
        return results._differences(evaluation, cast(Task, task), settings, figures, model if own is None else own, model, horizon)

    alike = ["template t (the paper prints none)"]
    alike += [] if known else ["the paper gives no powers, B or N_m for this model"]
    alike += ["arithmetic host (the paper: H100 GPUs)"]
    if sampler == "given":
        alike = ["answers from a file"]
    assert told() == alike
    assert told(column="") == []

    def listed(powers: tuple[float, ...]) -> str:
        return ", ".join(f"{power:g}" for power in powers)

    other_last, other_first = (*ladder[:-1], 7.5), (0.5, *ladder[1:])
    is_ladder = sampler in LADDERS
    prompted = "raw prompt" if model != "Qwen 2.5" else "chat template"
    for changes, sentence, is_told in (
        ({"limit": 9}, "the first 9 problems", True),
        ({"seeds": (1,)}, "1 seed (the paper: 5)", True),
        ({"seeds": (1, 2)}, "2 seeds (the paper: 5)", True),
        ({"own": "", "model": "mine"}, f"model mine (the paper: {model})", True),
        ({"own": "", "model": ""}, f"model unknown, answers from a file (the paper: {model})", True),
        ({"chat": model == "Qwen 2.5"}, f"{prompted} (the paper takes the other)", sampler != "given"),
        ({"horizon": 5}, f"T = 5 (the paper: {paper['T']})", bool(known) and sampler != "given"),
        ({"block": 77}, f"B = 77 (the paper: {paper['B']})", bool(known) and sampler in BLOCKS),
        ({"block": None}, "", False),
        ({"rounds": 77}, f"N_m = 77 (the paper: {paper['rounds']})", bool(known) and is_ladder),
        ({"powers": other_last}, f"powers {listed(other_last) if is_ladder else '7.5'} (the paper: {listed(ladder) if is_ladder else f'{last:g}'})",
         bool(known) and sampler in BLOCKS),
        ({"powers": other_first}, f"powers {listed(other_first)} (the paper: {listed(ladder)})", bool(known) and is_ladder),
        ({"task": "livecodebench"}, "the paper does not say which problems its LCB v5 are", sampler != "given"),
    ):  # fmt: skip
        found = told(**changes)
        assert sorted(found) == sorted([*alike, *([sentence] if is_told else [])]), changes
    # Another model than the paper's may be asked either way; a finite model has no arithmetic.
    assert [told(own="", chat=chat, model="mine")[1:] for chat in (True, False)] == [alike, alike]
    if sampler != "given":
        assert told(config={"horizon": "1"}) == [*alike[:-1], "arithmetic given by the finite model (the paper: H100 GPUs)"]


def test_an_evaluation_is_gathered_beside_the_model_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the model's name or by --paper-model, and beside Qwen3-8B else; a task that is not in the paper has no column beside it."""
    counts = {"ppt": (3, 0, 2, 1), "standard": (1, 1, 0, 0)}
    told: list[tuple[str, str, Any]] = []

    def result(evaluation: Any, sampling: Any, task: Any, settings: str, model: str, beside: str, k: Any) -> SamplerResult:
        told.append((model, beside, k))
        return dataclasses.replace(a_result(settings, (1,)), right=counts[settings])

    monkeypatch.setattr(results, "_result", result)
    for name, asked, column in itertools.product(("Qwen3-4B", "mine", ""), (None, "", "Tulu", "Qwen3.5-9B"), ("GPQA", "")):
        task = SimpleNamespace(grader=SimpleNamespace(close=lambda: None, file_digest=""), title="T", paper_column=column)
        plan = SimpleNamespace(**{**vars(PLAN), "model": name, "seeds": (1, 2, 3), "read_task": lambda task=task: task})
        evaluation = cast(Evaluation, SimpleNamespace(plan=plan, folder="f", is_graded_by=lambda _: True, samplers=lambda: ("ppt", "standard")))
        model = asked if asked is not None else "Qwen3-4B" if name == "Qwen3-4B" else ""
        told.clear()
        found = results.gather(evaluation, cast(Sampling, None), asked, (1, 3))
        assert told == [(model, model or "Qwen3-8B", (1, 3))] * 2
        assert (found.title, found.evaluation, found.paper_column) == ("T", evaluation, column)
        assert found.paper_model == ("" if not column else model or "Qwen3-8B")
        assert found.paper_swap_acceptance == (in_paper("tab:swap-acceptance", "acceptance", column, model or "Qwen3-8B") if column else None)
        (comparison,) = found.comparisons
        assert (comparison.first, comparison.second) == ("ppt", "standard")
        # Three answers to each of four problems: (3 + 0 + 2 + 1) - (1 + 1 + 0 + 0) more of twelve are right.
        assert comparison.result.difference == pytest.approx(4 / 12) and (comparison.result.better, comparison.result.worse) == (3, 1)
        with pytest.raises(results.BadInput, match='--paper-model: "Qwen" is not in the paper; give one of Qwen3.5-9B, '):
            results.gather(evaluation, cast(Sampling, None), "Qwen")


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
