"""tempera.ray on a real Ray cluster of three nodes, one of which is killed in the middle."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import tempera.ray
from tempera.errors import BadInput

ray = pytest.importorskip("ray", reason="Ray is not installed")
ROOT = Path(__file__).parents[2]
TEMPERA = os.environ.get("TEMPERA", str(ROOT / "build/release/tempera"))
MANY = [{"id": f"sum {n}", "prompt": "+".join(str(n * k % 10) for k in range(1, 3 + n % 3)) + "?"} for n in range(100)]
PROMPTS = MANY[:12]
FLAGS = ["--model", str(ROOT / "toy_models/worked_sum"), "--powers", "1,1.6,2.5,4", "--horizon", "28", "--block", "4",
         "--rounds", "10", "--samples", "2", "--seed", "5", "--threads", "1"]  # fmt: skip
ROOM = {"object_store_memory": 80 * 1024 * 1024}


def samples_of_one_process(folder: Path, prompts: list[dict[str, str]], flags: list[str]) -> str:
    """samples.jsonl of one process."""
    (folder / "questions.jsonl").write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    subprocess.run(
        [TEMPERA, "sample", "--prompts", str(folder / "questions.jsonl"), "--out", str(folder / "run"), "--shard", "none", *flags],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return (folder / "run/samples.jsonl").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> str:
    return samples_of_one_process(tmp_path_factory.mktemp("single"), PROMPTS, FLAGS)


@pytest.fixture(scope="module")
def cluster():  # type: ignore[no-untyped-def]
    """A head with room for one actor, and nodes with room for two each: two of them, or more after a test that adds one."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as environment:
        # Workers find the package, and the command, as this process does.
        environment.setenv("PYTHONPATH", str(ROOT / "python"))
        environment.setenv("TEMPERA", TEMPERA)
        environment.setenv("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **ROOM})
        for _ in range(2):
            made.add_node(num_cpus=2, **ROOM)
        made.wait_for_nodes()
        ray.init(address=made.address, log_to_driver=False)
        yield made
        ray.shutdown()
        made.shutdown()


def test_a_killed_node_changes_no_byte(cluster, single: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    seen = threading.Event()

    def kill_one() -> None:
        seen.wait(600)
        cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)

    before = sum(node["Alive"] for node in ray.nodes())
    killer = threading.Thread(target=kill_one)
    killer.start()
    rows = []
    for row in tempera.ray.iterate(PROMPTS, FLAGS, block=1, devices=4, command=TEMPERA):
        rows.append(row)
        seen.set()
    killer.join()
    deadline = time.monotonic() + 600
    while sum(node["Alive"] for node in ray.nodes()) == before and time.monotonic() < deadline:
        time.sleep(0.5)
    assert sum(node["Alive"] for node in ray.nodes()) == before - 1
    rows.sort(key=lambda row: (row["place"], row["sample"]))
    assert "".join(row["line"] + "\n" for row in rows) == single

    # What is left of the cluster draws the same, in blocks of another size, in the order of the file.
    out = tmp_path / "answers.jsonl"
    tempera.ray.sample(PROMPTS, FLAGS, out=out, block=5, command=TEMPERA)
    assert out.read_text(encoding="utf-8") == single


def test_answers_and_prompts_may_hold_any_letter(cluster, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    # Python would cut a line of JSON in two at these letters. A model of sums refuses them, so the command is another program,
    # which gives each prompt back.
    odd = [{"id": f"odd {n}", "prompt": f"a\u2028b\u2029c\u0085d\u000b{n}"} for n in range(5)]
    odd.append({"id": "talk", "messages": [{"role": "user", "content": "and\u2028so on"}]})
    command = tmp_path / "tempera"
    command.write_text("""#!/usr/bin/env python3
import os, pathlib, signal, sys
given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
once = pathlib.Path(__file__).with_name("killed")
if not once.exists():
    once.touch()
    os.kill(os.getpid(), signal.SIGKILL)
out = pathlib.Path(given["--out"])
out.mkdir()
(out / "samples.jsonl").write_bytes(pathlib.Path(given["--prompts"]).read_bytes())
""")
    command.chmod(0o755)
    file = tmp_path / "odd.jsonl"
    file.write_text("".join(json.dumps(prompt, ensure_ascii=False) + "\n" for prompt in odd), encoding="utf-8")
    # The first process is killed, and its block is drawn by another.
    lines = tempera.ray.sample(file, ["--model", "any"], out=tmp_path / "out", block=2, command=str(command))
    assert [json.loads(line) for line in lines] == odd
    assert (tmp_path / "out").read_bytes() == file.read_bytes()
    assert (tmp_path / "killed").exists()


def test_a_command_that_is_always_killed_ends_the_run(cluster, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    command = tmp_path / "tempera"
    command.write_text(f"""#!/bin/sh
echo turn >>"{tmp_path}/turns"
kill -9 $$
""")
    command.chmod(0o755)
    with pytest.raises(Exception, match="was ended by signal 9"):
        tempera.ray.sample(PROMPTS[:1], ["--model", "any"], command=str(command))
    assert (tmp_path / "turns").read_text().count("turn") >= 3


def test_a_node_that_comes_later_draws_too(cluster, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    # On each node the command first says whose process it is. Ray looks for new nodes every ten seconds, so that blocks
    # take some time until a node that came later has drawn one.
    log = tmp_path / "nodes"
    log.touch()
    command = tmp_path / "tempera"
    command.write_text(f"""#!/bin/sh
echo "$RAY_RAYLET_PID" >>"{log}"
grep -qxFf "{tmp_path}/later" "{log}" 2>/dev/null || sleep 2
exec "{TEMPERA}" "$@"
""")
    command.chmod(0o755)

    def process_of(node) -> str:  # type: ignore[no-untyped-def]
        return str(node.all_processes["raylet"][0].process.pid)

    first = {process_of(node) for node in cluster.list_all_nodes()}
    later = ""
    rows = []
    for row in tempera.ray.iterate(MANY, FLAGS, block=1, command=str(command)):
        rows.append(row)
        if not later:
            assert set(log.read_text().split()) <= first
            later = process_of(cluster.add_node(num_cpus=2, **ROOM))
            (tmp_path / "later").write_text(later + "\n")
    assert later in log.read_text().split()
    rows.sort(key=lambda row: (row["place"], row["sample"]))
    assert "".join(row["line"] + "\n" for row in rows) == samples_of_one_process(tmp_path, MANY, FLAGS)


def test_the_command_of_the_page(cluster, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    page = (ROOT / "docs/howto/machines.md").read_text(encoding="utf-8")
    (block,) = (block for block in re.findall(r"```\n(.*?)```\n", page, re.S) if "import ray" in block)
    install, command = block.split("\n", 1)
    assert install == "pip install 'ray[data]'"
    model = str(ROOT / "toy_models/worked_sum")
    alone = samples_of_one_process(tmp_path, PROMPTS[:3], ["--model", model, "--samples", "4"])
    # But for its GPU.
    command = command.replace("FOLDER", model).replace(", gpus=1", "")
    environment = {**os.environ, "RAY_ADDRESS": cluster.address, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "answers.jsonl").read_text(encoding="utf-8") == alone


def test_what_the_command_refuses_is_one_line(cluster) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadInput) as refused:
        tempera.ray.sample(PROMPTS, ["--model", "/no/such/model"], command=TEMPERA)
    assert str(refused.value).startswith("/no/such/model: does not exist; give a folder")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("prompts", "flags", "said"),
    [
        ([], FLAGS, "holds no prompt"),
        ([{"id": "a", "prompt": "x"}] * 2, FLAGS, 'the id "a" is there twice'),
        ([{"id": "a", "text": "x"}], FLAGS, "is not an id and a prompt"),
        ([{"id": "a", "prompt": "x", "messages": []}], FLAGS, "is not an id and a prompt"),
        ([{"id": "a", "messages": "x"}], FLAGS, "is not an id and a prompt"),
        ([{"id": 1, "prompt": "x"}], FLAGS, "is not an id and a prompt"),
        (PROMPTS, ["--seed", "1"], "--model: is missing"),
        (PROMPTS, [*FLAGS, "--out", "x"], "--out: is not for blocks"),
        ("/no/such/file", FLAGS, "cannot be read"),
    ],
)
def test_wrong_input_is_one_line(prompts, flags, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadInput) as refused:
        list(tempera.ray.iterate(prompts, flags))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
