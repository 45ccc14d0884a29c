"""lm-evaluation-harness, the real one, over the package and over the command: tasks that generate and tasks that score.
`./test --all` runs this."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
TASKS = Path(__file__).parent / "tasks"
MODEL = ROOT / "toy_models/worked_sum"
TEMPERA = os.environ.get("TEMPERA", str(ROOT / "build/release/tempera"))


def task(folder: Path, name: str, word: str, records: list[dict[str, Any]]) -> None:
    data = folder / f"{name}.jsonl"
    data.write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / f"{name}.yaml").write_text((TASKS / f"{name}.yaml").read_text().replace(word, str(data)))


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is installed: its Python, and the extension that was built for the Python that runs this."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "python/tempera", folder / "tempera", ignore=shutil.ignore_patterns("__pycache__"))
    (extension,) = (Path(TEMPERA).parent / "python/bindings").glob("_tempera.*.so")
    shutil.copy(extension, folder / "tempera")
    return folder


@pytest.fixture(params=["package", "command"])
def over(request: pytest.FixtureRequest) -> Path | None:
    """What draws and scores: the package in the harness's own process, or the command."""
    return request.getfixturevalue("package") if request.param == "package" else None


def environment(folder: Path, over: Path | None) -> dict[str, str]:
    """Over the package the command cannot be found."""
    kept = {name: value for name, value in os.environ.items() if name != "TEMPERA"}
    path = "/usr/bin:/bin" if over else kept["PATH"]
    return {**kept, "PATH": path, "PYTHONPATH": str(over or ROOT / "python"), "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hub")}


def harness(folder: Path, name: str, over: Path | None, *more: str, arguments: str = "") -> dict[str, Any]:
    command = "" if over else f",tempera={TEMPERA}"
    asked = ["--model", "tempera", "--model_args", f"model={MODEL}{command}{arguments}", "--tasks", name]
    done = subprocess.run(
        [sys.executable, "-m", "tempera.harness", "run", *asked, "--include_path", str(folder), "--output_path", str(folder / "out"), "--log_samples", *more],
        capture_output=True,
        text=True,
        env=environment(folder, over),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(next((folder / "out").rglob("results_*.json")).read_text())
    found["samples"] = [json.loads(line) for line in next((folder / "out").rglob("samples_*.jsonl")).read_text().splitlines()]
    return found


def sums(count: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (MODEL / "held_out.jsonl").read_text().splitlines()[:count]]


def test_a_task_that_generates_gets_the_answers_of_the_command(tmp_path: Path, over: Path | None) -> None:
    task(tmp_path, "sums", "SUMS", sums(8))
    found = harness(tmp_path, "worked_sums", over, arguments=",sampler=ppt,powers=1:4,block=4,rounds=2,seed=3")
    prompts = tmp_path / "p.jsonl"
    prompts.write_text("".join(json.dumps({"id": f"request-{n}", "prompt": record["prompt"]}) + "\n" for n, record in enumerate(sums(8))))
    asked = [TEMPERA, "sample", "--prompts", prompts, "--model", MODEL, "--powers", "1,4", "--block", "4", "--rounds", "2", "--horizon", "28", "--seed", "3"]
    drawn = [json.loads(line) for line in subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines()]
    assert [sample["resps"][0][0] for sample in found["samples"]] == [answer["answer"] for answer in drawn]
    right = sum(answer["answer"].rpartition("=")[2] == record["answer"] for answer, record in zip(drawn, sums(8), strict=True))
    assert found["results"]["worked_sums"]["exact_match,last"] == right / 8


def scores(text: str) -> list[float]:
    done = subprocess.run([TEMPERA, "score", "--model", MODEL, "--text", text, "--json"], check=True, capture_output=True, text=True)
    log_p: list[float] = json.loads(done.stdout)["log_p"]
    return log_p


def test_a_task_that_scores_gets_the_models_log_likelihoods(tmp_path: Path, over: Path | None) -> None:
    records = []
    for record in sums(3):
        choices = [f"={record['answer']}", "<" + record["prompt"][0] + record["prompt"][2], "=99"]
        likelihoods = [math.fsum(scores(record["prompt"] + choice)[len(record["prompt"]) - 1 :]) for choice in choices]
        records.append({"prompt": record["prompt"], "choices": choices, "answer": likelihoods.index(max(likelihoods)), "wanted": likelihoods})
    task(tmp_path, "digits", "SIGNS", [{key: record[key] for key in ("prompt", "choices", "answer")} for record in records])
    found = harness(tmp_path, "next_signs", over)
    assert found["results"]["next_signs"]["acc,none"] == 1.0
    for sample, record in zip(found["samples"], records, strict=True):
        for response, wanted in zip(sample["resps"], record["wanted"], strict=True):
            assert float(response[0][0]) == pytest.approx(wanted, abs=1e-9)  # sums of the same numbers in other orders


# Prints a likelihood and whether it is greedy for each sign, as a harness that calls the model gets them.
SIGNS = "0123456789+?=<>,"
LIKELIHOODS = """
import json, sys
from tempera.eval.sampler_command import SamplerCommand
from tempera.eval.sampler_package import SamplerPackage
from tempera.harness import log_likelihood
model, command, prompt, signs = sys.argv[1:]
scoring = SamplerCommand(command, ["--model", model], []) if command else SamplerPackage(model)
print(json.dumps({sign: log_likelihood(scoring, prompt, sign) for sign in signs}))
"""


def test_greedy_tokens_are_the_most_probable_ones(tmp_path: Path, over: Path | None) -> None:
    asked = [sys.executable, "-c", LIKELIHOODS, MODEL, "" if over else TEMPERA, sums(1)[0]["prompt"], SIGNS]
    likelihoods = json.loads(subprocess.run(asked, check=True, capture_output=True, text=True, env=environment(tmp_path, over)).stdout)
    best = max(likelihoods, key=lambda sign: likelihoods[sign][0])
    assert [sign for sign, (_, greedy) in likelihoods.items() if greedy] == [best]
    assert math.fsum(math.exp(value) for value, _ in likelihoods.values()) == pytest.approx(1, abs=1e-3)


def test_the_likeliest_of_n_and_stops_are_those_of_the_command(tmp_path: Path, package: Path) -> None:
    task(tmp_path, "sums", "SUMS", sums(4))
    more = ",sampler=best-of-n,particles=3,seed=5"
    found = {over: harness(tmp_path, "worked_sums", over, arguments=more)["samples"] for over in (package, None)}
    texts = [[sample["resps"][0][0] for sample in of_one] for of_one in found.values()]
    assert texts[0] == texts[1] and len(set(texts[0])) > 1


def test_what_is_wrong_is_one_line(tmp_path: Path, over: Path | None) -> None:
    for arguments, said in (("modle=x", 'there is no "modle"'), (f"model={MODEL},sampler=ptt", 'no sampler "ptt"')):
        task(tmp_path, "sums", "SUMS", sums(1))
        done = subprocess.run(
            [sys.executable, "-m", "tempera.harness", "run", "--model", "tempera", "--model_args", arguments, "--tasks", "worked_sums", "--include_path", str(tmp_path)],
            capture_output=True,
            text=True,
            env={**environment(tmp_path, over), **({} if over else {"TEMPERA": TEMPERA})},
        )
        assert done.returncode == 2 and said in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr
