"""The server under load on loopback: wrk, many clients that do nothing, and many requests. No test here looks at a time."""
import json
import pathlib
import re
import resource
import socket
import subprocess
import threading

import pytest

from conftest import PATIENCE, Server, wait_until

BODY = {"prompt": "4+7+9?", "max_tokens": 28, "seed": 1, "tempera": {"powers": [1, 2, 4], "block": 4, "rounds": 1}}


def wrk(server, connections):
    """What wrk's clients have seen. wrk stops after a time: a busy machine, which answers fewer than one each in it, has more."""
    for seconds in (5, 40, 320):
        done = subprocess.run(
            ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--timeout", f"{PATIENCE}s",
             "-s", str(pathlib.Path(__file__).with_name("load.lua")), f"http://127.0.0.1:{server.port}/v1/completions"],
            capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        seen = json.loads(re.search(r"^JSON (.*)$", done.stdout, re.M).group(1))
        if seen["answered"] > connections:
            break
    return seen


def essence(answer):
    return {key: value for key, value in answer[1].items() if key not in ("id", "created")}


def metric(server, name):
    return int(re.search(rf"^tempera_{name} (\d+)$", server.ask("/metrics")[1], re.M).group(1))


def memory(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024


@pytest.fixture
def own():
    started = []

    def start(*options):
        started.append(Server(*options))
        return started[-1]
    yield start
    for server in started:
        server.stop()


def test_64_clients_at_once_have_the_bytes_of_one(own):
    server = own()
    alone = essence(server.ask("/v1/completions", BODY))
    among = []
    neighbour = threading.Thread(target=lambda: among.extend(essence(server.ask("/v1/completions", BODY)) for _ in range(20)))
    neighbour.start()
    seen = wrk(server, 64)
    neighbour.join()
    assert seen["answered"] > 64 and seen["different"] == seen["refused"] == seen["wrong"] == seen["broken"] == 0, seen
    assert among == [alone] * 20
    server.wait_until_idle()
    # wrk counts what came back before its time was over; the server has counted those too.
    assert metric(server, "answers_total") + metric(server, "requests_cancelled_total") >= seen["answered"] + 21
    assert metric(server, "requests_refused_total") == 0


def test_more_than_the_queue_holds_is_told_to_come_again(own):
    server = own("--queue", "8")
    seen = wrk(server, 64)
    assert 0 < seen["refused"] < seen["answered"] and seen["different"] == seen["wrong"] == seen["broken"] == 0, seen
    server.wait_until_idle()
    assert metric(server, "requests_refused_total") >= seen["refused"]
    assert server.ask("/v1/completions", BODY)[0] == 200


def test_ten_thousand_idle_connections_are_held(own):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard >= 1100, "the limit of open files is too small for this test: ulimit -Hn"
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(10000, hard - 100)
    server = own()
    before = memory(server)
    idle = []
    try:
        for _ in range(count):
            idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
        wait_until(lambda: metric(server, "connections") >= count)
        assert (memory(server) - before) / count < 32 << 10  # a thread of its own would cost more
        assert server.ask("/v1/completions", BODY)[0] == 200
        for connection in idle:  # each of them is still served
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for connection in idle:
            assert connection.recv(15) == b"HTTP/1.1 200 OK"
    finally:
        for connection in idle:
            connection.close()
    wait_until(lambda: metric(server, "connections") == 1)


def test_memory_is_flat_over_many_requests(own):
    server = own()

    def ask(first, count):
        connection = server.connection()
        for number in range(first, first + count):
            connection.request("POST", "/v1/completions", json.dumps({"prompt": "1+2?", "max_tokens": 1 + number % 4, "seed": number}))
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()

    def ask_by_clients(first):
        clients = [threading.Thread(target=ask, args=(first + 625 * i, 625)) for i in range(8)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()

    ask_by_clients(0)
    settled = memory(server)
    for first in range(5000, 25000, 5000):
        ask_by_clients(first)
    assert metric(server, "answers_total") == 25000
    # A leak of 256 bytes a request would show; bench/serve looks at 100,000 requests.
    assert memory(server) - settled < 20000 * 256
