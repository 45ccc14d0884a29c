"""/v1/responses by openai-python: an answer is the chat's own, streams have the official events, and what is not done is refused by name."""
import json
import typing

import pytest

from conftest import Server

openai = pytest.importorskip("openai", reason="openai is not installed", exc_type=ImportError)

PPT = {"tempera": {"powers": [1, 2], "block": 4, "rounds": 2}}
TOKENWISE = {"temperature": 0.7}


@pytest.fixture(scope="module")
def client(chat_server):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{chat_server.port}/v1", api_key="none", max_retries=0)


def respond(client, **fields):
    extra = {"seed": 3, **fields.pop("extra_body", {})}
    return client.responses.create(**{"model": "chat", "input": "Hello?", "max_output_tokens": 12, **fields}, extra_body=extra)


def chat(client, messages, **fields):
    extra = {"seed": 3, **fields.pop("extra_body", {})}
    return client.chat.completions.create(model="chat", messages=messages, max_tokens=12, extra_body=extra, **fields)


@pytest.mark.parametrize("fields", [{}, TOKENWISE, {"extra_body": PPT}])
def test_a_response_is_the_chats_answer(client, fields):
    whole = chat(client, [{"role": "user", "content": "Hello?"}], **fields)
    said = respond(client, **fields)
    assert said.output_text == whole.choices[0].message.content and said.output_text
    assert said.tempera["choices"] == whole.tempera["choices"] and said.system_fingerprint == whole.system_fingerprint
    assert (said.usage.input_tokens, said.usage.output_tokens, said.usage.total_tokens) == (
        whole.usage.prompt_tokens, whole.usage.completion_tokens, whole.usage.total_tokens)
    is_cut = whole.choices[0].finish_reason == "length"
    assert said.status == ("incomplete" if is_cut else "completed") and said.object == "response" and said.id.startswith("resp_")
    assert (said.incomplete_details.reason if is_cut else said.incomplete_details) == ("max_output_tokens" if is_cut else None)
    (message,) = said.output
    assert message.type == "message" and message.role == "assistant" and message.status == said.status and message.id.startswith("msg_")
    assert said.store is False and said.background is False and said.previous_response_id is None and said.error is None


@pytest.mark.parametrize("fields", [{}, TOKENWISE, {"extra_body": PPT}])
def test_logprobs_are_the_chats(client, fields):
    whole = chat(client, [{"role": "user", "content": "Hello?"}], logprobs=True, top_logprobs=3, **fields)
    expected = [token.model_dump() for token in whole.choices[0].logprobs.content]
    asked = {**fields, "include": ["message.output_text.logprobs"], "top_logprobs": 3}
    said = respond(client, **asked)
    (part,) = said.output[0].content
    assert [token.model_dump() for token in part.logprobs] == expected and part.text == whole.choices[0].message.content
    assert len(expected) == said.usage.output_tokens and all(len(token["top_logprobs"]) >= 3 for token in expected)
    events = list(respond(client, stream=True, **asked))
    deltas = [event for event in events if event.type == "response.output_text.delta"]
    (done,) = [event for event in events if event.type == "response.output_text.done"]
    for event in (*deltas, done):
        assert [(token.token, token.logprob) for token in event.logprobs] == [(token["token"], token["logprob"]) for token in expected]
    assert "".join(event.delta for event in deltas) == done.text == part.text
    assert events[-1].response.output[0].content[0].logprobs == part.logprobs
    # Without a wish there are none, and none are shown for a neutral one.
    for fewer in ({}, {"include": []}, {"include": [], "top_logprobs": 0}):
        assert respond(client, **{**fields, **fewer}).output[0].content[0].logprobs == []


def test_an_ended_response_is_completed(client):
    ends = {respond(client, input=f"{number}?", max_output_tokens=100, extra_body={"seed": number}).status for number in range(30)}
    assert ends == {"completed", "incomplete"}, ends


def test_a_conversation_is_the_chats(client):
    turns = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hi."}, {"role": "user", "content": "And?"}]
    system = {"role": "system", "content": "Be brief."}
    expected = chat(client, [system, *turns]).choices[0].message.content
    parts = [{**turns[0], "content": [{"type": "input_text", "text": "Hel"}, {"type": "input_text", "text": "lo?"}]},
             {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "phase": None,
              "content": [{"type": "output_text", "text": "Hi.", "annotations": [], "logprobs": []}]}, {"type": "message", **turns[2]}]
    for messages in (turns, parts):
        assert respond(client, input=messages, instructions="Be brief.").output_text == expected
        assert respond(client, input=[system, *messages]).output_text == expected
    assert respond(client, input=turns).output_text != expected
    # An earlier response comes back as its client has it.
    first = respond(client)
    again = respond(client, input=[{"role": "user", "content": "Hello?"}, *first.output, turns[2]])
    same = chat(client, [turns[0], {"role": "assistant", "content": first.output_text}, turns[2]])
    assert again.output_text == same.choices[0].message.content


@pytest.mark.parametrize("fields", [TOKENWISE, {"extra_body": PPT}])
def test_a_stream_has_the_official_events(client, fields):
    whole = respond(client, **fields)
    events = list(respond(client, stream=True, **fields))
    known = {typing.get_args(kind.model_fields["type"].annotation)[0] for kind in typing.get_args(typing.get_args(
        openai.types.responses.ResponseStreamEvent)[0])}
    names = [event.type for event in events]
    deltas = names.count("response.output_text.delta")
    assert set(names) <= known and [event.sequence_number for event in events] == list(range(len(events)))
    assert names == ["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
                     *["response.output_text.delta"] * deltas, "response.output_text.done", "response.content_part.done",
                     "response.output_item.done", "response." + whole.status]
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert text == whole.output_text == events[-1].response.output_text
    assert (deltas == 1) == ("extra_body" in fields)  # PPT has its text at the end
    done = {event.type: event for event in events}
    assert done["response.output_text.done"].text == done["response.content_part.done"].part.text == text
    first, item = events[0].response, done["response.output_item.done"].item
    assert first.status == "in_progress" and first.output == [] and first.usage is None and first.id == events[-1].response.id
    assert item == events[-1].response.output[0] and events[-1].response.usage == whole.usage
    assert {event.item_id for event in events if hasattr(event, "item_id")} == {item.id}
    assert events[-1].response.tempera["choices"] == whole.tempera["choices"]


def test_the_clients_own_reader_of_streams_takes_them(client):
    with client.responses.stream(model="chat", input="Hello?", max_output_tokens=12, extra_body={"seed": 3}) as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
    assert "".join(deltas) == respond(client).output_text


def test_what_is_said_of_the_request_comes_back(client):
    said = respond(client, instructions="Be brief.", temperature=0.5, metadata={"run": "7"}, store=False, truncation="disabled", tools=[])
    assert said.instructions == "Be brief." and said.temperature == 0.5 and said.metadata == {"run": "7"} and said.max_output_tokens == 12
    assert said.tools == [] and said.truncation == "disabled" and said.text.format.type == "text"


@pytest.mark.parametrize("fields, param, words", [
    ({"previous_response_id": "resp_1"}, "previous_response_id", ["keeps no responses", '"input"']),
    ({"conversation": "conv_1"}, "conversation", ["keeps no responses", '"input"']),
    ({"store": True}, "store", ["keeps no responses", "give false"]),
    ({"background": True}, "background", ["while its client waits", "/v1/batches"]),
    ({"tools": [{"type": "web_search"}]}, "tools", ["tools are not offered", "describe the tools"]),
    ({"tool_choice": "required"}, "tool_choice", ["tools are not offered"]),
    ({"text": {"format": {"type": "json_object"}}}, "text", ["structured output is not offered", "describe the form"]),
    ({"include": ["message.output_text.logprobs", "file_search_call.results"]}, "include", ["file_search_call.results", "message.output_text.logprobs"]),
    ({"include": ["message.output_text.logprobs"], "top_logprobs": 21}, "top_logprobs", ["limit", "at most 20"]),
    ({"top_logprobs": 2}, "top_logprobs", ['"include": ["message.output_text.logprobs"]']),
    ({"reasoning": {"effort": "high"}}, "reasoning", ["no levels of effort", '"thinking"']),
    ({"truncation": "auto"}, "truncation", ["no conversation is cut"]),
    ({"prompt": {"id": "pmpt_1"}}, "prompt", ["templates", '"input"']),
    ({"top_p": 1.5}, "top_p", ["at most 1"]),
    ({"extra_body": {"logit_bias": {"5": 1}}}, "logit_bias", ["changes the target"]),
    ({"input": []}, "input", ["empty"]),
    ({"input": [{"role": "user", "content": "Hi"}, {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}]}, "input[1]",
     ['"function_call" is not a message']),
    ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}]}, "input[0].content[0]",
     ['"input_image" is not text', '"input_text" or "output_text"']),
    ({"max_output_tokens": 0}, "max_output_tokens", ["0 asks for nothing"]),
    ({"max_output_tokens": 10**6}, "max_output_tokens", ["limit"]),
    ({"temperature": -1}, "temperature", ["below 0"]),
    ({"extra_body": {"max_tokens": 8}}, "max_tokens", ['"max_output_tokens"']),
    ({"extra_body": {"n": 2}}, "n", ["one answer"]),
    ({"extra_body": {"messages": []}}, "messages", ['"input"']),
    ({"extra_body": {"powers": [1, 2]}}, "powers", ['"tempera": {"powers": ...}']),
    ({"extra_body": {"max_output_token": 8}}, "max_output_token", ['did you mean "max_output_tokens"']),
    ({"extra_body": {"tempera": {"estimate": True}}}, "tempera.estimate", ["/v1/chat/completions"]),
    ({"extra_body": {"tempera": {"round_events": True}}}, "tempera.round_events", ["/v1/chat/completions"]),
])
def test_what_is_not_done_is_refused_by_name(client, fields, param, words):
    with pytest.raises(openai.BadRequestError) as refused:
        respond(client, **fields)
    error = refused.value.body
    assert error["param"] == param and "\n" not in error["message"] and all(word in error["message"] for word in words), error


def test_a_model_without_conversations_says_so(server):
    status, answer = server.ask("/v1/responses", {"input": "Hi"})
    assert status == 400 and "the model knows no conversations" in answer["error"]["message"], answer
    assert server.ask("/v1/responses", {"model": "other", "input": "Hi"})[1]["error"]["param"] == "model"


def test_no_response_is_kept(chat_server):
    for method, path in (("GET", "/v1/responses/resp_1"), ("DELETE", "/v1/responses/resp_1"), ("POST", "/v1/responses/resp_1/cancel"),
                         ("GET", "/v1/responses/resp_1/input_items")):
        status, answer = chat_server.ask(path, method=method)
        assert status == 404 and "keeps no responses" in answer["error"]["message"]
    assert chat_server.ask("/v1/responses", method="GET")[0] == 405


def test_embeddings_are_refused_by_name(client):
    with pytest.raises(openai.NotFoundError, match="/v1/embeddings is not offered.*no vectors"):
        client.embeddings.create(model="chat", input="Hi")


def test_a_late_response_fails_by_its_own_event(tmp_path):
    from conftest import write_chat_model
    write_chat_model(tmp_path / "chat")
    running = Server("--longest", "1", model=str(tmp_path / "chat"))
    try:
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{running.port}/v1", api_key="none", max_retries=0)
        long = {"tempera": {"powers": [1, 2, 4], "block": 1, "rounds": 100000}}
        events = list(respond(client, max_output_tokens=64, stream=True, extra_body=long))
        assert events[-1].type == "response.failed" and events[-1].response.status == "failed"
        assert events[-1].response.error.code == "server_error" and "1 seconds" in events[-1].response.error.message
        with pytest.raises(openai.BadRequestError, match="1 seconds"):
            respond(client, max_output_tokens=64, extra_body=long)
    finally:
        running.stop()


def test_equal_requests_have_equal_responses(chat_server):
    body = {"input": "Hello?", "max_output_tokens": 12, "seed": 5, **PPT}
    def essence(said):
        for message in said["output"]:
            del message["id"]
        return json.dumps({key: value for key, value in said.items() if key not in ("id", "created_at")})
    assert essence(chat_server.ask("/v1/responses", body)[1]) == essence(chat_server.ask("/v1/responses", body)[1])
