"""tempera.eval with nothing but the installed package: the bytes of the command's runs."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import TEMPERA, TREE, WORKED_SUM, command

from tempera.native import native

ASKED = ["run", "--task", "own", "--data", str(TREE / "toy_models/worked_sum/held_out.jsonl"), "--grader", "worked-sum",
         "--model", WORKED_SUM, "--powers", "1,1.6,2.5,4", "--horizon", "28"]


def evaluation(*arguments, named=True, **popen):
    """The stage as a process without the command on its path; `named` gives it the command."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TEMPERA")}
    environment = {**kept, "PATH": "/nowhere", **({"TEMPERA": TEMPERA} if named else {})}
    return subprocess.Popen([sys.executable, "-m", "tempera.eval", *map(str, arguments)], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **popen)


def ended(*arguments, **options):
    process = evaluation(*arguments, **options)
    _, said = process.communicate(timeout=600)
    return process.returncode, said


def runs(folder):
    # speed.json has the seconds.
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name in ("config.json", "samples.jsonl", "events.jsonl", "summary.json")}


def test_runs_are_those_of_the_command(tmp_path):
    asked = [*ASKED, "--samplers", "standard,low-temperature,power-sampling,fixed-horizon,power-smc,ppt,best-of-n",
             "--limit", "3", "--all-rungs", "--seeds", "2", "--particles", "3"]
    assert ended(*asked, "--out", tmp_path / "package", "--threads", "1", "--batch", "3", named=False) == (0, "")
    assert ended(*asked, "--out", tmp_path / "command") == (0, "")
    alone = runs(tmp_path / "package")
    assert len(alone) == 4 * (2 * 7 + 2 * 3) and alone == runs(tmp_path / "command")


def test_a_ladder_is_found_as_by_the_command(tmp_path):
    asked = [*ASKED, "--sweep", "ladder", "--limit", "2", "--block", "7", "--rounds", "1"]
    for name in ("package", "command"):
        assert ended(*asked, "--out", tmp_path / name, named=name == "command")[0] == 0
    assert (tmp_path / "package/ladder.json").read_bytes() == (tmp_path / "command/ladder.json").read_bytes()
    assert runs(tmp_path / "package") == runs(tmp_path / "command") and len(runs(tmp_path / "command")) == 4 * 4


def test_a_power_of_many_digits_is_the_same_one(tmp_path):
    asked = [*ASKED, "--samplers", "ppt", "--limit", "1", "--rounds", "1"]
    asked[asked.index("1,1.6,2.5,4")] = "1,1.4142135623730951,2.718281828459045"
    for name in ("package", "command"):
        assert ended(*asked, "--out", tmp_path / name, named=name == "command") == (0, "")
    assert runs(tmp_path / "package") == runs(tmp_path / "command")


def test_presets_are_those_of_the_command():
    told = {preset["name"]: preset for preset in json.loads(command("presets", "--json"))}
    found = native().presets()
    assert list(found) == list(told) and len(found) > 5
    for name, preset in found.items():
        assert preset == {key: told[name][key] for key in preset} and {"powers", "horizon", "block", "rounds", "other_names"} == set(preset)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_was_ended_goes_on(tmp_path, number):
    asked = [*ASKED, "--samplers", "ppt", "--limit", "150"]
    process = evaluation(*asked, "--out", tmp_path / "ended", "--batch", "16", named=False)
    samples = tmp_path / "ended/answers/ppt/seed-1/run/samples.jsonl"
    deadline = time.monotonic() + 600
    while not (samples.exists() and samples.stat().st_size) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=600)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert not (samples.parent / "summary.json").exists()
    assert ended(*asked, "--out", tmp_path / "ended", named=False) == (0, "")
    assert ended(*asked, "--out", tmp_path / "whole") == (0, "")
    assert runs(tmp_path / "ended") == runs(tmp_path / "whole")


def test_a_problem_that_cannot_be_asked_is_named(tmp_path):
    data = tmp_path / "d.jsonl"
    for count in (2, 1):
        data.write_text("".join(json.dumps({"id": name, "prompt": prompt, "answer": "1"}) + "\n"
                                for name, prompt in (("good", "1+2?"), ("bad", "one?"))[2 - count:]))
        asked = ["run", "--task", "own", "--data", str(data), "--model", WORKED_SUM, "--horizon", "8", "--out", tmp_path / "out"]
        code, said = ended(*asked, named=False)
        assert code == 2 and said.startswith('tempera eval: problem "bad": "o" has no token in ')
        assert not (tmp_path / "out").exists()


def test_a_model_whose_logits_are_no_numbers_is_one_line(tmp_path, spoilt_folder):
    asked = [*ASKED, "--samplers", "ppt", "--limit", "2", "--out", tmp_path / "out"]
    asked[asked.index(WORKED_SUM)] = str(spoilt_folder)
    for named in (False, True):
        code, said = ended(*asked, named=named)
        assert code == 2 and said.startswith("tempera eval: ") and "NaN" in said and said.count("\n") == 1


@pytest.mark.parametrize("more, words", [
    (["--shard", "1/2"], "--shard: needs the command tempera"),
    (["--preset", "qwen3/math"], 'there is no preset "qwen3/math"'),
    (["--batch", "many"], '--batch: "many" is not a whole number'),
    (["--tempera", "/nowhere/tempera"], "is not a program"),
    (["--device", "cuda"], "device cuda: this package was built without kernels for CUDA"),
])
def test_what_is_wrong_is_one_line(tmp_path, more, words):
    code, said = ended(*ASKED, "--out", tmp_path / "none", *more, named=False)
    assert code == 2 and words in said and said.count("\n") == 1
    assert not (tmp_path / "none").exists()
