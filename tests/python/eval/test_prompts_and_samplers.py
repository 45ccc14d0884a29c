"""What a model is asked, and what the samplers are told."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tempera import harness
from tempera.errors import BadInput
from tempera.eval.graders.plain import ExactGrader
from tempera.eval.problem import Problem
from tempera.eval.prompts import shipped_templates, template_from, template_named, uses_chat
from tempera.eval.report import paper_values
from tempera.eval.running import nearest_amount
from tempera.eval.samplers import SAMPLERS, Settings, check_preset, geometric_ladder, preset_named, random_ladder, sweep
from tempera.eval.tasks import TASKS, Task
from tempera.settings import default

LADDER = Settings("ppt", "ppt", (1.0, 2.0, 4.0), 28, 4, 3)


def test_templates_keep_braces_and_name_their_source(tmp_path: Path) -> None:
    for name in shipped_templates():
        assert "{problem}" in template_named(name).text
    problem = Problem("1", {"problem": r"Is \frac{1}{2} {options} half?", "options": "A) yes"}, "A")
    assert r"\boxed{LETTER}" in template_named("boxed-letter").fill(problem)
    assert template_named("plain").fill(problem) == problem.fields["problem"]  # what a problem holds is not filled again
    file = tmp_path / "mine.txt"
    file.write_text("Q: {problem}\nA:\n")
    template = template_from(str(file))
    assert template.name == f"mine.txt ({hashlib.sha256(file.read_bytes()).hexdigest()[:8]})"
    file.write_text("Q: {problem}\nB:\n")
    assert template_from(str(file)).name != template.name
    assert template.fill(problem).endswith("\nA:")
    file.write_text("Q:")
    with pytest.raises(BadInput, match="does not name {problem}"):
        template_from(str(file))
    with pytest.raises(BadInput, match="no file or template"):
        template_from("boxed")
    with pytest.raises(BadInput, match="{starter} has no meaning"):
        template_named("program").fill(problem)


@pytest.mark.parametrize(
    ("prompting", "model", "name", "chat"),
    [
        ("paper", "Qwen/Qwen3-8B", "math500", True),
        ("paper", "Qwen/Qwen2.5-Math-7B", "math500", False),
        ("paper", "smollm2", "own", False),
        ("paper", "toy_models/four_state.json", "math500", False),
        ("raw", "Qwen/Qwen3-8B", "math500", False),
        ("chat", "Qwen/Qwen2.5-7B", "own", True),
    ],
)
def test_prompting_follows_the_paper(prompting: str, model: str, name: str, chat: bool) -> None:
    assert uses_chat(prompting, Task(name, name, [], ExactGrader(), "plain", "plain"), model) == chat


def test_each_sampler_is_told_what_it_takes_and_nothing_else() -> None:
    told = {name: Settings(name, name, (1.0, 2.0, 4.0), 28, 4, 3, "deo", 5).flags() for name in SAMPLERS}
    assert told["standard"] == told["best-of-n"] == ["--sampler", "standard", "--horizon", "28"]
    assert told["low-temperature"] == ["--sampler", "low-temperature", "--powers", "4", "--horizon", "28"]
    assert told["power-smc"][2:] == ["--powers", "4", "--horizon", "28", "--block", "4", "--particles", "5"]
    assert told["fixed-horizon"][2:] == ["--powers", "4", "--horizon", "28", "--rounds", "3", "--block", "4"]
    assert told["ppt"][2:] == ["--powers", "1,2,4", "--horizon", "28", "--rounds", "3", "--block", "4", "--schedule", "deo"]
    assert "--schedule" not in told["uncoupled-ladder"]
    preset = Settings("ppt", "ppt", (2.0, 4.0), None, 192, 10, preset="qwen3/gsm8k").flags()
    assert preset[4:6] == ["--preset", "qwen3/gsm8k"]


@pytest.mark.parametrize(
    ("preset", "task", "model", "said"),
    [
        ("qwen3/math500", "math500", "Qwen3-8B", ""),
        ("qwen3/aime", "aime24", "Qwen3-4B", ""),
        ("qwen3/math500", "own", "", ""),
        ("qwen3.5/gpqa", "gpqa", "", ""),
        ("qwen3/aime", "gsm8k", "", "qwen3/aime does not fit the task gsm8k; give --preset qwen3/gsm8k"),
        ("qwen3/gpqa", "gpqa", "Qwen3.5-9B", "settings for Qwen3-4B and Qwen3-8B, and the model is Qwen3.5-9B; give --preset qwen3.5/gpqa"),
        ("qwen3.5/gpqa", "gpqa", "Qwen3-8B", "give --preset qwen3/gpqa"),
        ("qwen3/math500", "math500", "Qwen 2.5", "the model is Qwen 2.5; give --powers and --horizon"),
        # No remedy names a preset that is not there.
        ("qwen3/math500", "math500", "Qwen3.5-9B", "the model is Qwen3.5-9B; give --powers and --horizon"),
        ("qwen3.5/gpqa", "gsm8k", "", "qwen3.5/gpqa does not fit the task gsm8k; give --powers and --horizon"),
    ],
)
def test_a_preset_fits_task_and_model(preset: str, task: str, model: str, said: str) -> None:
    presets = ["qwen3/math500", "qwen3/aime", "qwen3/gpqa", "qwen3/gsm8k", "qwen3.5/gpqa", "qwen3.5/aime"]
    if not said:
        return check_preset(preset, task, model, presets)
    with pytest.raises(BadInput, match=f"^--preset: .*{re.escape(said)}"):
        check_preset(preset, task, model, presets)


def test_a_preset_is_found_by_its_family_and_by_each_of_its_models(tempera: str) -> None:
    listed = json.loads(subprocess.run([tempera, "presets", "--json"], capture_output=True, text=True, check=True).stdout)
    presets = {preset["name"]: preset for preset in listed}
    for name, preset in presets.items():
        task = name.partition("/")[2]
        assert preset_named(name, presets) == name
        for model in preset["models"].split(", "):
            assert preset_named(f"{model}/{task}", presets) == preset_named(f"{model.lower()}/{task}", presets) == name
    # The paper has one ladder for both models of Qwen3, and none of the other task for Qwen3.5.
    for wrong, said in (
        ("qwen3-8b/math50", "did you mean qwen3-8b/math500?"),
        ("qwen3.5-9b/math500", "did you mean qwen3"),
        ("llama/x", "give one of qwen3/math500, "),
    ):
        with pytest.raises(BadInput, match=f'^--preset: there is no preset "{wrong}"; {re.escape(said)}'):
            preset_named(wrong, presets)


def test_every_preset_is_of_models_and_a_task_that_are_known(tempera: str) -> None:
    presets = json.loads(subprocess.run([tempera, "presets", "--json"], capture_output=True, text=True, check=True).stdout)
    for preset in presets:
        family, _, benchmark = preset["name"].partition("/")
        for model in preset["models"].split(", "):
            check_preset(preset["name"], benchmark, model, [one["name"] for one in presets])
        assert family in ("qwen3", "qwen3.5") and benchmark in TASKS


def test_sweeps_change_one_thing() -> None:
    replicas = sweep("replicas", LADDER)
    assert [len(one.powers) for one in replicas] == [1, 2, 3, 4, 5]
    assert all(one.powers[-1] == 4.0 and one.rounds == 3 for one in replicas) and replicas[0].sampler == "fixed-horizon"
    assert [one.rounds for one in sweep("rounds", LADDER)] == [1, 2, 4, 8, 10]
    ladders = {one.label: one.powers for one in sweep("ladder", LADDER, (1.0, 1.2, 1.5, 2.5, 4.0))}
    assert ladders["ladder geometric"] == geometric_ladder(1.0, 4.0, 5) and len(ladders) == 4
    # The paper's fourth ladder is there without being given; pilots find it.
    assert [one.label for one in sweep("ladder", LADDER)] == list(ladders)
    assert [one.is_to_find for one in sweep("ladder", LADDER)] == [False, False, False, True]
    assert not any(one.is_to_find for one in sweep("ladder", LADDER, (1.0, 1.2, 1.5, 2.5, 4.0)))
    assert all(powers[0] == 1.0 and powers[-1] == 4.0 and sorted(set(powers)) == list(powers) for powers in ladders.values())
    assert random_ladder(1, 4, 5, 1) == random_ladder(1, 4, 5, 1)
    with pytest.raises(BadInput, match="needs a ladder"):
        sweep("replicas", Settings("ppt", "ppt", (4.0,), 28, 4, 3))


@pytest.mark.parametrize("power", [0.8, 1.0, 1.7])
def test_the_nearest_amount_is_found_with_few_pilots(power: float) -> None:
    def cost(amount: int) -> float:
        return 7.0 + 3.0 * amount**power

    amount, costs = nearest_amount(cost, cost(23), 4)
    assert len(costs) <= 7
    assert abs(costs[amount] - (7.0 + 3.0 * 23**power)) <= 0.03 * (7.0 + 3.0 * 23**power)


def test_an_amount_that_costs_too_much_already_is_1() -> None:
    assert nearest_amount(lambda amount: 100.0 * amount, 10.0, 8)[0] == 1


def test_the_papers_values_are_those_of_its_tables() -> None:
    ppt, standard = LADDER, Settings("standard", "standard", (1.0,), None, None, 1)
    assert paper_values.accuracy(ppt, "Qwen3-8B", "MATH500", False) == ("88.0", "tab:main-results-extended")
    assert paper_values.accuracy(standard, "Qwen3.5-9B", "GPQA", False) == ("82.4", "tab:qwen35-9b")
    chain = Settings("chain", "fixed-horizon", (2.9,), None, None, 10)
    assert paper_values.accuracy(chain, "Qwen3-8B", "MATH500", True) == ("85.6", "tab:compute-matched-single-chain")
    assert paper_values.accuracy(chain, "Qwen3-8B", "MATH500", False) == ("85.3", "tab:cold-replica-results")
    assert paper_values.accuracy(chain, "Qwen3-8B", "GSM8K", False) is None
    best = Settings("best", "best-of-n", (1.0,), None, None, 1)
    assert paper_values.accuracy(best, "Qwen3-4B", "MATH500", True) == ("84.7", "tab:compute-matched-app")
    assert paper_values.voted(best, "Qwen3-4B", "MATH500") == "89.2"
    assert paper_values.hit_capacity(ppt, "Qwen3-4B", "MATH500") == "7.6"
    assert paper_values.swap_acceptance("Qwen3-8B", "GSM8K") == "0.274"
    assert paper_values.hyperparameters("Qwen3-8B", "GSM8K") == {"T": 3072, "B": 192, "rounds": 10, "powers": (2.0, 2.3, 2.6, 3.0, 3.5, 4.0)}
    assert paper_values.hyperparameters("Tulu", "GSM8K") is None


class Scored:
    """A model whose tokens are letters and whose first token stands for the begin, if it says so; a row is a law of three letters."""

    def __init__(self, begins: bool) -> None:
        self.begins = begins
        self.powers: list[float] = []

    def tokens(self, text: str) -> list[int]:
        return [*([99] if self.begins else []), *map(ord, text)]

    @staticmethod
    def row(before: list[int]) -> dict[int, float]:
        weights = {ord(letter): 1 + (sum(before) * (3 + place)) % 7 for place, letter in enumerate("ab ")}
        return {letter: weight / sum(weights.values()) for letter, weight in weights.items()}

    def score(self, tokens: list[int], power: float) -> tuple[list[float], list[float]]:
        self.powers.append(power)
        log_p, log_z = [], []
        for at in range(1, len(tokens)):
            row = self.row(tokens[:at])
            log_p.append(math.log(row[tokens[at]]))
            most = max(map(math.log, row.values()))
            log_z.append(power * most + math.log(sum(math.exp(power * (math.log(p) - most)) for p in row.values())))
        return log_p, log_z


@pytest.mark.parametrize("begins", [False, True])
def test_a_continuation_has_the_probability_of_its_own_tokens(begins: bool) -> None:
    """Against the product of its rows; the spaces at a context's end are the continuation's."""
    chance = random.Random(2)
    for _ in range(200):
        context = "".join(chance.choices("ab ", k=chance.randrange(1, 5))).lstrip()
        continuation = "".join(chance.choices("ab", k=chance.randrange(1, 4)))
        kept = context.rstrip(" ")
        if not kept:
            with pytest.raises(BadInput, match="lm_eval: a context is empty"):
                harness.log_likelihood(Scored(begins), context, continuation)  # type: ignore[arg-type]
            continue
        before, log_p, is_greedy = [*([99] if begins else []), *map(ord, kept)], 0.0, True
        for letter in context[len(kept) :] + continuation:
            row = Scored.row(before)
            log_p += math.log(row[ord(letter)])
            is_greedy = is_greedy and row[ord(letter)] == max(row.values()) and list(row.values()).count(max(row.values())) == 1
            before.append(ord(letter))
        found = harness.log_likelihood(Scored(begins), context, continuation)  # type: ignore[arg-type]
        assert found == (pytest.approx(log_p, rel=1e-12), is_greedy), (context, continuation)


def test_a_text_is_cut_at_the_first_of_the_stops_in_it() -> None:
    chance = random.Random(3)
    for _ in range(300):
        text = "".join(chance.choices("ab", k=chance.randrange(6)))
        stops = ["".join(chance.choices("ab", k=chance.randrange(3))) for _ in range(chance.randrange(4))]
        expected = next((text[:at] for at in range(len(text) + 1) for stop in stops if stop and text.startswith(stop, at)), text)
        assert harness.cut(text, stops) == expected, (text, stops)


def test_what_the_harness_is_not_told_is_the_default_of_the_settings() -> None:
    """--model_args of lm_eval, each key left out and each alone."""
    said: dict[str, Any] = {"sampler": "power-smc", "powers": "2:3", "block": "5", "rounds": 9, "particles": "3", "horizon": 6}
    silent = {
        "sampler": "standard",
        "powers": tuple(default("powers")),
        "block": None,
        "rounds": default("rounds"),
        "particles": default("particles"),
        "horizon": 256,
    }
    told = {**said, "powers": (2.0, 3.0), "block": 5, "particles": 3}

    def read(values: dict[str, Any]) -> dict[str, Any]:
        settings = harness._settings(values, 256)
        assert settings.label == settings.sampler
        return {name: getattr(settings, name) for name in silent}

    assert read({}) == silent
    for key in said:
        assert read({key: said[key]}) == {**silent, key: told[key]}
        assert read({name: value for name, value in said.items() if name != key}) == {**told, key: silent[key]}
    for key in ("powers", "block", "rounds", "particles", "horizon"):
        with pytest.raises(BadInput, match="--model_args: is not a number"):
            read({key: "x"})
