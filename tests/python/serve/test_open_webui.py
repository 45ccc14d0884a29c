"""Open WebUI: requests as it sends them, and what it reads from the answers: its list of models, a chat's stream, and a title."""
import json

import pytest

from conftest import Server, write_chat_model

HEADERS = {"Authorization": "Bearer none", "Content-Type": "application/json", "X-OpenWebUI-User-Name": "Ann", "X-OpenWebUI-User-Role": "user"}
TITLE = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: Why is the sky blue?
ASSISTANT: It is not.
</chat_history>"""


@pytest.fixture(scope="module")
def roomy(tmp_path_factory):
    """A model that talks, with room for a title's 1000 tokens."""
    folder = tmp_path_factory.mktemp("model") / "roomy"
    write_chat_model(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 4096}))
    running = Server("--default-sampler", "ppt", "--powers", "1,2,4", "--block", "8", "--rounds", "1", "--horizon", "16", model=str(folder))
    yield running
    running.stop()


def test_its_menu_lists_the_samplers(roomy):
    status, listed = roomy.ask("/v1/models", headers=HEADERS)
    # It takes `data`, keys it by `id`, and shows `name`, or `id` where there is none.
    names = [model.get("name", model["id"]) for model in listed["data"]]
    assert status == 200 and "error" not in listed and names[:2] == ["roomy", "roomy:ppt"] and len(set(names)) == len(names)


def test_a_chat_is_a_stream_with_usage(roomy):
    asked = {"model": "roomy", "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Why is the sky blue?"}]}
    connection = roomy.connection()
    connection.request("POST", "/v1/chat/completions", json.dumps({**asked, "stream": True, "stream_options": {"include_usage": True}}), HEADERS)
    answer = connection.getresponse()
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/event-stream")
    # It reads line by line and skips what does not begin with "data:".
    lines = [line.removeprefix("data:").strip() for line in answer.read().decode().splitlines() if line.startswith("data:")]
    assert lines.pop() == "[DONE]"
    chunks = [json.loads(line) for line in lines]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    assert deltas[0]["role"] == "assistant" and len({chunk["id"] for chunk in chunks}) == 1
    *others, reason = [chunk["choices"][0]["finish_reason"] for chunk in chunks if chunk["choices"]]
    (usage,) = [chunk["usage"] for chunk in chunks if chunk.get("usage")]
    seed = next(chunk["tempera"]["seed"] for chunk in chunks if "tempera" in chunk)
    status, whole = roomy.ask("/v1/chat/completions", {**asked, "stream": False, "seed": seed}, headers=HEADERS)
    text = "".join(delta.get("content") or "" for delta in deltas)
    assert status == 200 and whole["choices"][0]["message"] == {"role": "assistant", "content": text}
    assert whole["choices"][0]["finish_reason"] == reason and set(others) == {None} and reason in ("stop", "length")
    assert whole["usage"] == usage and usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_a_title_is_whole_and_has_room(roomy, limit):
    status, answer = roomy.ask("/v1/chat/completions", {
        "model": "roomy:standard", "messages": [{"role": "user", "content": TITLE}], "stream": False, limit: 1000}, headers=HEADERS)
    assert status == 200 and isinstance(answer["choices"][0]["message"]["content"], str) and answer["tempera"]["horizon"] == 1000


def test_its_own_tools_are_refused_by_a_line(roomy):
    tool = {"type": "function", "function": {"name": "get_current_timestamp", "description": "", "parameters": {"type": "object", "properties": {}}}}
    status, answer = roomy.ask("/v1/chat/completions", {
        "model": "roomy", "messages": [{"role": "user", "content": "Hi"}], "stream": True, "tools": [tool]}, headers=HEADERS)
    assert status == 400 and answer["error"]["param"] == "tools" and "describe the tools in a message" in answer["error"]["message"]
