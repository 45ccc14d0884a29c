"""A server of the small trained model for the tests. TEMPERA names the command (default: build/release/tempera).

TEMPERA_FAULT_TABLE names a file for the table of the faults that were sent and what became of them (docs/howto/serve.md has one)."""
import collections
import http.client
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import time

import pytest

TREE = pathlib.Path(__file__).resolve().parents[3]
TEMPERA = os.environ.get("TEMPERA", str(TREE / "build/release/tempera"))
MODEL = str(TREE / "toy_models/worked_sum")
PLACES = [str(TREE), "/pytest-of-"]  # no answer may show where anything is on this machine


PATIENCE = 600  # seconds after which a process or a peer is taken to hang; no test waits that long for anything else


def wait_until(condition, what="it did not come"):
    """Waits for an event. Only a hang ends the wait: a busy machine may take any time."""
    hangs = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < hangs, what
        time.sleep(0.02)
    return found


def obtained(name):
    """True if a named model is where `tempera models get` puts it."""
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

    def connection(self, timeout=PATIENCE):
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
        wait_until(lambda: "tempera_choices_under_way 0\n" in self.ask("/metrics")[1], "the work does not end")

    def stop(self):
        self.process.terminate()
        code = self.process.wait(timeout=PATIENCE)
        self.process.stderr.close()
        return code


@pytest.fixture(scope="session")
def server():
    running = Server()
    yield running
    running.stop()


SMOLLM2_TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")


def write_chat_model(folder):
    """A small model that knows conversations: random weights, a vocabulary of bytes, and SmolLM2's chat template."""
    fixtures = TREE / "tests/fixtures"
    folder.mkdir()
    config = json.loads((fixtures / "architectures/qwen3/config.json").read_text())
    config.update(vocab_size=512, eos_token_id=502)
    (folder / "config.json").write_text(json.dumps(config))
    shapes = {"model.embed_tokens.weight": [512, 40], "model.norm.weight": [40]}
    for layer in range(2):
        for name, shape in {"input_layernorm": [40], "post_attention_layernorm": [40], "self_attn.q_proj": [64, 40], "self_attn.k_proj": [32, 40],
                            "self_attn.v_proj": [32, 40], "self_attn.o_proj": [40, 64], "self_attn.q_norm": [16], "self_attn.k_norm": [16],
                            "mlp.gate_proj": [56, 40], "mlp.up_proj": [56, 40], "mlp.down_proj": [40, 56]}.items():
            shapes[f"model.layers.{layer}.{name}.weight"] = shape
    header, data, numbers = {}, b"", random.Random(1)
    for name, shape in shapes.items():
        size = shape[0] * (shape[1] if len(shape) > 1 else 1)
        tensor = struct.pack(f"<{size}f", *(numbers.gauss(0, 0.3) for _ in range(size)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(tensor)]}
        data += tensor
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    shutil.copy(fixtures / "tokenizer/qwen_like/tokenizer.json", folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": SMOLLM2_TEMPLATE, "eos_token": "<|im_end|>"}))


@pytest.fixture(scope="session")
def chat_server(tmp_path_factory):
    """A server of a small model that knows conversations, named "chat"."""
    folder = tmp_path_factory.mktemp("chat_model") / "chat"
    write_chat_model(folder)
    running = Server(model=str(folder))
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
