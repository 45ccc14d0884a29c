"""Run folders that Python draws, against those of the command."""
import asyncio
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from conftest import FLAGS, PPT, PROMPT, WORKED_SUM, a_program, command

import tempera
from test_package import OPTIONS

PROMPTS = ["1+2?", "9+9+9?", "3+4+5+6?"]


def files(folder):
    """What a run leaves, byte for byte, but for what was measured."""
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir() if path.name != "speed.json"}


def test_a_run_has_the_bytes_of_the_command(model, tmp_path):
    file = tmp_path / "prompts.jsonl"
    file.write_text("".join(json.dumps({"id": str(i), "prompt": p}) + "\n" for i, p in enumerate(PROMPTS)))
    command("sample", "--prompts", file, "--model", WORKED_SUM, *FLAGS, "--samples", 2, "--seed", 3, "--out", tmp_path / "command")
    answers = model.sample(PROMPTS, samples=2, seed=3, out=tmp_path / "python", **PPT)
    assert files(tmp_path / "python") == files(tmp_path / "command") and "samples.jsonl" in files(tmp_path / "python")
    assert answers == tempera.RunFolder(tmp_path / "command").answers()
    command("sample", PROMPT, "--model", WORKED_SUM, *FLAGS, "--seed", 3, "--out", tmp_path / "one")
    model.sample(PROMPT, seed=3, out=str(tmp_path / "one of python"), **PPT)
    assert files(tmp_path / "one") == files(tmp_path / "one of python")


@pytest.mark.parametrize("wishes", [PPT, *(wishes for wishes, _ in OPTIONS), {"stop": "=", **PPT}])
def test_answers_of_a_run_are_those_without_one(model, tmp_path, wishes):
    alone = model.sample([PROMPT, "1+2?"], samples=2, seed=5, **wishes)
    of_run = model.sample([PROMPT, "1+2?"], samples=2, seed=5, out=tmp_path / "run", **wishes)
    assert of_run == [dataclasses.replace(answer, records=()) for answer in alone]


def test_a_killed_run_goes_on_to_the_same_bits(model, tmp_path):
    wishes = {"samples": 40, "seed": 7, **PPT}
    model.sample(PROMPTS, out=tmp_path / "whole", **wishes)
    source = (
        "import tempera\n"
        f"model = tempera.Model.open({WORKED_SUM!r})\n"
        f"model.sample({PROMPTS!r}, out={str(tmp_path / 'killed')!r}, batch=8, under_way=4, checkpoint_seconds=0.05, **{wishes!r})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", source])
    samples = tmp_path / "killed" / "samples.jsonl"
    deadline = time.monotonic() + 600
    while not (samples.exists() and samples.stat().st_size) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL and not (tmp_path / "killed" / "summary.json").exists()
    with pytest.raises(tempera.BadInput, match="resume=True"):
        model.sample(PROMPTS, out=tmp_path / "killed", **wishes)
    with pytest.raises(tempera.BadInput, match=r"other settings \(powers, seed\)"):
        model.sample(PROMPTS, out=tmp_path / "killed", resume=True, **{**wishes, "seed": 8, "powers": [1, 2, 3, 4]})
    answers = model.sample(PROMPTS, out=tmp_path / "killed", resume=True, **wishes)
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").iterdir()}
    assert model.sample(PROMPTS, out=tmp_path / "killed", resume=True, **wishes) == answers
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").iterdir()}


def test_ctrl_c_saves_what_has_ended(tmp_path):
    folder = str(tmp_path / "run")
    source = (
        "import sys, tempera\n"
        f"model = tempera.Model.open({WORKED_SUM!r})\n"
        "try:\n"
        f"    model.sample({PROMPT!r}, samples=20000, powers=[1, 2, 4], horizon=28, out={folder!r}, resume=True)\n"
        "except KeyboardInterrupt:\n"
        "    print('ended', model.sample('1+2?', horizon=8, powers=[1, 2])[0].tokens)\n"
    )
    # The first checkpoint may come before the first answer: answers are written in the order of the samples.
    with a_program(source) as process:
        deadline = time.monotonic() + 600
        written = 0
        while not written and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
            if os.path.exists(folder + "/checkpoint"):
                with open(folder + "/samples.jsonl", "rb") as file:
                    written = file.read().count(b"\n")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=600)
    assert said.startswith("ended (") and process.returncode == 0
    assert 0 < written <= len(tempera.RunFolder(folder).answers()) < 20000


def test_a_cancelled_task_ends_its_run_saved(model, tmp_path):
    wishes = {"samples": 100, "seed": 7, **PPT}
    folder = tmp_path / "run"

    async def left():
        task = asyncio.create_task(model.sample_async(PROMPTS, out=folder, batch=8, under_way=4, checkpoint_seconds=0.05, **wishes))
        deadline = time.monotonic() + 600
        while not (folder / "checkpoint").exists() and not task.done() and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The folder is free: nothing writes to it any more.
        return files(folder), await model.sample_async(PROMPTS, out=folder, resume=True, **wishes)

    before, answers = asyncio.run(left())
    assert "summary.json" not in before
    assert answers == model.sample(PROMPTS, out=tmp_path / "whole", **wishes)
    assert files(folder) == files(tmp_path / "whole")


def test_ctrl_c_ends_a_run_under_asyncio(tmp_path):
    folder = tmp_path / "run"
    source = (
        "import asyncio, tempera\n"
        f"model = tempera.Model.open({WORKED_SUM!r})\n"
        "try:\n"
        f"    asyncio.run(model.sample_async({PROMPT!r}, samples=20000, powers=[1, 2, 4], horizon=28, out={str(folder)!r}))\n"
        "except KeyboardInterrupt:\n"
        "    print('ended')\n"
    )
    with a_program(source) as process:
        deadline = time.monotonic() + 600
        while not (folder / "checkpoint").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=600)
    assert said == "ended\n" and process.returncode == 0
    assert len(tempera.RunFolder(folder).answers()) < 20000


def test_what_a_run_cannot_be_is_said(model, tmp_path):
    with pytest.raises(tempera.BadInput, match="without out"):
        model.sample(PROMPT, resume=True, **PPT)
    with pytest.raises(tempera.BadInput, match="without out"):
        asyncio.run(model.sample_async(PROMPT, resume=True, **PPT))
    with pytest.raises(tempera.BadInput, match="at least one"):
        model.sample([], out=tmp_path / "none", **PPT)
    with pytest.raises(tempera.BadInput, match="checkpoint_seconds: has no effect without out"):
        model.sample(PROMPT, checkpoint_seconds=1, **PPT)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    for resume in (False, True):
        with pytest.raises(tempera.BadInput, match="full"):
            model.sample(PROMPT, out=tmp_path / "full", resume=resume, **PPT)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["letter.txt"]
    with pytest.raises(tempera.BadInput, match="horizon"):
        model.sample(PROMPT, out=tmp_path / "bad", horizon=0)
    with pytest.raises(tempera.BadInput, match="thinking: is about a conversation"):
        model.sample(PROMPT, out=tmp_path / "bad", thinking=True)
    assert not (tmp_path / "bad").exists()


def test_a_run_shows_its_progress(model, tmp_path, capsys):
    model.sample(PROMPT, samples=3, progress=True, out=tmp_path / "run", **PPT)
    said = capsys.readouterr().err
    assert "3 of 3 answers" in said or "3/3" in said
