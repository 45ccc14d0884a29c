"""An evaluation over a model that Python computes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tempera
import tempera.eval
from tempera.errors import BadInput
from tempera.eval.command import main

SIGNS = "0123456789+? ."


@pytest.fixture
def adder() -> Any:
    """Answers a sum of two digits with high probability, and "0." otherwise."""

    def next_logits(prefixes: list[list[int]]) -> np.ndarray:
        rows = np.zeros((len(prefixes), len(SIGNS)), np.float32)
        for row, prefix in zip(rows, prefixes, strict=True):
            text = "".join(SIGNS[token] for token in prefix)
            sum_of, _, answer = text.partition("?")
            right = str(sum(map(int, sum_of.split("+")))) + "."
            row[SIGNS.index(right[min(len(answer), len(right) - 1)])] = 9
        return rows

    return tempera.Model.from_callable(next_logits, list(SIGNS), terminal=".", encode=lambda text: [SIGNS.index(sign) for sign in text])


def write_sums(folder: Path) -> Path:
    sums = [{"prompt": f"{a}+{b}?", "answer": str(a + b)} for a, b in ((1, 2), (4, 5), (2, 2))]
    path = folder / "sums.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in sums))
    return path


def test_answers_are_drawn_graded_and_reported(adder: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["--task", "own", "--data", str(write_sums(tmp_path)), "--prompting", "raw", "--powers", "1,2", "--horizon", "4", "--out", str(out)]
    tempera.eval.run(adder, [*arguments, "--model", "adder"])
    assert json.loads((out / "settings.json").read_text())["model"] == "adder"
    assert main(["grade", str(out)]) == 0
    assert main(["report", str(out)]) == 0
    results = json.loads((out / "results.json").read_text())
    assert "adder" in json.dumps(results)
    texts = [json.loads(line)["text"] for file in sorted(out.rglob("samples.jsonl")) for line in file.read_text().splitlines()]
    assert sorted(texts) == ["3 .", "4 .", "9 ."]
    # A run that is drawn is left as it is.
    before = {file: file.read_bytes() for file in out.rglob("samples.jsonl")}
    tempera.eval.run(adder, [*arguments, "--model", "adder"])
    assert before == {file: file.read_bytes() for file in out.rglob("samples.jsonl")}


def test_wrong_arguments_are_one_line(adder: Any, tmp_path: Path) -> None:
    data = str(write_sums(tmp_path))
    for wrong in (["--arithmetic", "float32"], ["--device", "host"], ["--estimate"], ["--tempera", "tempera"]):
        with pytest.raises(BadInput, match=wrong[0]):
            tempera.eval.run(adder, ["--task", "own", "--data", data, "--out", str(tmp_path / "none"), *wrong])
    with pytest.raises(BadInput, match="is not a model"):
        tempera.eval.run("smollm2", ["--task", "own"])  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="arguments"):
        tempera.eval.run(adder, "--task own")
    with pytest.raises(BadInput, match="--shard"):
        tempera.eval.run(adder, ["--task", "own", "--data", data, "--prompting", "raw", "--horizon", "4", "--shard", "1/2", "--out", str(tmp_path / "none")])
    assert not (tmp_path / "none").exists()
