"""log Z of each token and the digest of the model, which an answer has on request: of every form, whole and streamed, by openai-python."""
import math

import pytest

openai = pytest.importorskip("openai", reason="openai is not installed", exc_type=ImportError)

BOTH = {"log_z": True, "digest": True}
LADDER = {"powers": [1, 2, 4], "block": 4, "rounds": 2}


def client_of(server):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)


def complete(server, tempera=None, **fields):
    body = {"seed": 5, **({} if tempera is None else {"tempera": tempera})}
    return client_of(server).completions.create(model="worked_sum", prompt="4+7+9?", max_tokens=12, extra_body=body, **fields)


@pytest.mark.parametrize("tempera, power", [({"sampler": "standard"}, 1), ({"sampler": "low-temperature", "powers": [2]}, 2), (LADDER, 4),
                                            ({**LADDER, "output_rung": 2}, 2), ({"sampler": "power-sampling", "powers": [3], "block": 4}, 3),
                                            ({"sampler": "power-smc", "powers": [2], "particles": 3, "block": 4}, 2),
                                            ({"sampler": "ramped-smc", "powers": [1, 2], "particles": 3, "block": 4}, 2)])
def test_log_z_is_the_sum_over_the_vocabulary(server, tempera, power):
    said = complete(server, {**tempera, **BOTH}, logprobs=20)
    (choice,) = said.tempera["choices"]
    tokens = said.choices[0].logprobs
    assert len(choice["log_z"]) == said.usage.completion_tokens == len(tokens.tokens) > 3
    for log_z, log_p, top in zip(choice["log_z"], tokens.token_logprobs, tokens.top_logprobs):
        # The vocabulary has fewer than 20 tokens. A token's tickets are rounded, of 2^44 exp(power (l - max l)): by less than
        # 2^-45 exp(power (max l - l)) of themselves. Beyond this there are the roundings of a handful of logarithms, 2^-45 each.
        assert math.isclose(sum(map(math.exp, top.values())), 1.0, abs_tol=1e-9)
        exact = math.log(sum(math.exp(power * each) for each in top.values()))
        assert abs(log_z - exact) < 2**-44 * math.exp(power * (max(top.values()) - log_p)) + (power + 4) * 2**-44 + 1e-12


def test_a_stop_ends_them_too(server):
    whole = complete(server, {**LADDER, **BOTH})
    text = whole.choices[0].text
    cut = complete(server, {**LADDER, **BOTH}, stop=text[1])
    assert cut.usage.completion_tokens < whole.usage.completion_tokens
    count = cut.usage.completion_tokens
    assert cut.tempera["choices"][0]["log_z"] == whole.tempera["choices"][0]["log_z"][:count]


def test_all_forms_and_streams_have_them(server, chat_server):
    said = complete(server, {**LADDER, **BOTH})
    audited = complete(server, {**LADDER, **BOTH, "audit": True})
    assert said.tempera["digest"] == audited.tempera["audit"]["config"]["audit"]["model"] and len(said.tempera["digest"]) == 64
    last = list(complete(server, {**LADDER, **BOTH}, stream=True))[-1]
    assert last.tempera["choices"] == said.tempera["choices"] and last.tempera["digest"] == said.tempera["digest"]
    client, extra = client_of(chat_server), {"seed": 5, "tempera": {"powers": [1, 2], "block": 4, "rounds": 2, **BOTH}}
    chat = client.chat.completions.create(model="chat", messages=[{"role": "user", "content": "Hi"}], max_tokens=8, extra_body=extra)
    response = client.responses.create(model="chat", input="Hi", max_output_tokens=8, extra_body=extra)
    assert len(chat.tempera["choices"][0]["log_z"]) == chat.usage.completion_tokens
    assert response.tempera["choices"] == chat.tempera["choices"] and response.tempera["digest"] == chat.tempera["digest"]
    assert chat.tempera["digest"] != said.tempera["digest"]


def test_they_change_nothing_and_are_not_there_unasked(server):
    for tempera in (LADDER, {"sampler": "standard"}, {}):
        plain = complete(server, tempera)
        asked = complete(server, {**tempera, **BOTH})
        assert asked.choices == plain.choices
        assert "digest" not in plain.tempera and "log_z" not in plain.tempera["choices"][0]
    # They say nothing of the sampler, so that a temperature goes on to decide it.
    warm = complete(server, BOTH, temperature=0.5)
    assert warm.tempera["powers"] == [2] and warm.choices == complete(server, temperature=0.5).choices
    with pytest.raises(openai.BadRequestError, match="log_z"):
        complete(server, {**LADDER, "log_z": True, "estimate": True})
