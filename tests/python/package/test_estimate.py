"""`tempera sample --estimate`: what a pilot says beside what the run took, and beside exact expectations."""
import json
import subprocess
from fractions import Fraction

import pytest
from conftest import FLAGS, TEMPERA, TREE, WORKED_SUM, command

BIMODAL = str(TREE / "toy_models/bimodal.json")


def sums(folder, count):
    """A file of the first held-out prompts."""
    file = folder / "prompts.jsonl"
    lines = (TREE / "toy_models/worked_sum/held_out.jsonl").read_text().splitlines()[:count]
    file.write_text("".join(json.dumps({"id": str(i), "prompt": json.loads(line)["prompt"]}) + "\n" for i, line in enumerate(lines)))
    return file


def estimate(*flags):
    return json.loads(command("sample", *flags, "--estimate", "--json"))


def drawn(*flags):
    found = json.loads(command("sample", *flags, "--json", "--summary"))
    return found["summary"]["decode_tokens"], found["speed"]


def cut_estimate(answers, seconds, *flags):
    """The estimate of a pilot in which a third of the answers end, and not all: other work decides how long that takes."""
    for _ in range(8):
        told = estimate(*flags, "--pilot-seconds", seconds)
        assert told["answers"] == answers
        if told["pilot"]["answers_ended"] == answers:
            seconds /= 2
        elif told["pilot"]["answers_ended"] < answers / 3:
            seconds *= 2
        else:
            return told
    raise AssertionError(told)


def test_a_pilot_foretells_a_run_of_worked_sum(tmp_path):
    """A pilot of a part of the run: its tokens are within 20 %, and as near as the limits say, for three seeds."""
    asked = ["--prompts", sums(tmp_path, 200), "--model", WORKED_SUM, *FLAGS, "--samples", "3"]
    for seed in range(3):
        flags = [*asked, "--seed", seed]
        tokens, speed = drawn(*flags)
        told = cut_estimate(600, speed["seconds"] / 4, *flags)
        found = told["decode_tokens"]
        assert found["expected"] == pytest.approx(tokens, rel=0.2)
        # The limits hold the tokens in 95 % of cases; two and a half times as far is beyond chance (10^-5).
        assert abs(found["expected"] - tokens) < 2.5 * (found["high"] - found["low"]) / 2
        assert told["cache_bytes"]["expected"] == pytest.approx(speed["cache_bytes"], rel=0.2)
        assert told["cache_bytes"]["high"] >= speed["cache_bytes"]
        # How close the time comes is decided by other work on the machine: steps that vary more than their mean have a lower limit of 0.
        assert 0 <= told["seconds"]["low"] <= told["seconds"]["expected"] <= told["seconds"]["high"] and 0 < told["seconds"]["expected"]


def test_the_figures_are_those_of_a_finite_models_exact_law():
    """A pilot of a part of the run is within 20 % of the exact expectation of `tempera law`, and as near as its limits say."""
    sampler = ["--powers", "1,4", "--horizon", "3", "--block", "1", "--rounds", "2"]
    exact = json.loads(command("law", BIMODAL, "--sampler", "ppt", *sampler, "--json"))
    expected = float(Fraction(exact["decode_tokens"]))
    answers = 200000
    told = estimate("", "--model", BIMODAL, *sampler, "--samples", answers, "--seed", "5", "--pilot-seconds", "2")
    assert 100 < told["pilot"]["answers_ended"] < answers
    found = {name: value / answers for name, value in told["decode_tokens"].items()}
    # The seed draws the answers, and other work decides how many of them the pilot sees. Limits that are 10 % apart have standard errors
    # of 2.6 %, so that 20 % is beyond chance for each number of them.
    assert found["expected"] == pytest.approx(expected, rel=0.2)
    # The limits hold the exact expectation in 95 % of cases; four times as far is beyond chance (10^-14).
    assert abs(found["expected"] - expected) < 4 * (found["high"] - found["expected"])
    assert found["high"] - found["low"] < 0.1 * expected


def test_a_pilot_that_ends_the_run_is_exact(tmp_path):
    for sampler in (FLAGS, ["--sampler", "exact-rejection", "--powers", "4", "--horizon", "28"], ["--sampler", "power-smc", "--powers", "4", "--horizon", "28"]):
        flags = ["--prompts", sums(tmp_path, 3), "--model", WORKED_SUM, *sampler, "--samples", "2", "--seed", "1"]
        told = estimate(*flags, "--pilot-seconds", "60")
        tokens, speed = drawn(*flags)
        assert set(told["decode_tokens"].values()) == {tokens} and told["pilot"]["answers_ended"] == 6 == told["answers"]
        assert set(told["cache_bytes"].values()) == {speed["cache_bytes"]} and not told["is_guess"]


@pytest.mark.parametrize("sampler", [["--sampler", "exact-rejection", "--powers", "4"], ["--sampler", "standard"], ["--sampler", "best-of-n", "--particles", "4"]])
def test_a_cut_pilot_of_a_sampler_without_rounds_does_not_favour_short_answers(tmp_path, sampler):
    flags = ["--prompts", sums(tmp_path, 200), "--model", WORKED_SUM, *sampler, "--horizon", "28", "--samples", "5", "--seed", "2"]
    tokens, speed = drawn(*flags)
    told = cut_estimate(1000, speed["seconds"] / 4, *flags)
    assert told["decode_tokens"]["expected"] == pytest.approx(tokens, rel=0.2)


def test_unseen_steps_have_the_settings_limit(tmp_path):
    ladder = ["--powers", "1,1.6,2.5,4", "--horizon", "28", "--block", "4", "--rounds", "50"]
    flags = ["--prompts", sums(tmp_path, 200), "--model", WORKED_SUM, *ladder, "--samples", "5", "--seed", "1"]
    told = estimate(*flags, "--pilot-seconds", "0.05")
    assert told["is_guess"]
    # Four rungs: 28 tokens of extension, and 50 rounds at each of the horizons 4, 8, ..., 28.
    assert told["decode_tokens"]["high"] > 1000 * 4 * 50 * 28
    text = command("sample", *flags, "--estimate", "--pilot-seconds", "0.05")
    assert "have not been seen" in text and "--pilot-seconds" in text


def test_people_read_each_figure_with_its_limits(tmp_path):
    text = command("sample", "4+7?", "--model", WORKED_SUM, *FLAGS, "--estimate")
    lines = text.splitlines()
    assert lines[0].startswith("pilot: 1 of 1 answers begun, 1 ended")
    assert [line.split("  ")[0] for line in lines[1:4]] == ["decode tokens", "time", "caches"]
    assert all(" to " in line and len(line) <= 100 for line in lines[1:4])


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--estimate", "--out", "x"], "--out"), (["--estimate", "--summary"], "--summary"), (["--estimate", "--shard", "1/2"], "--shard"),
        (["--pilot-seconds", "3"], "--pilot-seconds: has no effect without --estimate"), (["--estimate", "--pilot-seconds", "0"], "--pilot-seconds: is 0"),
        (["--estimate", "--pilot-seconds", "-1"], "--pilot-seconds"), (["--estimate", "--resume", "x"], "--estimate"),
    ],
)  # fmt: skip
def test_what_has_no_effect_is_refused(tmp_path, flags, said):
    asked = [] if "--resume" in flags else ["4+7?", "--model", WORKED_SUM]
    done = subprocess.run([TEMPERA, "sample", *asked, *flags], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and said in done.stderr
    assert not list(tmp_path.iterdir())
