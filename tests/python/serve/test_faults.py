"""Clients that misbehave, and a model that fails. After each, the server still answers, and answers the same."""
import copy
import json
import shutil
import socket
import struct
import threading

import pytest

from conftest import MODEL, PATIENCE, PLACES, Server

BODY = {"prompt": "4+7+9?", "max_tokens": 28, "seed": 2, "tempera": {"powers": [1, 2, 4], "block": 4, "rounds": 2}}
LONG = {**BODY, "seed": 9, "n": 4, "tempera": {"powers": [1, 2, 4], "block": 1, "rounds": 400}}


def request(body, path="/v1/completions"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(data)}\r\n\r\n").encode() + data


def raw(server, data, read=True):
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(data)
        if not read:
            return b""
        received = b""
        while part := connection.recv(65536):
            received += part
        return received


def essence(answer):
    return {key: value for key, value in answer[1].items() if key not in ("id", "created")}


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


def test_a_client_may_leave_at_any_byte_of_the_answer(server, same_before_and_after, faults):
    for body in (BODY, {**BODY, "stream": True, "tempera": {**BODY["tempera"], "round_events": True}}):
        for size in range(0, 2000, 40):
            with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
                connection.sendall(request(body).replace(b"Host: localhost\r\n", b"Host: localhost\r\nConnection: close\r\n"))
                while size > 0 and (part := connection.recv(size)):
                    size -= len(part)
            faults("the client leaves in the middle of its answer", "forgotten")
    server.wait_until_idle()


def paths_of(value, path=()):
    """Where a body's values are."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths_of(value[key], path + (key,))


def changed(body, path, value):
    body = copy.deepcopy(body)
    holder = body
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return body


FAULTLESS = {**BODY, "n": 1, "top_p": 1.0, "stop": ["x"], "logprobs": 1, "echo": True, "stream": False}


def wrong_bodies():
    """Bodies with one fault each, by the kind of fault."""
    body = FAULTLESS
    text = json.dumps(body, ensure_ascii=False).encode()
    for end in range(len(text)):
        yield "invalid JSON: cut after each byte", text[:end]
    for i, byte in enumerate(text):
        if byte in b'{}[]":,':
            yield "invalid JSON: without one sign", text[:i] + text[i + 1:]
    for bad in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"):
        for i in range(len(text)):
            yield "invalid UTF-8, at each byte", text[:i] + bad + text[i:]
    for depth in (100, 1000, 10000, 100000, 1000000):
        for left, right in ((b"[", b"]"), (b'{"a":', b"}")):
            yield "deep nesting", b'{"prompt": ' + left * depth + b"1" + right * depth + b"}"
            yield "deep nesting", b'{"tempera": ' + left * depth
    for path in paths_of(body):
        inner = body if len(path) == 1 else body["tempera"]
        pair = json.dumps({path[-1]: inner[path[-1]]})[1:-1]
        whole = json.dumps(body)
        yield "duplicate keys", whole.replace(pair, pair + ", " + pair, 1).encode()
    for path in paths_of(body):
        for value in ("a", True, 0.5, -1, [], ["a"], [[]], {}, {"a": 1}, [None], [{}]):
            if json.dumps([path[-1], value]) not in FINE:
                yield "wrong types and values", json.dumps(changed(body, path, value)).encode()
    for path in paths_of(body):
        for number in ("1e400", "-1e400", "1" + "0" * 400, "-" + "9" * 30, "1e-400000000000000000000", "4294967296.5", "NaN", "Infinity"):
            wrong = json.dumps(changed(body, path, "HERE")).replace('"HERE"', number)
            yield "huge and odd numbers", wrong.encode()


# The values above that a field may have.
FINE = {json.dumps(pair) for pair in [
    ("seed", -1), ("stop", "a"), ("stop", ["a"]), ("stop", []), ("echo", True), ("stream", True), ("logprobs", True), ("tempera", {})]}


def test_bodies_with_a_fault_are_refused_by_name(server, same_before_and_after, faults):
    assert server.ask("/v1/completions", FAULTLESS)[0] == 200
    connection = server.connection()
    for kind, body in wrong_bodies():
        connection.request("POST", "/v1/completions", body)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 400, (kind, body[:300], answer.status, text[:300])
        error = json.loads(text)["error"]
        assert error["message"] and "\n" not in error["message"] and len(error["message"]) < 1000, (body[:300], error)
        assert not any(place.encode() in text for place in PLACES), (body[:300], error)
        faults(kind, "answered by 400")


def test_too_much_is_refused(server, same_before_and_after, faults):
    for data, status in [
        (b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16777217\r\n\r\n", 413),
        (b"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + (b"100000\r\n" + b" " * 2 ** 20 + b"\r\n") * 18, 413),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70000 + b"\r\n\r\n", 431),
        (b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 10000 + b"\r\n", 431),
        (request({**BODY, "n": 129}), 400),
        (request({**BODY, "max_tokens": 10 ** 6}), 400),
        (request({**BODY, "prompt": "1+" * 3 * 10 ** 6}), 400),
        (request({**BODY, "prompt": ["1?"] * 1025}), 400),
    ]:
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            try:
                connection.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before all of it was sent
            try:
                answer = connection.recv(64)
            except ConnectionResetError:
                answer = b""
        # A client that goes on sending what is refused may find its connection closed.
        assert answer.startswith(f"HTTP/1.1 {status}".encode()) or (answer == b"" and status == 413), (data[:99], answer)
        faults("too much", f"answered by {status}" if answer else "closed")


def test_a_client_that_leaves_is_forgotten(server, same_before_and_after):
    connections = []
    for seed in range(8):
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(request({**LONG, "seed": seed}))
        connections.append(connection)
    alone = essence(server.ask("/v1/completions", BODY))  # among neighbours
    for connection in connections:
        connection.close()
    server.wait_until_idle()
    metrics = dict(line.rsplit(" ", 1) for line in server.ask("/metrics")[1].splitlines() if line[0] != "#")
    assert int(metrics["tempera_requests_cancelled_total"]) >= 8
    assert essence(server.ask("/v1/completions", BODY)) == alone


def test_pipelined_and_split_requests(server, same_before_and_after, faults):
    close = request(BODY).replace(b"Host: localhost\r\n", b"Host: localhost\r\nConnection: close\r\n")
    answers = raw(server, request(BODY) + close)
    assert answers.count(b"HTTP/1.1 200") == 2
    many = request({**BODY, "max_tokens": 2}) * 49 + close
    assert raw(server, many).count(b"HTTP/1.1 200") == 50
    for _ in range(52):
        faults("pipelined requests", "answered, in their order")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        for byte in close:
            connection.sendall(bytes([byte]))
        assert connection.recv(12) == b"HTTP/1.1 200"
    faults("requests in pieces", "answered")
    for at in range(1, len(close), 5):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            connection.sendall(close[:at])
            connection.sendall(close[at:])
            assert connection.recv(12) == b"HTTP/1.1 200"
        faults("requests in pieces", "answered")


@pytest.mark.parametrize("data, status", [
    (b"garbage\r\n\r\n", b" 400"),
    (b"GET / HTTP/9.9\r\n\r\n", b" 400"),
    (b"POST /v1/completions HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b" 400"),
    (b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", b" 413"),
    (b"GET / HTTP/1.1\r\nX: " + b"a" * 70000 + b"\r\n\r\n", b" 431"),
    (b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n", b" 400"),
])
def test_what_is_no_request_is_refused(server, same_before_and_after, faults, data, status):
    answer = raw(server, data)
    assert status in answer.split(b"\r\n", 1)[0], answer[:200]
    faults("no HTTP at all", "answered by" + status.decode())


def test_a_request_names_its_host_once(server, same_before_and_after, faults):
    for hosts in (b"Host: localhost\r\nHost: localhost\r\n", b"Host: localhost\r\nHost: elsewhere.test\r\n", b"Host: elsewhere.test\r\nhost: localhost\r\n", b""):
        for line in (b"GET /health", b"POST /v1/completions"):
            answer = raw(server, line + b" HTTP/1.1\r\n" + hosts + b"Content-Length: 0\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 400") and b"names its Host once" in answer, (hosts, answer)
            faults("two `Host`s in one request, or none", "answered by 400")
    assert raw(server, b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.0 200")


def test_half_bodies_and_silence(server, same_before_and_after, faults):
    connections = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(300)]
    for i, connection in enumerate(connections):
        connection.sendall(request(BODY)[:i])
    assert server.ask("/health")[0] == 200
    for i, connection in enumerate(connections):
        connection.close()
        faults("nothing, or half a request, and silence", "held, and forgotten when it left")


@pytest.mark.parametrize("tempera", [{**BODY["tempera"], "rounds": 40}, None])
def test_a_stop_lets_a_stream_that_has_begun_end(tempera):
    body = {**BODY, "n": 8, "stream": True, **({"tempera": tempera} if tempera else {})}
    if tempera is None:
        del body["tempera"]
    running = Server()
    whole = running.ask("/v1/completions", {**body, "stream": False})[1]
    connection = running.connection()
    connection.request("POST", "/v1/completions", json.dumps(body))
    answer = connection.getresponse()
    assert answer.readline() == b": accepted\n"
    running.process.terminate()
    lines = answer.read().decode().strip().split("\n\n")
    assert running.process.wait(timeout=PATIENCE) == 0
    running.process.stderr.close()
    assert "data: [DONE]" in lines, lines[-3:]
    texts = [""] * 8
    for line in lines:
        for choice in json.loads(line[6:])["choices"] if line.startswith("data: {") else []:
            texts[choice["index"]] += choice["text"]
    assert texts == [choice["text"] for choice in whole["choices"]]


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
    assert running.process.wait(timeout=PATIENCE) == 0
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
    {"max_tokens": 0, "echo": True, "logprobs": 1, "stream": True},
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
        assert not any(place in text for place in PLACES) and "[DONE]" not in text
    assert server_of_nan.ask("/health") == (200, {"status": "ok"})
    assert "tempera_choices_under_way 0\n" in server_of_nan.ask("/metrics")[1]
