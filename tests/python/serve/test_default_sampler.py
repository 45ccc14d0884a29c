"""A client that knows nothing of tempera reaches every sampler: by the server's default, and by a name such as worked_sum:ppt."""

import subprocess

import openai
import pytest

from conftest import MODEL, PATIENCE, TEMPERA, Server

PROMPT = "4+7+9?"
SETTINGS = {"powers": [1, 2, 4], "block": 4, "rounds": 2}


@pytest.fixture(scope="module")
def defaulting():
    running = Server("--default-sampler", "ppt", "--powers", "1,2,4", "--block", "4", "--rounds", "2", "--horizon", "28")
    yield running
    running.stop()


def client_of(server):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)


def text(server, model="worked_sum", **fields):
    return client_of(server).completions.create(model=model, prompt=PROMPT, seed=3, **fields)


def test_a_plain_client_is_answered_by_the_default_sampler(defaulting, server):
    asked = text(server, max_tokens=28, extra_body={"tempera": SETTINGS})
    found = text(defaulting)
    assert found.choices[0].text == asked.choices[0].text
    assert found.tempera["powers"] == [1, 2, 4] and found.tempera["decode_tokens"] == asked.tempera["decode_tokens"]
    # Its settings decide answers, so the fingerprint has them.
    assert found.system_fingerprint.startswith(asked.system_fingerprint + "-")


def test_a_stream_and_a_chat_are_too(defaulting):
    whole = text(defaulting).choices[0].text
    assert "".join(part.choices[0].text for part in text(defaulting, stream=True)) == whole


def test_a_request_overrides_the_default(defaulting, server):
    given = {"sampler": "fixed-horizon", "powers": [2], "block": 7}
    assert text(defaulting, max_tokens=28, extra_body={"tempera": given}).choices == text(server, max_tokens=28, extra_body={"tempera": given}).choices
    # A seed or a wish for events says nothing of the sampler.
    assert text(defaulting, extra_body={"tempera": {"seed": 3}}).choices == text(defaulting).choices


def test_a_model_may_name_its_sampler(defaulting, server):
    plain = text(server, "worked_sum:standard", max_tokens=28, temperature=0.5)
    assert plain.choices == text(server, max_tokens=28, temperature=0.5).choices
    blocks = {"sampler": "low-temperature", "powers": [2], "block": 4}
    tempered = text(defaulting, "worked_sum:standard", temperature=0.5)
    assert tempered.choices == text(server, max_tokens=28, extra_body={"tempera": blocks}).choices
    seeded = text(defaulting, "worked_sum:standard", max_tokens=28, extra_body={"tempera": {"seed": 3}})
    # Standard takes the block of the server's settings, and the addresses of its draws depend on it.
    same = text(server, max_tokens=28, extra_body={"tempera": {"sampler": "standard", "block": 4}})
    assert seeded.choices[0].text == same.choices[0].text and seeded.tempera["powers"] == [1]
    asked = text(server, max_tokens=28, extra_body={"tempera": {"sampler": "exact-rejection", "powers": [4]}})
    # A sampler of one power begins with the last of the ladder, and without the settings that it does not take.
    assert text(defaulting, "worked_sum:exact-rejection").choices[0].text == asked.choices[0].text
    default = text(server, "worked_sum:ppt", max_tokens=28)
    assert default.choices == text(server, max_tokens=28, extra_body={"tempera": {"sampler": "ppt"}}).choices
    # A request's own keys are added.
    given = text(server, "worked_sum:ppt", max_tokens=28, extra_body={"tempera": SETTINGS})
    assert given.choices == text(server, max_tokens=28, extra_body={"tempera": SETTINGS}).choices


def test_a_temperature_leaves_the_servers_settings():
    running = Server("--default-sampler", "standard", "--horizon", "6", "--block", "2")
    try:
        settings = [text(running, **fields).tempera for fields in ({}, {"temperature": 1}, {"temperature": 0.5}, {"temperature": 0})]
        assert [(found["horizon"], found["block"]) for found in settings] == [(6, 2)] * 4
        assert [found["powers"] for found in settings] == [[1], [1], [2], [2**20]]
        answers = {text(running, **fields).choices[0].text for fields in ({}, {"temperature": 1})}
        assert len(answers) == 1
        assert text(running, max_tokens=3, temperature=0.5).tempera["horizon"] == 3
    finally:
        running.stop()


@pytest.fixture(scope="module")
def cutting():
    running = Server("--temperature", "0.7", "--top-p", "0.9", "--top-k", "5", "--min-p", "0.01", "--frequency-penalty", "0.5", "--powers", "1,2,4")
    yield running
    running.stop()


RULES = {"temperature": 0.7, "top_p": 0.9, "top_k": 5, "min_p": 0.01, "frequency_penalty": 0.5}


def test_a_plain_request_begins_with_the_servers_rules_of_tokens(cutting, server):
    bodies = [{"prompt": PROMPT, "max_tokens": 28, "n": 8, "seed": seed} for seed in range(4)]
    ask = lambda where, **fields: [[choice["text"] for choice in where.ask("/v1/completions", {**body, **fields})[1]["choices"]] for body in bodies]
    cut = ask(cutting)
    assert cut == ask(server, **RULES) != ask(server)
    # Each field of a request takes the place of the server's, also by the value that changes nothing.
    neutral = {"temperature": 1, "top_p": 1, "top_k": -1, "min_p": 0, "frequency_penalty": 0}
    for name, value in neutral.items():
        assert ask(cutting, **{name: value}) == ask(server, **{**RULES, name: value}), name
    assert ask(cutting, **neutral) == ask(server)
    assert ask(cutting, temperature=0) == ask(server, **{**RULES, "temperature": 0})
    # A request that says "tempera" without a sampler, beside a temperature, is tokenwise too.
    assert ask(cutting, temperature=0.7, tempera={"log_z": True}) == cut
    assert cutting.ask("/v1/completions", bodies[0])[1]["tempera"]["top_p"] == 0.9


def test_whole_answers_have_no_rules_of_tokens(cutting, server):
    for model, tempera in (("worked_sum:ppt", {"block": 4}), ("worked_sum", SETTINGS), ("worked_sum", {"sampler": "standard"}), ("worked_sum", {"seed": 3})):
        ask = lambda where, extra: where.ask("/v1/completions", {"model": model, "prompt": PROMPT, "max_tokens": 28, "seed": 3, "tempera": {**tempera, **extra}})[1]["choices"]
        assert ask(cutting, {}) == ask(server, {"powers": [1, 2, 4]} if model.endswith(":ppt") else {}), model
    # A name takes what its sampler takes.
    named = cutting.ask("/v1/completions", {"model": "worked_sum:standard", "prompt": PROMPT, "max_tokens": 28, "seed": 3})[1]
    assert named["tempera"]["powers"] == [1] and named["tempera"]["top_k"] == 5
    assert named["choices"] == server.ask("/v1/completions", {"prompt": PROMPT, "max_tokens": 28, "seed": 3, **RULES, "temperature": 1,
                                                              "tempera": {"sampler": "standard"}})[1]["choices"]


def test_rules_of_tokens_are_part_of_the_fingerprint(cutting, server):
    names = set()
    for options in (["--top-p", "0.9"], ["--top-p", "0.8"], ["--temperature", "0.7"], ["--powers", "1,2"]):
        running = Server(*options)
        names.add(text(running, max_tokens=1).system_fingerprint)
        running.stop()
    plain = text(server, max_tokens=1).system_fingerprint
    assert len(names) == 4 and all(name.startswith(plain + "-") for name in names)


def test_a_response_repeats_the_servers_rules(tmp_path):
    from conftest import write_chat_model
    write_chat_model(tmp_path / "chat")
    running = Server("--temperature", "0.7", "--top-p", "0.9", model=str(tmp_path / "chat"))
    try:
        for given, found in (({}, (0.7, 0.9)), ({"temperature": 0.5}, (0.5, 0.9)), ({"top_p": 1}, (0.7, 1))):
            answer = running.ask("/v1/responses", {"input": "Hi", "max_output_tokens": 4, **given})[1]
            assert (answer["temperature"], answer["top_p"]) == found
    finally:
        running.stop()


def test_models_lists_the_names(server):
    names = [model.id for model in client_of(server).models.list()]
    assert names[0] == "worked_sum" and {"worked_sum:ppt", "worked_sum:standard", "worked_sum:exact-rejection"} <= set(names)
    assert client_of(server).models.retrieve("worked_sum:ppt").id == "worked_sum:ppt"


@pytest.mark.parametrize("model, fields, words", [
    ("worked_sum", {"temperature": 0.7}, ["temperature", "the sampler ppt", ':standard']),
    ("worked_sum:ppt", {"temperature": 0}, ["temperature", "the sampler ppt"]),
    ("worked_sum:ppt", {"extra_body": {"tempera": {"sampler": "best-of-n"}}}, ["tempera.sampler", "differs"]),
    ("worked_sum:standard", {"extra_body": {"tempera": {"powers": [1, 2]}}}, ["powers", "standard"])])
def test_what_contradicts_the_sampler_is_refused(defaulting, model, fields, words):
    with pytest.raises(openai.BadRequestError) as refused:
        text(defaulting, model, **fields)
    assert all(word in refused.value.message for word in words), refused.value.message


def test_an_unknown_sampler_is_another_model(defaulting):
    with pytest.raises(openai.NotFoundError):
        text(defaulting, "worked_sum:pptt")


@pytest.mark.parametrize("flags, words", [
    (["--default-sampler", "pptt"], ["--default-sampler", "did you mean", "ppt"]),
    (["--default-sampler", "standard", "--rounds", "3"], ["--rounds", "has no effect on the sampler standard"]),
    (["--default-sampler", "ppt", "--powers", "2,1"], ["powers"]),
    (["--default-sampler", "ppt", "--top-p", "0.9"], ["--top-p", "changes the law of each token", "ppt"]),
    (["--default-sampler", "standard", "--temperature", "0.9"], ["--temperature", "standard"]),
    (["--default-sampler", "low-temperature", "--temperature", "0.9", "--powers", "2"], ["--temperature", "says the same as --powers"]),
    (["--top-p", "1.5"], ["--top-p", "at most 1"]), (["--temperature", "0"], ["--temperature"]), (["--min-tokens", "3"], ["--min-tokens"]),
    (["--powers", "1,2", "--horizon", "40000"], ["--horizon", "32768"]),
    (["--model-name", "mine:ppt"], ["--model-name", "ends as if it named a sampler"])])
def test_settings_that_make_no_sampler_are_refused_at_once(flags, words):
    done = subprocess.run([TEMPERA, "serve", "--model", MODEL, "--port", "0", *flags], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    assert all(word in done.stderr for word in words), done.stderr
