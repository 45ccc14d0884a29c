"""Ladders, and run folders as columns, against the command."""
import json
import signal
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import FLAGS, WORKED_SUM, a_program, command

import tempera
from tempera import tempering

PROMPTS = ["4+7+9+3?", "3+8+6+2+5?"]


def test_a_ladder_is_that_of_the_command(model, tmp_path):
    file = tmp_path / "pilots.jsonl"
    file.write_text("".join(json.dumps({"id": str(n), "prompt": prompt}) + "\n" for n, prompt in enumerate(PROMPTS)))
    printed = json.loads(command("ladder", "--model", WORKED_SUM, "--prompts", file, "--from", "1", "--to", "4", "--replicas", "3",
                                 "--horizon", "28", "--rounds", "5", "--samples", "3", "--seed", "6", "--pilots", "3", "--json"))
    told = []
    found = tempering.ladder(model, PROMPTS, first=1, last=4, replicas=3, horizon=28, rounds=5, samples=3, seed=6, pilots=3,
                             progress=told.append)
    assert list(found.powers) == printed["after"]["powers"] and list(found.deviations) == printed["after"]["deviations"]
    assert [swap.accepted for swap in found.swaps] == printed["after"]["accepted"]
    assert [swap.proposed for swap in found.swaps] == printed["after"]["attempts"]
    assert list(found.pilots[0].powers) == printed["before"]["powers"] and found.end == printed["end"]
    assert told == list(range(1, len(found.pilots) + 1))
    assert all(weight >= 1 for weight in found.restart_weights)


def test_ctrl_c_ends_a_pilot():
    source = (
        "import tempera\n"
        "from tempera import tempering\n"
        f"model = tempera.Model.open({WORKED_SUM!r})\n"
        "told = []\n"
        "try:\n"
        "    print('begins', flush=True)\n"
        f"    tempering.ladder(model, {PROMPTS!r}, first=1, last=4, replicas=4, horizon=28, samples=20000, progress=told.append)\n"
        "except KeyboardInterrupt:\n"
        "    print('ended', told, len(model.sample('1+2?', horizon=8, powers=[1, 2])))\n"
    )
    with a_program(source) as process:
        assert process.stdout.readline() == "begins\n"
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=600)
    assert said == "ended [] 1\n" and process.returncode == 0


def test_formulas_are_those_of_the_sampler(model):
    assert list(tempering.geometric(1, 4, 5)) == pytest.approx(model._native.geometric_ladder(1, 4, 5), rel=1e-15)
    for wrong in ((2, 1, 3), (0, 1, 3), (1, 2, 1)):
        with pytest.raises(tempera.BadInput, match="replicas"):
            tempering.geometric(*wrong)
        with pytest.raises(tempera.BadInput, match="replicas"):
            tempering.ladder(model, PROMPTS, first=wrong[0], last=wrong[1], replicas=wrong[2])
    for wrong in (("a", 2, 3), (1, None, 3), (1, 2, 2.5)):
        with pytest.raises(tempera.BadInput, match="not a number|not a whole number"):
            tempering.arithmetic(*wrong)


def test_a_run_folder_is_read_as_columns(tmp_path):
    file = tmp_path / "prompts.jsonl"
    file.write_text("".join(json.dumps({"id": f"p{n}", "prompt": prompt}) + "\n" for n, prompt in enumerate(PROMPTS)))
    command("sample", "--prompts", file, "--model", WORKED_SUM, *FLAGS, "--samples", "2", "--confidence", "--out", tmp_path / "run")
    run = tempera.RunFolder(tmp_path / "run")
    assert run.config["powers"] == [1, 1.6, 2.5, 4]
    assert list(run.samples["id"]) == ["p0", "p0", "p1", "p1"] and list(run.samples["sample"]) == [0, 1, 0, 1]
    assert run.samples["log_p0"].dtype == np.float64 and run.samples["terminated"].dtype == bool
    swaps = run.events("swap")
    for edge, counted in enumerate(run.summary["edges"], 1):
        of_edge = swaps["rung"] == edge
        assert of_edge.sum() == counted["attempts"] and swaps["accepted"][of_edge].sum() == counted["accepted"]
    moves = run.events("local_move")
    assert moves["tokens"].sum() + run.events("extension")["tokens"].sum() == run.summary["decode_tokens"]
    rounds = run.events("round")
    assert {len(lengths) for lengths in rounds["lengths"]} == {4} and len(rounds["confidence"]) == len(rounds["stage"])
    assert run.speed["decode_tokens"] >= run.summary["decode_tokens"]


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(tempera.BadInput, match="is not a run"):
        tempera.RunFolder(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    run = tempera.RunFolder(tmp_path)
    assert run.samples == {}
    with pytest.raises(tempera.BadInput, match="has not ended"):
        run.summary
    with pytest.raises(tempera.BadInput, match="local_move"):
        run.events("move")
    for name, text in (("samples.jsonl", b'{"id": "a"}\n{"id"\n'), ("samples.jsonl", b'{"id": "a"}\n"\xff"\n'), ("samples.jsonl", b'{"id": "a"}\n3\n')):
        (tmp_path / name).write_bytes(text)
        with pytest.raises(tempera.BadInput, match=f"{name}, line 2: is damaged"):
            run.samples
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(tempera.BadInput, match="config.json: is damaged"):
        run.config


def test_a_ladder_has_equal_ratios_or_equal_differences():
    for first, last, replicas in ((1, 4, 2), (1, 4, 3), (0.5, 7.5, 8), (2, 2.5, 65)):
        for found, gap in ((tempering.arithmetic(first, last, replicas), lambda a, b: b - a), (tempering.geometric(first, last, replicas), lambda a, b: b / a)):
            assert len(found) == replicas and found[0] == first and found[-1] == pytest.approx(last, rel=1e-14)
            gaps = [gap(a, b) for a, b in zip(found, found[1:])]
            assert gaps == pytest.approx([gaps[0]] * (replicas - 1), rel=1e-12)
    for wrong in ((4, 4, 3), (4, 1, 3), (0, 1, 2), (-1, 1, 2), (1, 4, 1)):
        for ladder in (tempering.arithmetic, tempering.geometric):
            with pytest.raises(tempera.BadInput, match="ladder: has no such powers; give 0 < first < last and at least 2 replicas"):
                ladder(*wrong)


def test_pilots_are_asked_for_what_is_given_and_their_figures_are_in_their_places(monkeypatch):
    """A model in memory, whose figures all differ; the best pilot is neither the first nor the last."""
    def a_pilot(number):
        return SimpleNamespace(powers=[number, number + 0.5], deviations=[number + 0.1, number + 0.2], attempts=[10 * number + 1, 10 * number + 2],
                               accepted=[number, number + 1], equal=number == 2, restart_weights=[number, 7])  # fmt: skip

    pilots = [a_pilot(number) for number in (1, 2, 3)]
    told, numbers = [], []

    def calibrate(*places, done, **names):
        told.append((places, names))
        for number in (1, 2, 3):
            done(number, 9)
        return SimpleNamespace(best=pilots[1], pilots=pilots, end="exhausted")

    monkeypatch.setattr(tempering, "require_model", lambda _: None)
    asked = SimpleNamespace(_native=SimpleNamespace(calibrate=calibrate), _opened="opened")
    sizes = {"replicas": 3, "horizon": 28, "block": 4, "rounds": 5, "samples": 6, "seed": 0, "pilots": 7, "cache_memory": 8}
    found = tempering.ladder(asked, PROMPTS, first=1, last=4, **sizes, progress=numbers.append)
    ((places, names),) = told
    assert places[0] == "opened" and len(places[1]) == 2 and places[2] == ["0", "1"]
    assert {name: value for name, value in names.items() if name != "arguments"} == {"first": 1, "last": 4, **sizes} and numbers == [1, 2, 3]
    assert (found.powers, found.deviations, found.equal, found.restart_weights, found.end) == ((2, 2.5), (2.1, 2.2), True, (2, 7), "exhausted")
    assert [(swap.proposed, swap.accepted) for swap in found.swaps] == [(21, 2), (22, 3)]
    assert [(one.powers, one.deviations, [(swap.proposed, swap.accepted) for swap in one.swaps]) for one in found.pilots] == [
        ((n, n + 0.5), (n + 0.1, n + 0.2), [(10 * n + 1, n), (10 * n + 2, n + 1)]) for n in (1, 2, 3)
    ]
    tempering.ladder(asked, PROMPTS[0], first=1, last=4, replicas=2, ids=["mine"], progress=numbers.append)
    assert told[1][0][2] == ["mine"] and all(told[1][1][name] is None for name in ("horizon", "block", "rounds", "samples", "seed", "pilots")) and told[1][1]["cache_memory"] == 0
    for ids in (["a"], ["a", "a"], ["a", "b", "c"], []):
        with pytest.raises(tempera.BadInput, match="ids: are not one for each prompt, all different"):
            tempering.ladder(asked, PROMPTS, first=1, last=4, replicas=2, ids=ids)
    with pytest.raises(tempera.BadInput, match="prompts: are an empty list"):
        tempering.ladder(asked, [], first=1, last=4, replicas=2)
