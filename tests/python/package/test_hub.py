"""Names of the Hugging Face Hub: a hub on loopback, whose cache huggingface_hub itself makes."""
import hashlib
import http.server
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import threading
import types

import pytest
from conftest import TEMPERA, WORKED_SUM

import tempera
from tempera import hub_download

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "Own/Small-0.5B"


class Hub(http.server.ThreadingHTTPServer):
    """One model, in the form of the Hub's API as huggingface_hub asks for it."""

    def __init__(self):
        self.asked = []
        self.files = {path.name: path.read_bytes() for path in pathlib.Path(WORKED_SUM).iterdir() if path.is_file()}
        self.files["README.md"] = b"not read"
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, body, **headers):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def do_GET(self):
                path = self.path.partition("?")[0]
                hub.asked.append(path)
                known = [f"/api/models/{NAME}", *(f"/api/models/{NAME}/revision/{revision}" for revision in ("main", COMMIT))]
                if path in known:
                    listed = {"id": NAME, "modelId": NAME, "sha": COMMIT, "private": False, "downloads": 0, "likes": 0, "tags": [],
                              "siblings": [{"rfilename": name} for name in sorted(hub.files)]}
                    return self.answer(200, json.dumps(listed).encode(), Content_Type="application/json")
                if path.startswith(f"/api/models/{NAME}/tree/"):
                    tree = [{"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()} for name, data in sorted(hub.files.items())]
                    return self.answer(200, json.dumps(tree).encode(), Content_Type="application/json")
                name = path.rpartition("/")[2]
                if path.startswith(f"/{NAME}/resolve/") and name in hub.files:
                    data = hub.files[name]
                    return self.answer(200, data, ETag='"' + hashlib.sha1(data).hexdigest() + '"', X_Repo_Commit=COMMIT, Content_Type="application/octet-stream")
                self.answer(404, b'{"error": "Repository not found"}', X_Error_Code="RepoNotFound", Content_Type="application/json")

            do_HEAD = do_GET

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture
def hub(tmp_path):
    """The hub, and an environment whose cache is empty and whose python3 is this one."""
    served = Hub()
    (tmp_path / "bin").mkdir()
    # `tempera` starts python3 with -I: a link would lose the packages of this environment.
    python = tmp_path / "bin/python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o700)
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_ENDPOINT": f"http://127.0.0.1:{served.server_address[1]}", "HF_HUB_DISABLE_XET": "1",
                   "HF_HUB_DISABLE_TELEMETRY": "1", "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "HF_HUB_DISABLE_UPDATE_CHECK": "1"}
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE", "HF_TOKEN", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        environment.pop(name, None)
    served.environment = environment
    yield served
    served.shutdown()
    served.server_close()


def ask(hub, *arguments, **more):
    return subprocess.run([TEMPERA, *map(str, arguments)], capture_output=True, text=True, env={**hub.environment, **more})


def test_the_command_downloads_when_it_is_told(hub, tmp_path):
    refused = ask(hub, "tokens", "--model", NAME, "4+7?")
    assert refused.returncode == 2 and f"run tempera models get {NAME}, or add --download" in refused.stderr and not hub.asked
    drawn = ask(hub, "sample", "4+7?", "--model", NAME, "--download", "--powers", "1,2", "--horizon", 8, "--block", 4, "--rounds", 1, "--seed", 1,
                "--out", tmp_path / "run", "--json")
    assert drawn.returncode == 0, drawn.stderr
    config = json.loads((tmp_path / "run/config.json").read_text())
    snapshot = tmp_path / "hf/hub/models--Own--Small-0.5B/snapshots" / COMMIT
    assert (config["model"], config["snapshot"]["revision"], config["model_path"]) == (NAME, COMMIT, str(snapshot))
    assert not (snapshot / "README.md").exists() and len(config["snapshot"]["digest"]) == 64
    alone = ask(hub, "sample", "4+7?", "--model", WORKED_SUM, "--powers", "1,2", "--horizon", 8, "--block", 4, "--rounds", 1, "--seed", 1, "--json")
    assert json.loads(alone.stdout)["answers"] == json.loads(drawn.stdout)["answers"]
    # A snapshot that is there is used without the network, by any of its names.
    asked = len(hub.asked)
    for name in (NAME, f"{NAME}@main", f"{NAME}@{COMMIT}"):
        for flags in ((), ("--download",)):
            again = ask(hub, "tokens", "--model", name, *flags, "4+7?", "--json", HF_ENDPOINT="http://127.0.0.1:9")
            assert again.returncode == 0, again.stderr
    got = ask(hub, "models", "get", NAME, "--json")
    assert json.loads(got.stdout) == {"name": NAME, "revision": COMMIT, "digest": config["snapshot"]["digest"], "path": str(snapshot)}
    assert len(hub.asked) == asked
    # A folder of that name wins.
    shutil.copytree(WORKED_SUM, tmp_path / NAME)
    (tmp_path / NAME / "tokenizer.json").write_text("{")
    here = subprocess.run([TEMPERA, "tokens", "--model", NAME, "4+7?"], capture_output=True, text=True, env=hub.environment, cwd=tmp_path)
    assert here.returncode == 2 and f"{NAME}/tokenizer.json" in here.stderr


def test_what_cannot_be_downloaded_is_one_line(hub, tmp_path):
    (tmp_path / "empty").mkdir()
    without = {"PATH": str(tmp_path / "empty")}
    for name, more, line in (("Own/Other", {}, "cannot be downloaded ("), (NAME, {"HF_ENDPOINT": "http://127.0.0.1:9"}, "cannot be downloaded ("),
                             (NAME, without, "pip install huggingface_hub"), ("no name", {}, "is not a name of the Hugging Face Hub")):
        refused = ask(hub, "tokens", "--model", name, "--download", "4+7?", **more)
        assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1) and line in refused.stderr, refused.stderr


def test_the_package_downloads_when_it_is_told(hub):
    source = f"""
import pickle, tempera
try:
    tempera.Model.open({NAME!r})
except tempera.BadInput as error:
    print(error)
model = tempera.Model.open({NAME!r}, download=True)
print(model.revision, len(model.digest), model.sample("4+7?", horizon=8, seed=1)[0].text)
print(pickle.loads(pickle.dumps(model)).name)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env={**hub.environment, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0, done.stderr
    refusal, opened, again = done.stdout.splitlines()
    assert f"tempera models get {NAME}" in refusal
    assert opened.split()[:2] == [COMMIT, "64"] and opened.split(" ", 2)[2] == tempera.Model.open(WORKED_SUM).sample("4+7?", horizon=8, seed=1)[0].text
    assert again == f"{NAME}@{COMMIT}"


def test_a_path_has_no_revision(model):
    assert (model.revision, model.digest) == (None, None)
    assert pickle.loads(pickle.dumps(model)).name == model.name


@pytest.mark.parametrize("file, taken, left", [
    ("", ["config.json", "tokenizer.json", "model-00001-of-00002.safetensors", "chat_template.jinja"], ["README.md", "model.bin", "sub/config.json", "consolidated.safetensors", "consolidated.00.json", "m.gguf"]),
    ("m-Q4.gguf", ["m-Q4.gguf"], ["m-Q8.gguf", "config.json", "sub/m-Q4.gguf"]), ("sub/m.gguf", ["sub/m.gguf"], ["m.gguf"]),
    ("m-00001-of-00003.gguf", ["m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"], ["m-00001-of-00002.gguf", "n-00001-of-00003.gguf"]),
    ("s/m-00002-of-00012.gguf", ["s/m-00001-of-00012.gguf"], ["m-00001-of-00012.gguf", "s/m-00001-of-00012.gguf.part"]), ("m-1-of-3.gguf", ["m-1-of-3.gguf"], ["m-2-of-3.gguf"]),
])  # fmt: skip
def test_what_is_downloaded_is_what_is_read(monkeypatch, file, taken, left):
    """By the patterns that huggingface_hub applies to every name of a repository."""
    from huggingface_hub.utils import filter_repo_objects

    heard = []
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda repository, **more: heard.append((repository, more)) or pathlib.Path("/x"))
    assert hub_download.download("a/b", file, "r", "c") == "/x"
    ((repository, more),) = heard
    assert (repository, more["revision"], more["cache_dir"]) == ("a/b", "r", "c")
    assert list(filter_repo_objects([*taken, *left], allow_patterns=more["allow_patterns"], ignore_patterns=more["ignore_patterns"])) == taken


def test_a_name_that_cannot_be_downloaded_is_one_line_of_its_cause(monkeypatch):
    missing = ("a/b", "", "main", "/cache")
    fake = types.SimpleNamespace(missing_of_hub=lambda name: None if name == "here" else missing)
    monkeypatch.setattr("tempera.model.native", lambda device=None: fake)
    heard = []
    for raised, line in ((None, None), (ImportError("no"), "huggingface_hub is not installed; pip install huggingface_hub"), (OSError("no route"), r"cannot be downloaded \(no route\); see the name")):

        def download(*arguments, raised=raised):
            heard.append(arguments)
            if raised is not None:
                raise raised

        monkeypatch.setattr(hub_download, "download", download)
        if raised is None:
            tempera.model._download("a/b")
            tempera.model._download("here")
        else:
            with pytest.raises(tempera.BadInput, match=f"^a/b: .*{line}"):
                tempera.model._download("a/b")
    assert heard == [missing] * 3
