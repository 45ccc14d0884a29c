"""The recipes of docs/howto/clients.md run as they are printed, against the servers that the page starts, and print what it says."""
import json
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

from conftest import MODEL, TEMPERA, TREE, Server, obtained

PAGE = (TREE / "docs/howto/clients.md").read_text()
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
ROWS = [line.split() for line in (TREE / "packages.txt").read_text().splitlines() if line and line[0] != "#"]
GROUPS = {re.split("[<>=]", name)[0]: group for group, source, name in ROWS if source == "pypi" and group in ("python", "all", "clients")}
#: The package that the page has a reader install, for each program.
INSTALLED = {title: shlex.split(command)[0] for title, command in re.findall(r"^\| \[([^\]]+)\]\(#[^)]*\) \| `pip install ([^`]+)` \|", PAGE, re.M)}
WITHOUT_RUN = {"Open WebUI", "lighteval"}


def blocks(title, language):
    return [text for found, text in re.findall(r"^```(\w*)\n(.*?)^```$", SECTIONS[title], re.M | re.S) if found == language]


RECIPES = [title for title in SECTIONS if blocks(title, "python")]


def started(title, folder):
    """The server that a section starts, on a free port."""
    *before, line = blocks(title, "")[0].splitlines()
    subprocess.run(["bash", "-ec", "\n".join(before)], cwd=folder, check=True)
    words = shlex.split(line)
    assert words[:3] == ["tempera", "serve", "--model"]
    if words[3] == "smollm2" and not obtained("smollm2"):
        pytest.skip("smollm2 is not there: run tempera models get smollm2")
    return Server(*words[4:], model=str(folder / words[3]) if (folder / words[3]).exists() else words[3])


@pytest.fixture(scope="module")
def adder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adder")
    (folder / "toy_models").symlink_to(TREE / "toy_models")
    (folder / "tests").symlink_to(TREE / "tests")
    running = started("The server", folder)
    running.folder = folder
    yield running
    running.stop()


def ran(command, folder):
    """The output of a program that finds no network, and no answers that an earlier run has kept."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={
        **os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "DSPY_CACHEDIR": str(folder / "dspy"), "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hub")})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_packages_of_the_page_are_those_that_are_installed():
    assert set(INSTALLED) >= {*RECIPES, "lm-evaluation-harness"}
    for title, package in INSTALLED.items():
        assert (package in GROUPS) == (title not in WITHOUT_RUN), package


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_prints_what_the_page_says(title, adder, tmp_path, request):
    (program,) = blocks(title, "python")
    assert program.count("\n") - program.count("\n\n") <= 15 and "http://127.0.0.1:8080/" in program
    starts = [block for block in blocks(title, "") if block.startswith("tempera serve ")]
    server = started(title, tmp_path) if starts else adder
    if starts:
        request.addfinalizer(server.stop)
    python = TREE / "build/venv-clients/bin/python" if GROUPS[INSTALLED[title]] == "clients" else sys.executable
    said = ran([python, "-c", program.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")], tmp_path)
    assert said == (blocks(title, "")[len(starts):] or blocks("The server", "")[1:])[0]


def sums(count):
    return [json.loads(line) for line in (pathlib.Path(MODEL) / "held_out.jsonl").read_text().splitlines()[:count]]


def harness(server, folder, changes=()):
    """The page's commands, in the folder of its server, with their words changed."""
    (commands,) = blocks("lm-evaluation-harness", "")
    for old, new in (("127.0.0.1:8080", f"127.0.0.1:{server.port}"), ("--output_path out", f"--output_path {folder} --log_samples"),
                     ("lm_eval run", f"{shlex.quote(sys.executable)} -m lm_eval run"), *changes):
        assert old in commands
        commands = commands.replace(old, new)
    ran(["bash", "-ec", commands], server.folder)
    found = json.loads(next(folder.rglob("results_*.json")).read_text())
    found["samples"] = [json.loads(line) for line in next(folder.rglob("samples_*.jsonl")).read_text().splitlines()]
    return found


def command(*arguments):
    done = subprocess.run([TEMPERA, *arguments, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_a_task_that_generates(tmp_path, adder):
    # The harness sends seed 1234 with every request.
    found = harness(adder, tmp_path)
    right = 0
    for sample, record in zip(found["samples"], sums(8), strict=True):
        own = command("sample", record["prompt"], "--model", MODEL, "--powers", "1,1.6,2.5,4", "--block", "4", "--rounds", "3",
                      "--horizon", "28", "--seed", "1234")["answers"][0]["answer"]
        assert sample["resps"][0][0] == own
        right += own.rpartition("=")[2] == record["answer"]
    assert found["results"]["worked_sums"]["exact_match,last"] == right / 8


def test_a_task_that_scores(tmp_path, adder):
    records = []
    for record in sums(3):
        choices = [f"={record['answer']}", "<" + record["prompt"][0] + record["prompt"][2], "=99"]
        scores = [command("score", "--model", MODEL, "--text", record["prompt"] + choice)["log_p"] for choice in choices]
        likelihoods = [math.fsum(score[len(record["prompt"]) - 1:]) for score in scores]
        records.append({"prompt": record["prompt"], "choices": choices, "answer": likelihoods.index(max(likelihoods)),
                        "wanted": likelihoods})
    data = tmp_path / "signs.jsonl"
    data.write_text("".join(json.dumps({key: record[key] for key in ("prompt", "choices", "answer")}) + "\n" for record in records))
    found = harness(adder, tmp_path, [
        ("s|SUMS|adder/held_out.jsonl|", f"s|SIGNS|{data}|"), ("sums.yaml > adder/worked_sums.yaml", "digits.yaml > adder/next_signs.yaml"),
        ("--tasks worked_sums", "--tasks next_signs"), ("model=adder,", "model=adder:standard,")])
    assert found["results"]["next_signs"]["acc,none"] == 1.0
    for sample, record in zip(found["samples"], records, strict=True):
        for response, wanted in zip(sample["resps"], record["wanted"], strict=True):
            assert float(response[0][0]) == pytest.approx(wanted, abs=1e-9)  # sums of the same numbers in other orders
