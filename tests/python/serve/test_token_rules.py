"""top_p, top_k, min_p, penalties, min_tokens and ignore_eos: tokenwise sampling has them as the command does, and no other sampler."""
import concurrent.futures
import json
import subprocess

import pytest

from conftest import MODEL, TEMPERA

PROMPT = "4+7+9+3?"
BODY = {"prompt": PROMPT, "max_tokens": 28, "seed": 5}
RULES = [
    {"top_p": 0.5}, {"top_k": 2}, {"min_p": 0.3}, {"repetition_penalty": 1.5}, {"frequency_penalty": 1.5}, {"presence_penalty": -1.5},
    {"min_tokens": 27}, {"ignore_eos": True},
    {"temperature": 0.7, "top_p": 0.9, "top_k": 5, "min_p": 0.01, "repetition_penalty": 1.1, "frequency_penalty": 0.2, "presence_penalty": 0.1,
     "min_tokens": 3},
]  # fmt: skip
OF_WHOLE_ANSWERS = ["ppt", "power-sampling", "fixed-horizon", "power-smc", "exact-rejection", "best-of-n", "uncoupled-ladder"]


def flags(rules):
    return [word for name, value in {"temperature": 1, **rules}.items() for word in (["--" + name.replace("_", "-")] + ([] if value is True else [str(value)]))]


def texts(answer):
    return [choice["text"] for choice in answer["choices"]]


@pytest.mark.parametrize("rules", RULES)
def test_an_answer_is_the_commands(server, command, rules):
    printed = command("sample", PROMPT, "--model", MODEL, "--horizon", "28", "--seed", "5", "--samples", "6", "--json", *flags(rules))["answers"]
    status, answer = server.ask("/v1/completions", {**BODY, "n": 6, **rules})
    assert status == 200, answer
    assert texts(answer) == [each["answer"] for each in printed]
    assert [c["log_p0"] for c in answer["tempera"]["choices"]] == [each["log_p0"] for each in printed]
    # The answer says what it was drawn by.
    used = {name: value for name, value in rules.items() if name != "temperature"}
    assert {name: answer["tempera"].get(name) for name in used} == used
    # Not for nothing: it is another answer than without.
    plain = server.ask("/v1/completions", {**BODY, "n": 6, **{name: rules[name] for name in rules if name == "temperature"}})[1]
    assert texts(plain) != texts(answer) and not set(used) & set(plain["tempera"])


def test_official_clients_and_all_paths_have_them(server, chat_server):
    openai = pytest.importorskip("openai", reason="openai is not installed", exc_type=ImportError)
    rules, others = {"top_p": 0.6, "frequency_penalty": 0.5, "presence_penalty": 0.25}, {"top_k": 4, "min_p": 0.05, "min_tokens": 2}
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)
    own = client.completions.create(model="worked_sum", **BODY, **rules, extra_body=others)
    assert [choice.text for choice in own.choices] == texts(server.ask("/v1/completions", {**BODY, **rules, **others})[1])
    chat = openai.OpenAI(base_url=f"http://127.0.0.1:{chat_server.port}/v1", api_key="none", max_retries=0)
    asked = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 8, "seed": 2}
    said = chat.chat.completions.create(model=chat.models.list().data[0].id, **asked, **rules, extra_body=others)
    response = chat.responses.create(model=chat.models.list().data[0].id, input="Hi", max_output_tokens=8, top_p=0.6,
                                     extra_body={"seed": 2, **others, "frequency_penalty": 0.5, "presence_penalty": 0.25})
    assert response.output_text == said.choices[0].message.content and response.top_p == 0.6
    stream = chat.chat.completions.create(model=chat.models.list().data[0].id, **asked, **rules, extra_body=others, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices) == said.choices[0].message.content


def test_one_token_left_is_the_likeliest_whatever_the_seed(server):
    greedy = server.ask("/v1/completions", {**BODY, "temperature": 0, "logprobs": 2})[1]["choices"][0]
    for seed in range(4):
        for rules in ({"top_k": 1}, {"top_p": 1e-9}, {"min_p": 1}, {"top_k": 1, "temperature": 2}):
            answer = server.ask("/v1/completions", {**BODY, "seed": seed, "logprobs": 2, **rules})[1]["choices"][0]
            # Log-probabilities and alternatives are the model's, whatever was left to draw from.
            assert (answer["text"], answer["logprobs"]) == (greedy["text"], greedy["logprobs"]), rules


def test_an_answer_is_as_long_as_it_is_asked_to_be(server):
    lengths = [server.ask("/v1/completions", {**BODY, "seed": seed})[1]["usage"]["completion_tokens"] for seed in range(6)]
    assert min(lengths) < 28
    for least in (min(lengths) + 1, 28):
        for seed in range(6):
            answer = server.ask("/v1/completions", {**BODY, "seed": seed, "min_tokens": least})[1]
            assert answer["usage"]["completion_tokens"] >= least
    for seed in range(6):
        answer = server.ask("/v1/completions", {**BODY, "seed": seed, "ignore_eos": True})[1]
        assert answer["usage"]["completion_tokens"] == 28 and answer["choices"][0]["finish_reason"] == "length"


def test_neighbours_change_no_answer(server):
    bodies = [{**BODY, "n": 2, **rules} for rules in RULES] + [{**BODY, "n": 2}, {**BODY, "tempera": {"powers": [1, 2, 4], "block": 4, "rounds": 2}}]
    alone = [server.ask("/v1/completions", body)[1]["choices"] for body in bodies]
    with concurrent.futures.ThreadPoolExecutor(len(bodies)) as pool:
        together = list(pool.map(lambda body: server.ask("/v1/completions", body)[1]["choices"], bodies * 2))
    assert together == alone * 2


@pytest.mark.parametrize("rules", RULES[:8])
@pytest.mark.parametrize("sampler", OF_WHOLE_ANSWERS)
def test_samplers_of_whole_answers_refuse_them_and_say_why(server, rules, sampler):
    (name, value), = rules.items()
    status, answer = server.ask("/v1/completions", {**BODY, name: value, "tempera": {"sampler": sampler}})
    message = answer["error"]["message"]
    assert status == 400 and answer["error"]["param"] == name and "\n" not in message, answer
    for word in ("changes the law of each token", sampler, "powers above 1", "standard or low-temperature"):
        assert word in message
    done = subprocess.run([TEMPERA, "sample", PROMPT, "--model", MODEL, "--sampler", sampler, *flags(rules)[2:]], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--" + name.replace("_", "-") in done.stderr, done.stderr


def test_values_that_change_nothing_are_taken_beside_every_sampler(server):
    nothing = {"top_p": 1, "top_k": -1, "min_p": 0, "frequency_penalty": 0, "presence_penalty": 0.0, "repetition_penalty": 1, "min_tokens": 0,
               "ignore_eos": False}  # fmt: skip
    for tempera in ({"powers": [1, 2], "rounds": 1}, {"sampler": "exact-rejection", "powers": [2]}, {"sampler": "standard"}):
        body = {**BODY, "tempera": tempera}
        assert server.ask("/v1/completions", {**body, **nothing})[1]["choices"] == server.ask("/v1/completions", body)[1]["choices"]


@pytest.mark.parametrize("name, value, word", [
    ("top_p", 0, "above 0"), ("top_p", 1.01, "at most 1"), ("top_k", -2, "whole number"), ("top_k", 1.5, "whole number"), ("min_p", -0.1, "from 0 to 1"),
    ("frequency_penalty", 2.5, "from -2 to 2"), ("presence_penalty", -3, "from -2 to 2"), ("repetition_penalty", 0, "above 0"),
    ("min_tokens", 29, "at most 28 tokens"), ("min_tokens", -1, "whole number"), ("ignore_eos", 1, "true or false"), ("top_p", "0.5", "number"),
])  # fmt: skip
def test_a_value_out_of_range_is_named(server, name, value, word):
    status, answer = server.ask("/v1/completions", {**BODY, name: value})
    assert status == 400 and answer["error"]["param"] == name and word in answer["error"]["message"], answer


def test_min_tokens_are_no_more_than_a_prompt_leaves_room_for(chat_server):
    """An open horizon ends where the context ends: a least length beyond it was taken without a word, and never met."""
    room = chat_server.ask("/tokenizer_info")[1]["model_max_length"]
    messages = [{"role": "user", "content": "Hi"}]
    used = chat_server.ask("/tokenize", {"messages": messages})[1]["count"]
    for least in (room - used + 1, room):
        status, answer = chat_server.ask("/v1/chat/completions", {"messages": messages, "seed": 1, "min_tokens": least})
        assert status == 400 and answer["error"]["param"] == "min_tokens", answer
        assert f"an answer to this prompt has at most {room - used} tokens" in answer["error"]["message"], answer
    status, answer = chat_server.ask("/v1/chat/completions", {"messages": messages, "seed": 1, "min_tokens": room - used})
    assert status == 200 and answer["usage"]["completion_tokens"] == room - used, answer


def test_inside_tempera_they_are_told_their_place(server):
    for name in ("top_p", "min_tokens"):
        status, answer = server.ask("/v1/completions", {**BODY, "tempera": {name: 1}})
        assert status == 400 and answer["error"]["param"] == "tempera." + name and 'beside "tempera"' in answer["error"]["message"], answer


@pytest.mark.parametrize("rules", [RULES[0], RULES[4], RULES[6], RULES[8]])
def test_what_they_drew_is_audited(server, tmp_path, rules):
    tempera = {"sampler": "low-temperature", "powers": [1 / rules.get("temperature", 1)]}
    said = {name: value for name, value in rules.items() if name != "temperature"}
    status, answer = server.ask("/v1/completions", {**BODY, "n": 2, **said, "tempera": {**tempera, "audit": True}})
    assert status == 200, answer
    file = tmp_path / "response.json"

    def audited():
        file.write_text(json.dumps(answer))
        done = subprocess.run([TEMPERA, "audit", file, "--model", MODEL, "--json"], capture_output=True, text=True)
        assert done.stderr == "", done.stderr
        return json.loads(done.stdout)["equal"]
    assert audited()
    config = answer["tempera"]["audit"]["config"]
    for name, value in said.items():
        assert config[name] == value
    for name in said:
        del config[name]
    assert not audited()
