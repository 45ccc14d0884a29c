"""Real clients: openai-python (sync, async, streams, cancelling), curl, and Prometheus' own parser."""
import asyncio
import json
import re
import shutil
import subprocess

import pytest

from conftest import TREE, Server, obtained, wait_until

openai = pytest.importorskip("openai", reason="openai is not installed", exc_type=ImportError)

PROMPT = "4+7+9+3?"
PPT = {"tempera": {"powers": [1, 2, 4], "block": 4, "rounds": 2}}
LONG = {"tempera": {"powers": [1, 2, 4], "block": 1, "rounds": 3000}}


@pytest.fixture
def client(server):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)


@pytest.fixture
def asynchronous(server):
    return openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)


def complete(client, **fields):
    return client.completions.create(model="worked_sum", prompt=PROMPT, max_tokens=28, seed=3,
                                     extra_body=PPT, **fields)


def test_sync_and_stream_have_one_text(client):
    whole = complete(client, n=2)
    assert whole.system_fingerprint == "worked_sum-float32-tempera-" + (TREE / "VERSION").read_text().strip()
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens
    assert whole.tempera["decode_tokens"] > whole.usage.completion_tokens
    texts = {0: "", 1: ""}
    for chunk in complete(client, n=2, stream=True, stream_options={"include_usage": True}):
        for choice in chunk.choices:
            texts[choice.index] += choice.text
    assert [texts[0], texts[1]] == [choice.text for choice in whole.choices]
    assert chunk.usage == whole.usage


def test_async_requests_share_the_passes_and_keep_their_answers(client, asynchronous):
    async def all_at_once():
        return await asyncio.gather(*(asynchronous.completions.create(
            model="worked_sum", prompt=PROMPT, max_tokens=28, seed=seed, extra_body=PPT) for seed in range(20)))
    together = asyncio.run(all_at_once())
    for seed in (0, 7, 19):
        alone = client.completions.create(model="worked_sum", prompt=PROMPT, max_tokens=28, seed=seed, extra_body=PPT)
        assert alone.choices == together[seed].choices and alone.tempera == together[seed].tempera


def test_a_cancelled_request_stops_its_work(server, asynchronous):
    async def begin_and_cancel():
        task = asyncio.ensure_future(asynchronous.completions.create(
            model="worked_sum", prompt=PROMPT, max_tokens=28, seed=1, n=4, extra_body=LONG))
        while "tempera_choices_under_way 4\n" not in server.ask("/metrics")[1]:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    asyncio.run(begin_and_cancel())
    server.wait_until_idle()


def test_a_closed_stream_stops_its_work(server, client):
    stream = client.completions.create(model="worked_sum", prompt=PROMPT, max_tokens=28, seed=1, stream=True,
                                       extra_body={"tempera": {**LONG["tempera"], "round_events": True}})
    next(iter(stream))
    stream.close()
    server.wait_until_idle()


def test_errors_have_the_clients_own_classes(client):
    with pytest.raises(openai.BadRequestError, match="max_tokens"):
        client.completions.create(model="worked_sum", prompt="1?", max_tokens=-1)
    with pytest.raises(openai.NotFoundError, match="worked_sum"):
        client.completions.create(model="gpt", prompt="1?")
    with pytest.raises(openai.BadRequestError) as refused:
        client.completions.create(model="worked_sum", prompt="1?", extra_body={"tempera": {"roundz": 3}})
    assert refused.value.body["param"] and "rounds" in refused.value.body["message"]
    assert [model.id for model in client.models.list()] == ["worked_sum"]


def test_the_batch_api_by_its_client(tmp_path):
    running = Server("--batch-folder", str(tmp_path / "kept"))
    try:
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{running.port}/v1", api_key="none", max_retries=0)
        lines = tmp_path / "in.jsonl"
        lines.write_text("".join(json.dumps({
            "custom_id": str(i), "method": "POST", "url": "/v1/completions",
            "body": {"model": "worked_sum", "prompt": PROMPT, "max_tokens": 28, "seed": i, **PPT}}) + "\n" for i in range(3)))
        with open(lines, "rb") as file:
            uploaded = client.files.create(file=file, purpose="batch")
        assert uploaded.bytes == lines.stat().st_size and uploaded.filename == "in.jsonl"
        batch = client.batches.create(input_file_id=uploaded.id, endpoint="/v1/completions", completion_window="24h")
        wait_until(lambda: client.batches.retrieve(batch.id).status == "completed")
        batch = client.batches.retrieve(batch.id)
        found = [json.loads(line) for line in client.files.content(batch.output_file_id).text.splitlines()]
        for i, line in enumerate(found):
            alone = client.completions.create(model="worked_sum", prompt=PROMPT, max_tokens=28, seed=i, extra_body=PPT)
            assert line["response"]["body"]["choices"][0]["text"] == alone.choices[0].text
        assert [listed.id for listed in client.batches.list()] == [batch.id]
        assert len(list(client.files.list())) == 2
        assert client.files.delete(uploaded.id).deleted
        assert client.batches.cancel(batch.id).status == "completed"
    finally:
        running.stop()


@pytest.mark.skipif(not obtained("smollm2"), reason="smollm2 is not there: run tempera models get smollm2")
def test_the_programs_of_the_page_run_as_they_are_printed(tmp_path, monkeypatch, capsys):
    first, second = re.findall(r"```python\n(.*?)```", (TREE / "docs/howto/serve.md").read_text(), re.S)
    running = Server("--batch-folder", str(tmp_path / "kept"), model="smollm2")
    try:
        assert "http://127.0.0.1:8080/v1" in first
        seen = {}
        exec(first.replace("127.0.0.1:8080", f"127.0.0.1:{running.port}"), seen)
        printed = capsys.readouterr().out
        assert seen["answer"].choices[0].message.content in printed and str(seen["answer"].tempera["decode_tokens"]) in printed
        monkeypatch.chdir(tmp_path)
        (tmp_path / "requests.jsonl").write_text(json.dumps({
            "custom_id": "a", "method": "POST", "url": "/v1/completions", "body": {"prompt": "The sky is", "max_tokens": 2, "seed": 1}}) + "\n")
        exec(second, seen)
        assert "BatchRequestCounts(" in capsys.readouterr().out
    finally:
        running.stop()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_shows_rounds_as_they_end(server):
    body = json.dumps({"prompt": PROMPT, "max_tokens": 28, "seed": 3, "stream": True, **PPT})
    done = subprocess.run(["curl", "-sN", f"http://127.0.0.1:{server.port}/v1/completions", "-d", body],
                          capture_output=True, text=True, check=True)
    lines = done.stdout.split("\n\n")
    assert lines[0] == ": accepted" and lines[1].startswith(": choice 0, stage 1, round 0") and lines[-2] == "data: [DONE]"


def test_prometheus_reads_the_metrics(server, client):
    parser = pytest.importorskip("prometheus_client.parser", exc_type=ImportError)
    complete(client)
    families = {family.name: family for family in parser.text_string_to_metric_families(server.ask("/metrics")[1])}
    for name in ("requests", "decode_tokens", "batch_rows_mean", "cache_bytes_most", "local_moves", "swaps",
                 "round_trips", "seconds", "choices_under_way", "connections"):
        assert families["tempera_" + name].samples, name
    assert {sample.labels["part"] for sample in families["tempera_seconds"].samples} == {"forward", "draw", "accept", "swap", "score"}
    assert {sample.labels["rung"] for sample in families["tempera_local_moves"].samples} >= {"1", "2", "3"}
