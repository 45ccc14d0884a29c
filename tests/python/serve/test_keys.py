"""Several clients with a key each: who is let in, what each may take, and what a wrong key file says."""
import hashlib
import json
import subprocess

import pytest

from conftest import MODEL, PATIENCE, TEMPERA, Server, wait_until

openai = pytest.importorskip("openai", reason="openai is not installed", exc_type=ImportError)

LONG = {"prompt": "4+7?", "max_tokens": 28, "seed": 1, "tempera": {"powers": [1, 2, 4], "block": 1, "rounds": 20000}}
SHORT = {"prompt": "4+7?", "max_tokens": 4, "seed": 1}


def digest(key):
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def bearer(key):
    return {"Authorization": "Bearer " + key}


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keyed")
    file = folder / "keys"
    file.write_text(f"# who may use the server\nada key-of-ada\nbob {digest('key-of-bob')} requests=1\n"
                    "eve key-of-eve tokens-per-minute=60\n")
    file.chmod(0o600)
    running = Server("--api-key-file", str(file), "--batch-folder", str(folder / "kept"))
    yield running
    running.stop()


def client_of(server, key):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key=key, max_retries=0)


def test_each_key_opens_and_no_other(keyed):
    for name in ("ada", "bob", "eve"):
        assert client_of(keyed, "key-of-" + name).models.list().data[0].id == "worked_sum"
    for key in ("ada", "key-of-ad", "key-of-ada2", digest("key-of-bob"), digest("key-of-bob")[7:]):
        with pytest.raises(openai.AuthenticationError) as refused:
            client_of(keyed, key).models.list()
        assert refused.value.body["type"] == "authentication_error"
    assert keyed.ask("/health")[0] == 200 and keyed.ask("/metrics")[0] == 401


def test_a_client_has_its_requests_at_once_and_no_more(keyed):
    busy = keyed.connection()
    busy.request("POST", "/v1/completions", json.dumps(LONG), bearer("key-of-bob"))
    wait_until(lambda: "tempera_choices_under_way 1\n" in keyed.ask("/metrics", headers=bearer("key-of-ada"))[1])
    with pytest.raises(openai.RateLimitError, match="1 requests at once") as refused:
        client_of(keyed, "key-of-bob").completions.create(model="worked_sum", **SHORT)
    assert refused.value.body["type"] == "rate_limit_error" and refused.value.body["code"] == 429
    assert int(refused.value.response.headers["Retry-After"]) > 0
    # Others have limits of their own, and what asks for no answer is not limited.
    assert keyed.ask("/v1/completions", SHORT, headers=bearer("key-of-ada"))[0] == 200
    assert keyed.ask("/v1/models", headers=bearer("key-of-bob"))[0] == 200
    busy.close()
    wait_until(lambda: keyed.ask("/v1/completions", SHORT, headers=bearer("key-of-bob"))[0] == 200)
    # One after the other is one at once, whatever comes of each.
    wrong = {**SHORT, "temperature": -1}
    for body, status in [(SHORT, 200), (wrong, 400), ({**SHORT, "stream": True}, 200), ({**SHORT, "n": 2000}, 400)] * 50:
        assert keyed.ask("/v1/completions", body, headers=bearer("key-of-bob"))[0] == status


def test_a_client_with_limits_may_do_all_that_takes_no_tokens(keyed):
    """Every path of files and batches: a limit forbids to begin a batch, which would be held to none, and nothing else."""
    asked = [("GET", "/v1/batches"), ("GET", "/v1/files"), ("GET", "/v1/batches/none"),
             ("POST", "/v1/batches/none/cancel"), ("GET", "/v1/files/none"), ("GET", "/v1/files/none/content"), ("DELETE", "/v1/files/none"),
             ("POST", "/v1/files"), ("PUT", "/v1/batches")]  # fmt: skip
    for method, path in asked:
        statuses = {keyed.ask(path, "{}" if method == "POST" else None, method, bearer("key-of-" + name))[0] for name in ("ada", "bob", "eve")}
        assert len(statuses) == 1 and 403 not in statuses, (method, path, statuses)
    for name, status in (("ada", 400), ("bob", 403), ("eve", 403)):
        assert keyed.ask("/v1/batches", {"input_file_id": "file-none", "endpoint": "/v1/completions"}, headers=bearer("key-of-" + name))[0] == status


def test_a_client_pays_for_its_tokens_when_they_are_drawn(keyed):
    headers = bearer("key-of-eve")
    # The first request is taken whole, whatever it costs; it costs more than a minute's.
    body = {"prompt": "4+7?", "max_tokens": 28, "seed": 1, "n": 4, "tempera": {"powers": [1, 2, 4], "block": 4, "rounds": 2}}
    status, answer = keyed.ask("/v1/completions", body, headers=headers)
    spent = answer["usage"]["prompt_tokens"] + answer["tempera"]["decode_tokens"]
    assert status == 200 and spent > 120
    assert answer["choices"] == keyed.ask("/v1/completions", body, headers=bearer("key-of-ada"))[1]["choices"]
    with pytest.raises(openai.RateLimitError, match="60 tokens a minute") as refused:
        client_of(keyed, "key-of-eve").completions.create(model="worked_sum", **SHORT)
    # One token a second: at most the debt and the one that lets a request begin, less what has passed since.
    wait = int(refused.value.response.headers["Retry-After"])
    assert 0 < wait <= spent - 60 + 1
    assert keyed.ask("/v1/models", headers=headers)[0] == 200


def test_what_a_client_left_is_paid_for(tmp_path):
    (tmp_path / "keys").write_text("ada key-of-ada\neve key-of-eve tokens-per-minute=60\n")
    running = Server("--api-key-file", str(tmp_path / "keys"))
    try:
        busy = running.connection()
        busy.request("POST", "/v1/completions", json.dumps({**LONG, "stream": True}), bearer("key-of-eve"))
        answer = busy.getresponse()
        for _ in range(400):  # rounds
            answer.readline()
        busy.close()
        wait_until(lambda: "tempera_choices_under_way 0\n" in running.ask("/metrics", headers=bearer("key-of-ada"))[1])
        assert running.ask("/v1/completions", SHORT, headers=bearer("key-of-eve"))[0] == 429
    finally:
        running.stop()


def test_a_batch_is_made_by_a_key_without_limits_alone(keyed):
    line = json.dumps({"custom_id": "a", "method": "POST", "url": "/v1/completions", "body": SHORT}).encode()
    file = client_of(keyed, "key-of-bob").files.create(file=("in.jsonl", line), purpose="batch")
    for name in ("bob", "eve"):
        with pytest.raises(openai.PermissionDeniedError, match="limits"):
            client_of(keyed, "key-of-" + name).batches.create(
                input_file_id=file.id, endpoint="/v1/completions", completion_window="24h")
    ada = client_of(keyed, "key-of-ada")
    batch = ada.batches.create(input_file_id=file.id, endpoint="/v1/completions", completion_window="24h")
    wait_until(lambda: ada.batches.retrieve(batch.id).status == "completed")


@pytest.mark.parametrize("text, words", [
    ("ada a\nada b\n", ["line 2", '"ada"', "line 1"]), ("ada a\nbob a\n", ["line 2", "line 1"]), ("ada a\nbob\n", ["line 2", "NAME KEY"]),
    ("ada a request=1\n", ["line 1", '"requests"']), ("", ["no key"]),
    ("a" * (15 * 1024 + 1), ["15361 bytes", "15360"]), (f"ada {'a' * 20000}\n", ["line 1", "20000 bytes", "15360"])])
def test_a_wrong_key_file_is_refused_by_one_line(tmp_path, text, words):
    file = tmp_path / "keys"
    file.write_text(text)
    done = subprocess.run([TEMPERA, "serve", "--model", MODEL, "--port", "0", "--api-key-file", str(file)], capture_output=True,
                          text=True, timeout=PATIENCE)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stdout == ""
    assert str(file) in done.stderr and all(word in done.stderr for word in words), done.stderr


def test_the_longest_key_fits_into_a_header(tmp_path):
    key = "k" * (15 * 1024)
    file = tmp_path / "keys"
    file.write_text(f"ada {key}\n")
    file.chmod(0o600)
    running = Server("--api-key-file", str(file))
    assert running.ask("/v1/models", headers=bearer(key))[0] == 200
    assert running.ask("/v1/models", headers=bearer(key[:-1]))[0] == 401
    running.stop()


@pytest.mark.parametrize("text, mode, is_warned", [("ada a\nbob b\n", 0o644, True), ("ada a\n", 0o600, False),
                                                   (f"ada {digest('a')}\n", 0o644, False)])
def test_keys_that_others_may_read_are_told_of(tmp_path, text, mode, is_warned):
    file = tmp_path / "keys"
    file.write_text(text)
    file.chmod(mode)
    running = Server("--api-key-file", str(file))
    assert running.ask("/v1/models", headers=bearer("a"))[0] == 200
    running.process.terminate()
    running.process.wait(timeout=PATIENCE)
    assert ("chmod 600" in running.process.stderr.read()) == is_warned
    running.process.stderr.close()
