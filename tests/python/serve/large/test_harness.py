"""lm-evaluation-harness over the server: its generations and log-likelihoods are the package's own figures."""
import json
import math
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import MODEL, TEMPERA, TREE

TASKS = TREE / "tests/python/harness/tasks"


def sums(count):
    return [json.loads(line) for line in (pathlib.Path(MODEL) / "held_out.jsonl").read_text().splitlines()[:count]]


def harness(folder, server, file, name, word, records, *more):
    data = folder / f"{name}.jsonl"
    data.write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / f"{name}.yaml").write_text((TASKS / f"{file}.yaml").read_text().replace(word, str(data)))
    arguments = (f"model=worked_sum,base_url=http://127.0.0.1:{server.port}/v1/completions,tokenizer_backend=remote,"
                 "num_concurrent=4,timeout=600,max_length=64")
    done = subprocess.run(
        [sys.executable, "-m", "lm_eval", "run", "--model", "local-completions", "--model_args", arguments, "--tasks", name,
         "--include_path", str(folder), "--output_path", str(folder / "out"), "--log_samples", *more],
        capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hub")})
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(next((folder / "out").rglob("results_*.json")).read_text())
    found["samples"] = [json.loads(line) for line in next((folder / "out").rglob("samples_*.jsonl")).read_text().splitlines()]
    return found


def command(*arguments):
    done = subprocess.run([TEMPERA, *arguments, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_a_task_that_generates(tmp_path, server):
    # The harness sends seed 1234 with every request.
    found = harness(tmp_path, server, "sums", "worked_sums", "SUMS", sums(8), "--gen_kwargs", json.dumps(
        {"temperature": None, "tempera": {"powers": [1, 4], "block": 4, "rounds": 2}}))
    right = 0
    for sample, record in zip(found["samples"], sums(8), strict=True):
        own = command("sample", record["prompt"], "--model", MODEL, "--powers", "1,4", "--block", "4", "--rounds", "2",
                      "--horizon", "28", "--seed", "1234")["answers"][0]["answer"]
        assert sample["resps"][0][0] == own
        right += own.rpartition("=")[2] == record["answer"]
    assert found["results"]["worked_sums"]["exact_match,last"] == right / 8


def test_a_task_that_scores(tmp_path, server):
    records = []
    for record in sums(3):
        choices = [f"={record['answer']}", "<" + record["prompt"][0] + record["prompt"][2], "=99"]
        scores = [command("score", "--model", MODEL, "--text", record["prompt"] + choice)["log_p"] for choice in choices]
        likelihoods = [math.fsum(score[len(record["prompt"]) - 1:]) for score in scores]
        records.append({"prompt": record["prompt"], "choices": choices, "answer": likelihoods.index(max(likelihoods)),
                        "wanted": likelihoods})
    found = harness(tmp_path, server, "digits", "next_signs", "SIGNS",
                    [{key: record[key] for key in ("prompt", "choices", "answer")} for record in records])
    assert found["results"]["next_signs"]["acc,none"] == 1.0
    for sample, record in zip(found["samples"], records, strict=True):
        for response, wanted in zip(sample["resps"], record["wanted"], strict=True):
            assert float(response[0][0]) == pytest.approx(wanted, abs=1e-9)  # sums of the same numbers in other orders
