"""Clients that misbehave, models and disks that fail. After each, the server still answers, and answers the same.

TEMPERA_FAULT_TABLE names a file for the table of what was sent and what became of it (docs/serve.md has one)."""
import collections
import copy
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import threading

import pytest

from conftest import MODEL, Server

BODY = {"prompt": "4+7+9?", "max_tokens": 28, "seed": 2, "tempera": {"powers": [1, 2, 4], "block": 4, "rounds": 2}}
LONG = {**BODY, "seed": 9, "n": 4, "tempera": {"powers": [1, 2, 4], "block": 1, "rounds": 400}}


def request(body, path="/v1/completions"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(data)}\r\n\r\n").encode() + data


def raw(server, data, read=True, timeout=10):
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as connection:
        connection.sendall(data)
        if not read:
            return b""
        received = b""
        try:
            while part := connection.recv(65536):
                received += part
        except socket.timeout:
            pass
        return received


def essence(answer):
    return {key: value for key, value in answer[1].items() if key not in ("id", "created")}


@pytest.fixture(scope="module")
def faults():
    """Counts, for each kind of fault, what became of those that were sent."""
    counts = collections.defaultdict(collections.Counter)
    yield lambda kind, outcome: counts[kind].update([outcome])
    if table := os.environ.get("TEMPERA_FAULT_TABLE"):
        rows = [f"| {kind} | {sum(found.values()):,} | {', '.join(f'{n:,} {what}' for what, n in sorted(found.items()))} |"
                for kind, found in counts.items()]
        pathlib.Path(table).write_text("| fault | sent | what became of them |\n|---|---|---|\n" + "\n".join(rows) + "\n")


@pytest.fixture
def same_before_and_after(server):
    before = essence(server.ask("/v1/completions", BODY))
    yield
    assert server.ask("/health") == (200, {"status": "ok"})
    assert essence(server.ask("/v1/completions", BODY)) == before


def test_a_client_may_leave_at_any_byte(server, same_before_and_after, faults):
    data = request(LONG)
    for end in range(len(data) + 1):
        raw(server, data[:end], read=False)
        faults("the client leaves, at every byte of its request", "forgotten")
    server.wait_until_idle()


def test_a_client_that_leaves_is_forgotten(server, same_before_and_after):
    connections = []
    for seed in range(8):
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(request({**LONG, "seed": seed}))
        connections.append(connection)
    alone = essence(server.ask("/v1/completions", BODY))  # among neighbours
    for connection in connections:
        connection.close()
    for _ in range(200):
        metrics = dict(line.rsplit(" ", 1) for line in server.ask("/metrics")[1].splitlines() if line[0] != "#")
        if metrics["tempera_choices_under_way"] == "0":
            break
        threading.Event().wait(0.05)
    assert metrics["tempera_choices_under_way"] == "0"
    assert int(metrics["tempera_requests_cancelled_total"]) >= 8
    assert essence(server.ask("/v1/completions", BODY)) == alone


def test_pipelined_and_split_requests(server, same_before_and_after, faults):
    close = request(BODY).replace(b"Host: x\r\n", b"Host: x\r\nConnection: close\r\n")
    answers = raw(server, request(BODY) + close)
    assert answers.count(b"HTTP/1.1 200") == 2
    many = request({**BODY, "max_tokens": 2}) * 49 + close
    assert raw(server, many, timeout=60).count(b"HTTP/1.1 200") == 50
    for _ in range(52):
        faults("pipelined requests", "answered, in their order")
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        for byte in close:
            connection.sendall(bytes([byte]))
        assert connection.recv(12) == b"HTTP/1.1 200"
    faults("requests in pieces", "answered")
    for at in range(1, len(close), 5):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(close[:at])
            connection.sendall(close[at:])
            assert connection.recv(12) == b"HTTP/1.1 200"
        faults("requests in pieces", "answered")


@pytest.mark.parametrize("data, status", [
    (b"garbage\r\n\r\n", b" 400"),
    (b"GET / HTTP/9.9\r\n\r\n", b" 400"),
    (b"POST /v1/completions HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b" 400"),
    (b"POST /v1/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b" 413"),
    (b"GET / HTTP/1.1\r\nX: " + b"a" * 70000 + b"\r\n\r\n", b" 431"),
    (b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n", b" 400"),
])
def test_what_is_no_request_is_refused(server, same_before_and_after, faults, data, status):
    answer = raw(server, data)
    assert status in answer.split(b"\r\n", 1)[0], answer[:200]
    faults("no HTTP at all", "answered by" + status.decode())


def test_half_bodies_and_silence(server, same_before_and_after, faults):
    connections = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(300)]
    for i, connection in enumerate(connections):
        connection.sendall(request(BODY)[:i])
    assert server.ask("/health")[0] == 200
    for i, connection in enumerate(connections):
        connection.close()
        faults("nothing, or half a request, and silence", "held, and forgotten when it left")


def test_a_stop_lets_what_runs_end():
    running = Server()
    expected = essence(running.ask("/v1/completions", BODY))
    results = []
    asked = threading.Thread(target=lambda: results.append(running.ask("/v1/completions", {**BODY, "n": 4})))
    asked.start()
    # A request that has not been read yet may be lost by a stop; this one must be under way, or over.
    while asked.is_alive() and "tempera_choices_under_way 0" in running.ask("/metrics")[1]:
        pass
    running.process.terminate()
    asked.join()
    assert running.process.wait(timeout=60) == 128 + signal.SIGTERM
    running.process.stderr.close()
    if results[0][0] == 200:
        assert results[0][1]["choices"][0]["text"] == expected["choices"][0]["text"]
    else:
        assert results[0][0] == 503


@pytest.fixture
def server_of_nan(tmp_path):
    """A server of the model with finite weights so large that its logits are NaN: those that are NaN themselves are refused."""
    folder = tmp_path / "not_a_number"
    shutil.copytree(MODEL, folder)
    weights = folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    size = struct.unpack("<Q", data[:8])[0]
    begin, end = json.loads(data[8:8 + size])["model.norm.weight"]["data_offsets"]
    data[8 + size + begin:8 + size + end] = struct.pack("<f", 3e38) * ((end - begin) // 4)
    weights.write_bytes(data)
    running = Server("--batch-folder", str(tmp_path / "kept"), model=str(folder))
    yield running
    running.stop()


@pytest.mark.parametrize("fields", [
    {},  # drawn
    {"tempera": {"powers": [1, 2], "block": 4}},
    {"max_tokens": 0, "echo": True, "logprobs": 1},  # scored only
    {"logprobs": 2, "echo": True, "stream": True},
    {"n": 3},
])
def test_a_model_that_gives_no_numbers_ends_nothing(server_of_nan, faults, fields):
    body = {"prompt": "4+7+9?", "max_tokens": 8, "seed": 1, **fields}
    for _ in range(3):
        connection = server_of_nan.connection()
        connection.request("POST", "/v1/completions", json.dumps(body))
        answer = connection.getresponse()
        text = answer.read().decode()
        # A stream has begun with 200 before the model was asked, so its error is an event.
        assert answer.status == 500 or (body.get("stream") and "server_error" in text), text
        assert "NaN" in text, text
        faults("a model that gives NaN", "answered by 500" if answer.status == 500 else "an error as the stream's last event")
        assert str(pathlib.Path(MODEL).parent) not in text and "[DONE]" not in text
    assert server_of_nan.ask("/health") == (200, {"status": "ok"})
    assert "tempera_choices_under_way 0\n" in server_of_nan.ask("/metrics")[1]
