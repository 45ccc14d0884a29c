"""The fields of the protocol that this server does not act on: what changes nothing is taken, the rest is refused by name.

openapi.json is the table of the server's own code; the names are those of OpenAI's protocol and of its other servers."""
import gzip
import json
import pathlib
import re
import subprocess
import typing

import pytest
from openai.types import batch_create_params, completion_create_params
from openai.types.chat import chat_completion_assistant_message_param, chat_completion_stream_options_param
from openai.types.chat import completion_create_params as chat_create_params
from openai.types.responses import response_create_params

from conftest import MODEL, TEMPERA, Server

# The fields of OpenAI's protocol, by the object that has them.
OFFICIAL = {
    "Chat": """audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages metadata modalities
        model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention
        reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools
        top_logprobs top_p user verbosity web_search_options""",
    "Completion": """best_of echo frequency_penalty logit_bias logprobs max_tokens model n presence_penalty prompt seed stop stream
        stream_options suffix temperature top_p user""",
    "StreamOptions": "include_obfuscation include_usage",
    "AssistantMessage": "audio content function_call name refusal role tool_calls",
    "NewBatch": "completion_window endpoint input_file_id metadata output_expires_after",
    "NewResponse": """access_programs background background_options context_management conversation image include input instructions
        max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key
        prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text
        tool_choice tools top_logprobs top_p truncation user""",
    "InputMessage": "content id phase role status type",
    "InputPart": "annotations logprobs text type",
}
# Fields of vLLM, SGLang, llama.cpp and the clients that are written for them.
OF_OTHERS = {
    "Chat": """add_generation_prompt best_of cache_salt chat_template_kwargs continue_final_message echo ignore_eos
        include_stop_str_in_output length_penalty min_p min_tokens priority prompt_logprobs repetition_penalty request_id
        return_token_ids return_tokens_as_token_ids skip_special_tokens spaces_between_special_tokens stop_token_ids structured_outputs
        top_k truncate_prompt_tokens typical_p use_beam_search guided_json guided_regex guided_choice guided_grammar""",
    "Completion": """cache_salt ignore_eos include_stop_str_in_output length_penalty min_p min_tokens priority prompt_logprobs
        repetition_penalty request_id skip_special_tokens stop_token_ids top_k use_beam_search metadata""",
    "StreamOptions": "continuous_usage_stats",
    "AssistantMessage": "reasoning reasoning_content tool_call_id",
}
# Requests that clients of other servers send with every field of theirs at a value that changes nothing, or asks for nothing: of vLLM's,
# SGLang's and llama.cpp's request schemas.
DEFAULTS = json.loads((pathlib.Path(__file__).parent / "fields_of_other_servers.json").read_text())
# Fields in a place where they decide nothing, and the words of the advice.
MISPLACED = [
    ("Completion", {"messages": [{"role": "user", "content": "Hi"}]}, "messages", "/v1/chat/completions"),
    ("Chat", {"prompt": "4+7?"}, "prompt", "/v1/completions"),
    ("Completion", {"tools": [{"type": "function"}]}, "tools", "tools are not offered"),
    ("Completion", {"tool_choice": "required"}, "tool_choice", "tools are not offered"),
    ("Completion", {"max_completion_tokens": 4}, "max_completion_tokens", '"max_tokens"'),
    ("Completion", {"top_logprobs": 2}, "top_logprobs", '"logprobs"'),
    *[(holder, {"tempera": {field: value}}, "tempera." + field, word) for holder in ("Completion", "Chat") for field, value, word in [
        ("max_tokens", 8, 'beside "tempera"'), ("max_completion_tokens", 8, 'beside "tempera"'), ("n", 2, 'beside "tempera"'),
        ("stop", ["a"], 'beside "tempera"'), ("stream", True, 'beside "tempera"'), ("logprobs", 1, 'beside "tempera"'),
        ("model", "worked_sum", 'beside "tempera"'), ("horizon", 8, '"max_tokens"'), ("samples", 2, '"n"'), ("temperature", 0.5, "powers")]],
    *[(holder, {field: value}, field, word) for holder in ("Completion", "Chat") for field, value, word in [
        ("horizon", 8, '"max_tokens"'), ("samples", 2, '"n"'), ("n_predict", 8, '"max_tokens"'), ("max_new_tokens", 8, '"max_tokens"'),
        ("powers", [1, 2], '"tempera": {"powers": ...}'), ("sampler", "ppt", '"tempera": {"sampler": ...}'), ("rounds", 3, '"tempera": {"rounds": ...}'),
        ("block", 4, '"tempera": {"block": ...}'), ("thinking", True, '"tempera": {"thinking": ...}'), ("audit", True, '"tempera": {"audit": ...}'),
        ("particles", 4, '"tempera": {"particles": ...}')]],
]
REQUIRED = {"messages", "prompt", "input", "role", "input_file_id", "endpoint", "type", "text"}
# Values that change nothing, of the fields that the server acts on.
ACTED_ON = {"best_of": [1], "completion_window": ["24h"], "content": [None, ""], "echo": [False], "include_usage": [], "logprobs": [False],
            "instructions": [], "include": [[]], "max_completion_tokens": [8], "max_output_tokens": [8], "max_tokens": [8], "metadata": [{}, {"a": "b"}], "model": ["worked_sum"], "n": [1], "seed": [], "stop": [[]],
            "stream": [False], "temperature": [1, 1.0], "top_p": [1, 1.0], "top_k": [-1, 0], "min_p": [0, 0.0], "frequency_penalty": [0, 0.0],
            "presence_penalty": [0, -0.0], "repetition_penalty": [1, 1.0], "min_tokens": [0], "ignore_eos": [False], "top_logprobs": [], "chat_template_kwargs": [{}, {"enable_thinking": None}], "stream_options": []}


def names(table, holder):
    return table.get(holder, "").split()


@pytest.fixture(scope="module")
def schemas(server):
    return server.ask("/openapi.json")[1]["components"]["schemas"]


def neutral_values(schema, schemas):
    """Values that the description of a field takes, null among them."""
    if "$ref" in schema:
        return []
    if "anyOf" in schema:
        return [value for each in schema["anyOf"] for value in neutral_values(each, schemas)]
    if "enum" in schema:
        return schema["enum"]
    if schema["type"] == "array":
        return [[]] if "maxItems" in schema else [[], ["a"], [1, 2]]
    kinds = {"null": [None], "string": ["", "a", "ü"], "boolean": [True, False], "integer": [1], "number": [0, -1, 0.5, 64],
             "object": [{}, {"50": 0, "7": 0.0}] if schema.get("additionalProperties") else [{}, {"a": 1}]}
    return kinds[schema["type"]]


def test_the_list_of_names_is_the_protocols():
    bodies = {"Chat": chat_create_params.CompletionCreateParamsBase, "Completion": completion_create_params.CompletionCreateParamsBase,
              "StreamOptions": chat_completion_stream_options_param.ChatCompletionStreamOptionsParam,
              "AssistantMessage": chat_completion_assistant_message_param.ChatCompletionAssistantMessageParam,
              "NewBatch": batch_create_params.BatchCreateParams, "NewResponse": response_create_params.ResponseCreateParamsBase}
    for holder, body in bodies.items():
        # `stream` is a field of the two kinds of request that the package makes of each body.
        assert set(typing.get_type_hints(body)) - {"stream"} <= set(names(OFFICIAL, holder)), holder


def test_every_official_field_is_described(schemas):
    for table in (OFFICIAL, OF_OTHERS):
        for holder in table:
            assert set(names(table, holder)) <= set(schemas[holder]["properties"]), holder
            assert schemas[holder]["additionalProperties"] is False


def wrapped(holder, field, value):
    """A completion's body that has a field of Completion or of its stream_options, or a chat's of the others; and where the field is."""
    if holder == "Completion":
        return {"prompt": "4+7?", "max_tokens": 8, "seed": 1, field: value}, field
    if holder == "StreamOptions":
        return {"prompt": "4+7?", "max_tokens": 8, "seed": 1, "stream": True, "stream_options": {field: value}}, f"stream_options.{field}"
    if holder == "AssistantMessage":
        return {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", field: value},
                             {"role": "user", "content": "Bye"}], "max_tokens": 8, "seed": 1}, f"messages[1].{field}"
    if holder == "TextPart":
        return {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", field: value}]}], "max_tokens": 8,
                "seed": 1}, f"messages[0].content[0].{field}"
    if holder == "NewResponse":
        return {"input": "Hi", "max_output_tokens": 8, "seed": 1, field: value}, field
    if holder == "InputMessage":
        return {"input": [{"role": "user", "content": "Hi", field: value}], "max_output_tokens": 8, "seed": 1}, f"input[0].{field}"
    if holder == "InputPart":
        return {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi", field: value}]}], "max_output_tokens": 8,
                "seed": 1}, f"input[0].content[0].{field}"
    if holder == "Tempera":
        return {"prompt": "4+7?", "max_tokens": 8, "seed": 1, "tempera": {"powers": [1, 2], "rounds": 1, field: value}}, f"tempera.{field}"
    return {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 8, "seed": 1, field: value}, field


def without_names(text):
    """An answer or its events without what names the request."""
    def strip(answer):
        if "output" in answer:  # a response says its request's metadata
            answer = {**answer, "output": [{**message, "id": None} for message in answer["output"]], "metadata": None}
        return {key: value for key, value in answer.items() if key not in ("id", "created", "created_at")}
    if isinstance(text, dict):
        return strip(text)
    return [strip(json.loads(line[6:])) for line in text.split("\n\n") if line.startswith("data: {")]


def cases(holder, schemas):
    """Every field of a holder with each value that changes nothing, and those that the server does not act on with one that does."""
    for field, schema in schemas[holder]["properties"].items():
        if field in REQUIRED or field == "tempera":
            continue
        is_acted_on = field in ACTED_ON and not schema.get("description", "").startswith("Changes nothing")
        if holder == "Tempera" and not schema.get("description", "").startswith("Changes nothing"):
            continue
        for value in [None, *ACTED_ON[field]] if is_acted_on else neutral_values(schema, schemas):
            yield field, value, True
        if not is_acted_on:
            taken = [json.dumps(value) for value in neutral_values(schema, schemas)]
            kinds = {each.get("type") for each in schema.get("anyOf", [])}
            for value in ("other", 3, 0.5, True, False, [1], ["text", "audio"], {"type": "json_object"}, {"50": 1}):
                free = {"string": str, "boolean": bool, "object": dict, "number": (int, float), "array": list}
                if "array" in kinds and "maxItems" in str(schema):
                    del free["array"]
                if json.dumps(value) not in taken and not any(kind in kinds and "additionalProperties" not in str(schema) and isinstance(value, free[kind]) and (kind != "number" or not isinstance(value, bool)) for kind in free):
                    yield field, value, False


@pytest.mark.parametrize("holder, field, value", [("Completion", "seed", 1), ("Chat", "seed", 1), ("StreamOptions", "include_usage", None),
                                                  ("AssistantMessage", "content", ""), ("TextPart", "text", "Hi"), ("Tempera", "seed", 1), ("NewResponse", "seed", 1),
                                                  ("InputMessage", "content", "Hi"), ("InputPart", "text", "Hi")])
def test_what_changes_nothing_is_taken_and_the_rest_named(server, chat_server, schemas, holder, field, value):
    asked, path = (server, "/v1/completions") if holder in ("Completion", "StreamOptions", "Tempera") else (
        chat_server, "/v1/responses" if holder in ("NewResponse", "InputMessage", "InputPart") else "/v1/chat/completions")
    status, plain = asked.ask(path, wrapped(holder, field, value)[0])
    assert status == 200, plain
    taken = refused = 0
    for field, value, is_neutral in cases(holder, schemas):
        body, param = wrapped(holder, field, value)
        if field in ("seed", "max_tokens", "max_output_tokens") or (holder, field) == ("InputMessage", "content") or (field == "model" and value and holder in ("Chat", "NewResponse")):
            continue
        status, answer = asked.ask(path, body)
        if is_neutral:
            assert status == 200, (field, value, answer)
            assert without_names(answer) == without_names(plain), (field, value)
        else:
            assert status == 400, (field, value, answer)
            error = answer["error"]
            assert error["param"] == param, (value, error)
            what, reason = error["message"].split(": ", 1)
            why, instead = reason.rsplit("; ", 1)
            assert what == param and len(why) > 10 and re.search("leave it out|ask for|POST", reason), error
        taken, refused = taken + is_neutral, refused + (not is_neutral)
    assert taken > 2 and refused > 2, (taken, refused)


def test_null_is_the_same_as_absent_for_all_fields_at_once(server, chat_server):
    for holder, asked, path in (("Completion", server, "/v1/completions"), ("Chat", chat_server, "/v1/chat/completions")):
        body, _ = wrapped(holder, "seed", 1)
        nulls = {name: None for table in (OFFICIAL, OF_OTHERS) for name in names(table, holder) if name not in body}
        assert len(nulls) > 10
        status, plain = asked.ask(path, body)
        assert status == 200 and without_names(asked.ask(path, {**nulls, **body})[1]) == without_names(plain)


@pytest.mark.parametrize("other, holder", [(other, holder) for other, holders in DEFAULTS.items() for holder in holders])
def test_what_other_servers_take_for_nothing_changes_nothing(server, chat_server, schemas, other, holder):
    """All of a server's own fields at once, and one by one; each is a row of the table, so that another value is refused by it."""
    asked, path = (server, "/v1/completions") if holder == "Completion" else (chat_server, "/v1/chat/completions")
    body, _ = wrapped(holder, "seed", 1)
    plain = without_names(asked.ask(path, body)[1])
    fields = DEFAULTS[other][holder]
    assert len(fields) > 20 and set(fields) <= set(schemas[holder]["properties"]), set(fields) - set(schemas[holder]["properties"])
    for more in [fields, *({name: value} for name, value in fields.items())]:
        status, answer = asked.ask(path, {**more, **body})
        assert status == 200 and without_names(answer) == plain, (more, answer)


@pytest.mark.parametrize("holder, fields, param, words", MISPLACED)
def test_a_field_in_the_wrong_place_is_told_its_right_one(server, chat_server, holder, fields, param, words):
    asked, path = (server, "/v1/completions") if holder == "Completion" else (chat_server, "/v1/chat/completions")
    body, _ = wrapped(holder, "seed", 1)
    status, answer = asked.ask(path, {**body, **fields})
    assert status == 400 and answer["error"]["param"] == param and words in answer["error"]["message"], answer
    assert "\n" not in answer["error"]["message"] and "remove it, or write one of" not in answer["error"]["message"]
    nothing = {"tempera": {name: None for name in fields["tempera"]}} if "tempera" in fields else {name: None for name in fields}
    assert asked.ask(path, {**body, **nothing, **({"temperature": 1} if "tempera" in fields else {})})[0] == 200


def test_null_for_a_field_that_nobody_knows_changes_nothing(server, chat_server):
    nothing = {"x_unknown": None, "max_token": None}
    for holder, asked, path in (("Completion", server, "/v1/completions"), ("Chat", chat_server, "/v1/chat/completions")):
        body, _ = wrapped(holder, "seed", 1)
        plain = without_names(asked.ask(path, body)[1])
        assert without_names(asked.ask(path, {**nothing, **body})[1]) == plain
        assert asked.ask(path, {**body, "x_unknown": 0})[1]["error"]["param"] == "x_unknown"
    for holder, asked, path in (("TextPart", chat_server, "/v1/chat/completions"), ("Tempera", server, "/v1/completions"),
                                ("AssistantMessage", chat_server, "/v1/chat/completions")):
        assert asked.ask(path, wrapped(holder, "x_unknown", None)[0])[0] == 200
        body, param = wrapped(holder, "x_unknown", 1)
        status, answer = asked.ask(path, body)
        assert status == 400 and answer["error"]["param"] == param, answer


def test_options_that_ask_for_nothing_are_taken(server, chat_server):
    """stream_options without a stream, alternatives of none, and best_of that is n."""
    for holder, asked, path in (("Completion", server, "/v1/completions"), ("Chat", chat_server, "/v1/chat/completions")):
        body, _ = wrapped(holder, "n", 2)
        plain = without_names(asked.ask(path, body)[1])
        for fields in ({"stream_options": {}}, {"stream_options": {"include_usage": False}}, {"stream_options": {"include_usage": None}},
                       {"top_logprobs": 0}, {"best_of": 2}, {"n_cmpl": 2}):
            status, answer = asked.ask(path, {**body, **fields})
            assert status == 200 and without_names(answer) == plain, (fields, answer)
        for fields, param in (({"stream_options": {"include_usage": True}}, "stream_options.include_usage"), ({"best_of": 3}, "best_of"),
                              ({"best_of": 1}, "best_of"), ({"n_cmpl": 1}, "n_cmpl"), ({"top_logprobs": 1}, "top_logprobs")):
            status, answer = asked.ask(path, {**body, **fields})
            assert status == 400 and answer["error"]["param"] == param, answer


def test_a_part_that_is_no_text_is_named(chat_server):
    for part in ({"type": "image_url", "image_url": {"url": "data:,"}}, {"type": "input_text", "text": "Hi"}):
        body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}, part]}], "max_tokens": 4}
        status, answer = chat_server.ask("/v1/chat/completions", body)
        assert status == 400 and answer["error"]["param"] == "messages[0].content[1]" and part["type"] in answer["error"]["message"], answer


def test_an_encoded_body_is_refused_by_its_encoding(server):
    body = json.dumps({"prompt": "4+7?", "max_tokens": 4, "seed": 1}).encode()
    for encoding in ("gzip", "deflate", "br", "gzip, identity"):
        status, answer = server.ask("/v1/completions", gzip.compress(body), headers={"Content-Encoding": encoding})
        assert status == 415 and "Content-Encoding" in answer["error"]["message"] and "\n" not in answer["error"]["message"], answer
    for encoding in ("identity", "Identity"):
        assert server.ask("/v1/completions", body, headers={"Content-Encoding": encoding})[0] == 200
    # A request without a body has nothing to decode.
    assert server.ask("/health", headers={"Content-Encoding": "gzip"})[0] == 200


def test_a_server_of_more_powers_than_a_request_may_have_does_not_start():
    powers = ",".join(str(1 + k / 64) for k in range(65))
    done = subprocess.run([TEMPERA, "serve", "--model", MODEL, "--port", "0", "--default-sampler", "ppt", "--powers", powers],
                          capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "--powers" in done.stderr and "65" in done.stderr and "give at most 64" in done.stderr, done.stderr


def test_minus_one_is_no_seed(server):
    for fields in ({"seed": -1}, {"tempera": {"powers": [1, 2], "seed": -1}}):
        seeds = {server.ask("/v1/completions", {"prompt": "4+7?", "max_tokens": 4, **fields})[1]["tempera"]["seed"] for _ in range(3)}
        assert len(seeds) == 3
    status, answer = server.ask("/v1/completions", {"prompt": "4+7?", "seed": -2})
    assert status == 400 and answer["error"]["param"] == "seed"
    status, answer = server.ask("/v1/completions", {"prompt": "4+7?", "seed": 5, "tempera": {"seed": -1}})
    assert status == 200 and answer["tempera"]["seed"] == 5


@pytest.mark.parametrize("tempera", [{"powers": [1, 2, 4]}, {"powers": [2], "sampler": "low-temperature"}, {"block": 4}, {"preset": "qwen3/math500", "rounds": 2, "block": 8},
                                     {"sampler": "best-of-n", "particles": 2}])
def test_temperature_1_beside_a_sampler_changes_nothing(server, tempera):
    body = {"prompt": "4+7?", "max_tokens": 8, "seed": 3, "tempera": tempera}
    whole = without_names(server.ask("/v1/completions", body)[1])
    assert "choices" in whole
    assert without_names(server.ask("/v1/completions", {**body, "temperature": 1})[1]) == whole
    for temperature in (0, 0.1, 0.5, 2):
        status, answer = server.ask("/v1/completions", {**body, "temperature": temperature})
        assert status == 400 and answer["error"]["param"] == "temperature" and "powers" in answer["error"]["message"]


@pytest.mark.parametrize("tempera", [{}, {"seed": 3}, {"round_events": False}, {"sampler": "low-temperature"}])
def test_a_temperature_beside_no_sampler_decides(server, tempera):
    body = {"prompt": "4+7+9?", "max_tokens": 28, "seed": 3}
    for temperature in (1, 0.5):
        alone = server.ask("/v1/completions", {**body, "temperature": temperature})[1]
        beside = server.ask("/v1/completions", {**body, "temperature": temperature, "tempera": tempera})[1]
        assert without_names(beside) == without_names(alone)


def test_an_assistants_turn_may_be_empty(chat_server):
    def answer(*content):
        turn = {"role": "assistant", **({"content": content[0]} if content else {})}
        return chat_server.ask("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}, turn, {"role": "user", "content": "Bye"}],
                                                        "max_tokens": 8, "seed": 1})
    status, empty = answer("")
    assert status == 200 and without_names(answer()[1]) == without_names(answer(None)[1]) == without_names(empty)
    for messages in ([{"role": "user", "content": None}], [{"role": "user"}], [{"role": "system", "content": None}, {"role": "user", "content": "Hi"}]):
        status, refused = chat_server.ask("/v1/chat/completions", {"messages": messages})
        assert status == 400 and refused["error"]["param"] == "messages[0].content", refused


def test_enable_thinking_is_thinking(server, chat_server):
    """A family that never thinks takes a "no" as nothing, and refuses a "yes" by the name of its field; generation_request.cpp sees what others get."""
    asked = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4, "seed": 1}
    both = lambda thinks: ({"chat_template_kwargs": {"enable_thinking": thinks}}, {"temperature": 1, "tempera": {"thinking": thinks, "sampler": "standard"}})
    refusals = [chat_server.ask("/v1/chat/completions", {**asked, **wish}) for wish in both(True)]
    for (status, answer), param in zip(refusals, ("chat_template_kwargs.enable_thinking", "tempera.thinking")):
        assert status == 400 and answer["error"]["param"] == param and "has no effect" in answer["error"]["message"], refusals
    answers = [chat_server.ask("/v1/chat/completions", {**asked, **wish}) for wish in ({}, *both(False))]
    assert [status for status, _ in answers] == [200] * 3, answers
    assert len({answer["choices"][0]["message"]["content"] for _, answer in answers}) == 1, answers
    body = {"messages": [{"role": "user", "content": "4+7?"}]}
    for kwargs, param in (({"enable_thinking": "no"}, "chat_template_kwargs.enable_thinking"), (5, "chat_template_kwargs")):
        status, answer = server.ask("/v1/chat/completions", {**body, "chat_template_kwargs": kwargs})
        assert status == 400 and answer["error"]["param"] == param, answer
    status, answer = server.ask("/v1/chat/completions", {**body, "chat_template_kwargs": {"enable_thinking": False}, "tempera": {"thinking": True}})
    assert status == 400 and answer["error"]["param"] == "tempera.thinking", answer


@pytest.mark.parametrize("body, param", [
    ({"prompt": "1?", "n": 0}, "n"), ({"prompt": "1?", "tempera": {"powers": [1, None]}}, "tempera.powers[1]"), ({"prompt": "1?", "tempera": {"power": 1}}, "tempera.power"),
    ({"prompt": "1?", "tempera": {"schedule": "x"}}, "tempera.schedule"), ({"prompt": "1?", "max_token": 1}, "max_token"), ({"prompt": "1?", "tempera": 5}, "tempera"),
    ({"n": 1}, "prompt"), ({"prompt": "1?", "stop": [5]}, "stop[0]"), ("{", None), ("[]", None), ({"messages": 5}, "messages")])
def test_the_parameter_is_the_fields_name(server, body, param):
    status, answer = server.ask("/v1/completions", body)
    assert status == 400 and answer["error"]["param"] == param, answer
    assert "download" not in answer["error"]["message"] and "file" not in answer["error"]["message"], answer


def test_batches_take_null_for_every_official_field(tmp_path):
    running = Server("--batch-folder", str(tmp_path / "kept"))
    try:
        body = {"input_file_id": "file-none", "endpoint": "/v1/completions"}
        plain = running.ask("/v1/batches", body)
        nulls = {name: None for name in names(OFFICIAL, "NewBatch") if name not in body}
        assert running.ask("/v1/batches", {**body, **nulls}) == plain
        status, answer = running.ask("/v1/batches", {**body, "output_expires_after": {"anchor": "created_at", "seconds": 3600}})
        assert status == 400 and answer["error"]["param"] == "output_expires_after" and "expire" in answer["error"]["message"]
    finally:
        running.stop()


def bounds(schema, key):
    """The least and the most of a field's whole numbers, wherever its schema says them."""
    if isinstance(schema, list):
        return [bound for each in schema for bound in bounds(each, key)]
    if not isinstance(schema, dict):
        return []
    own = [schema[key]] if key in schema and schema.get("type") == "integer" else []
    return own + [bound for each in schema.values() for bound in bounds(each, key)]


BASE = {"Completion": ("/v1/completions", {"prompt": "1?", "max_tokens": 2}),
        "Chat": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "1?"}], "max_completion_tokens": 2, "logprobs": True})}
SAMPLERS = {"particles": {"sampler": "power-smc", "powers": [2]}}


def begun(server, path, body):
    """The status of a request for a stream, and the error if it is refused; the client leaves a stream that has begun."""
    connection = server.connection()
    connection.request("POST", path, json.dumps({**body, "stream": True}), {})
    answer = connection.getresponse()
    refusal = None if answer.status == 200 else json.loads(answer.read())
    connection.close()
    return answer.status, refusal


def test_the_document_has_the_limits_that_the_server_has(server):
    """Beyond each the field is refused by its name; up to it only for what it costs, or for what the rest of the request says."""
    schemas = server.ask("/openapi.json")[1]["components"]["schemas"]
    told = 0
    for holder, outer in (("Completion", None), ("Chat", None), ("Tempera", "Completion")):
        path, base = BASE[outer or holder]
        for field, schema in schemas[holder]["properties"].items():
            for key, step in (("maximum", 1), ("minimum", -1)):
                for bound in set(bounds(schema, key)) if field not in ("prompt", "messages", "tempera", "best_of") else ():
                    def ask(value):
                        # A request that is taken may take for ever. A stream begins at once, and ends with its client.
                        inner = {**SAMPLERS.get(field, {"powers": [1, 2], "rounds": 2, "block": 2}), field: value}
                        if field == "max_tokens" and holder == "Chat":
                            return begun(server, path, {**{name: given for name, given in base.items() if name != "max_completion_tokens"}, field: value})
                        return begun(server, path, {**base, **({"tempera": inner} if outer else {field: value})})
                    status, beyond = ask(bound + step)
                    assert status == 400 and beyond["error"]["param"].endswith(field), (field, key, bound, beyond)
                    status, at = ask(bound)
                    # The rest of the request may refuse a bound; another bound of this field may not.
                    if status != 200 and (at["error"]["param"] or "").endswith(field):
                        message = at["error"]["message"]
                        assert not any(words in message for words in ("give at most", "whole number", "this server's limit")), (field, key, bound, at)
                    told += 1
    assert told >= 20


CONVERSATION = [{"role": "user", "content": "Hi"}]
# Bodies of the paths that tokenize, with the fields that vLLM, SGLang and llama.cpp have for them at the values that change nothing.
TOKENIZED = {
    "TokenizeText": ("/tokenize", {"prompt": "4+7?"}, {"add_special_tokens": True, "return_token_strs": False, "parse_special": True, "with_pieces": False,
                                                      "chat_template_kwargs": {}, "messages": None, "model": None}),
    "TokenizeChat": ("/tokenize", {"messages": CONVERSATION}, {
        "add_special_tokens": False, "return_token_strs": False, "add_generation_prompt": True, "continue_final_message": False, "chat_template": None,
        "chat_template_kwargs": {}, "mm_processor_kwargs": {}, "tools": [], "parse_special": True, "with_pieces": False, "prompt": None, "model": None}),
    "Detokenize": ("/detokenize", {"tokens": [1, 2, 3]}, {"skip_special_tokens": False, "spaces_between_special_tokens": True, "model": None}),
}
# Fields that would change the tokens or the text, or have another name here; each with a word of the advice.
NOT_TOKENIZED = [
    ("TokenizeText", "content", "4+7?", '"prompt"'), ("TokenizeText", "text", "4+7?", '"prompt"'),
    ("TokenizeText", "add_special", True, '"add_special_tokens"'), ("TokenizeText", "parse_special", False, "special tokens"),
    ("TokenizeText", "with_pieces", True, '"return_token_strs"'), ("TokenizeText", "chat_template_kwargs", {"a": 1}, '"messages"'),
    ("TokenizeText", "return_token_str", True, "return_token_strs"), ("TokenizeChat", "prompt", "4+7?", '"messages"'),
    ("TokenizeChat", "add_special_tokens", True, "template"), ("TokenizeChat", "add_generation_prompt", False, "turn"),
    ("TokenizeChat", "continue_final_message", True, "turn"), ("TokenizeChat", "chat_template", "{{ x }}", "template"),
    ("TokenizeChat", "tools", [{"type": "function"}], "tools"), ("TokenizeChat", "mm_processor_kwargs", {"a": 1}, "text"),
    ("Detokenize", "skip_special_tokens", True, "every token"), ("Detokenize", "prompt", "4+7?", "tokens"),
]  # fmt: skip


@pytest.mark.parametrize("holder", TOKENIZED)
def test_what_others_send_to_be_tokenized_changes_nothing(chat_server, schemas, holder):
    path, body, fields = TOKENIZED[holder]
    assert set(schemas[holder]["properties"]) >= set(fields) and schemas[holder]["additionalProperties"] is False
    status, plain = chat_server.ask(path, body)
    assert status == 200 and plain, plain
    for more in [fields, *({name: value} for name, value in fields.items()), {"x_unknown": None}]:
        assert chat_server.ask(path, {**more, **body}) == (200, plain), more


@pytest.mark.parametrize("holder, field, value, word", NOT_TOKENIZED)
def test_what_would_be_tokenized_otherwise_is_named(chat_server, holder, field, value, word):
    path, body, _ = TOKENIZED[holder]
    status, answer = chat_server.ask(path, {**body, field: value})
    assert status == 400 and answer["error"]["param"] == field and word in answer["error"]["message"], answer
    assert "\n" not in answer["error"]["message"], answer


def test_special_tokens_are_as_asked(server):
    """The tokens of an empty text are those before every text; without them a text keeps the rest."""
    beginning = server.ask("/tokenize", {"prompt": ""})[1]["tokens"]
    whole = server.ask("/tokenize", {"prompt": "4+7?"})[1]["tokens"]
    bare = server.ask("/tokenize", {"prompt": "4+7?", "add_special_tokens": False})[1]["tokens"]
    assert whole == beginning + bare and len(bare) == 4
