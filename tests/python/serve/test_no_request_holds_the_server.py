"""Whatever one request asks for: others are answered meanwhile, and it is ended by its client, by --longest and by SIGTERM."""
import http.client
import json
import pathlib
import re
import resource
import signal

import pytest

from conftest import PATIENCE, Server, wait_until

SMALL = {"prompt": "4+7?", "max_tokens": 4, "seed": 1}
ENDLESS = {
    "moves ahead": {"powers": [1, 8], "prefetch": 4096, "rounds": 200000, "local_moves": 10},
    "no move and no swap": {"powers": [1, 8], "rounds": 16000000, "local_moves": 0, "sweeps": 0},
    "swaps": {"powers": [1, 2, 3, 8], "rounds": 40, "local_moves": 0, "sweeps": 200000},
    "many moves of a round": {"powers": [1, 8], "rounds": 160, "local_moves": 100000, "restart_weights": [1, 4294967295]},
    "many choices": {"powers": [1, 2, 3, 4, 6, 8], "rounds": 100000},
}


def endless(name, stream=True):
    return {"prompt": "4+7?", "max_tokens": 28, "seed": 1, "stream": stream, "n": 128 if name == "many choices" else 1,
            "tempera": {"block": 28, **ENDLESS[name]}}


def begin(server, body):
    """The connection of a stream that has begun."""
    connection = server.connection(timeout=PATIENCE)
    connection.request("POST", "/v1/completions", json.dumps(body))
    answer = connection.getresponse()
    assert answer.status == 200 and answer.readline() == b": accepted\n"
    return connection, answer


@pytest.mark.parametrize("name", ENDLESS)
def test_a_request_that_leaves_holds_nobody(server, name):
    alone = server.ask("/v1/completions", SMALL)[1]["choices"]
    connection, answer = begin(server, endless(name))
    for _ in range(3):
        assert server.ask("/v1/completions", SMALL)[1]["choices"] == alone
    answer.close()
    connection.close()
    server.wait_until_idle()
    assert server.ask("/v1/completions", SMALL)[1]["choices"] == alone


@pytest.mark.parametrize("name", ENDLESS)
def test_the_time_limit_ends_a_request_whatever_it_does(name):
    running = Server("--longest", "1")
    try:
        # A stream of so many rounds, each with a comment, is dropped: no client reads it as fast as it comes.
        for stream in (False,) if name == "no move and no swap" else (True, False):
            status, text = ask_whole(running, endless(name, stream))
            assert status == (200 if stream else 400) and "limit of 1 seconds" in text
        running.wait_until_idle()
    finally:
        running.stop()


@pytest.mark.parametrize("name", ENDLESS)
def test_a_stop_ends_a_request_whatever_it_does(name):
    running = Server("--grace", "1")
    streamed = begin(running, endless(name))
    whole = running.connection(timeout=PATIENCE)
    whole.request("POST", "/v1/completions", json.dumps(endless(name, stream=False)))
    while "tempera_requests_total 2\n" not in running.ask("/metrics")[1]:
        pass
    running.process.send_signal(signal.SIGTERM)
    running.process.wait(timeout=PATIENCE)
    running.process.stderr.close()
    streamed[0].close()


def ask_whole(server, body):
    connection = server.connection(timeout=PATIENCE)
    connection.request("POST", "/v1/completions", json.dumps(body))
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.mark.parametrize("tempera, words", [
    ({"powers": [1, 8], "prefetch": 4294967295, "rounds": 200000, "local_moves": 10}, "prefetch"),
    ({"powers": [1, 8], "prefetch": 4097}, "not a whole number in 0..4096"),
    ({"powers": [1, 8], "block": 28, "rounds": 1, "sweeps": 16777215}, "2^20 moves and swaps"),
    ({"powers": [1, 8], "block": 28, "rounds": 1, "local_moves": 16777215}, "2^20 moves and swaps"),
    ({"powers": [k / 8 for k in range(1, 4097)], "block": 28, "rounds": 10000000}, "2^40 tokens"),
    ({"sampler": "best-of-n", "particles": 65535, "n": 2}, "records together"),
    ({"powers": [1 + k / 64 for k in range(65)]}, "give at most 64"),
])
def test_what_costs_too_much_is_refused_at_once(server, tempera, words):
    body = {"prompt": "4+7?", "max_tokens": 28, "seed": 1, "n": tempera.get("n", 1),
            "tempera": {key: value for key, value in tempera.items() if key != "n"}}
    status, answer = server.ask("/v1/completions", body)
    assert status == 400 and words in answer["error"]["message"] and "\n" not in answer["error"]["message"]


def limit_of_caches(running):
    found = re.search(r"^tempera_cache_limit_bytes (\d+)$", running.ask("/metrics")[1], re.MULTILINE)
    return int(found[1])


def test_the_default_limit_of_caches_is_half_of_what_is_free():
    """Half of the memory that the system lets the process take, once the model is there; a limit that is given is that."""
    allowed = 1 << 30
    for options in ((), ("--cache-memory", "300MiB")):
        running = Server(*options, limits={resource.RLIMIT_AS: (allowed, allowed)})
        try:
            limit = limit_of_caches(running)
            taken = int(pathlib.Path(f"/proc/{running.process.pid}/statm").read_text().split()[0]) * resource.getpagesize()
            if options:
                assert limit == 300 << 20
            else:
                # The process has taken some memory before it asked, and more after that.
                assert allowed - taken <= 2 * limit < allowed, (limit, taken)
            assert running.ask("/v1/completions", SMALL)[0] == 200
        finally:
            running.stop()
    free = int(re.search(r"MemTotal: +(\d+) kB", pathlib.Path("/proc/meminfo").read_text())[1]) << 10
    running = Server()
    try:
        assert 0 < limit_of_caches(running) <= free // 2
    finally:
        running.stop()


def test_memory_that_the_system_does_not_give_ends_requests_and_never_the_server():
    """Memory of the session, of a thread that reads bodies, and of the connections' own."""
    running = Server("--cache-memory", "1GiB", "--longest", "60")
    try:
        alone = running.ask("/v1/completions", SMALL)[1]["choices"]
        pages = int(pathlib.Path(f"/proc/{running.process.pid}/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + (16 << 20)
        resource.prlimit(running.process.pid, resource.RLIMIT_AS, (most, most))
        bodies = [{"prompt": "4+7?", "max_tokens": 28, "seed": 1, "n": 128, "tempera": {"powers": [1 + k / 64 for k in range(64)], "rounds": 1}},
                  {"prompt": "4+7?", "max_tokens": 28, "seed": 1, "tempera": {"sampler": "power-smc", "powers": [4], "particles": 65535, "block": 28}},
                  {"prompt": "4" * (4 << 20), "max_tokens": 1}]
        for body in bodies:
            connection = running.connection(timeout=PATIENCE)
            try:
                connection.request("POST", "/v1/completions", json.dumps(body))
                assert connection.getresponse().status in (200, 400, 503), body["prompt"][:9]
            except (http.client.HTTPException, OSError):
                pass  # it was the memory of this connection
            connection.close()

            def answered():
                """A connection may find no memory as long as the body before it is being given back."""
                assert running.process.poll() is None, running.process.stderr.read()
                try:
                    status, answer = running.ask("/v1/completions", SMALL)
                except (http.client.HTTPException, OSError):
                    return None
                assert status in (200, 503), answer
                return answer["choices"] if status == 200 else None

            assert wait_until(answered) == alone
    finally:
        running.stop()


def test_many_particles_take_memory_by_their_number_alone():
    """All ancestors that a resampling could have are the square of the particles: 2 GiB for these."""
    running = Server("--cache-memory", "256MiB", limits={resource.RLIMIT_AS: (2 << 30, 2 << 30)})
    try:
        alone = running.ask("/v1/completions", SMALL)[1]["choices"]
        status, answer = running.ask("/v1/completions", {"prompt": "4+7?", "max_tokens": 4, "seed": 1,
                                                         "tempera": {"sampler": "power-smc", "powers": [4], "particles": 16384, "block": 2}})
        assert status == 200 and len(answer["choices"][0]["text"]) > 0, answer
        assert running.ask("/v1/completions", SMALL)[1]["choices"] == alone
    finally:
        running.stop()


def test_a_small_request_beside_one_of_many_particles_is_answered_first():
    """The caches of all particles would take a hundred times the memory, and the run minutes."""
    running = Server("--cache-memory", "16MiB")
    try:
        alone = running.ask("/v1/completions", SMALL)[1]["choices"]
        connection, answer = begin(running, {"prompt": "4+7?", "max_tokens": 28, "seed": 1, "stream": True,
                                             "tempera": {"sampler": "power-smc", "powers": [4], "particles": 65535, "block": 28}})
        for _ in range(3):
            assert running.ask("/v1/completions", SMALL)[1]["choices"] == alone
        assert running.ask("/v1/completions", {**SMALL, "tempera": {"powers": [1, 2, 4], "rounds": 2}})[0] == 200
        assert "tempera_choices_under_way 1\n" in running.ask("/metrics")[1]  # the large one continues
        answer.close()
        connection.close()
        running.wait_until_idle()
        assert running.ask("/v1/completions", SMALL)[1]["choices"] == alone
    finally:
        running.stop()


def test_a_small_request_beside_one_of_many_choices_is_answered_first(server):
    connection, answer = begin(server, endless("many choices"))
    # The largest takes hours: these are answered while it runs.
    for seed in range(5):
        assert server.ask("/v1/completions", {**SMALL, "seed": seed})[0] == 200
    answer.close()
    connection.close()
    server.wait_until_idle()


def test_the_queue_is_given_back_however_a_request_ends():
    """The smallest queue, spent again and again: by answers, refusals, clients that leave, and the time limit."""
    running = Server("--queue", "2", "--under-way", "1")
    try:
        for _ in range(3):
            connection, answer = begin(running, {**endless("swaps"), "n": 2})
            assert running.ask("/v1/completions", SMALL)[0] == 429
            answer.close()
            connection.close()
            running.wait_until_idle()
            assert running.ask("/v1/completions", {**SMALL, "n": 2})[0] == 200
            assert running.ask("/v1/completions", {**SMALL, "n": 3})[0] == 429
            assert running.ask("/v1/completions", {**SMALL, "n": 2, "top_p": 1.5})[0] == 400
            assert running.ask("/v1/completions", {**SMALL, "stop": [""]})[0] == 400
    finally:
        running.stop()
    running = Server("--queue", "2", "--under-way", "1", "--longest", "1")
    try:
        for _ in range(2):
            assert ask_whole(running, {**endless("swaps", stream=False), "n": 2})[0] == 400
            running.wait_until_idle()

        def answered():
            """On a busy machine a small request may need more than the limit, too."""
            status, answer = running.ask("/v1/completions", {**SMALL, "n": 2})
            assert status == 200 or "limit of 1 seconds" in answer["error"]["message"], answer
            return status == 200

        wait_until(answered)
    finally:
        running.stop()


def test_a_stream_that_is_read_may_be_longer_than_what_may_be_unsent(server):
    """The bytes of a stream that were sent count no more: it comes whole, though it is twice what may be unsent at a time."""
    connection = server.connection(timeout=PATIENCE)
    connection.request("POST", "/v1/completions", json.dumps(
        {"prompt": "4+7?", "max_tokens": 2, "seed": 1, "stream": True,
         "tempera": {"powers": list(range(1, 65)), "block": 2, "rounds": 1000, "round_events": True}}))
    answer = connection.getresponse()
    size, last = 0, b""
    while part := answer.read(1 << 16):
        size += len(part)
        last = (last + part)[-16:]
    assert size > 2 * (4 << 20) and last == b"\n\ndata: [DONE]\n\n"


def test_the_server_keeps_nothing_of_requests_that_have_ended():
    """500 of them with 32 choices each would take 20 MiB; what the heap of a sound server grows by is less than one."""
    running = Server()

    def mebibytes():
        with open(f"/proc/{running.process.pid}/statm", encoding="ascii") as memory:
            return int(memory.read().split()[1]) * resource.getpagesize() / 2**20

    def ask(count):
        for number in range(count):
            assert running.ask("/v1/completions", {"prompt": [1] * 30, "max_tokens": 1, "n": 32, "seed": number})[0] == 200

    try:
        ask(150)
        before = mebibytes()
        ask(500)
        assert mebibytes() - before < 8
    finally:
        running.stop()


NOT_DRAWN = {"prompt": "4+7?", "max_tokens": 28, "seed": 1, "tempera": {"sampler": "exact-rejection", "powers": [1000], "most_tokens": 28}}


def test_what_is_not_drawn_exactly_is_the_requests_own_limit(server):
    """400, so that clients do not ask again: whole, as an event of a stream, and for one of several choices."""
    for body in (NOT_DRAWN, {**NOT_DRAWN, "n": 3}, {**NOT_DRAWN, "prompt": ["4+7?", "1?"]}, {**NOT_DRAWN, "stream": True}):
        status, answer = server.ask("/v1/completions", body)
        if body.get("stream"):
            assert status == 200 and "[DONE]" not in answer, answer
            error = json.loads(answer.split("data: ")[-1])["error"]
        else:
            assert status == 400, answer
            error = answer["error"]
        assert error["code"] == 400 and error["type"] == "invalid_request_error", error
        message = error["message"]
        assert "is not drawn" in message and ("tokens would give an answer" in message or "more than 2^40 tokens" in message), message
        assert "--" not in message and "\n" not in message, message
    server.wait_until_idle()
