"""`tempera audit`: a run of the command, whole, edited, and of another model."""
import json
import random
import shutil
import subprocess

import pytest
from conftest import FLAGS, PROMPT, TEMPERA, TREE, WORKED_SUM, command


def audit(folder, *flags):
    done = subprocess.run([TEMPERA, "audit", str(folder), *flags], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def found(folder, *flags):
    code, out, err = audit(folder, "--json", *flags)
    assert code in (0, 1) and err == ""
    report = json.loads(out)
    assert report["equal"] == (code == 0) == (report["first"] is None)
    return report


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit") / "run"
    command("sample", PROMPT, "--model", WORKED_SUM, *FLAGS, "--samples", 4, "--seed", 3, "--auditable", "--out", folder)
    return folder


def test_a_run_is_equal_whatever_batches_and_threads(run):
    report = found(run)
    assert report["equal"] and report["answers"] == 4
    assert report["drawn_tokens"] == json.loads((run / "summary.json").read_text())["decode_tokens"]
    # Each token is computed once, and the prompt; the last token of a proposal need not be.
    assert report["computed_tokens"] <= report["drawn_tokens"] + len(PROMPT) + 1
    steady = ("equal", "first", "answers", "drawn_tokens")
    assert [found(run, "--threads", "1")[key] for key in steady] == [report[key] for key in steady]
    code, out, err = audit(run)
    assert (code, err) == (0, "") and out.startswith("equal: 4 answers, every token, decision and line\n")


def test_passes_are_few(run):
    """One pass for a proposal's tokens and one for its draws, where drawing takes one for every token."""
    speed = json.loads((run / "speed.json").read_text())
    assert found(run)["passes"] < speed["forward_passes"]


@pytest.mark.parametrize("seed", range(30))
def test_a_changed_digit_anywhere_is_found_and_placed(run, tmp_path, seed):
    edited = tmp_path / "run"
    shutil.copytree(run, edited)
    dice = random.Random(seed)
    name = dice.choice(["events.jsonl", "samples.jsonl"])
    lines = (edited / name).read_text().splitlines()
    at = dice.randrange(len(lines))
    places = [i for i, letter in enumerate(lines[at]) if letter.isdigit()]
    place = dice.choice(places)
    other = dice.choice([digit for digit in "0123456789" if digit != lines[at][place]])
    lines[at] = lines[at][:place] + other + lines[at][place + 1 :]
    (edited / name).write_text("\n".join(lines) + "\n")
    report = found(edited)
    assert not report["equal"] and report["first"]["place"] and report["first"]["what"]


@pytest.mark.parametrize(("key", "value"), [("seed", 4), ("powers", [1, 1.6, 2.5, 4.5]), ("rounds", [2]), ("prompt", [4, 11, 7])])
def test_other_settings_are_found(run, tmp_path, key, value):
    edited = tmp_path / "run"
    shutil.copytree(run, edited)
    config = json.loads((edited / "config.json").read_text())
    config[key] = value
    (edited / "config.json").write_text(json.dumps(config))
    assert not found(edited)["equal"]


def test_another_weight_is_found_by_its_digest_and_without_it(run, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(WORKED_SUM, model)
    weights = bytearray((model / "model.safetensors").read_bytes())
    weights[-2] ^= 0x40  # of the last float32
    (model / "model.safetensors").write_bytes(weights)
    # A finite model has no arithmetic, which the run's settings ask for.
    for other in (model, TREE / "toy_models/bimodal.json"):
        assert found(run, "--model", str(other))["first"]["place"] == "the model"
    edited = tmp_path / "run"
    shutil.copytree(run, edited)
    config = json.loads((edited / "config.json").read_text())
    del config["audit"]["model"]
    (edited / "config.json").write_text(json.dumps(config))
    assert found(edited)["equal"]
    assert found(edited, "--model", str(model))["first"]["place"].startswith("sample 0")


def test_what_cannot_be_audited_is_told_in_one_line(run, tmp_path):
    plain = tmp_path / "plain"
    command("sample", PROMPT, "--model", WORKED_SUM, *FLAGS, "--out", plain)
    for folder, told in (
        (plain, "was drawn without --auditable, so it lacks the proposals' tokens; draw it with --auditable"),
        (tmp_path / "none", "none"),
        (TREE, "holds no config.json, so it is not a run folder"),
    ):
        code, out, err = audit(folder)
        assert (code, out) == (2, "") and told in err and err.count("\n") == 1
    done = subprocess.run([TEMPERA, "sample", PROMPT, "--model", WORKED_SUM, "--auditable"], capture_output=True, text=True)
    assert done.returncode == 2 and "--auditable: has no effect without --out" in done.stderr


def test_answers_are_the_same_and_the_bytes_are_few(run, tmp_path):
    plain = tmp_path / "plain"
    command("sample", PROMPT, "--model", WORKED_SUM, *FLAGS, "--samples", 4, "--seed", 3, "--out", plain)
    assert (plain / "samples.jsonl").read_bytes() == (run / "samples.jsonl").read_bytes()
    more = (run / "events.jsonl").stat().st_size - (plain / "events.jsonl").stat().st_size
    tokens = json.loads((run / "summary.json").read_text())["decode_tokens"]
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    drawn = [event for event in events if "drawn" in event]
    # A token below 128 is one byte, four letters for three; and ,"drawn":"" with a rounding for each event.
    assert more == sum(len(f',"drawn":"{event["drawn"]}"') for event in drawn)
    assert more <= 4 / 3 * tokens + 12 * len(drawn)
