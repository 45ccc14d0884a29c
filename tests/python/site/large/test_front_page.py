"""The rows of README's table that `./run` does not print are what `tempera sample` draws of the same prompts."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[4]
TEMPERA = os.environ.get("TEMPERA", str(TREE / "build/release/tempera"))
TASK = TREE / "toy_models/worked_sum"
SETTINGS = ["--powers", "4", "--horizon", "28", "--seed", "1"]


def row(sampler: str) -> list[str]:
    (line,) = [line for line in (TREE / "README.md").read_text().splitlines() if line.startswith(f"| `{sampler}`")]
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize(("sampler", "flags"), [("power-smc", ["--particles", "25", "--block", "4"]), ("exact-rejection", [])])
def test_the_last_rows_are_what_the_command_draws(tmp_path: pathlib.Path, sampler: str, flags: list[str]) -> None:
    problems = [json.loads(line) for line in (TASK / "held_out.jsonl").read_text().splitlines()]
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text("".join(json.dumps({"id": str(i), "prompt": problem["prompt"]}) + "\n" for i, problem in enumerate(problems)))
    asked = [TEMPERA, "sample", "--model", TASK, "--prompts", prompts, "--sampler", sampler, *flags, *SETTINGS, "--json", "--summary"]
    found = json.loads(subprocess.run([str(word) for word in asked], capture_output=True, text=True, check=True).stdout)
    solved = [answer["answer"].split("=")[-1] == problem["answer"] for answer, problem in zip(found["answers"], problems, strict=True)]
    tokens = found["summary"]["decode_tokens"] / len(problems)
    assert [100 * sum(solved) / len(solved), round(tokens)] == [int(row(sampler)[2].removesuffix(" %")), int(row(sampler)[3].split(",")[0])]
