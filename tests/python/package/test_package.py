"""The installed package tempera, against the command. TEMPERA names the command; TREE the source tree."""
import asyncio
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import tempera

TREE = pathlib.Path(os.environ.get("TREE", pathlib.Path(__file__).resolve().parents[3]))
TEMPERA = os.environ.get("TEMPERA", str(TREE / "build/release/tempera"))
WORKED_SUM = str(TREE / "toy_models/worked_sum")
PROMPT = "4+7+9+3+8+6+2+5?"
PPT = {"powers": [1, 1.6, 2.5, 4], "horizon": 28, "block": 4, "rounds": 3}
FLAGS = ["--powers", "1,1.6,2.5,4", "--horizon", "28", "--block", "4", "--rounds", "3"]


def command(*arguments):
    done = subprocess.run([TEMPERA, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="session")
def model():
    return tempera.Model.open(WORKED_SUM)


def test_the_same_seed_has_the_bits_of_the_command(model):
    printed = json.loads(command("sample", PROMPT, "--model", WORKED_SUM, *FLAGS, "--samples", "5", "--seed", "7", "--json"))
    answers = model.sample(PROMPT, samples=5, seed=7, **PPT)
    assert [list(a.tokens) for a in answers] == [a["tokens"] for a in printed["answers"]]
    assert [a.log_p0 for a in answers] == [a["log_p0"] for a in printed["answers"]]
    assert [a.sample for a in answers] == [0, 1, 2, 3, 4]
    assert len({a.text for a in answers}) > 1


def test_a_list_of_prompts_is_a_file_with_their_numbers(model, tmp_path):
    prompts = ["1+2?", "9+9+9?", "3+4+5+6?"]
    file = tmp_path / "prompts.jsonl"
    file.write_text("".join(json.dumps({"id": str(i), "prompt": p}) + "\n" for i, p in enumerate(prompts)))
    lines = command("sample", "--prompts", str(file), "--model", WORKED_SUM, *FLAGS, "--samples", "2", "--seed", "3")
    expected = [json.loads(line) for line in lines.splitlines()]
    answers = model.sample(prompts, samples=2, seed=3, **PPT)
    assert [(str(a.prompt), a.sample, a.log_p0) for a in answers] == [(e["id"], e["sample"], e["log_p0"]) for e in expected]


def test_answers_come_one_by_one_and_a_loop_may_be_left(model):
    seen = 0
    for answer in model.iterate(PROMPT, samples=50, seed=1, **PPT):
        seen += 1
        if seen == 3:
            break
    assert seen == 3
    tokens = model.encode(PROMPT)
    assert model.sample(tokens, seed=7, **PPT)[0] == model.sample(PROMPT, seed=7, **PPT)[0]


def test_layout_changes_no_bit(model):
    alone = model.sample(PROMPT, samples=6, seed=2, **PPT)
    assert model.sample(PROMPT, samples=6, seed=2, batch=3, under_way=2, prefetch=2, **PPT) == alone


def test_figures_of_an_answer(model):
    answer = model.sample(PROMPT, seed=5, **PPT)[0]
    assert len(answer.log_p0_of_rungs) == 4 and answer.log_p0_of_rungs[-1] == answer.log_p0
    assert len(answer.local_moves) == 4 and len(answer.swaps) == 3
    assert all(0 <= a.accepted <= a.proposed for a in answer.local_moves + answer.swaps)
    assert answer.swaps[0].proposed == 7 * 3  # seven stages of three sweeps
    assert answer.finish_reason == "terminal" and answer.tokens[-1] in model.terminal
    assert answer.decode_tokens > len(answer.tokens)


def test_scores_are_those_of_the_command(model):
    tokens = model.encode("4+7?<11")
    printed = json.loads(command("score", "--model", WORKED_SUM, "--tokens", ",".join(map(str, tokens)),
                                 "--powers", "1,2,4", "--json"))
    scores = model.score(tokens, [1, 2, 4])
    assert scores.log_p.dtype == np.float64 and scores.log_p.tolist() == printed["log_p"]
    assert scores.log_z.shape == (len(tokens) - 1, 3) and scores.log_z.tolist() == printed["log_z"]


def test_asyncio(model):
    async def both():
        beside = 0

        async def count():
            nonlocal beside
            while True:
                beside += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        answers = await model.sample_async(PROMPT, samples=3, seed=7, **PPT)
        counting.cancel()
        return answers, beside

    answers, beside = asyncio.run(both())
    assert answers == model.sample(PROMPT, samples=3, seed=7, **PPT)
    assert beside > 1


@pytest.mark.parametrize("wishes, words", [
    ({"powers": [2, 1]}, "increasing"),
    ({"sampler": "pppt"}, "ppt"),
    ({"preset": "qwen3/math50"}, "qwen3/math500"),
    ({"horizon": 0}, "horizon"),
    ({"schedule": "odd"}, "schedule"),
    ({"temperature": 0.5, "powers": [1, 2]}, "temperature"),
])
def test_bad_input_is_one_line(model, wishes, words):
    with pytest.raises(tempera.BadInput) as error:
        model.sample(PROMPT, **wishes)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_other_errors(model, tmp_path):
    with pytest.raises(TypeError, match="powers"):
        model.sample(PROMPT, power=[1, 2])
    with pytest.raises(tempera.BadInput, match="does not exist"):
        tempera.Model.open(str(tmp_path / "none"))
    with pytest.raises(tempera.BadInput, match="vocabulary"):
        model.decode([10 ** 6])
    with pytest.raises(tempera.BadInput, match="arithmetic"):
        tempera.Model.open(WORKED_SUM, arithmetic="float33")
    with pytest.raises(tempera.BadInput):
        model.sample("ü")
