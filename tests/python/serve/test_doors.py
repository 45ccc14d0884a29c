"""Every path of openapi.json needs the key but for the public list, however it is asked; and how connections end."""
import json
import socket

import pytest

from conftest import PATIENCE, Server
from test_batches import line, start, wait
from test_stored_runs import draw

KEY = "sesame-1"
PUBLIC = {"/", "/health", "/openapi.json"}
CREDENTIALS = {"none": None, "empty": "", "another": "Bearer sesame-2", "a prefix": "Bearer sesame-", "a longer one": "Bearer sesame-11",
               "in capitals": "Bearer SESAME-1", "no scheme": KEY, "another scheme": f"Basic {KEY}", "the scheme alone": "Bearer", "nothing after it": "Bearer ",
               "without a space": f"Bearer{KEY}", "twice": f"Bearer {KEY} {KEY}"}
RIGHT = [f"Bearer {KEY}", f"bearer {KEY}", f"BEARER {KEY}", f"bEARER  {KEY}"]
FORMS = {"HTTP/1.1": ("1.1", ""), "HTTP/1.1, to be closed": ("1.1", "Connection: close\r\n"), "HTTP/1.0": ("1.0", ""),
         "HTTP/1.0, to be kept": ("1.0", "Connection: keep-alive\r\n")}


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("doors")
    (folder / "key").write_text(KEY + "\n")
    running = Server("--batch-folder", str(folder / "kept"), "--runs", str(folder), "--api-key-file", str(folder / "key"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def doors(locked):
    """Every path and method that is described, and some that are not."""
    document = locked.ask("/openapi.json")[1]
    found = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method == "parameters":
                continue
            is_public = operation.get("security", document["security"]) == []
            assert is_public == (path in PUBLIC), path
            found.append((method.upper(), path))
    assert len(found) >= 20
    found += [("HEAD", path) for method, path in found if method == "GET"]
    found += [(method, path) for path in sorted({path for _, path in found}) for method in ("GET", "POST", "PUT", "OPTIONS")]
    return sorted(set(found)) + [("GET", path) for path in ("/nowhere", "/metrics/", "//metrics", "/health/../metrics", "/v1", "/openapi.json/x", "/%6detrics")]


def asked(server, method, path, credential, form):
    version, fields = FORMS[form]
    authorization = "" if credential is None else f"Authorization: {credential}\r\n"
    here = path.format(id="file-1", model="worked_sum", run="one", prompt=0, sample=0)
    head = f"{method} {here} HTTP/{version}\r\nHost: localhost\r\n{fields}{authorization}\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(head.encode())
        connection.shutdown(socket.SHUT_WR)  # the server closes when it has answered
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def statuses(received):
    return [int(line.split()[1]) for line in received.split(b"\r\n") if line.startswith(b"HTTP/1.") and b" 100 " not in line]


@pytest.mark.parametrize("form", FORMS)
def test_every_path_needs_the_key_but_for_the_public_ones(locked, doors, form):
    counts = {"refused": 0, "public": 0}
    for method, path in doors:
        for name, credential in CREDENTIALS.items():
            received = asked(locked, method, path, credential, form)
            status = statuses(received)
            assert len(status) == 1 and received.startswith(f"HTTP/{FORMS[form][0]} ".encode()), (method, path, name, received[:200])
            if path in PUBLIC:
                assert status[0] != 401, (method, path, name)
                counts["public"] += 1
                continue
            assert status[0] == 401, (method, path, name, received[:200])
            head, _, body = received.partition(b"\r\n\r\n")
            assert b"WWW-Authenticate: Bearer" in head and (body == b"") == (method == "HEAD"), (method, path, received)
            counts["refused"] += 1
    assert counts["refused"] > 300 and counts["public"] > 50, counts


def test_the_key_opens_every_path(locked, doors):
    for method, path in doors:
        for credential in RIGHT if (method, path) in (("GET", "/metrics"), ("HEAD", "/v1/models")) else RIGHT[:1]:
            for form in ("HTTP/1.1", "HTTP/1.0, to be kept"):
                status = statuses(asked(locked, method, path, credential, form))
                assert len(status) == 1 and status[0] != 401, (method, path, credential, status)


def test_each_path_takes_the_methods_that_it_describes(tmp_path):
    """Reading is done, HEAD as GET; all other methods are refused with a list of those there are."""
    (tmp_path / "runs").mkdir()
    draw(tmp_path / "runs/one", "4+7?", "--powers", "2")
    running = Server("--batch-folder", str(tmp_path / "kept"), "--runs", str(tmp_path / "runs"))

    def ask(method, path):
        connection = running.connection()
        connection.request(method, path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    try:
        batch = start(running, [line(1)])
        named = {"/v1/files": batch["input_file_id"], "/v1/batches": batch["id"]}
        counts = {"read": 0, "refused": 0}
        for path, operations in running.ask("/openapi.json")[1]["paths"].items():
            taken = {method.upper() for method in operations if method != "parameters"}
            taken |= {"HEAD"} if "GET" in taken else set()
            id_ = next((name for begin, name in named.items() if path.startswith(begin)), "")
            here = path.format(model="worked_sum", id=id_, run="one", prompt=0, sample=0)
            for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
                if method in taken and method not in ("GET", "HEAD"):
                    continue
                status, headers, body = ask(method, here)
                counts["read" if method in taken else "refused"] += 1
                assert status == (200 if method in taken else 405), (method, here, status, body)
                assert method in taken or set(headers["Allow"].split(", ")) == taken, (method, here, headers["Allow"])
                assert (body == b"") == (method == "HEAD"), (method, here, body)
        assert counts["read"] > 15 and counts["refused"] > 50, counts
        assert wait(running, batch)["status"] == "completed"
    finally:
        running.stop()


def test_without_the_key_no_body_is_read(locked):
    """16,384 connections could else make the server hold 64 MiB each."""
    for path in ("/v1/completions", "/v1/files", "/tokenize", "/nowhere"):
        for length in ("Content-Length: 16000000\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 99999999999\r\n", "Content-Length: 9\r\nExpect: 100-continue\r\n"):
            with socket.create_connection(("127.0.0.1", locked.port), timeout=PATIENCE) as connection:
                connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n".encode())
                received = b""
                while part := connection.recv(65536):
                    received += part
            assert received.startswith(b"HTTP/1.1 401 ") and b"Connection: close" in received, (path, length, received)


def test_a_client_without_the_key_can_read_why(locked):
    """Also one that sends all of its body before it reads."""
    for size in (10, 10 ** 5, 10 ** 7):
        status, answer = locked.ask("/v1/completions", b"a" * size)
        assert status == 401 and "key" in answer["error"]["message"]


@pytest.fixture
def half_closed(server):
    def ask(data):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            received = b""
            while part := connection.recv(65536):
                received += part
        return received
    return ask


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_client_that_has_closed_its_half_is_answered(server, half_closed, version):
    whole = server.ask("/v1/completions", {"prompt": "4+7+9?", "max_tokens": 28, "seed": 2, "n": 8, "tempera": {"powers": [1, 2, 4], "rounds": 20}})[1]
    for stream in (False, True):
        body = json.dumps({"prompt": "4+7+9?", "max_tokens": 28, "seed": 2, "n": 8, "tempera": {"powers": [1, 2, 4], "rounds": 20}, "stream": stream}).encode()
        received = half_closed(f"POST /v1/completions HTTP/{version}\r\nHost: localhost\r\nConnection: keep-alive\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        assert statuses(received) == [200], received[:300]
        text = received.decode()
        if stream:
            # Without chunks the end of the connection ends the stream: such a connection is not kept.
            assert "[DONE]" in text and ("chunked" in text) == (version == "1.1")
            assert version == "1.1" or "keep-alive" not in text.split("\r\n\r\n")[0]
        else:
            assert json.loads(text.rsplit("\r\n\r\n", 1)[1])["choices"] == whole["choices"]
    assert statuses(half_closed(f"GET /health HTTP/{version}\r\nHost: localhost\r\n\r\n".encode())) == [200]


def test_the_absolute_form_of_a_target_is_taken(server, half_closed):
    for target, host, status in [("http://localhost/health", "localhost", 200), ("HTTP://LOCALHOST:1/health?x", "localhost", 200), ("http://127.0.0.1", "localhost", 200),
                                 ("http://localhost/nowhere", "localhost", 404), ("http://elsewhere.test/health", "localhost", 421),
                                 ("http://localhost/health", "elsewhere.test", 200), ("ftp://localhost/health", "localhost", 404)]:
        assert statuses(half_closed(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())) == [status], (target, host)


def test_a_name_is_needed_after_models(server):
    assert server.ask("/v1/models/")[0] == 404
    for path in ("/v1/audio", "/v1/moderations"):
        status, answer = server.ask(path, {})
        assert status == 404 and path in answer["error"]["message"] and "/v1/completions" in answer["error"]["message"]


LONG = {"prompt": "4+7+9?", "max_tokens": 28, "seed": 9, "n": 4, "tempera": {"powers": [1, 2, 4], "block": 1, "rounds": 100000}}


def test_the_end_of_the_grace_is_told_to_every_client():
    running = Server("--grace", "1")
    connections = []
    for stream in (False, True):
        connection = running.connection()
        connection.request("POST", "/v1/completions", json.dumps({**LONG, "stream": stream}))
        connections.append(connection)
    stream = connections[1].getresponse()
    assert stream.readline() == b": accepted\n"
    while "tempera_choices_under_way 8\n" not in running.ask("/metrics")[1]:
        pass
    running.process.terminate()
    whole = connections[0].getresponse()
    error = json.loads(whole.read())["error"]
    assert whole.status == 503 and "shutting down" in error["message"] and whole.headers["Retry-After"]
    events = stream.read().decode().strip().split("\n\n")
    assert json.loads(events[-1][6:])["error"]["code"] == 503, events[-1]
    # A server ends by being stopped: supervisors take 0 for success.
    assert running.process.wait(timeout=PATIENCE) == 0
    running.process.stderr.close()
