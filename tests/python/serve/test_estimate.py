"""`"tempera": {"estimate": true}`: the cost of a request, by a pilot of its own choices."""
import pytest

PROMPT = "4+7+9+3+8+6+2+5?"
BODY = {"prompt": PROMPT, "max_tokens": 28, "seed": 3}
PPT = {"powers": [1, 1.6, 2.5, 4], "block": 4, "rounds": 2}


@pytest.mark.parametrize("sampler", [PPT, {"sampler": "exact-rejection", "powers": [4]}, {"sampler": "standard"}])
def test_an_estimate_is_what_the_request_then_takes(server, sampler):
    asked = {**BODY, "n": 3}
    status, told = server.ask("/v1/completions", {**asked, "tempera": {**sampler, "estimate": True}})
    assert status == 200 and told["choices"] == [] and told["usage"]["completion_tokens"] == 0
    estimate = told["tempera"]["estimate"]
    drawn = server.ask("/v1/completions", {**asked, "tempera": sampler})[1]
    # The pilot came to the end of so short a request, and with the same words.
    assert estimate["answers"] == estimate["pilot"]["answers_ended"] == 3
    assert set(estimate["decode_tokens"].values()) == {drawn["tempera"]["decode_tokens"]}
    assert estimate["seconds"]["expected"] > 0 and "estimate" not in drawn["tempera"]


def test_a_long_request_is_cut_after_seconds(server):
    long = {"powers": [1, 1.6, 2.5, 4], "block": 4, "rounds": 400, "estimate": True}
    status, told = server.ask("/v1/completions", {**BODY, "n": 32, "tempera": long})
    assert status == 200
    estimate = told["tempera"]["estimate"]
    assert estimate["pilot"]["answers_ended"] < 32  # it was cut, however long a busy machine took for its last pass
    assert estimate["decode_tokens"]["low"] <= estimate["decode_tokens"]["expected"] <= estimate["decode_tokens"]["high"]
    # The server is free again.
    assert server.ask("/v1/completions", {**BODY, "tempera": {"sampler": "standard"}})[0] == 200


@pytest.mark.parametrize("beside", [{"stream": True}, {"logprobs": 1}, {"echo": True}, {"echo": True, "max_tokens": 0}])
def test_what_an_estimate_cannot_give_is_refused(server, beside):
    status, answer = server.ask("/v1/completions", {**BODY, **beside, "tempera": {"estimate": True}})
    assert status == 400 and "tempera.estimate" in answer["error"]["message"]
    status, answer = server.ask("/v1/completions", {**BODY, "tempera": {"estimate": True, "audit": True}})
    assert status == 400 and "tempera.estimate" in answer["error"]["message"]
