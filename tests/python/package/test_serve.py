"""The server over a model of this process: a callable's answers by HTTP, its faults, and the ways to end it."""
import http.client
import itertools
import json
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

import numpy as np
import pytest
from conftest import TEMPERA, a_program
from conftest import PROMPT as SUM
from test_callable import uneven
from test_fork import in_child

import tempera
from tempera import errors
from tempera.server import ServeWishes

PROMPT = "1 2 3"
PPT = {"powers": [1, 1.6, 2.5, 4], "block": 4, "rounds": 3}


def asked(server, path, body=None):
    """Status and text of a request."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.url).netloc, timeout=60)
    connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body))
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def drawn(server, **body):
    status, text = asked(server, "/v1/completions", {"prompt": PROMPT, "max_tokens": 28, "seed": 5, **body})
    return status, json.loads(text)


@pytest.fixture(scope="module")
def own():
    return tempera.Model.from_callable(uneven, 8, terminal=0, name="mine", arithmetic="mine, in Python")


@pytest.fixture(scope="module")
def server(own):
    with tempera.Server(own, port=0) as running:
        yield running


def test_answers_are_those_of_sample(own, server):
    turns = own._opened.turns_asked
    status, answer = drawn(server, n=3, tempera=PPT)
    assert own._opened.turns_asked > turns + 28  # one for each pass: other threads have theirs between
    expected = own.sample(PROMPT, samples=3, seed=5, horizon=28, **PPT)
    assert status == 200
    assert [choice["text"] for choice in answer["choices"]] == [one.text for one in expected]
    assert [choice["log_p0"] for choice in answer["tempera"]["choices"]] == [one.log_p0 for one in expected]
    assert answer["tempera"]["arithmetic"] == "mine, in Python"
    assert answer["model"] == "mine" and answer["system_fingerprint"] == f"mine-mine, in Python-tempera-{tempera.__version__}"


def test_a_stream_has_the_text_of_sample(own, server):
    status, text = asked(server, "/v1/completions", {"prompt": PROMPT, "max_tokens": 28, "seed": 5, "stream": True})
    parts = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    assert status == 200 and text.endswith("data: [DONE]\n\n")
    texts = [part["choices"][0]["text"] for part in parts if part["choices"]]
    assert len(texts) > 3
    assert "".join(texts) == own.sample(PROMPT, sampler="standard", seed=5, horizon=28)[0].text


def test_clients_at_once_and_the_program_beside_them_have_the_same_answers(own, server):
    wishes = [{"seed": seed, "tempera": PPT} for seed in range(4)]
    alone = [drawn(server, **one)[1]["choices"] for one in wishes]
    found = [None] * len(wishes)

    def ask(index):
        found[index] = drawn(server, **wishes[index])[1]["choices"]

    clients = [threading.Thread(target=ask, args=(index,)) for index in range(len(wishes))]
    for client in clients:
        client.start()
    beside = own.sample(PROMPT, samples=2, seed=9, horizon=28, **PPT)
    for client in clients:
        client.join()
    assert found == alone
    assert beside == own.sample(PROMPT, samples=2, seed=9, horizon=28, **PPT)


def test_a_prompt_that_the_model_does_not_have_is_the_clients_fault(server):
    status, answer = drawn(server, prompt="no sum")
    assert status == 400 and answer["error"]["message"] == 'prompt: "no" is not a token of the model; use numbers below 8'
    status, text = asked(server, "/v1/chat/completions", {"messages": [{"role": "user", "content": "4+7?"}]})
    assert status == 400 and "the model has no conversations" in text


class Faulty:
    """A callable over eight tokens that misbehaves for prefixes with the token 7."""

    def __init__(self, fault):
        self.fault = fault

    def __call__(self, prefixes):
        rows = np.ones((len(prefixes), 8), np.float32)
        rows[:, 7] = -np.inf
        if any(7 in prefix for prefix in prefixes):
            return self.fault(rows, [7 in prefix for prefix in prefixes])
        return rows


def raises(rows, wrong):
    raise KeyError("/home/someone/weights")


def with_nan(rows, wrong):
    rows[wrong] = np.nan
    return rows


FAULTS = {
    "raises": (raises, "the model raised KeyError; the server's log has the traceback"),
    "ends": (lambda rows, wrong: sys.exit(3), "the model raised SystemExit"),
    "NaN": (with_nan, "logit"),
    "shape": (lambda rows, wrong: rows[:, :3], "next_logits: gave an array of shape"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_ends_its_request_and_nothing_else(name, capfd):
    fault, said = FAULTS[name]
    model = tempera.Model.from_callable(Faulty(fault), 8)
    good = [{"prompt": "1 2 3", "max_tokens": 40, "seed": seed} for seed in range(3)]
    with tempera.Server(model, port=0) as server:
        found = {}

        def ask(key, body):
            found[key] = drawn(server, **body)

        bodies = {**dict(enumerate(good)), "bad": {"prompt": "1 7", "max_tokens": 4}}
        clients = [threading.Thread(target=ask, args=one) for one in bodies.items()]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        status, answer = found.pop("bad")
        assert status == 500 and said in answer["error"]["message"], answer
        assert "someone" not in str(answer)
        for key, (status, answer) in found.items():
            alone = drawn(server, **good[key])[1]
            assert status == 200 and answer["choices"] == alone["choices"]
    assert ("Traceback" in capfd.readouterr().err) == (name != "NaN")


@pytest.mark.parametrize("stream", [False, True])
def test_a_text_that_cannot_be_had_ends_its_request_alone(model, stream, capfd):
    def decode(tokens):
        if len(tokens) > 3:
            raise ValueError("no text")
        return model.decode(tokens)

    with tempera.Server(tempera.Model.from_callable(lambda prefixes: np.ones((len(prefixes), 8), np.float32), 8, encode=lambda text: [1], decode=decode), port=0) as server:
        status, text = asked(server, "/v1/completions", {"prompt": "a", "max_tokens": 8, "stream": stream})
        assert status == (200 if stream else 500) and "the model raised ValueError" in text
        status, text = asked(server, "/v1/completions", {"prompt": "a", "max_tokens": 8, "tempera": {"powers": [1, 2]}})
        assert status == 500 and "the model raised ValueError" in text
        assert drawn(server, prompt="a", max_tokens=2)[0] == 200
        assert asked(server, "/tokenizer_info")[0] == 200
    assert "no text" in capfd.readouterr().err


def test_another_thread_stops_it(own):
    server = tempera.Server(own, port=0)
    running = threading.Thread(target=server.run)
    running.start()
    assert asked(server, "/health")[0] == 200
    server.stop()
    running.join(60)
    assert not running.is_alive()
    server.stop()
    with pytest.raises(errors.BadInput, match="has been started before"):
        server.run()


def test_a_stop_waits_for_what_runs_as_long_as_its_grace():
    begun = threading.Event()

    def next_logits(prefixes):
        begun.set()
        time.sleep(0.01)
        return np.zeros((len(prefixes), 8), np.float32)

    model = tempera.Model.from_callable(next_logits, 8)
    for grace, expected in ((60, 200), (0, 503)):
        found = []
        begun.clear()
        with tempera.Server(model, port=0, grace=60) as server:
            client = threading.Thread(target=lambda: found.append(drawn(server, prompt="1", max_tokens=40 if expected == 200 else 4000)[0]))
            client.start()
            begun.wait(60)
            server.stop()
            server.stop(grace)
        client.join()
        assert found == [expected]


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_the_program_goes_on(which):
    source = """
import sys, tempera
model = tempera.Model.from_callable(lambda prefixes: [[0.0, 1.0]] * len(prefixes), 2)
sys.stderr = sys.stdout
model.serve(port=0)
print("after it", flush=True)
"""
    with a_program(source) as program:
        assert program.stdout.readline().startswith("tempera serves on http://127.0.0.1:")
        program.send_signal(which)
        assert program.stdout.read() == "after it\n"
        assert program.wait(60) == 0


class Stopped:
    """Keeps the graces of its stops, in the place of the compiled half."""

    def __init__(self):
        self.graces = []

    def stop(self, seconds):
        self.graces.append(seconds)


@pytest.mark.parametrize("signals", list(itertools.product((signal.SIGINT, signal.SIGTERM), repeat=3)))
def test_each_signal_but_the_first_waits_for_nothing(signals):
    found = Stopped()
    server = tempera.Server.__new__(tempera.Server)
    server._server, server._grace, server._is_stopped = found, 7, False
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler), signal.SIGTERM: signal.signal(signal.SIGTERM, signal.SIG_DFL)}
    try:
        with server._stopped_by_signals():
            for which in signals:
                signal.raise_signal(which)
        assert found.graces == [7, 0, 0]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        # A signal that the program handles itself is left to it.
        came = []
        signal.signal(signals[0], lambda which, _: came.append(which))
        with server._stopped_by_signals():
            signal.raise_signal(signals[0])
        assert came == [signals[0]] and len(found.graces) == 3
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)


def test_a_signal_that_comes_to_another_thread_ends_it():
    source = """
import signal, sys, threading, tempera
model = tempera.Model.from_callable(lambda prefixes: [[0.0, 1.0]] * len(prefixes), 2)
sys.stderr = sys.stdout
def come():
    sys.stdin.readline()
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
threading.Thread(target=come).start()
model.serve(port=0)
print("after it", flush=True)
"""
    with a_program(source, stdin=subprocess.PIPE) as program:
        assert program.stdout.readline().startswith("tempera serves on http://127.0.0.1:")
        # By now it waits, with very high probability; the test passes as well if it does not yet.
        time.sleep(0.5)
        program.stdin.write("\n")
        program.stdin.flush()
        assert program.stdout.read() == "after it\n"
        assert program.wait(60) == 0


def test_a_model_of_our_own_is_served_as_the_command_serves_it(model):
    with tempera.Server(model, port=0, default_sampler="ppt", **PPT) as server:
        status, answer = drawn(server, prompt=SUM)
        assert status == 200 and answer["model"] == "worked_sum" and answer["tempera"]["arithmetic"] == "float32"
        assert answer["choices"][0]["text"] == model.sample(SUM, seed=5, horizon=28, **PPT)[0].text
        assert drawn(server, prompt=SUM, tempera={**PPT, "digest": True})[1]["tempera"]["digest"]


REFUSED = {
    "port": ({"port": 70000}, "port: 70000 is not a whole number from 0 to 65535"),
    "host": ({"host": "0.0.0.0", "port": 0}, "host 0.0.0.0: others than this machine could use the model; give api_key_file FILE, or without_key"),
    "name": ({"model_name": "a:ppt"}, "model_name: "),
    "prompts": ({"access_log_prompts": True}, "access_log_prompts: there is no access log; give access_log FILE too"),
    "seed": ({"seed": 3}, "seed: is a matter of each request; leave it out"),
    "sampler": ({"default_sampler": "none"}, "none"),
    "setting": ({"particles": 3}, "particles"),
    "batches": ({"batch_folder": "b"}, "batch_folder: resumes its batches, and a callable without a digest may compute other numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_served_is_refused_by_one_line(own, name):
    wishes, said = REFUSED[name]
    with pytest.raises(errors.BadInput) as raised:
        tempera.Server(own, **wishes)
    assert said in str(raised.value) and "--" not in str(raised.value) and "\n" not in str(raised.value)
    with pytest.raises(TypeError, match="did you mean 'port'"):
        tempera.Server(own, prt=1)


def test_a_name_is_that_of_a_file_in_the_folder_that_it_was_made_in(own, tmp_path, monkeypatch):
    """A program may go to another folder meanwhile, and all but the file of keys is opened again later."""
    told = []

    class Told:
        url = ""

        def __init__(self, opened, name, version, options, sampler, warn):
            told.append(options)

    monkeypatch.setattr(own._native, "RawServer", Told)
    monkeypatch.chdir(tmp_path)
    model = tempera.Model.from_callable(uneven, 8, digest="1")
    for name in ("access_log", "batch_folder", "runs"):
        for given, expected in (("a", tmp_path / "a"), ("./b/../c", tmp_path / "c"), (tmp_path / "d", tmp_path / "d"), ("/e", "/e")):
            tempera.Server(model, **{name: given})
            assert told[-1][name] == str(expected)
    tempera.Server(model, access_log="-")  # the standard output
    assert told[-1]["access_log"] == "-"


def test_a_server_is_told_its_options_its_sampler_and_its_name(own, model, tmp_path, monkeypatch):
    told = []

    class Told:
        url = "u"

        def __init__(self, opened, name, version, options, sampler, warn):
            told.append((opened, name, version, options, sampler))

    for one in (own, model):
        monkeypatch.setattr(one._native, "RawServer", Told)
    monkeypatch.chdir(tmp_path)
    given = {"host": "h", "port": 0, "api_key_file": "k", "without_key": True, "access_log_prompts": False, "batch": 3, "under_way": 4, "cache_memory": 5, "queue": 6, "grace": 7, "longest": 8}
    for name, value in given.items():
        tempera.Server(own, **{name: value})
        assert told[-1][3] == {name: value, "model_name": "mine"} and told[-1][4] == {}, name
        assert tempera.Server(own, **{name: None})._grace == 30 and told[-1][3] == {"model_name": "mine"}
    assert tempera.Server(own, grace=7)._grace == 7 and tempera.Server(own).url == "u"
    for origins, expected in (("https://a", ["https://a"]), (["https://a", "b"], ["https://a", "b"])):
        tempera.Server(own, allow_origin=origins)
        assert told[-1][3]["allow_origin"] == expected
    tempera.Server(own, model_name="other", default_sampler="ppt", powers=[1, 2], rounds=3, max_tokens=9)
    assert told[-1] == (own._opened, "mine", tempera.__version__, {"model_name": "other"}, {"sampler": "ppt", "powers": [1.0, 2.0], "rounds": 3, "horizon": 9})
    tempera.Server(model, batch=2)  # the name of a model of our own is the command's matter
    assert told[-1] == (model._opened, model.name, tempera.__version__, {"batch": 2}, {})
    (tmp_path / "folder").mkdir()
    own_folder = tempera.Model.from_callable(uneven, 8, name="folder/")
    tempera.Server(own_folder)
    assert told[-1][3] == {"model_name": "folder"}
    for wrong, name in (({"host": ""}, "host"), ({"api_key_file": 3}, "api_key_file"), ({"without_key": 2}, "without_key"), ({"allow_origin": [""]}, "allow_origin"), ({"cache_memory": -1}, "cache_memory"),
                        ({"access_log": ""}, "access_log"), ({"default_sampler": 3}, "sampler"), ({"powers": "x"}, "powers")):  # fmt: skip
        with pytest.raises(errors.BadInput, match=f"^{name}: "):
            tempera.Server(own, **wrong)
    with pytest.raises(TypeError, match="Server\\(\\) has no argument 'sampler'"):
        tempera.Server(own, sampler="ppt")


@pytest.mark.parametrize("line, expected", [
    ("--allow-origin: x; give --api-key-file FILE", "allow_origin: x; give api_key_file FILE"), ("host: a--b", "host: a--b"), ("--port", "port"),
])
def test_flags_are_told_as_arguments(line, expected):
    from tempera.server import _keywords

    with pytest.raises(errors.BadInput) as raised, _keywords():
        raise errors.BadInput(line)
    assert str(raised.value) == expected


def test_batches_of_a_model_with_a_digest(tmp_path):
    own = tempera.Model.from_callable(uneven, 8, digest="1")
    with tempera.Server(own, port=0, batch_folder=tmp_path) as server:
        assert asked(server, "/v1/batches")[0] == 200


def test_every_option_of_the_command_is_a_keyword():
    """But for those of the model's opening, which is done, and shards, which are of processes."""
    told = subprocess.run([TEMPERA, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    flags = {flag[2:].replace("-", "_") for flag in re.findall(r"^ +(--[a-z0-9-]+)", told, re.MULTILINE)}
    assert flags - set(ServeWishes.__annotations__) == {"model", "device", "arithmetic", "rope_factors", "packed_weights", "download", "shard"}


def test_a_child_of_a_fork_leaves_its_parents_server_alone(own, server):
    def in_it():
        with pytest.raises(errors.BadInput, match="before this process was forked"):
            server.stop()

    in_child(in_it)
    assert drawn(server)[0] == 200
