"""The access log (a line for each request, which makes no client wait) and the histograms of /metrics, by Prometheus' own parser."""
import datetime
import json
import resource
import signal
import subprocess

import pytest

from conftest import MODEL, PATIENCE, TEMPERA, Server, wait_until

SECRET = "4+7+9?"
BODY = {"prompt": SECRET, "max_tokens": 12, "seed": 1, "tempera": {"powers": [1, 2, 4], "block": 4, "rounds": 2}}
FIELDS = ["time", "request", "client", "method", "path", "status", "left", "answer", "prompt_tokens", "answer_tokens", "decode_tokens",
          "first_token_ms", "ms"]


def lines_of(file, count):
    """The lines of a log that has come to so many, parsed."""
    wait_until(lambda: file.exists() and file.read_text().count("\n") >= count)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == count and all(list(line) == FIELDS for line in lines)
    return lines


@pytest.fixture
def logged(tmp_path):
    (tmp_path / "keys").write_text("ada key-of-ada\nbob key-of-bob\n")
    running = Server("--api-key-file", str(tmp_path / "keys"), "--access-log", str(tmp_path / "log"))
    yield running, tmp_path / "log"
    running.stop()


def test_each_request_has_a_line(logged):
    server, file = logged
    ada = {"Authorization": "Bearer key-of-ada"}
    before = datetime.datetime.now(datetime.timezone.utc)
    connection = server.connection()
    connection.request("POST", "/v1/completions?token=hidden", json.dumps(BODY), ada)
    answer = connection.getresponse()
    whole, request = json.loads(answer.read()), answer.headers["X-Request-Id"]
    connection.close()
    connection = server.connection()
    connection.request("POST", "/v1/completions", json.dumps({**BODY, "stream": True, "tempera": {}}), {"Authorization": "Bearer key-of-bob"})
    text = connection.getresponse().read().decode()
    connection.close()
    events = [json.loads(block[6:]) for block in text.split("\n\n") if block.startswith("data: {")]
    assert server.ask("/v1/completions", BODY, headers={"Authorization": "Bearer key-of-eve"})[0] == 401
    assert server.ask("/v1/completions", {**BODY, "temperature": -1}, headers=ada)[0] == 400
    assert server.ask("/health")[0] == 200
    assert server.ask("/" + "a" * 1000, headers=ada)[0] == 404
    connection = server.connection()
    connection.request("POST", "/v1/completions", b"", {**ada, "Content-Length": "99999999"})
    assert connection.getresponse().status == 413
    connection.close()

    lines = lines_of(file, 7)
    after = datetime.datetime.now(datetime.timezone.utc)
    first, stream, stranger, wrong, health, nowhere, large = lines
    assert first["request"] == request and len({line["request"] for line in lines}) == 7
    times = [datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")) for line in lines]
    # Times are cut to milliseconds.
    assert times == sorted(times) and before - datetime.timedelta(milliseconds=1) <= times[0] and times[-1] <= after
    assert [line["client"] for line in lines] == ["ada", "bob", None, "ada", None, "ada", "ada"]
    assert [line["status"] for line in lines] == [200, 200, 401, 400, 200, 404, 413]
    assert [line["method"] for line in lines] == ["POST", "POST", "POST", "POST", "GET", "GET", "POST"]
    assert [line["path"] for line in lines] == ["/v1/completions"] * 4 + ["/health", "/" + "a" * 255, "/v1/completions"]
    assert not any(line["left"] for line in lines)
    for line, said in ((first, whole), (stream, events[-1])):
        assert line["answer"] == said["id"] and line["decode_tokens"] == said["tempera"]["decode_tokens"]
        assert 0 < line["first_token_ms"] <= line["ms"]
    assert first["prompt_tokens"] == stream["prompt_tokens"] == whole["usage"]["prompt_tokens"]
    assert first["answer_tokens"] == whole["usage"]["completion_tokens"]
    # A stream of a tokenwise sampler has its first text before its end.
    assert first["first_token_ms"] == first["ms"] and stream["first_token_ms"] < stream["ms"]
    for line in (stranger, wrong, health, nowhere, large):
        assert line["answer"] is line["prompt_tokens"] is line["first_token_ms"] is None
    for hidden in (SECRET, "hidden", "key-of", whole["choices"][0]["text"]):
        assert hidden not in file.read_text()


def test_prompts_are_in_the_log_on_request_alone(tmp_path):
    running = Server("--access-log", str(tmp_path / "log"), "--access-log-prompts")
    try:
        assert running.ask("/v1/completions", BODY)[0] == 200
        assert running.ask("/v1/completions", {**BODY, "prompt": [SECRET, "1+2?"]})[0] == 200
        assert running.ask("/v1/completions", {**BODY, "temperature": -1})[0] == 400
        wait_until(lambda: (tmp_path / "log").read_text().count("\n") == 3)
        lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
        assert [line.get("prompts") for line in lines] == [[SECRET], [SECRET, "1+2?"], None]
        assert all(list(line)[:len(FIELDS)] == FIELDS for line in lines)
    finally:
        running.stop()
    done = subprocess.run([TEMPERA, "serve", "--model", MODEL, "--port", "0", "--access-log-prompts"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and "--access-log-prompts" in done.stderr and "--access-log FILE" in done.stderr and done.stderr.count("\n") == 1


def test_a_batch_that_has_ended_has_a_line(tmp_path):
    running = Server("--access-log", str(tmp_path / "log"), "--batch-folder", str(tmp_path / "kept"))
    try:
        lines = [{"custom_id": str(number), "method": "POST", "url": "/v1/completions", "body": body}
                 for number, body in enumerate([BODY, BODY, {**BODY, "temperature": -1}])]
        text = "\r\n".join(["--b", 'Content-Disposition: form-data; name="purpose"', "", "batch", "--b",
                            'Content-Disposition: form-data; name="file"; filename="in.jsonl"', "", "\n".join(map(json.dumps, lines)), "--b--", ""])
        file = running.ask("/v1/files", text, headers={"Content-Type": "multipart/form-data; boundary=b"})[1]
        batch = running.ask("/v1/batches", {"input_file_id": file["id"], "endpoint": "/v1/completions", "completion_window": "24h"})[1]
        wait_until(lambda: '"batch":' in (tmp_path / "log").read_text())
        (line,) = [line for line in map(json.loads, (tmp_path / "log").read_text().splitlines()) if "batch" in line]
        assert line.pop("time") and line.pop("seconds") >= 0
        assert line == {"batch": batch["id"], "endpoint": "/v1/completions", "status": "completed", "lines": 3, "completed": 2, "failed": 1}
        assert SECRET not in (tmp_path / "log").read_text()
    finally:
        running.stop()


def test_a_client_that_leaves_has_a_line(logged):
    server, file = logged
    connection = server.connection()
    connection.request("POST", "/v1/completions", json.dumps({**BODY, "tempera": {"powers": [1, 2, 4], "block": 1, "rounds": 20000}}),
                       {"Authorization": "Bearer key-of-ada"})
    metrics = {"Authorization": "Bearer key-of-bob"}
    # A token is drawn after the log has been told of the prompt's.
    wait_until(lambda: "tempera_decode_tokens_total 0\n" not in server.ask("/metrics", headers=metrics)[1])
    connection.close()
    def left():
        return [line for line in map(json.loads, file.read_text().splitlines()) if line["left"]]
    wait_until(left)
    (line,) = left()
    assert line["client"] == "ada" and line["status"] is None and line["prompt_tokens"] > 0 and line["answer_tokens"] == 0


def test_the_log_is_opened_again_at_sighup(logged):
    server, file = logged
    for number in range(3):
        server.ask("/health")
        lines_of(file, 1)
        file.rename(f"{file}.{number}")
        server.process.send_signal(signal.SIGHUP)
        wait_until(file.exists)
    assert server.ask("/health")[0] == 200


def test_a_full_disk_holds_up_nobody(tmp_path):
    limits = {resource.RLIMIT_FSIZE: (1000, resource.RLIM_INFINITY)}  # EFBIG stands for ENOSPC
    running = Server("--access-log", str(tmp_path / "log"), limits=limits)
    try:
        alone = running.ask("/v1/completions", BODY)[1]
        for _ in range(30):
            assert running.ask("/v1/completions", BODY)[1]["choices"] == alone["choices"]
        wait_until(lambda: (tmp_path / "log").stat().st_size == 1000)
        assert running.ask("/health")[0] == 200
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        # No line is lost, and none is written in part.
        lines = lines_of(tmp_path / "log", 32)
        assert [line["path"] for line in lines] == ["/v1/completions"] * 31 + ["/health"]
        assert "tempera_access_log_lines_lost_total 0\n" in running.ask("/metrics")[1]
        running.process.terminate()
        assert running.process.wait(timeout=PATIENCE) == 0
        said = running.process.stderr.read()
        assert said.count("requests are answered") == 1 and str(tmp_path / "log") in said
    finally:
        running.stop()


def test_stdout_that_nobody_reads_holds_up_nobody():
    process = subprocess.Popen([TEMPERA, "serve", "--model", MODEL, "--port", "0", "--access-log", "-"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    running = object.__new__(Server)
    running.process, running.port = process, int(process.stderr.readline().split("127.0.0.1:")[1].split()[0])
    connection = running.connection()
    for _ in range(1000):  # some 250 KiB, and a pipe holds 64
        connection.request("GET", "/health")
        assert connection.getresponse().read()
    connection.close()
    assert json.loads(process.stdout.readline())["path"] == "/health"
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 0
    process.stdout.close()
    process.stderr.close()


def test_a_log_that_cannot_be_opened_is_refused_by_one_line(tmp_path):
    for name in (tmp_path, tmp_path / "no" / "log"):
        done = subprocess.run([TEMPERA, "serve", "--model", MODEL, "--port", "0", "--access-log", str(name)], capture_output=True, text=True,
                              timeout=PATIENCE)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and str(name) in done.stderr, done.stderr


def test_histograms_count_what_was_answered():
    parser = pytest.importorskip("prometheus_client.parser", reason="prometheus_client is not installed")
    running = Server()

    def histogram(name):
        families = {family.name: family for family in parser.text_string_to_metric_families(running.ask("/metrics")[1])}
        family = families["tempera_" + name]
        assert family.type == "histogram" and family.documentation
        buckets = {sample.labels["le"]: sample.value for sample in family.samples if sample.name.endswith("_bucket")}
        (count,) = [sample.value for sample in family.samples if sample.name.endswith("_count")]
        (total,) = [sample.value for sample in family.samples if sample.name.endswith("_sum")]
        bounds = [float(bound) for bound in buckets]
        assert bounds == sorted(bounds) and list(buckets)[-1] == "+Inf"
        counts = list(buckets.values())
        assert counts == sorted(counts) and counts[-1] == count
        # Each time is between the bounds of its bucket, so their sum is too.
        each = [here - below for here, below in zip(counts, [0, *counts])]
        assert sum(n * low for n, low in zip(each, [0, *bounds]) if n) <= total <= sum(n * high for n, high in zip(each, bounds) if n)
        return count, total

    try:
        assert histogram("request_seconds") == histogram("first_token_seconds") == (0, 0)
        for stream in (False, True, True, False, False):
            connection = running.connection()
            connection.request("POST", "/v1/completions", json.dumps({**BODY, "stream": stream}))
            connection.getresponse().read()
            connection.close()
        assert running.ask("/v1/completions", {**BODY, "temperature": -1})[0] == 400
        assert running.ask("/v1/models")[0] == 200
        wait_until(lambda: histogram("request_seconds")[0] == 5)
        count, first = histogram("first_token_seconds")
        assert count == 2 and 0 < first <= histogram("request_seconds")[1]
    finally:
        running.stop()
