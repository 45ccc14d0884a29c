"""The paths of `tempera serve`, against the command's own figures."""
import collections
import json
import re
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import MODEL, PATIENCE, TEMPERA, Server, wait_until

PPT = {"powers": [1, 1.6, 2.5, 4], "block": 4, "rounds": 3}
PROMPT = "4+7+9+3+8+6+2+5?"


def ppt(server, **fields):
    body = {"prompt": PROMPT, "max_tokens": 28, "seed": 5, "tempera": PPT, **fields}
    status, answer = server.ask("/v1/completions", body)
    assert status == 200, answer
    return answer


def essence(answer):
    """An answer without what names the request."""
    return {key: value for key, value in answer.items() if key not in ("id", "created")}


def test_an_answer_is_the_commands_own(server, command):
    printed = command("sample", PROMPT, "--model", MODEL, "--powers", "1,1.6,2.5,4", "--horizon", "28",
                      "--block", "4", "--rounds", "3", "--seed", "5", "--samples", "3", "--json")
    answer = ppt(server, n=3)
    assert [choice["text"] for choice in answer["choices"]] == [a["answer"] for a in printed["answers"]]
    assert [c["log_p0"] for c in answer["tempera"]["choices"]] == [a["log_p0"] for a in printed["answers"]]
    said, summary = answer["tempera"], printed["summary"]
    assert (said["decode_tokens"], sum(c["round_trips"] for c in said["choices"])) == (summary["decode_tokens"], summary["round_trips"])
    for name, rows, proposed in (("local_moves", summary["rungs"], "proposed"), ("swaps", summary["edges"], "attempts")):
        own = [[sum(c[name][k][count] for c in said["choices"]) for count in ("proposed", "accepted")] for k in range(len(rows))]
        assert own == [[row[proposed], row["accepted"]] for row in rows] and sum(map(sum, own)) > 0
    # Not degenerate: the samples differ from one another.
    assert len({choice["text"] for choice in answer["choices"]}) > 1


def test_neighbours_and_seeds_are_told_apart(server):
    assert essence(ppt(server)) == essence(ppt(server))
    texts = {ppt(server, seed=seed)["choices"][0]["text"] for seed in range(8)}
    assert len(texts) > 1


def test_a_fresh_seed_is_returned_and_repeats_its_answer(server):
    body = {"prompt": PROMPT, "max_tokens": 28, "tempera": PPT}
    _, first = server.ask("/v1/completions", body)
    _, second = server.ask("/v1/completions", body)
    assert first["tempera"]["seed"] != second["tempera"]["seed"]
    again = ppt(server, seed=first["tempera"]["seed"])
    assert again["choices"] == first["choices"]


def test_a_list_of_prompts_is_that_of_the_command(server, command, tmp_path):
    prompts = ["1+2?", "3+4?", "1+2?"]
    file = tmp_path / "prompts.jsonl"
    file.write_text("".join(json.dumps({"id": str(i), "prompt": prompt}) + "\n" for i, prompt in enumerate(prompts)))
    printed = command("sample", "--prompts", str(file), "--model", MODEL, "--powers", "1,1.6,2.5,4", "--horizon", "28", "--block", "4",
                      "--rounds", "3", "--seed", "3", "--samples", "2", "--json")["answers"]
    body = {"n": 2, "max_tokens": 28, "seed": 3, "tempera": PPT}
    texts = server.ask("/v1/completions", {"prompt": prompts, **body})[1]
    assert [choice["text"] for choice in texts["choices"]] == [answer["answer"] for answer in printed]
    # Each prompt has draws of its own, also if it is another one's text.
    assert [choice["text"] for choice in texts["choices"][:2]] != [choice["text"] for choice in texts["choices"][4:]]
    tokens = server.ask("/v1/completions", {"prompt": [server.ask("/tokenize", {"prompt": prompt})[1]["tokens"] for prompt in prompts], **body})[1]
    assert essence(tokens) == essence(texts)


@pytest.mark.parametrize("fields, options", [({}, ["--temperature", "1"]), ({"temperature": 0.5}, ["--temperature", "0.5"])])
def test_without_the_object_it_is_tokenwise_sampling(server, command, fields, options):
    printed = command("sample", PROMPT, "--model", MODEL, "--horizon", "28", "--seed", "5", "--samples", "3", "--json", *options)["answers"]
    answer = server.ask("/v1/completions", {"prompt": PROMPT, "max_tokens": 28, "seed": 5, "n": 3, **fields})[1]
    assert [choice["text"] for choice in answer["choices"]] == [each["answer"] for each in printed]


def test_a_preset_is_the_commands_own(server, command):
    printed = command("sample", PROMPT, "--model", MODEL, "--preset", "qwen3/math500", "--horizon", "28", "--block", "4", "--rounds", "2",
                      "--seed", "5", "--json")
    answer = ppt(server, tempera={"preset": "qwen3/math500", "block": 4, "rounds": 2})
    assert answer["tempera"]["preset"] == "qwen3/math500" and len(answer["tempera"]["powers"]) > 1
    assert answer["tempera"]["powers"] == printed["settings"]["powers"]
    assert answer["choices"][0]["text"] == printed["answers"][0]["answer"]


def figures_of(server):
    """Every sample of /metrics."""
    return {name: float(value) for name, value in re.findall(r"^(tempera_\S+) (\S+)$", server.ask("/metrics")[1], re.M)}


def figures_around_answers(server):
    """The figures before and after four answers and a refusal, and by how much they say that they grow."""
    server.wait_until_idle()
    before = figures_of(server)
    answers = [ppt(server, seed=seed, n=2) for seed in range(4)]
    assert server.ask("/v1/completions", {"prompt": PROMPT, "top_p": 1.5})[0] == 400
    wanted = collections.Counter({"tempera_requests_total": 5, "tempera_requests_refused_total": 1, "tempera_answers_total": 8})
    for answer in answers:
        wanted["tempera_prompt_tokens_total"] += answer["usage"]["prompt_tokens"]
        wanted["tempera_answer_tokens_total"] += answer["usage"]["completion_tokens"]
        wanted["tempera_decode_tokens_total"] += answer["tempera"]["decode_tokens"]
        for choice in answer["tempera"]["choices"]:
            wanted["tempera_round_trips_total"] += choice["round_trips"]
            for name, label in (("local_moves", "rung"), ("swaps", "edge")):
                for number, counts in enumerate(choice[name], 1):
                    for outcome, count in counts.items():
                        wanted[f'tempera_{name}_total{{{label}="{number}",outcome="{outcome}"}}'] += count

    def have_grown():
        now = figures_of(server)
        return now if all(now[name] - before.get(name, 0) >= wanted[name] for name in wanted) else None

    return before, wait_until(have_grown, f"the figures do not grow by {wanted}"), wanted


def test_the_metrics_count_what_the_answers_say(server):
    # The session's own figures are told after the pass that ended an answer: those of another test's may come late, once.
    for _ in range(3):
        before, after, wanted = figures_around_answers(server)
        grown = {name: after[name] - before.get(name, 0) for name in wanted}
        if grown == wanted:
            break
    assert grown == wanted
    assert after["tempera_batches_total"] > before["tempera_batches_total"]
    assert after["tempera_batch_rows_mean"] == pytest.approx(after["tempera_decode_tokens_total"] / after["tempera_batches_total"], abs=1e-5)
    assert after["tempera_cache_bytes"] == after["tempera_choices_under_way"] == 0 < after["tempera_cache_bytes_most"]
    for part in ("forward", "draw", "accept", "swap"):
        name = f'tempera_seconds_total{{part="{part}"}}'
        assert after[name] > before[name], name


def test_many_prompts_and_choices_are_in_order(server):
    prompts = ["1+2?", "3+4?", "5+6+7?"]
    _, together = server.ask("/v1/completions", {"prompt": prompts, "n": 2, "max_tokens": 28, "seed": 3})
    assert [choice["index"] for choice in together["choices"]] == list(range(6))
    assert together["usage"]["prompt_tokens"] == sum(
        len(server.ask("/tokenize", {"prompt": p})[1]["tokens"]) for p in prompts)


@pytest.mark.parametrize("body", [
    {"prompt": PROMPT, "max_tokens": 28, "seed": 4},
    {"prompt": PROMPT, "max_tokens": 28, "seed": 4, "temperature": 0.5},
    {"prompt": PROMPT, "max_tokens": 28, "seed": 4, "tempera": PPT},
    {"prompt": PROMPT, "max_tokens": 28, "seed": 4, "n": 3, "tempera": {"sampler": "best-of-n", "particles": 4}},
])
def test_a_stream_has_the_text_of_the_whole_answer(server, body):
    status, whole = server.ask("/v1/completions", body)
    assert status == 200, whole
    data, comments = server.events("/v1/completions", {**body, "stream": True,
                                                       "stream_options": {"include_usage": True}})
    texts = {}
    for chunk in data:
        for choice in chunk["choices"]:
            texts[choice["index"]] = texts.get(choice["index"], "") + choice["text"]
    assert [texts[i] for i in sorted(texts)] == [choice["text"] for choice in whole["choices"]]
    assert data[-1]["usage"] == whole["usage"] and data[-1]["choices"] == []
    # Clients look at the first choice of every chunk, but for the usage that they have asked for.
    assert all(chunk["choices"] for chunk in data[:-1])
    assert [chunk["tempera"] for chunk in data if "tempera" in chunk] == [whole["tempera"]]
    if body.get("tempera", {}).get("powers"):
        assert any("round" in comment for comment in comments)


def test_tokenwise_answers_come_token_by_token(server):
    data, _ = server.events("/v1/completions", {"prompt": PROMPT, "max_tokens": 28, "seed": 4, "stream": True})
    assert sum(1 for chunk in data for choice in chunk["choices"] if choice["text"]) > 3


def test_round_events_show_every_rung(server):
    data, _ = server.events("/v1/completions", {"prompt": PROMPT, "max_tokens": 28, "seed": 5, "stream": True,
                                                "tempera": {**PPT, "round_events": True}})
    rounds = [chunk["tempera"] for chunk in data if "rungs" in chunk.get("tempera", {})]
    assert len(rounds) == 7 * (1 + 3)  # seven stages of one extension and three rounds
    assert all([rung["power"] for rung in event["rungs"]] == PPT["powers"] for event in rounds)
    whole = ppt(server)
    assert rounds[-1]["rungs"][-1]["text"] == whole["choices"][0]["text"]
    assert sum(event["decode_tokens"] for event in rounds) == whole["tempera"]["decode_tokens"]
    said = whole["tempera"]["choices"][0]
    assert [rung["log_p0"] for rung in rounds[-1]["rungs"]] == said["log_p0_of_rungs"]
    for kind, key in (("local_move", "local_moves"), ("swap", "swaps")):
        for number, counts in enumerate(said[key], 1):
            # A move from a position after the record's end proposes the record itself, and is not counted.
            outcomes = [move["accepted"] for event in rounds for move in event["events"]
                        if (move["kind"], move["rung"]) == (kind, number) and move.get("proposed", kind == "swap")]
            assert counts == {"proposed": len(outcomes), "accepted": sum(outcomes)} and outcomes


def test_echoed_logprobs_are_those_of_score(server, command):
    tokens = server.ask("/tokenize", {"prompt": "4+7?<11"})[1]["tokens"]
    scores = command("score", "--model", MODEL, "--tokens", ",".join(map(str, tokens)), "--json")
    _, answer = server.ask("/v1/completions", {"prompt": tokens, "max_tokens": 1, "logprobs": 1, "echo": True,
                                               "temperature": 0, "seed": 1234})
    logprobs = answer["choices"][0]["logprobs"]
    assert logprobs["token_logprobs"][0] is None
    assert logprobs["token_logprobs"][1:len(tokens)] == scores["log_p"]
    for own, top in list(zip(logprobs["token_logprobs"], logprobs["top_logprobs"]))[1:]:
        assert own <= max(top.values())
    # temperature 0 takes the likeliest token.
    assert logprobs["token_logprobs"][-1] == max(logprobs["top_logprobs"][-1].values())
    assert answer["choices"][0]["text"].startswith("4+7?<11")


def test_a_prompt_can_be_scored_alone(server, command):
    tokens = server.ask("/tokenize", {"prompt": "4+7?<11"})[1]["tokens"]
    _, answer = server.ask("/v1/completions", {"prompt": tokens, "max_tokens": 0, "logprobs": 0, "echo": True})
    scores = command("score", "--model", MODEL, "--tokens", ",".join(map(str, tokens)), "--json")
    assert answer["choices"][0]["logprobs"]["token_logprobs"][1:] == scores["log_p"]
    assert answer["usage"]["completion_tokens"] == 0


def test_a_prompt_can_be_scored_alone_in_a_stream(server):
    body = {"prompt": "4+7?<11", "max_tokens": 0, "logprobs": 1, "echo": True, "seed": 1}
    whole = server.ask("/v1/completions", body)[1]["choices"][0]
    data, _ = server.events("/v1/completions", {**body, "stream": True})
    chunks = [choice for chunk in data for choice in chunk["choices"]]
    assert "".join(chunk["text"] for chunk in chunks) == whole["text"]
    assert chunks[-1]["logprobs"] == whole["logprobs"] and chunks[-1]["finish_reason"] == "length"


def test_stop_strings_cut_the_answer(server):
    whole = ppt(server)["choices"][0]["text"]
    stop = whole[2]
    cut = ppt(server, stop=[stop])["choices"][0]
    assert cut["text"] == whole[:whole.index(stop)] and cut["finish_reason"] == "stop"


def test_tokens_and_texts(server):
    _, said = server.ask("/tokenize", {"prompt": "4+7?"})
    assert said["count"] == len(said["tokens"])
    strings = server.ask("/tokenize", {"prompt": "4+7?", "return_token_strs": True, "messages": None})[1]["token_strs"]
    assert strings == ["4", "+", "7", "?"]
    assert server.ask("/tokenize", {"prompt": "4+7?", "model": "other"})[0] == 404
    assert server.ask("/detokenize", {"tokens": said["tokens"]})[1]["prompt"].endswith("4+7?")
    assert "eos_token" in server.ask("/tokenizer_info")[1]
    models = server.ask("/v1/models")[1]["data"]
    assert models[0]["id"] == "worked_sum" and all(model["id"].startswith("worked_sum:") for model in models[1:])
    assert server.ask("/v1/models/worked_sum") == server.ask("/v1/models/worked%5fsum") == (200, models[0])
    assert server.ask("/v1/models/other")[0] == server.ask("/v1/models/%zz")[0] == 404
    assert "tempera_requests_total" in server.ask("/metrics")[1]
    assert server.ask("/health") == (200, {"status": "ok"})
    assert "<title>" in server.ask("/")[1]
    assert server.ask("/openapi.json")[1]["openapi"].startswith("3.")


@pytest.mark.parametrize("path, body, status, words", [
    ("/v1/completions", "{", 400, "body"),
    ("/v1/completions", "[]", 400, "body"),
    ("/v1/completions", "{\"prompt\": \"1\", \"prompt\": \"2\"}", 400, "prompt"),
    ("/v1/completions", "[" * 100000, 400, "body"),
    ("/v1/completions", b"{\"prompt\": \"\xff\"}", 400, "UTF-8"),
    ("/v1/completions", {}, 400, "prompt"),
    ("/v1/completions", {"prompt": 5}, 400, "prompt"),
    ("/v1/completions", {"prompt": "1?", "max_token": 3}, 400, "max_tokens"),
    ("/v1/completions", {"prompt": "1?", "top_p": 1.9}, 400, "top_p"),
    ("/v1/completions", {"prompt": "1?", "top_k": -2}, 400, "top_k"),
    ("/v1/completions", {"prompt": "1?", "min_p": 1.5}, 400, "min_p"),
    ("/v1/completions", {"prompt": "1?", "repetition_penalty": 11}, 400, "repetition_penalty"),
    ("/v1/completions", {"prompt": "1?", "n": 10 ** 30}, 400, "n"),
    ("/v1/completions", {"prompt": "1?", "n": 100000}, 400, "n"),
    ("/v1/completions", {"prompt": "1?", "max_tokens": -1}, 400, "max_tokens"),
    ("/v1/completions", {"prompt": "1?", "max_tokens": 10 ** 9}, 400, "max_tokens"),
    ("/v1/completions", {"prompt": "1?", "temperature": -1}, 400, "temperature"),
    ("/v1/completions", {"prompt": "1?", "stop": [""]}, 400, "stop"),
    ("/v1/completions", {"prompt": "ü"}, 400, "prompt"),
    ("/v1/completions", {"prompt": [99999]}, 400, "vocabulary"),
    ("/v1/completions", {"prompt": "1?", "tempera": {"power": [2]}}, 400, "powers"),
    ("/v1/completions", {"prompt": "1?", "tempera": {"sampler": "pppt"}}, 400, "ppt"),
    ("/v1/completions", {"prompt": "1?", "tempera": {"preset": "qwen3/math50"}}, 400, "qwen3/math500"),
    ("/v1/completions", {"prompt": "1?", "model": "other"}, 404, "worked_sum"),
    ("/v1/chat/completions", {"messages": []}, 400, "messages"),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]}, 400, "worked_sum"),
    ("/tokenize", {"text": "x"}, 400, "prompt"),
    ("/nowhere", {}, 404, "path"),
    ("/health", {}, 405, "GET, HEAD"),
])
def test_what_is_wrong_is_named(server, path, body, status, words):
    got, answer = server.ask(path, body)
    assert got == status, answer
    error = answer["error"]
    assert set(error) == {"message", "type", "param", "code"} and words in error["message"]
    assert "\n" not in error["message"]


def test_values_that_change_nothing_are_taken(server):
    body = {"prompt": PROMPT, "max_tokens": 8, "seed": 1}
    idle = {"top_p": 1, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0, "logit_bias": {}, "stop": None}
    assert server.ask("/v1/completions", {**body, **idle})[1]["choices"] == server.ask("/v1/completions", body)[1]["choices"]


def test_a_key_is_asked_for(tmp_path):
    key = tmp_path / "key"
    key.write_text("secret-1\n")
    running = Server("--api-key-file", str(key))
    try:
        assert running.ask("/health")[0] == 200
        for headers in ({}, {"Authorization": "Bearer secret-2"}, {"Authorization": "secret-1"},
                        {"Authorization": "Bearer secret-11"}, {"Authorization": "Bearer "}):
            assert running.ask("/v1/models", headers=headers)[0] == 401
        assert running.ask("/v1/models", headers={"Authorization": "Bearer secret-1"})[0] == 200
    finally:
        running.stop()


def test_other_machines_are_served_only_with_a_key(server):
    with pytest.raises(ConnectionRefusedError):  # another address of this machine
        socket.create_connection(("127.0.0.2", server.port), timeout=PATIENCE)
    done = subprocess.run([TEMPERA, "serve", "--model", MODEL, "--port", "0", "--host", "0.0.0.0"], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--api-key-file" in done.stderr and done.stdout == ""


def test_a_full_queue_says_so():
    running = Server("--queue", "2")
    try:
        status, answer = running.ask("/v1/completions", {"prompt": "1?", "n": 3, "max_tokens": 4})
        assert status == 429 and answer["error"]["type"] == "rate_limit_error"
        connection = running.connection()
        connection.request("POST", "/v1/completions", json.dumps({"prompt": "1?", "n": 3}))
        refused = connection.getresponse()
        assert refused.status == 429 and int(refused.headers["Retry-After"]) > 0
        connection.close()
        # Choices have left the queue before their answer is there: a client that asks again at once is no neighbour.
        for stream in [False, True] * 100:
            connection = running.connection()
            connection.request("POST", "/v1/completions", json.dumps({"prompt": "1?", "n": 2, "max_tokens": 4, "stream": stream}))
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()
            connection.close()
    finally:
        running.stop()


def test_a_request_beyond_the_limit_of_time_ends():
    running = Server("--longest", "1")
    try:
        long = {"prompt": "1+2+3?", "max_tokens": 28, "n": 4, "tempera": {"powers": [1, 2, 4], "block": 1, "rounds": 100000}}
        status, answer = running.ask("/v1/completions", long)
        assert status == 400 and "1 seconds" in answer["error"]["message"]
        connection = running.connection()
        connection.request("POST", "/v1/completions", json.dumps({**long, "stream": True}))
        text = connection.getresponse().read().decode()
        assert "1 seconds" in text and "[DONE]" not in text
        # On a busy machine a small request may need more than the limit, too.
        wait_until(lambda: running.ask("/v1/completions", {"prompt": "1?", "max_tokens": 4})[0] == 200)
        assert "tempera_choices_under_way 0\n" in running.ask("/metrics")[1]
    finally:
        running.stop()


def test_a_cache_memory_bounds_what_is_under_way(server):
    body = {"prompt": "1+2+3?", "max_tokens": 28, "seed": 4, "n": 8, "tempera": PPT}
    # Five pages of 32 KiB. One request may take four: the prompt's, and a record of three. A longer prompt takes five.
    running = Server("--cache-memory", "160KiB")
    try:
        status, answer = running.ask("/v1/completions", {**body, "prompt": "1+2+3+4+5+6+7+8+9+1+2?"})
        assert status == 400 and "memory" in answer["error"]["message"], answer
        # Each would fill the memory alone; beside others it waits, and none fails.
        with ThreadPoolExecutor(3) as clients:
            asked = [{**body, "seed": seed} for seed in (4, 5, 6)]
            answers = list(clients.map(lambda one: running.ask("/v1/completions", one), asked))
        for one, (status, answer) in zip(asked, answers):
            assert status == 200, answer
            assert essence(answer) == essence(server.ask("/v1/completions", one)[1])
        most = next(line for line in running.ask("/metrics")[1].splitlines() if line.startswith("tempera_cache_bytes_most"))
        assert 0 < int(most.split()[1]) <= 160 << 10
    finally:
        running.stop()


def test_a_prompt_beyond_the_limits_is_refused(server):
    for path, body, word in [("/v1/completions", {"prompt": "1+" * 3000000}, "prompt"),
                             ("/v1/completions", {"prompt": "1+" * 100 + "2?"}, "prompt"),
                             ("/v1/completions", {"prompt": ["1?"] * 1025}, "prompt"),
                             ("/v1/completions", {"prompt": ["1?"] * 1000, "n": 100}, "n")]:
        status, answer = server.ask(path, body)
        assert status == 400 and word in answer["error"]["message"], answer
