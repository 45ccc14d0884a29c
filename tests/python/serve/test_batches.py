"""/v1/files and /v1/batches: their protocol, and that a batch outlives its server."""
import json
import pathlib
import re
import resource
import signal

import pytest

from conftest import PATIENCE, Server, wait_until

PPT = {"powers": [1, 2, 4], "block": 4, "rounds": 2}


def line(number, **body):
    return {"custom_id": f"sum-{number}", "method": "POST", "url": "/v1/completions",
            "body": {"prompt": f"{number % 9 + 1}+4+7?", "max_tokens": 28, "tempera": PPT, **body}}


def upload(server, lines, purpose="batch"):
    content = "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines)
    body = (f'--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n{purpose}\r\n'
            f'--x\r\nContent-Disposition: form-data; name="file"; filename="in.jsonl"\r\n\r\n{content}\r\n--x--\r\n')
    return server.ask("/v1/files", body.encode(), headers={"Content-Type": "multipart/form-data; boundary=x"})


def start(server, lines):
    file = upload(server, lines)[1]
    status, batch = server.ask("/v1/batches", {"input_file_id": file["id"], "endpoint": "/v1/completions",
                                               "completion_window": "24h", "metadata": {"by": "test"}})
    assert status == 200, batch
    return batch


def wait(server, batch):
    def ended():
        said = server.ask("/v1/batches/" + batch["id"])[1]
        return said if said["status"] in ("completed", "failed", "cancelled") else None

    return wait_until(ended, "the batch does not end")


def content(server, file):
    return server.ask(f"/v1/files/{file}/content")[1] if file else ""


def results(server, batch):
    text = content(server, batch["output_file_id"]) + content(server, batch["error_file_id"])
    return {each["custom_id"]: each["response"] for each in map(json.loads, text.splitlines())}


def essence(body):
    return {key: value for key, value in body.items() if key not in ("id", "created")}


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "kept")


@pytest.fixture
def kept(folder):
    running = Server("--batch-folder", folder)
    yield running
    running.stop()


def test_a_line_that_is_not_drawn_exactly_fails_for_good(folder):
    """Also one that an earlier server has begun: it does not begin anew for ever."""
    rejection = {"sampler": "exact-rejection", "powers": [1000], "most_tokens": 28}
    endless = {**rejection, "most_tokens": 60000}
    running = Server("--batch-folder", folder)
    try:
        batch = start(running, [line(1, tempera=endless, seed=1), line(2, tempera=rejection, seed=1), line(3, seed=1)])
        wait_until(lambda: running.ask("/v1/batches/" + batch["id"])[1]["request_counts"]["failed"] > 0)
        running.process.send_signal(signal.SIGKILL)
        running.process.wait(timeout=PATIENCE)
        running.process.stderr.close()
        running = Server("--batch-folder", folder)
        batch = wait(running, batch)
        assert batch["status"] == "completed" and batch["request_counts"] == {"total": 3, "completed": 1, "failed": 2}
        found = results(running, batch)
        for name in ("sum-1", "sum-2"):
            error = found[name]["body"]["error"]
            assert found[name]["status_code"] == 400 and "is not drawn" in error["message"], found[name]
    finally:
        running.stop()


def test_a_line_has_the_answer_of_the_same_request(kept):
    lines = [line(i, seed=i, n=1 + i % 2) for i in range(12)] + [line(99, top_p=1.5)]
    batch = wait(kept, start(kept, lines))
    assert batch["status"] == "completed" and batch["metadata"] == {"by": "test"}
    assert batch["request_counts"] == {"total": 13, "completed": 12, "failed": 1}
    found = results(kept, batch)
    for each in lines[:-1]:
        status, body = kept.ask("/v1/completions", each["body"])
        assert status == 200 and found[each["custom_id"]]["status_code"] == 200
        assert essence(found[each["custom_id"]]["body"]) == essence(body)
    assert found["sum-99"]["status_code"] == 400 and found["sum-99"]["body"]["error"]["param"] == "top_p"
    # The answers are in the order of the input.
    order = [json.loads(text)["custom_id"] for text in content(kept, batch["output_file_id"]).splitlines()]
    assert order == [each["custom_id"] for each in lines[:-1]]


def test_lists_and_deletions(kept):
    batches = [wait(kept, start(kept, [line(i, seed=1)])) for i in range(3)]
    listed = kept.ask("/v1/batches?limit=2")[1]
    assert len(listed["data"]) == 2 and listed["has_more"] is True
    rest = kept.ask(f"/v1/batches?after={listed['last_id']}")[1]
    assert {each["id"] for each in listed["data"] + rest["data"]} == {batch["id"] for batch in batches}
    for file in (batches[0]["input_file_id"], batches[0]["output_file_id"]):
        assert kept.ask("/v1/files/" + file, method="DELETE")[1] == {"id": file, "object": "file", "deleted": True}
        assert kept.ask("/v1/files/" + file)[0] == 404
    assert kept.ask("/v1/files/..%2F..%2Flock/content")[0] == 404


@pytest.mark.parametrize("lines, words", [
    ([], "no line"),
    (["{"], "line 1"),
    (["", " ", json.dumps(line(1)), "{"], "line 4"),
    (["", json.dumps(line(1)), "", json.dumps(line(1))], "line 4"),
    (["", "", {**line(1), "method": "GET"}], "line 3, method"),
    (["", {**line(1), "url": "/v1/models"}], "line 2, url"),
    (["", {**line(1), "body": []}], 'line 2, "body"'),
    ([{"custom_id": "a", "method": "GET", "url": "/v1/completions", "body": {}}], "GET"),
    ([{"custom_id": "a", "method": "POST", "url": "/v1/models", "body": {}}], "/v1/completions"),
    ([line(1), line(1)], "twice"),
])
def test_an_input_that_is_none_fails_as_a_whole(kept, lines, words):
    batch = start(kept, lines)
    error = batch["errors"]["data"][0]
    assert batch["status"] == "failed" and words in error["message"]
    if words.startswith("line "):
        place, _, field = words.partition(", ")
        assert error["line"] == int(place.split()[1])
        assert not field or error["param"] == field.strip('"')


def test_the_numbers_of_answers_are_those_of_the_file(kept):
    batch = wait(kept, start(kept, ["", line(1, seed=1), " \t", "", line(2, seed=2, top_p=1.5)]))
    answers = [json.loads(content(kept, batch[key])) for key in ("output_file_id", "error_file_id")]
    assert [each["id"].rsplit("-", 1)[1] for each in answers] == ["2", "5"]
    assert answers[0]["response"]["body"]["id"].endswith("-2")


def test_what_clients_have_sent_is_the_owners(tmp_path):
    folder = tmp_path / "kept"
    for name in ("batches", "files"):  # as an earlier version made them
        (folder / name).mkdir(parents=True, mode=0o755)
    running = Server("--batch-folder", str(folder))
    try:
        wait(running, start(running, [line(1, seed=1)]))
        paths = [path for name in ("batches", "files") for path in [folder / name, *(folder / name).rglob("*")]]
        assert len(paths) > 8
        assert {path: oct(path.stat().st_mode & 0o777) for path in paths} == {
            path: "0o700" if path.is_dir() else "0o600" for path in paths}
    finally:
        running.stop()


ENDLESS = {"powers": [1, 8], "block": 28, "prefetch": 4096, "rounds": 200000, "local_moves": 10, "sweeps": 80}


@pytest.mark.parametrize("tempera", [ENDLESS, {"powers": [1, 8], "block": 28, "local_moves": 0, "sweeps": 0, "rounds": 16000000}])
def test_a_line_that_cannot_end_is_ended_by_cancel_and_does_not_return(folder, tempera):
    running = Server("--batch-folder", folder, "--grace", "0")
    batch = start(running, [line(1, seed=1), line(2, seed=1, n=4, tempera=tempera)])
    wait_until(lambda: running.ask("/v1/batches/" + batch["id"])[1]["request_counts"]["completed"] > 0)
    running.ask(f"/v1/batches/{batch['id']}/cancel", {})
    running.process.kill()  # at once: it may not have heard of it
    running.process.wait(timeout=PATIENCE)
    running.process.stderr.close()
    running = Server("--batch-folder", folder, "--grace", "0")
    try:
        batch = wait(running, batch)
        assert batch["status"] == "cancelled" and list(results(running, batch)) == ["sum-1"]
        running.wait_until_idle()
        # The next one takes its place.
        assert wait(running, start(running, [line(3, seed=1)]))["status"] == "completed"
    finally:
        running.stop()


def test_wrong_uploads_are_refused(kept):
    for headers, body in [({"Content-Type": "application/json"}, "{}"), ({"Content-Type": "multipart/form-data"}, "x"),
                          ({"Content-Type": "multipart/form-data; boundary=x"}, "--x\r\nno end")]:
        assert kept.ask("/v1/files", body, headers=headers)[0] == 400
    assert upload(kept, [line(1)], purpose="assistants")[0] == 400
    assert kept.ask("/v1/batches", {"input_file_id": "file-0", "endpoint": "/v1/completions"})[0] == 400


def form(**parts):
    return "".join(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in parts.items()) + "--x--\r\n"


@pytest.mark.parametrize("more, param, words", [
    ({"expires_after[anchor]": "created_at", "expires_after[seconds]": "3600"}, "expires_after[anchor]", "do not expire"),
    ({"expires_after": "{}"}, "expires_after", "do not expire"),
    ({"purpos": "batch"}, "purpos", 'did you mean "purpose"?'),
    ({"colour": "red"}, "colour", "is not a field that this server knows")])
def test_no_part_of_a_form_is_passed_over(kept, more, param, words):
    whole = {"purpose": "batch", "file": json.dumps(line(1))}
    ask = lambda parts: kept.ask("/v1/files", form(**parts), headers={"Content-Type": "multipart/form-data; boundary=x"})  # noqa: E731
    assert ask(whole)[0] == 200
    before = kept.ask("/v1/files")[1]
    status, answer = ask({**whole, **more})
    assert status == 400 and answer["error"]["param"] == param and words in answer["error"]["message"], answer
    twice = form(**whole)[: -len("--x--\r\n")] + form(purpose="batch")
    status, answer = kept.ask("/v1/files", twice, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert status == 400 and answer["error"]["param"] == "purpose" and "twice" in answer["error"]["message"], answer
    assert kept.ask("/v1/files")[1] == before


@pytest.mark.parametrize("path", ["/v1/files", "/v1/batches"])
def test_no_parameter_of_a_list_is_passed_over(kept, path):
    status, answer = kept.ask(path + "?order=asc&limit=2")
    assert status == 400 and answer["error"]["param"] == "order", answer
    assert kept.ask(path + "?limit=2&")[0] == 200


def test_a_line_that_is_no_json_is_named_once(kept):
    batch = wait(kept, start(kept, [line(1), "{"]))
    (error,) = batch["errors"]["data"]
    assert batch["status"] == "failed" and error["line"] == 2
    assert error["message"].startswith("line 2: column 2 is not valid JSON"), error


def test_a_server_without_the_folder_says_so(server):
    status, answer = server.ask("/v1/files")
    assert status == 404 and "--batch-folder" in answer["error"]["message"]


def test_a_batch_can_be_cancelled(kept):
    long = [line(i, seed=i, tempera={**PPT, "block": 1, "rounds": 300}) for i in range(200)]
    batch = start(kept, [line(500, seed=1)] + long)
    file = batch["input_file_id"]
    assert kept.ask("/v1/files/" + file, method="DELETE")[0] == 409
    kept.ask(f"/v1/batches/{batch['id']}/cancel", {})
    batch = wait(kept, batch)
    assert batch["status"] == "cancelled"
    assert len(results(kept, batch)) == batch["request_counts"]["completed"] < 201


def test_half_of_what_may_be_under_way_is_left_to_clients(folder):
    """Equal lines end together, so the counts go up by as many as are under way at once."""
    server = Server("--batch-folder", folder, "--under-way", "4")
    equal = line(1, seed=1, tempera={**PPT, "rounds": 40})
    try:
        batch = start(server, [{**equal, "custom_id": f"sum-{i}"} for i in range(8)])
        counts = set()
        while (said := server.ask("/v1/batches/" + batch["id"])[1])["status"] == "in_progress":
            counts.add(said["request_counts"]["completed"])
        assert said["request_counts"] == {"total": 8, "completed": 8, "failed": 0}
        assert {0, 2, 4, 6} <= counts <= {0, 2, 4, 6, 8}, counts
    finally:
        server.stop()


LONG = [line(i, tempera={**PPT, "block": 2, "rounds": 12}) for i in range(24)]  # no seeds: the batch has one


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_batch_outlives_its_server(folder, faults, how):
    running = Server("--batch-folder", folder, "--grace", "0")
    batch = start(running, LONG)
    stops = 0
    while stops < 4:
        # A server that has drawn more than the one before it is stopped in another round.
        def has_drawn():
            drawn = int(re.search(r"^tempera_decode_tokens_total (\d+)$", running.ask("/metrics")[1], re.M).group(1))
            return drawn > 300 * stops or running.ask("/v1/batches/" + batch["id"])[1]["status"] == "completed"
        wait_until(has_drawn)
        if running.ask("/v1/batches/" + batch["id"])[1]["status"] == "completed":
            break
        running.process.send_signal(how)
        running.process.wait(timeout=PATIENCE)
        running.process.stderr.close()
        stops += 1
        faults(f"{how.name} in the middle of a batch", "resumed by the next server, to the same bytes")
        running = Server("--batch-folder", folder, "--grace", "0")
    try:
        assert stops > 0
        batch = wait(running, batch)
        assert batch["request_counts"] == {"total": 24, "completed": 24, "failed": 0}
        found = results(running, batch)
        seeds = set()
        for each in LONG:  # the same as in one go: the same seed gives the same answer, acceptances and cost
            seed = found[each["custom_id"]]["body"]["tempera"]["seed"]
            seeds.add(seed)
            body = running.ask("/v1/completions", {**each["body"], "seed": seed})[1]
            assert essence(found[each["custom_id"]]["body"]) == essence(body)
        assert len(seeds) == 24
    finally:
        running.stop()


def test_a_full_disk_ends_nothing(folder, faults):
    running = Server("--batch-folder", folder, limits={resource.RLIMIT_FSIZE: (40000, resource.RLIM_INFINITY)})
    try:
        batch = start(running, LONG)
        def refused():
            told = running.ask("/v1/batches/" + batch["id"])[1]
            return told if told["errors"] else None

        said = wait_until(refused, "the full disk is not reported")
        message = said["errors"]["data"][0]["message"]
        assert said["status"] == "in_progress" and folder not in message
        status, answer = upload(running, [line(i) for i in range(2000)])
        assert status == 507 and folder not in answer["error"]["message"]
        faults("a full disk under /v1/files", "answered by 507")
        assert running.ask("/v1/completions", LONG[0]["body"])[0] == 200
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        batch = wait(running, batch)
        assert batch["request_counts"]["completed"] == 24 and batch["errors"] is None
        faults("a full disk in the middle of a batch", "waited for, and resumed")
    finally:
        running.stop()


def test_two_servers_cannot_share_a_folder(kept, folder):
    with pytest.raises(AssertionError, match="another server"):
        Server("--batch-folder", folder)


def test_a_damaged_batch_stops_no_server(folder, faults):
    running = Server("--batch-folder", folder)
    batch = wait(running, start(running, [line(1, seed=1)]))
    running.stop()
    answers = pathlib.Path(folder) / "batches" / batch["id"] / "samples.jsonl"
    answers.write_text(answers.read_text().replace("sum-1", "sum-2"))
    running = Server("--batch-folder", folder)
    try:
        said = running.ask("/v1/batches/" + batch["id"])[1]
        assert said["status"] == "failed" and folder not in said["errors"]["data"][0]["message"]
        faults("a batch's file that was edited", "named, and the batch failed")
        assert running.ask("/health")[0] == 200
    finally:
        running.stop()
