"""A batch whose lines several servers draw, each a shard: the bytes of one server, whatever happens on the way."""
import json
import pathlib
import shutil
import signal
import subprocess

import pytest

from conftest import MODEL, PATIENCE, TEMPERA, Server, wait_until
from test_batches import LONG, content, line, start, wait

LINES = LONG + [line(50, n=3), line(51, top_p=1.5)]


def server_of(folder, shard, *options):
    return Server("--batch-folder", str(folder), "--grace", "0", "--shard", shard, *options)


def single_run(folder, other, batch):
    """The output files of one server that draws the same batch alone, in another folder."""
    (other / "batches" / batch["id"]).mkdir(parents=True)
    config = json.loads((folder / "batches" / batch["id"] / "config.json").read_text())
    del config["shards"]
    (other / "batches" / batch["id"] / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    (other / "files").mkdir()
    for suffix in ("json", "jsonl"):
        name = f"{batch['input_file_id']}.{suffix}"
        shutil.copy(folder / "files" / name, other / "files" / name)
    alone = Server("--batch-folder", str(other))
    done = wait(alone, batch)
    files = [content(alone, done[key]) for key in ("output_file_id", "error_file_id")]
    alone.stop()
    return files


def wait_until_told(server, batch):
    """The batch once the server has said an error, or drawn a line in spite of it."""
    def told():
        said = server.ask("/v1/batches/" + batch["id"])[1]
        return said if said["errors"] or said["request_counts"]["completed"] else None

    return wait_until(told)


def told_or_over(server, batch):
    """The batch if the server has said an error, or ended it in spite of what should be one."""
    said = server.ask("/v1/batches/" + batch["id"])[1]
    return said if said["errors"] or said["status"] != "in_progress" else None


def kill(running):
    running.process.send_signal(signal.SIGKILL)
    running.process.wait(timeout=PATIENCE)
    running.process.stderr.close()


def test_three_servers_leave_the_bytes_of_one(tmp_path):
    folder = tmp_path / "shared"
    first = server_of(folder, "1/3")
    batch = start(first, LINES)
    batch_folder = folder / "batches" / batch["id"]
    kill(first)  # in the middle, before the others have come

    # Another number of shards is refused, and nothing is lost by it.
    other_number = server_of(folder, "1/2")
    refused = wait_until_told(other_number, batch)
    assert refused["request_counts"]["completed"] == 0
    said = refused["errors"]["data"][0]["message"]
    assert "was dealt to 3 shards, and not to 2" in said and "--shard I/3" in said
    other_number.stop()

    first = server_of(folder, "1/3")
    second = server_of(folder, "2/3")
    # One shard, one server, on whatever machine.
    twice = subprocess.run(
        [TEMPERA, "serve", "--model", MODEL, "--port", "0", "--batch-folder", str(folder), "--shard", "2/3"],
        capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert twice.returncode == 2 and "shard-2-of-3: is being drawn by process" in twice.stderr
    status, answer = second.ask("/v1/batches")
    assert status == 404 and "shard 1" in answer["error"]["message"]
    wait_until(lambda: any((batch_folder / "shard-2-of-3").glob("*")))
    kill(second)
    assert first.ask("/v1/batches/" + batch["id"])[1]["status"] == "in_progress"
    second, third = server_of(folder, "2/3"), server_of(folder, "3/3")
    done = wait(first, batch)
    assert done["status"] == "completed"
    assert done["request_counts"] == {"total": len(LINES), "completed": len(LINES) - 1, "failed": 1}
    files = [content(first, done[key]) for key in ("output_file_id", "error_file_id")]
    # Each server of the three has drawn some of it.
    own = [len((batch_folder / f"shard-{n}-of-3" / "samples.jsonl").read_text().splitlines()) for n in (2, 3)]
    assert all(0 < count < len(LINES) / 2 for count in own)
    for running in (first, second, third):
        running.stop()
    assert single_run(folder, tmp_path / "alone", batch) == files


def test_a_shard_of_another_model_is_not_taken(tmp_path):
    folder = tmp_path / "shared"
    first = server_of(folder, "1/2")
    stranger = server_of(folder, "2/2", "--model-name", "another")
    batch = start(first, LINES)
    said = wait_until(lambda: told_or_over(first, batch))
    assert said["status"] == "in_progress"
    assert "is of another batch, model or version" in said["errors"]["data"][0]["message"]
    stranger.stop()
    shutil.rmtree(folder / "batches" / batch["id"] / "shard-2-of-2")
    second = server_of(folder, "2/2")
    assert wait(first, batch)["status"] == "completed"
    first.stop()
    second.stop()


def test_clients_see_what_other_shards_have_answered(tmp_path):
    folder = tmp_path / "shared"
    first = server_of(folder, "1/2")
    batch = start(first, LINES)

    def counts():
        return first.ask("/v1/batches/" + batch["id"])[1]["request_counts"]

    # Its own lines are half as many as LONG has. The others wait for their server.
    wait_until(lambda: counts()["completed"] == len(LONG) // 2)
    own = counts()
    assert own["failed"] == 0
    assert own["completed"] + own["failed"] < len(LINES)
    # What a server that is still drawing has written: a whole line of either kind, and a part of one.
    other = folder / "batches" / batch["id"] / "shard-2-of-2"
    other.mkdir()
    answers = [{"response": {"status_code": code, "body": {}}} for code in (200, 400, 200)]
    text = "".join(json.dumps(answer) + "\n" for answer in answers)
    (other / "samples.jsonl").write_text(text[:-5])
    wait_until(lambda: counts()["completed"] > own["completed"])
    total = len(LINES)
    assert counts() == {"total": total, "completed": own["completed"] + 1, "failed": own["failed"] + 1}
    (other / "samples.jsonl").write_text(text)
    wait_until(lambda: counts()["completed"] > own["completed"] + 1)
    assert counts() == {"total": total, "completed": own["completed"] + 2, "failed": own["failed"] + 1}
    # It was killed, and goes on from an earlier line.
    (other / "samples.jsonl").write_text(text[:text.index("\n") + 1])
    wait_until(lambda: counts()["completed"] < own["completed"] + 2)
    assert counts() == {"total": total, "completed": own["completed"] + 1, "failed": own["failed"]}
    shutil.rmtree(other)
    second = server_of(folder, "2/2")
    done = wait(first, batch)
    assert done["request_counts"] == {"total": len(LINES), "completed": len(LINES) - 1, "failed": 1}
    first.stop()
    second.stop()


def test_a_cancelled_batch_ends_for_all(tmp_path):
    folder = tmp_path / "shared"
    first, second = server_of(folder, "1/2"), server_of(folder, "2/2")
    long = [line(i, seed=i, tempera={"powers": [1, 2], "block": 1, "rounds": 300}) for i in range(200)]
    batch = start(first, long)
    wait_until(lambda: any((folder / "batches" / batch["id"] / "shard-2-of-2").glob("*")))
    first.ask(f"/v1/batches/{batch['id']}/cancel", {})
    assert wait(first, batch)["status"] == "cancelled"
    second.wait_until_idle()
    # The next batch is drawn by both.
    assert wait(first, start(first, LINES))["status"] == "completed"
    first.stop()
    second.stop()


@pytest.mark.parametrize("options, words", [
    (["--shard", "1/2"], "give --batch-folder"),
    (["--shard", "3/2", "--batch-folder", "x"], "give I/N"),
])
def test_wrong_shards_are_one_line(tmp_path, options, words):
    done = subprocess.run([TEMPERA, "serve", "--model", MODEL, "--port", "0", *options],
                          capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=tmp_path)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
    assert not list(pathlib.Path(tmp_path).iterdir())
