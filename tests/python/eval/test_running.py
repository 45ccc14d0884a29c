"""The first stage by a sampler in memory: what is drawn, estimated and chosen by pilots, against sums that are written out."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tempera.errors import BadInput
from tempera.eval import running
from tempera.eval.evaluation import Evaluation
from tempera.eval.run_folders import naming_problems
from tempera.eval.sampler_command import _message, find_command
from tempera.eval.samplers import SAMPLERS, Settings
from tempera.eval.sampling import Asked, Drawn, Prompt, Sampling

PROMPTS = [Prompt(f"p{number}", "?") for number in range(7)]
LADDER = (1.0, 2.0, 4.0)


class InMemory:
    """A sampler whose figures are those of its settings."""

    def __init__(self, costs: list[dict[str, Any]] | None = None) -> None:
        self.costs = iter(costs or [])
        self.drawn: dict[Path, tuple[int, Asked]] = {}

    def estimate(self, prompts: list[Prompt], asked: Asked) -> dict[str, Any]:
        return next(self.costs)

    def done(self, folder: Path) -> int:
        return 0

    def draw(self, prompts: list[Prompt], asked: Asked, folder: Path, progress: Any) -> None:
        self.drawn[folder] = len(prompts), asked

    def figures(self, folder: Path) -> Any:
        prompts, asked = self.drawn[folder]
        amount = asked.settings.amount
        return SimpleNamespace(decode_tokens=prompts * amount * (6 if asked.settings.sampler == "ppt" else 2))

    def records(self, folder: Path) -> list[Drawn]:
        return [Drawn(prompt.id, 0, f"{folder.name} {prompt.id}", None, None, True, None) for prompt in PROMPTS]


def evaluation_of(folder: Path, samplers: tuple[Settings, ...], **plan: Any) -> Evaluation:
    problems = [SimpleNamespace(id=prompt.id) for prompt in PROMPTS]
    known = {"samplers": samplers, "seeds": (1, 2), "matched": False, "all_rungs": False, "pilot_problems": 3, **plan}
    found = SimpleNamespace(**known, read_task=lambda: SimpleNamespace(problems=problems), prompt=lambda problem: "?")
    return Evaluation(folder, cast(Any, found))


@pytest.mark.parametrize("case", range(20))
def test_an_estimate_is_the_sum_of_its_runs(case: int, tmp_path: Path) -> None:
    """Expectations add up, and so do the squares of the half-widths, each side by itself; memory is that of the largest run."""
    chance = random.Random(case)
    runs = chance.choice((2, 4, 6))

    def figure(scale: float) -> dict[str, float]:
        expected = scale * chance.uniform(5, 9)
        return {"expected": expected, "low": expected - scale * chance.uniform(0, 4), "high": expected + scale * chance.uniform(5, 50)}

    costs = [{"decode_tokens": figure(1000), "seconds": figure(1), "cache_bytes": figure(2**24), "is_guess": chance.random() < 0.2} for _ in range(runs)]
    samplers = tuple(Settings(f"s{number}", "standard", (1.0,), 8, None, 1) for number in range(runs // 2))
    lines = running.estimate(evaluation_of(tmp_path, samplers), cast(Sampling, InMemory(costs))).splitlines()
    assert [line.partition(":")[0] for line in lines[: runs + 1]] == [*(f"s{n}, seed {seed} of 2" for n in range(runs // 2) for seed in (1, 2)), f"all {runs} runs"]
    sums = {name: math.fsum(cost[name]["expected"] for cost in costs) for name in ("decode_tokens", "seconds")}
    ends = {
        (name, side): sums[name] + sign * math.sqrt(sum((cost[name][side] - cost[name]["expected"]) ** 2 for cost in costs))
        for name in sums for side, sign in (("low", -1), ("high", 1))
    }  # fmt: skip
    largest = max(costs, key=lambda cost: cost["cache_bytes"]["expected"])["cache_bytes"]
    assert lines[runs].partition(": ")[2] == (
        f"{sums['decode_tokens']:.0f} decode tokens ({ends['decode_tokens', 'low']:.0f} to {ends['decode_tokens', 'high']:.0f}), "
        f"{sums['seconds']:.3g} s ({ends['seconds', 'low']:.3g} to {ends['seconds', 'high']:.3g}), "
        f"caches {largest['expected'] / 2**20:.3g} MiB (at most {largest['high'] / 2**20:.3g})"
    )
    assert (len(lines) == runs + 2) == any(cost["is_guess"] for cost in costs)
    assert list(tmp_path.iterdir()) == []


def test_the_amount_is_the_nearest_of_those_that_were_tried_and_the_least_of_two() -> None:
    for case in range(300):
        chance = random.Random(case)
        steps = sorted(chance.sample(range(1, 60), chance.randrange(3, 9)))
        prices = sorted(float(chance.randrange(1, 40)) for _ in range(len(steps) + 1))

        def cost(amount: int, steps: list[int] = steps, prices: list[float] = prices) -> float:
            return prices[sum(amount >= step for step in steps)]

        target, first = float(chance.randrange(1, 40)), chance.randrange(1, 30)
        amount, costs = running.nearest_amount(cost, target, first)
        assert costs == {one: cost(one) for one in costs} and next(iter(costs)) == first and len(costs) <= 7
        assert (abs(costs[amount] - target), amount) == min((abs(found - target), one) for one, found in costs.items()), case
        assert min(costs) >= 1
        # A pilot takes four times the amount of one before it at most, for who knows what it will cost.
        tried = list(costs)
        assert all(later <= 4 * max(tried[:place]) for place, later in enumerate(tried) if place)
        # Between the two nearest on either side of the target each pilot tries another, until one is near or they are neighbours.
        for place in range(1, len(tried) + 1):
            below, above = ([one for one in tried[:place] if (costs[one] < target) == is_below] for is_below in (True, False))
            if below and above and place < len(tried):
                assert max(below) < tried[place] < min(above), case
            elif below and above and place < 7:
                assert min(above) - max(below) == 1 or abs(costs[tried[-1]] - target) <= 0.03 * target, case


@pytest.mark.parametrize(("first", "tried"), [(100, [100]), (50, [50, 100]), (25, [25, 100]), (20, [20, 80, 100]), (2, [2, 8, 32, 100]), (400, [400, 100])])
def test_costs_in_proportion_are_met_at_once_from_a_quarter_on(first: int, tried: list[int]) -> None:
    amount, costs = running.nearest_amount(lambda amount: 10.0 * amount, 1000.0, first)
    assert (amount, list(costs)) == (100, tried)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("all_rungs", [False, True])
def test_the_records_of_all_rungs_vote_the_returned_one_last(sampler: str, all_rungs: bool, tmp_path: Path) -> None:
    """So that a tie of likelihoods goes to the coldest of the other rungs that was given first."""
    settings = Settings(sampler, sampler, LADDER, 8, None, 1, particles=1)
    evaluation = evaluation_of(tmp_path, (settings,), all_rungs=all_rungs)
    is_drawn = all_rungs and sampler in ("ppt", "uncoupled-ladder")  # the other ladder chooses among its rungs itself
    assert evaluation.other_rungs(settings) == ([1, 2] if is_drawn else [])
    answers = running.answers(evaluation, cast(Sampling, InMemory()), settings, 1)
    assert [answer.returned.id for answer in answers] == [prompt.id for prompt in PROMPTS]
    for answer in answers:
        rungs = ["rung-1", "rung-2", "run"] if is_drawn else ["run"] if sampler == "best-of-n" else []
        assert [trace.text for trace in answer.traces] == [f"{rung} {answer.returned.id}" for rung in rungs]
        assert answer.returned.text == f"run {answer.returned.id}"


def test_pilots_are_of_the_first_problems_and_costs_of_an_answer_to_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("standard", "ppt", "power-smc", "fixed-horizon", "best-of-n")
    samplers = tuple(Settings(name, name, LADDER, 8, None, 5, particles=2) for name in names)
    for few in (1, 3, 7, 9):
        folder = tmp_path / str(few)
        sampling = InMemory()
        running.match_tokens(evaluation_of(folder, samplers, matched=True, pilot_problems=few), cast(Sampling, sampling), PROMPTS)
        found = json.loads((folder / "matched.json").read_text())
        assert {prompts for prompts, _ in sampling.drawn.values()} == {min(few, 7)}
        assert (found["ppt_decode_tokens_per_answer"], found["pilot_problems"]) == (30.0, min(few, 7))
        assert {row["label"]: (row["amount"], row["decode_tokens"]) for row in found["samplers"]} == {name: (15, 30.0) for name in names[2:]}
        assert min(asked.seed for _, asked in sampling.drawn.values()) > 1 << 40


def test_a_command_is_the_one_given_then_that_of_the_environment_then_that_of_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each beside the others; one that is named and cannot be run is refused, and no other is taken for it."""
    files = {}
    for name in ("given", "environment", "path"):
        (tmp_path / name).mkdir()
        files[name] = tmp_path / name / "tempera"
        files[name].write_text("#!/bin/sh\n")
    built = find_command(sys.executable) and Path(running.__file__).parents[3] / "build/release/tempera"
    for runs in range(8):
        for there in range(8):
            good = {name: bool(runs & 1 << place) for place, name in enumerate(files)}
            known = {name: bool(there & 1 << place) for place, name in enumerate(files)}
            for name, file in files.items():
                file.chmod(0o755 if good[name] else 0o644)
            monkeypatch.setenv("PATH", str(files["path"].parent) if known["path"] else "/nowhere")
            if known["environment"]:
                monkeypatch.setenv("TEMPERA", str(files["environment"]))
            else:
                monkeypatch.delenv("TEMPERA", raising=False)
            named = next((name for name in ("given", "environment") if known[name]), None)
            given = str(files["given"]) if known["given"] else None
            if named is not None and not good[named]:
                with pytest.raises(BadInput, match=f"^{files[named]}: is not a program that can be run"):
                    find_command(given)
            elif named is not None or (known["path"] and good["path"]):
                assert find_command(given) == str(files[named or "path"])
            elif built.exists():
                assert find_command(given) == str(built)


@pytest.mark.parametrize(
    ("said", "line"),
    [("", ""), ("\n \n", ""), ("tempera: x: is wrong\n", "x: is wrong"), ("20 of 30\ntempera: x\n", "x"), ("tempera: a\nb: c\n\n", "b: c"), ("tempera: a: tempera: b", "a: tempera: b")],
)
def test_what_a_command_says_is_its_last_line(said: str, line: str) -> None:
    assert _message(said) == line


@pytest.mark.parametrize("first", [0, 1])
def test_a_problem_is_named_once_and_what_is_said_of_it_stays(first: int) -> None:
    for number in range(-1, len(PROMPTS) + 2):
        said = f"p.jsonl, line {number}: holds p.jsonl, line {number}: twice" if number >= 0 else "p.jsonl: is empty"
        is_known = number >= 0 and 0 <= number - first < len(PROMPTS)
        expected = said.replace(f"p.jsonl, line {number}", f'problem "p{number - first}"', 1) if is_known else said
        assert str(naming_problems(BadInput(said), r"p\.jsonl, line (\d+)", PROMPTS, first)) == expected
    assert re.fullmatch(r'problem "p0": x', str(naming_problems(BadInput("prompt: x"), r"\bprompt(?: (\d+))?(?=:)", PROMPTS, first)))


@pytest.mark.parametrize("particles", [1, 2, 5])
def test_best_of_n_is_the_likeliest_of_its_own_group_and_each_of_it_votes(particles: int) -> None:
    chance = random.Random(particles)
    settings = Settings("b", "best-of-n", (1.0,), 8, None, 1, particles=particles)
    groups = [[Drawn(prompt.id, n, f"{prompt.id} {n}", -chance.uniform(1, 9), 1, True, None) for n in range(particles)] for prompt in PROMPTS]
    sampling = cast(Sampling, SimpleNamespace(records=lambda _: [one for group in groups for one in group]))
    found = running.answers_of(sampling, settings, Path())
    assert [list(answer.traces) for answer in found] == groups
    assert [answer.returned for answer in found] == [max(group, key=lambda one: cast(float, one.log_p0)) for group in groups]


@pytest.mark.parametrize("is_part", [False, True])
def test_a_run_is_drawn_once_and_tells_how_many_records_are_done(is_part: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is of as many records as are drawn, from those that it had; a part of a run is not the whole of it."""
    shown: list[tuple[str, int, int]] = []
    ended: list[int] = []
    monkeypatch.setattr(running, "Progress", lambda *told: shown.append(told) or SimpleNamespace(show="show", end=lambda: ended.append(1)))
    names = {"ppt": 7, "best-of-n": 14}
    samplers = tuple(Settings(name, name, LADDER, 8, None, 5, particles=2) for name in names)
    evaluation = evaluation_of(tmp_path, samplers, seeds=(4, 9))
    sampling = InMemory()
    monkeypatch.setattr(sampling, "done", lambda folder: len(folder.parts))
    running.run(evaluation, cast(Sampling, sampling), "1/2" if is_part else "")
    folders = [evaluation.run_folder(settings, seed) for settings in samplers for seed in (4, 9)]
    assert shown == [(f"{name}, seed {n} of 2", count, len(folders[0].parts)) for name, count in names.items() for n in (1, 2)] and len(ended) == 4
    assert [(folder, asked.settings, asked.seed, asked.output_rung) for folder, (_, asked) in sampling.drawn.items()] == [
        (folder, settings, seed, None) for folder, (settings, seed) in zip(folders, [(settings, seed) for settings in samplers for seed in (4, 9)])
    ]
    made = [folder.with_name("run.done") for folder in folders]
    assert [path.exists() for path in made] == [not is_part] * 4
    # Runs that are made stay; the others are drawn.
    for path in made:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    made[2].unlink()
    sampling.drawn.clear()
    running.run(evaluation, cast(Sampling, sampling))
    assert list(sampling.drawn) == [folders[2]]
    for path in (made[0], made[3]):
        path.unlink()
    merged: list[Path] = []
    assert running.merge(evaluation, merged.append) == 4 and merged == [folders[0], folders[3]] and all(path.exists() for path in made)


def test_a_ladder_that_is_found_has_six_digits_and_is_that_of_the_first_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[Any] = []
    found = (1.0, 1.23456789, 2.0000004, 4.0)
    sampling = SimpleNamespace(ladder=lambda prompts, settings, file: told.append((prompts, settings, file)) or found)
    samplers = tuple(Settings(f"s{n}", "ppt", LADDER, 8, None, 5, is_to_find=n == 1) for n in range(3))
    running.find_ladder(evaluation_of(tmp_path, samplers, pilot_problems=2), cast(Sampling, sampling), PROMPTS)
    assert told == [(PROMPTS[:2], samplers[1], tmp_path / "pilots/ladder.prompts.jsonl")]
    assert json.loads((tmp_path / "ladder.json").read_text()) == {"powers": [1.0, 1.234568, 2.0, 4.0], "pilot_problems": 2}
    assert capsys.readouterr().err == "s1: powers 1, 1.23457, 2, 4 (pilots of 2 problems)\n"


def test_what_pilots_found_is_told_with_its_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("ppt", "power-smc", "fixed-horizon", "best-of-n", "standard", "low-temperature", "uncoupled-ladder", "power-sampling")
    samplers = tuple(Settings(f"my {name}", name, LADDER, 8, None, 5, particles=2) for name in names)
    sampling = InMemory()
    again = Settings("again", "fixed-horizon", LADDER, 8, None, 5)
    running.match_tokens(evaluation_of(tmp_path, (*samplers, again), matched=True), cast(Sampling, sampling), PROMPTS)
    units = {"power-smc": "particles", "best-of-n": "records", "fixed-horizon": "rounds", "uncoupled-ladder": "rounds", "power-sampling": "rounds"}
    told = {**{f"my {name}": units[name] for name in names if name in units}, "again": "rounds"}
    assert capsys.readouterr().err.splitlines() == [
        f"{label}: 15 {unit}, 30 decode tokens an answer, and ppt takes 30 (pilots of 3 problems)" for label, unit in told.items()
    ]
    # Each has pilots of its own, also beside another of its kind.
    assert {asked.settings.label for _, asked in sampling.drawn.values()} == {"my ppt", *told}


def test_pilots_come_before_the_runs_and_no_shard_draws_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ladder first, then the amounts, each only where it is asked for and is not there yet."""
    for to_find, matched, has_ladder, has_amounts, shard in itertools.product((False, True), repeat=5):
        folder = tmp_path / f"{to_find}{matched}{has_ladder}{has_amounts}{shard}"
        folder.mkdir()
        called: list[str] = []

        def find(name: str, content: dict[str, Any]) -> Any:
            def of(evaluation: Evaluation, sampling: Sampling, prompts: list[Prompt]) -> None:
                called.append(name)
                (evaluation.folder / name).write_text(json.dumps(content))
            return of

        contents: dict[str, dict[str, Any]] = {"ladder.json": {"powers": [1, 3, 4]}, "matched.json": {"samplers": []}}
        monkeypatch.setattr(running, "find_ladder", find("ladder.json", contents["ladder.json"]))
        monkeypatch.setattr(running, "match_tokens", find("matched.json", contents["matched.json"]))
        for name, is_there in (("ladder.json", has_ladder), ("matched.json", has_amounts)):
            if is_there:
                (folder / name).write_text(json.dumps(contents[name]))
        sampling = InMemory()
        evaluation = evaluation_of(folder, (Settings("a", "ppt", LADDER, 8, None, 5, is_to_find=to_find),), matched=matched)
        needed = ["ladder.json"] * (to_find and not has_ladder) + ["matched.json"] * (matched and not has_amounts)
        if shard and needed:
            with pytest.raises(BadInput, match="--shard: needs pilots first, which one process draws; run once without --shard up to them"):
                running.run(evaluation, cast(Sampling, sampling), "1/2")
            assert called == [] and sampling.drawn == {}
            continue
        running.run(evaluation, cast(Sampling, sampling), "1/2" if shard else "")
        assert called == needed and [asked.settings.powers for _, asked in sampling.drawn.values()] == [(1, 3, 4) if to_find else LADDER] * 2
