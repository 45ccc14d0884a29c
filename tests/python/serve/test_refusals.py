"""Every refusal that one field is at fault for has its name as "param", whatever the field and its value."""
import json

import pytest

from conftest import Server, write_chat_model

BODIES = {
    "/v1/completions": {"prompt": "1+1?", "max_tokens": 2},
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "1+1?"}], "max_tokens": 2},
    "/v1/responses": {"input": "1+1?", "max_output_tokens": 2},
    "/tokenize": {"prompt": "1"},
    "/detokenize": {"tokens": [1]},
}
VALUES = [-1, 0, 1.5, 1e300, 10**12, "x", "", True, False, [], [1], ["x"], {}, {"x": 1}, [[]], [{}], [None], [-1], ["x"] * 20, [1] * 70]
# Two fields that contradict each other: either is named.
EITHER = {("max_completion_tokens", "max_tokens"), ("messages", "prompt"), ("prompt", "messages")}


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "chat"
    write_chat_model(folder)
    running = Server(model=str(folder))
    yield running
    running.stop()


def fields_of(api, schema):
    """The fields of an object's schema."""
    while "$ref" in schema:
        schema = api["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    fields = dict(schema.get("properties", {}))
    for either in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(either, []):
            fields.update(fields_of(api, part))
    return fields


def places(api, schema, depth=2):
    """The paths of an object's fields, those of its objects among them."""
    for name, of_field in fields_of(api, schema).items():
        yield [name]
        if depth > 1:
            yield from ([name, *path] for path in places(api, of_field, depth - 1))


def with_value(body, path, value):
    body = dict(body)
    if len(path) > 1:
        value = with_value({}, path[1:], value)
    return {**body, path[0]: value}


def is_named(field, param):
    return param is not None and (param == field or param.startswith((field + ".", field + "[")) or (field, param) in EITHER)


@pytest.mark.parametrize("path", BODIES)
def test_a_refusal_names_its_field(chat, path):
    api = chat.ask("/openapi.json")[1]
    schema = api["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    refused, unnamed = set(), {}
    for place in places(api, schema):
        field = ".".join(place)
        for value in VALUES:
            status, answer = chat.ask(path, with_value(BODIES[path], place, value))
            if status == 200:
                continue
            assert status in (400, 404), answer
            refused.add(field)
            if not is_named(field, answer["error"]["param"]):
                unnamed.setdefault((field, answer["error"]["param"]), (json.dumps(value)[:40], answer["error"]["message"][:100]))
    assert unnamed == {}
    assert len(refused) > (2 if "tokenize" in path else 40)


@pytest.mark.parametrize("tempera, param", [
    ({"powers": [2, 1]}, "tempera.powers"), ({"powers": [1, 2], "rounds": [1, 2, 3]}, "tempera.rounds"),
    ({"powers": [1, 2], "local_moves": [1, 2, 3]}, "tempera.local_moves"),
    ({"powers": [1, 2], "restart_weights": [1] * 9}, "tempera.restart_weights"),
    ({"powers": [1, 2], "output_rung": 3}, "tempera.output_rung"), ({"sampler": "standard", "powers": [2]}, "tempera.powers"),
    ({"sampler": "ppt", "particles": 3}, "tempera.particles"), ({"sampler": "ppt", "most_tokens": 3}, "tempera.most_tokens")])
@pytest.mark.parametrize("stream", [False, True])
def test_a_refused_setting_is_named_as_a_field(chat, tempera, param, stream):
    status, answer = chat.ask("/v1/completions", {"prompt": "1+1?", "max_tokens": 2, "stream": stream, "tempera": tempera})
    assert status == 400 and answer["error"]["param"] == param and answer["error"]["message"].startswith(param), answer


@pytest.mark.parametrize("body, param", [
    ({"stop": [""]}, "stop"), ({"prompt": [10**6]}, "prompt"), ({"prompt": ["x", [10**6]]}, "prompt"),
    ({"n": 10**4}, "n"), ({"stream_options": {"include_usage": True}}, "stream_options.include_usage")])
def test_what_only_the_model_can_refuse_is_named(chat, body, param):
    status, answer = chat.ask("/v1/completions", {"prompt": "1+1?", "max_tokens": 2, **body})
    assert status == 400 and answer["error"]["param"] == param, answer


@pytest.mark.parametrize("fields, param", [
    ({"chat_template_kwargs": {"enable_thinking": True}}, "chat_template_kwargs.enable_thinking"),
    ({"tempera": {"thinking": True}}, "tempera.thinking")])
def test_thinking_is_named_as_it_was_asked_for(chat, fields, param):
    status, answer = chat.ask("/v1/chat/completions", {**BODIES["/v1/chat/completions"], **fields})
    assert status == 400 and answer["error"]["param"] == param, answer


def test_a_line_of_a_batch_names_its_field(tmp_path):
    running = Server("--batch-folder", str(tmp_path / "kept"))
    try:
        good = {"custom_id": "a", "method": "POST", "url": "/v1/completions", "body": {}}
        lines = [{**good, "method": "GET"}, {**good, "url": "/"}, {**good, "custom_id": 7}, {"custom_id": "b"}, good, good]
        text = "\r\n".join(["--b", 'Content-Disposition: form-data; name="purpose"', "", "batch", "--b",
                            'Content-Disposition: form-data; name="file"; filename="in.jsonl"', "", "\n".join(map(json.dumps, lines)), "--b--", ""])
        file = running.ask("/v1/files", text, headers={"Content-Type": "multipart/form-data; boundary=b"})[1]
        batch = running.ask("/v1/batches", {"input_file_id": file["id"], "endpoint": "/v1/completions", "completion_window": "24h"})[1]
        assert [error["param"] for error in batch["errors"]["data"]] == ["method", "url", "custom_id", "method", "custom_id"]
    finally:
        running.stop()
