"""What `tempera serve` and its neighbours say of options that are wrong: one line that names the option and the remedy."""
import json
import os
import re
import subprocess

import pytest

from conftest import MODEL, PATIENCE, TEMPERA, TREE, Server
from test_batches import results, start, wait


def refusal(*arguments, **variables):
    environment = {key: value for key, value in os.environ.items() if key not in ("HOME", "XDG_DATA_HOME")}
    done = subprocess.run([TEMPERA, *arguments], capture_output=True, text=True, timeout=PATIENCE, env={**environment, **variables})
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done
    return done.stderr


NUMBERS = {"--port": (0, 65535), "--batch": (1, 4096), "--under-way": (1, 65536), "--queue": (1, 1000000), "--grace": (0, 86400),
           "--longest": (0, 31536000)}


@pytest.mark.parametrize("flag", NUMBERS)
def test_numbers_are_named_with_their_range(flag):
    least, most = NUMBERS[flag]
    for value in ("x", "-1", "1.5", "", "0x1", str(most + 1), *([str(least - 1)] if least else [])):
        line = refusal("serve", "--model", MODEL, flag + "=" + value)
        assert line.startswith(f"tempera: {flag}: ") or (value == "" and "has no value" in line), line
        assert value == "" or f"from {least} to {most}" in line, line
    # The bounds themselves are taken: what is refused is the model, which comes after them.
    for value in (least, most):
        assert "/nowhere" in refusal("serve", "--model", "/nowhere", flag, str(value))


@pytest.mark.parametrize("arguments, words", [
    (["merge"], ["RUN: is missing", "give the folder"]), (["law", "--model", MODEL], ['"--model"', "give MODEL alone"]),
    (["plot", "--run", "x"], ['"--run"', "give RUN alone"]), (["serve", "--model", MODEL, "--allow-origin", "http://*.example"], ["--allow-origin", "* alone"]),
    (["serve", "--model", "smollm2"], ["HOME: is not set", "XDG_DATA_HOME"]), (["tokens", "--model", MODEL, "4+7?\n"], ["the character U+000A"]),
    (["tokens", "--model", MODEL, "4\u2028"], ["the character U+2028"]), (["tokens", "--model", MODEL, "4\u0085"], ["the character U+0085"])])
def test_the_line_names_what_is_wrong_and_the_remedy(arguments, words):
    line = refusal(*arguments)
    assert all(word in line for word in words), line


def test_the_folder_of_named_models_is_absolute(tmp_path):
    """A relative XDG_DATA_HOME is as none, as its specification says; a relative HOME is refused."""
    for variables, line in (({}, "HOME: is not set"), ({"HOME": "relative"}, "HOME: is not an absolute path")):
        for folder in ({}, {"XDG_DATA_HOME": ""}, {"XDG_DATA_HOME": "relative"}):
            assert line in refusal("serve", "--model", "smollm2", **folder, **variables)
    home, data = str(tmp_path / "home"), str(tmp_path / "data")
    for folder, begin in (({}, home), ({"XDG_DATA_HOME": ""}, home), ({"XDG_DATA_HOME": "relative"}, home), ({"XDG_DATA_HOME": data}, data)):
        environment = {key: value for key, value in os.environ.items() if key != "XDG_DATA_HOME"} | {"HOME": home, **folder}
        listed = json.loads(subprocess.check_output([TEMPERA, "models", "--json"], env=environment, timeout=PATIENCE))
        assert listed and all(model["path"].startswith(begin + "/") and "/tempera/models/" in model["path"] for model in listed), folder


def test_the_help_names_units_that_are_taken():
    text = subprocess.run([TEMPERA, "help", "serve"], capture_output=True, text=True, check=True).stdout
    unit = re.search(r"such as (\d+\w+)", text.replace("\n", " ")).group(1)
    assert "/nowhere" in refusal("serve", "--model", "/nowhere", "--cache-memory", unit)


def test_an_address_of_ipv6_is_in_brackets():
    try:
        process = subprocess.Popen([TEMPERA, "serve", "--model", MODEL, "--host", "::1", "--port", "0"], stderr=subprocess.PIPE, text=True)
        line = process.stderr.readline()
    finally:
        process.terminate()
        assert process.wait(timeout=PATIENCE) in (0, 2)
        process.stderr.close()
    assert re.search(r"http://\[::1\]:\d+ ", line) or "cannot listen there" in line, line


def test_a_chat_with_a_model_without_a_template_is_told_what_works(server):
    status, answer = server.ask("/v1/chat/completions", {"messages": [{"role": "user", "content": "4+7?"}]})
    assert status == 400 and "/v1/completions" in answer["error"]["message"] and "--" not in answer["error"]["message"], answer


def test_lines_of_a_batch_say_what_requests_say(tmp_path):
    running = Server("--batch-folder", str(tmp_path / "kept"))
    try:
        bodies = {"a": {"prompt": "1?", "model": "other"}, "b": {"prompt": "1?", "top_p": 1.5}, "c": {"prompt": "1?", "n": 0}}
        lines = [{"custom_id": name, "method": "POST", "url": "/v1/completions", "body": body} for name, body in bodies.items()]
        found = results(running, wait(running, start(running, lines)))
        for name, body in bodies.items():
            assert (found[name]["status_code"], found[name]["body"]) == running.ask("/v1/completions", body), name
        failed = wait(running, start(running, ['{"custom_id": "a", "method": "POST"']))
        assert "write one JSON object" in failed["errors"]["data"][0]["message"], failed
    finally:
        running.stop()


def test_lm_eval_is_named_with_what_its_clients_of_servers_need():
    """Without the extra `api` its local-completions fails to import tenacity."""
    assert 'harness = ["lm-eval[api]' in (TREE / "pyproject.toml").read_text()
    assert 'pip install "lm-eval[api]"' in (TREE / "docs/howto/clients.md").read_text()
