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
    for running in (defaulting, server):
        plain = text(running, "worked_sum:standard", max_tokens=28, temperature=0.5)
        assert plain.choices == text(server, max_tokens=28, temperature=0.5).choices
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
    (["--powers", "1,2", "--horizon", "40000"], ["--horizon", "32768"]),
    (["--model-name", "mine:ppt"], ["--model-name", "ends as if it named a sampler"])])
def test_settings_that_make_no_sampler_are_refused_at_once(flags, words):
    done = subprocess.run([TEMPERA, "serve", "--model", MODEL, "--port", "0", *flags], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    assert all(word in done.stderr for word in words), done.stderr
