"""Answers that are asked for with an audit: what they return is all that `tempera audit` needs."""
import copy
import json
import subprocess

import pytest

from conftest import MODEL, TEMPERA

PROMPT = "4+7+9+3+8+6+2+5?"
PPT = {"powers": [1, 1.6, 2.5, 4], "block": 4, "rounds": 2}
BODY = {"prompt": PROMPT, "max_tokens": 28, "seed": 2**53 + 1}


def audited(response, tmp_path, *flags):
    file = tmp_path / "response.json"
    file.write_text(json.dumps(response))
    done = subprocess.run([TEMPERA, "audit", file, "--model", MODEL, "--json", *flags], capture_output=True, text=True)
    assert done.stderr == "" and done.returncode in (0, 1)
    found = json.loads(done.stdout)
    assert found["equal"] == (done.returncode == 0) == (found["first"] is None)
    return found


@pytest.mark.parametrize("sampler", [PPT, {"powers": [1, 3], "early_rejection": True, "rounds": 2}, {"sampler": "exact-rejection", "powers": [3]},
                                     {"sampler": "power-smc", "powers": [4]}, {"sampler": "standard"},
                                     {"sampler": "ramped-smc", "powers": [1, 2, 4], "block": 2, "particles": 2}])  # fmt: skip
def test_a_response_is_audited_from_what_it_holds(server, tmp_path, sampler):
    status, answer = server.ask("/v1/completions", {**BODY, "n": 2, "tempera": {**sampler, "audit": True}})
    assert status == 200
    found = audited(answer, tmp_path)
    assert found["equal"] and found["answers"] == 2
    # The same answer as without it, and one that holds what the client has got.
    plain = server.ask("/v1/completions", {**BODY, "n": 2, "tempera": sampler})[1]
    assert plain["choices"] == answer["choices"] and "audit" not in plain["tempera"]
    samples = [json.loads(line) for line in answer["tempera"]["audit"]["samples"]]
    assert [sample["answer"] for sample in samples] == [choice["text"] for choice in answer["choices"]]
    assert answer["tempera"]["audit"]["config"]["seed"] == BODY["seed"]
    # Another seed, power, token or model is found.
    for key, value in (("seed", 1), ("powers", [1.25] if sampler == {"sampler": "standard"} else [*sampler.get("powers", [1])[:-1], 9])):
        other = copy.deepcopy(answer)
        other["tempera"]["audit"]["config"][key] = value
        if sampler != {"sampler": "standard"} or key == "seed":
            assert not audited(other, tmp_path)["equal"]
    other = copy.deepcopy(answer)
    first = samples[0]
    first["tokens"][0] ^= 1
    other["tempera"]["audit"]["samples"][0] = json.dumps(first)
    assert not audited(other, tmp_path)["equal"]
    other = copy.deepcopy(answer)
    other["tempera"]["audit"]["config"]["audit"]["model"] = "0" * 64
    assert audited(other, tmp_path)["first"]["place"] == "the model"


def test_a_stream_and_a_chat_end_with_their_audit(server, tmp_path):
    data, _ = server.events("/v1/completions", {**BODY, "stream": True, "tempera": {**PPT, "audit": True}})
    figures = [chunk["tempera"] for chunk in data if "audit" in chunk.get("tempera", {})]
    assert len(figures) == 1 and audited(figures[0], tmp_path)["equal"]


def test_an_audit_is_of_one_prompt(server):
    status, answer = server.ask("/v1/completions", {**BODY, "prompt": ["1+2?", "3+4?"], "tempera": {**PPT, "audit": True}})
    assert status == 400 and "tempera.audit" in answer["error"]["message"]


def test_no_answer_shows_where_the_model_is(server):
    answer = server.ask("/v1/completions", {**BODY, "tempera": {**PPT, "audit": True}})[1]
    assert str(MODEL) not in json.dumps(answer)
