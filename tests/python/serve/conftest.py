"""A server of the small trained model for the tests. TEMPERA names the command (default: build/release/tempera).

TEMPERA_FAULT_TABLE names a file for the table of the faults that were sent and what became of them (docs/serve.md has one)."""
import collections
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import time

import pytest

TREE = pathlib.Path(__file__).resolve().parents[3]
TEMPERA = os.environ.get("TEMPERA", str(TREE / "build/release/tempera"))
MODEL = str(TREE / "toy_models/worked_sum")
PLACES = [str(TREE), "/pytest-of-"]  # no answer may show where anything is on this machine


def obtained(name):
    """Whether a named model is where `tempera models get` puts it."""
    data = os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share"
    return (pathlib.Path(data) / "tempera/models" / (name + ".gguf")).exists()


class Server:
    """`tempera serve` on a free port, until stop()."""

    def __init__(self, *options, model=MODEL, limits=None):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            for what, values in (limits or {}).items():
                resource.setrlimit(what, values)

        self.process = subprocess.Popen(
            [TEMPERA, "serve", "--model", model, "--port", "0"] + list(options),
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, preexec_fn=limit if limits else None)
        line = self.process.stderr.readline()
        found = re.search(r"http://([^:]+):(\d+)", line)
        assert found, line + self.process.stderr.read()
        self.port = int(found.group(2))

    def connection(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, path, body=None, method=None, headers=None):
        """Status and body of one request, parsed if it is JSON."""
        connection = self.connection()
        data = None if body is None else body if isinstance(body, (str, bytes)) else json.dumps(body)
        connection.request(method or ("GET" if data is None else "POST"), path, data, headers or {})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert not any(place.encode() in text for place in PLACES), text
        kind = answer.headers.get("Content-Type", "")
        return answer.status, json.loads(text) if kind.split(";")[0] == "application/json" else text.decode()

    def events(self, path, body):
        """The data of a stream, parsed, and its comments."""
        connection = self.connection()
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200 and not any(place in text for place in PLACES), text
        blocks = [block for block in text.split("\n\n") if block]
        assert blocks[-1] == "data: [DONE]"
        data = [json.loads(block[6:]) for block in blocks[:-1] if block.startswith("data: ")]
        return data, [block for block in blocks if block.startswith(":")]

    def wait_until_idle(self):
        for _ in range(400):
            if "tempera_choices_under_way 0\n" in self.ask("/metrics")[1]:
                return
            time.sleep(0.05)
        raise AssertionError("the work goes on")

    def stop(self):
        self.process.terminate()
        code = self.process.wait(timeout=60)
        self.process.stderr.close()
        return code


@pytest.fixture(scope="session")
def server():
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def command():
    """Runs the command and parses what it prints as JSON."""
    def run(*arguments):
        done = subprocess.run([TEMPERA, *arguments], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)
    return run


@pytest.fixture(scope="session")
def faults():
    """Counts, for each kind of fault, what became of those that were sent."""
    counts = collections.defaultdict(collections.Counter)
    yield lambda kind, outcome: counts[kind].update([outcome])
    if table := os.environ.get("TEMPERA_FAULT_TABLE"):
        rows = [f"| {kind} | {sum(found.values()):,} | {', '.join(f'{n:,} {what}' for what, n in sorted(found.items()))} |"
                for kind, found in counts.items()]
        pathlib.Path(table).write_text("| fault | sent | what became of them |\n|---|---|---|\n" + "\n".join(rows) + "\n")
