"""`tempera eval` finds the package, hands its arguments on, and says what is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def eval_stage(tempera: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tempera, "eval", *arguments], capture_output=True, text=True, env={**os.environ, **environment})


@pytest.fixture
def with_this_python(tmp_path: Path) -> str:
    """A PATH whose python3 is the one that runs the tests."""
    script = tmp_path / "python3"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def test_the_command_comes_to_the_package_and_back(tempera: str, worked_sum: Path, tmp_path: Path, with_this_python: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TEMPERA"} | {"PATH": with_this_python}
    asked = ["run", "--task", "own", "--data", str(worked_sum / "held_out.jsonl"), "--grader", "worked-sum", "--model", str(worked_sum)]
    asked += ["--powers", "1,4", "--horizon", "28", "--limit", "2", "--out", str(tmp_path / "out")]
    done = subprocess.run([tempera, "eval", *asked], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "next: tempera eval grade" in done.stdout


def test_help_is_the_commands_and_the_stages(tempera: str, with_this_python: str) -> None:
    own = subprocess.run([tempera, "help", "eval"], capture_output=True, text=True).stdout
    assert own == eval_stage(tempera, "--help").stdout and "tempera eval grade sums" in own
    stage = eval_stage(tempera, "run", "--help", PATH=with_this_python)
    assert stage.returncode == 0 and "--samplers" in stage.stdout
    assert all(len(line) <= 86 for line in stage.stdout.splitlines())


def test_errors_are_one_line(tempera: str, tmp_path: Path, with_this_python: str) -> None:
    done = eval_stage(tempera, "report", str(tmp_path / "nowhere"), PATH=with_this_python)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "is not an evaluation" in done.stderr


def test_what_is_missing_is_named(tempera: str, tmp_path: Path) -> None:
    done = eval_stage(tempera, "grade", "x", PATH=str(tmp_path))
    assert done.returncode == 2 and done.stderr.startswith("tempera: python3: cannot be started")
    # A Python without the package: TEMPERA_MODELS names a tree without it.
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nexec {os.path.realpath(sys.executable)} -I "$@"\n')
    bare.chmod(0o755)
    done = eval_stage(tempera, "grade", "x", PATH=str(tmp_path), TEMPERA_MODELS=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == "tempera: eval: Python has no module tempera; install the package tempera: pip install . in its source tree\n"


def test_shards_of_an_evaluation_merge_to_its_bytes(tempera: str, worked_sum: Path, tmp_path: Path, with_this_python: str) -> None:
    asked = ["run", "--task", "own", "--data", str(worked_sum / "held_out.jsonl"), "--grader", "worked-sum", "--model", str(worked_sum)]
    asked += ["--powers", "1,2", "--horizon", "12", "--rounds", "1", "--samplers", "standard,ppt", "--limit", "4"]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert eval_stage(tempera, *asked, "--out", str(whole), PATH=with_this_python).returncode == 0
    first = eval_stage(tempera, *asked, "--out", str(parts), "--shard", "1/2", PATH=with_this_python)
    assert first.returncode == 0 and "tempera eval merge" in first.stdout
    early = eval_stage(tempera, "merge", str(parts), PATH=with_this_python)
    assert early.returncode == 2 and "shard 2 is missing" in early.stderr and early.stderr.count("\n") == 1
    assert eval_stage(tempera, *asked, "--out", str(parts), "--shard", "2/2", PATH=with_this_python).returncode == 0
    assert eval_stage(tempera, "merge", str(parts), PATH=with_this_python).returncode == 0
    files = [path for path in sorted(whole.rglob("*")) if path.is_file() and path.name != "speed.json"]
    assert any(path.name == "events.jsonl" for path in files)
    for path in files:
        assert (parts / path.relative_to(whole)).read_bytes() == path.read_bytes(), path
    again = eval_stage(tempera, *asked, "--answers", "x.jsonl", "--out", str(parts), "--shard", "1/2", PATH=with_this_python)
    assert again.returncode == 2 and "--shard: has no effect with --answers" in again.stderr


def test_an_estimate_is_what_the_runs_then_take(tempera: str, worked_sum: Path, tmp_path: Path, with_this_python: str) -> None:
    asked = ["run", "--task", "own", "--data", str(worked_sum / "held_out.jsonl"), "--grader", "worked-sum", "--model", str(worked_sum)]
    asked += ["--powers", "1,4", "--horizon", "28", "--samplers", "standard,ppt,best-of-n", "--seeds", "2", "--limit", "5"]
    told = eval_stage(tempera, *asked, "--estimate", PATH=with_this_python)
    assert (told.returncode, told.stderr) == (0, "") and not list(tmp_path.glob("out*"))
    done = eval_stage(tempera, *asked, "--out", str(tmp_path / "out"), PATH=with_this_python)
    assert done.returncode == 0
    summaries = [json.loads(file.read_text())["decode_tokens"] for file in (tmp_path / "out").rglob("summary.json")]
    lines = told.stdout.splitlines()
    found = [int(line.split(": ")[1].split()[0]) for line in lines]
    # So short a run ends in its pilot, which is then exact.
    assert len(summaries) == 6 and sorted(found[:-1]) == sorted(summaries) and found[-1] == sum(summaries)
    assert lines[0].startswith("standard, seed 1 of 2: ") and lines[-1].startswith("all 6 runs: ")
    for flags, said in (["--out", "x"], "--out: has no effect with --estimate"), (["--shard", "1/2"], "--shard"), (["--matched"], "--matched"):
        refused = eval_stage(tempera, *asked, "--estimate", *flags, PATH=with_this_python)
        assert refused.returncode == 2 and said in refused.stderr and refused.stderr.count("\n") == 1
    missing = eval_stage(tempera, *asked, PATH=with_this_python)
    assert missing.returncode == 2 and "--out: is missing" in missing.stderr
