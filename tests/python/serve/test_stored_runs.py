"""`tempera serve --runs FOLDER`: the run folders there are listed and shown, and nothing else of the disk is."""
import json
import os
import pathlib
import shutil
import subprocess
import urllib.parse

import pytest

from conftest import MODEL, PATIENCE, TEMPERA, Server

ODD = "a run, 100%"


def draw(folder, *options):
    subprocess.run([TEMPERA, "sample", "--model", MODEL, "--horizon", "28", "--block", "4", *options, "--out", str(folder)],
                   check=True, capture_output=True, timeout=PATIENCE)


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    kept = tmp_path_factory.mktemp("kept")
    (kept / "prompts.jsonl").write_text("".join(json.dumps({"id": name, "prompt": prompt}) + "\n" for name, prompt in [("q/1", "4+7?"), ("q 2", "4+7+9?")]))
    runs = kept / "runs"
    runs.mkdir()
    draw(runs / ODD, "--prompts", str(kept / "prompts.jsonl"), "--powers", "1,2,4", "--rounds", "3", "--samples", "2")
    draw(runs / "single", "4+7?", "--powers", "2")
    draw(runs / "particles", "4+7?", "--sampler", "power-smc")
    # A run that a kill has left: no answer of the last sample, and half a line.
    shutil.copytree(runs / "single", runs / "killed")
    (runs / "killed/summary.json").unlink()
    events = (runs / "killed/events.jsonl").read_text()
    (runs / "killed/events.jsonl").write_text(events[:len(events) // 2])
    (runs / "killed/samples.jsonl").write_text("")
    # No run folders: a file, a folder of something else, and links to run folders and to their files.
    (runs / "file").write_text("{}")
    (runs / "other").mkdir()
    draw(kept / "outside", "4+7?", "--powers", "2")
    (runs / "link").symlink_to(kept / "outside")
    shutil.copytree(runs / "single", runs / "linked-config")
    (runs / "linked-config/config.json").unlink()
    (runs / "linked-config/config.json").symlink_to(kept / "outside/config.json")
    shutil.copytree(runs / "single", runs / "damaged")
    (runs / "damaged/events.jsonl").write_text("{}\n")
    return runs


@pytest.fixture(scope="module")
def showing(folder):
    running = Server("--runs", str(folder))
    yield running
    running.stop()


def test_the_run_folders_are_listed(showing, folder):
    status, found = showing.ask("/runs")
    assert status == 200 and found["has_more"] is False
    assert [(run["id"], run["finished"]) for run in found["data"]] == [
        (ODD, True), ("damaged", True), ("killed", False), ("particles", True), ("single", True)]
    assert found["data"][0]["created"] == int((folder / ODD / "config.json").stat().st_mtime)


def test_a_run_says_what_it_is_of(showing):
    status, found = showing.ask("/runs/" + urllib.parse.quote(ODD))
    assert status == 200 and found["prompts"] == ["q/1", "q 2"] and found["prompt_count"] == 2
    assert {key: found[key] for key in ("id", "model", "sampler", "powers", "horizon", "block", "samples", "seed", "finished")} == {
        "id": ODD, "model": "worked_sum", "sampler": "ppt", "powers": [1, 2, 4], "horizon": 28, "block": 4, "samples": 2, "seed": 0, "finished": True}
    assert showing.ask("/runs/single")[1]["prompts"] == [None]


def test_an_answer_is_that_of_the_folder(showing, folder):
    for prompt, name in enumerate(["q/1", "q 2"]):
        for sample in (0, 1):
            status, found = showing.ask(f"/runs/{urllib.parse.quote(ODD)}/{prompt}/{sample}")
            assert status == 200 and (found["prompt"], found["sample"]) == (name, sample)
            own = [line for line in lines(folder / ODD / "samples.jsonl") if (line["id"], line["sample"]) == (name, sample)]
            assert [(found["text"], found["log_p0"])] == [(line["answer"], line["log_p0"]) for line in own]
            events = [line for line in lines(folder / ODD / "events.jsonl") if (line["id"], line["sample"]) == (name, sample)]
            expected, tokens, moves, swaps = [], 0, [[0, 0] for _ in range(3)], [[0, 0] for _ in range(2)]
            for event in events:
                tokens += event.get("tokens", 0)
                if event["kind"] == "local_move" and event["proposed"]:
                    moves[event["rung"] - 1][0] += 1
                    moves[event["rung"] - 1][1] += event["accepted"]
                if event["kind"] == "swap":
                    swaps[event["rung"] - 1][0] += 1
                    swaps[event["rung"] - 1][1] += event["accepted"]
                if event["kind"] == "round":
                    counts = {kind: [{"proposed": n, "accepted": a} for n, a in list_] for kind, list_ in (("local_moves", moves), ("swaps", swaps))}
                    expected.append({"stage": event["stage"], "round": event["round"], "decode_tokens": tokens, "replicas": event["replicas"],
                                     "tokens": event["lengths"], "log_p0": event["log_p0"], **counts})
            assert found["rounds"] == expected and found["round_count"] == len(expected) == 7 * 4


def test_a_run_that_goes_on_is_shown_as_far_as_it_is(showing, folder):
    whole, half = (showing.ask(f"/runs/{name}/0/0")[1] for name in ("single", "killed"))
    assert half["text"] is None and half["log_p0"] is None and half["finished"] is False
    assert 0 < len(half["rounds"]) < len(whole["rounds"]) and half["rounds"] == whole["rounds"][:len(half["rounds"])]


def test_nothing_is_written(showing, folder):
    def state():
        return {path: (path.lstat().st_mtime_ns, path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()}
    before = state()
    for path in ("/runs", "/runs/killed", "/runs/killed/0/0", "/runs/single/0/0"):
        assert showing.ask(path)[0] == 200
    assert state() == before


@pytest.mark.parametrize("path", [
    "/runs/", "/runs/nowhere", "/runs/file", "/runs/other", "/runs/link", "/runs/link/0/0", "/runs/linked-config", "/runs/linked-config/0/0",
    "/runs/.", "/runs/..", "/runs/%2e%2e", "/runs/../outside", "/runs/..%2Foutside", "/runs/%2e%2e%2foutside/0/0", "/runs/%2Fetc", "/runs/single%00", "/runs/./single",
    "/runs/single/", "/runs/single/0", "/runs/single/0/", "/runs/single/0/0/", "/runs/single/0/0/0", "/runs/single/1/0", "/runs/single/0/1", "/runs/single/-1/0",
    "/runs/single/0/x", "/runs/single/0/18446744073709551616", "/runs/" + "a" * 300, "/runs/single/../particles/0/0"])
def test_no_other_path_leads_anywhere(showing, path):
    status, answer = showing.ask(path)
    assert status == 404 and "no such" in answer["error"]["message"], (status, answer)


@pytest.mark.parametrize("name, words", [("damaged", "is not as tempera writes it"), ("particles", "particles")])
def test_what_cannot_be_shown_is_named(showing, name, words):
    status, answer = showing.ask(f"/runs/{name}/0/0")
    assert status == 422 and words in answer["error"]["message"] and answer["error"]["message"].startswith(f"the server's runs/{name}"), answer


def test_without_a_folder_there_are_none(server):
    assert server.ask("/runs") == (200, {"object": "list", "data": [], "has_more": False})
    status, answer = server.ask("/runs/single")
    assert status == 404 and "--runs FOLDER" in answer["error"]["message"]


@pytest.mark.parametrize("name, words", [("single", ["is a run folder itself", "give the folder that holds it"]), ("file", ["is not a folder"]), ("nowhere", ["is not a folder"])])
def test_a_folder_without_runs_is_refused_at_once(folder, name, words):
    done = subprocess.run([TEMPERA, "serve", "--model", MODEL, "--port", "0", "--runs", str(folder / name)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and all(word in done.stderr for word in words), done


def test_too_much_is_refused_and_many_rounds_are_thinned(tmp_path):
    runs = tmp_path / "runs"
    runs.mkdir()
    draw(runs / "long", "4+7?", "--powers", "2")
    events = runs / "long/events.jsonl"
    original = lines(events)
    rounds = [line for line in original if line["kind"] == "round"]
    # 2^17 + 3 rounds of one rung, twice as many as are shown and some.
    count = 2 ** 17 + 3
    with events.open("w") as file:
        for number in range(count):
            file.write(json.dumps({**rounds[-1], "round": number}, separators=(",", ":")) + "\n")
    with (runs / "long/config.json").open() as file:
        config = json.load(file)
    shutil.copytree(runs / "long", runs / "wide")
    (runs / "wide/config.json").write_text(json.dumps(config) + " " * (64 << 20))
    shutil.copytree(runs / "long", runs / "deep")
    with (runs / "deep/events.jsonl").open("a") as file:
        line = json.dumps({**rounds[-1], "round": 1, "pad": "x" * (1 << 20)}, separators=(",", ":")) + "\n"
        for _ in range(64):
            file.write(line)
    shutil.copytree(runs / "long", runs / "line")
    (runs / "line/events.jsonl").write_text('{"sample":1,"pad":"' + "x" * (65 << 20) + '"}\n')
    shutil.copytree(runs / "long", runs / "far")
    (runs / "far/events.jsonl").unlink()
    with (runs / "far/events.jsonl").open("wb") as file:  # a hole
        file.seek(2 ** 30)
        file.write(b"\n")
    running = Server("--runs", os.path.relpath(runs))
    try:
        status, found = running.ask("/runs/long/0/0")
        assert status == 200 and found["round_count"] == count
        shown = [each["round"] for each in found["rounds"]]
        assert shown == [*range(0, count - 1, 4), count - 1] and len(shown) <= 2 ** 16
        for name in ("wide", "deep", "line", "far"):
            status, answer = running.ask(f"/runs/{name}/0/0")
            assert status == 422 and "tempera plot" in answer["error"]["message"], (name, answer)
        assert running.ask("/health")[0] == 200
    finally:
        running.stop()
