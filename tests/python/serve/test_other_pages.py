"""What web pages from elsewhere can make a browser send to a server of the same machine: it is refused, and nothing is drawn."""
import json
import re
import subprocess

import pytest

from conftest import MODEL, PATIENCE, TEMPERA, Server

BODY = {"prompt": "4+7?", "max_tokens": 4, "seed": 1}
REQUESTS = [("/v1/completions", BODY), ("/v1/chat/completions", {"messages": [{"role": "user", "content": "4+7?"}]}), ("/tokenize", {"prompt": "4+7?"}),
            ("/v1/models", None), ("/metrics", None), ("/", None), ("/openapi.json", None), ("/health", None)]


def requests_of(server):
    return int(re.search(r"tempera_requests_total (\d+)", server.ask("/metrics")[1]).group(1))


def test_pages_of_other_origins_are_refused(server, faults):
    before = requests_of(server)
    for origin in ("http://elsewhere.test", f"http://elsewhere.test:{server.port}", "http://127.0.0.1:1", f"http://localhost:{server.port}", "null"):
        for path, body in REQUESTS:
            # A form can send neither JSON's type nor a key, but what it sends may be JSON.
            status, answer = server.ask(path, body, headers={"Origin": origin, "Content-Type": "text/plain"})
            assert status == 403 and "--allow-origin" in answer["error"]["message"], (origin, path, answer)
            faults("a web page from elsewhere, by its `Origin`", "answered by 403")
    assert requests_of(server) == before


def test_other_names_of_this_machine_are_refused(server, faults):
    before = requests_of(server)
    for host in ("elsewhere.test", f"elsewhere.test:{server.port}", "localhost.elsewhere.test", "127.0.0.1.elsewhere.test", "127.elsewhere.test"):
        for headers in ({"Host": host}, {"Host": host, "Origin": f"http://{host}"}):
            for path, body in REQUESTS:
                status, answer = server.ask(path, body, headers=headers)
                assert status == 421 and "--allow-origin" in answer["error"]["message"], (host, path, answer)
                faults("a name that is not the server's, by its `Host`", "answered by 421")
    assert requests_of(server) == before


def test_the_servers_own_page_and_programs_are_taken(server):
    own = f"127.0.0.1:{server.port}"
    for headers in ({}, {"Origin": f"http://{own}"}, {"Host": f"localhost:{server.port}"}, {"Host": "localhost", "Origin": "http://localhost"},
                    {"Host": f"[::1]:{server.port}"}):
        for path, body in REQUESTS[3:] + REQUESTS[:1]:
            assert server.ask(path, body, headers=headers)[0] == 200, (headers, path)


def headers_of(server, method, path, body=None, headers=None):
    connection = server.connection()
    connection.request(method, path, body and json.dumps(body), headers or {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text


def test_an_allowed_origin_can_ask_and_read(server, tmp_path):
    key = tmp_path / "key"
    key.write_text("secret-1\n")
    allowed = "https://chat.example"
    for options in ((), ("--api-key-file", str(key))):
        running = Server("--allow-origin", allowed, "--allow-origin", "http://localhost:3000", *options)
        bearer = {"Authorization": "Bearer secret-1"}
        try:
            asked = {"Origin": allowed, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
            status, headers, _ = headers_of(running, "OPTIONS", "/v1/completions", headers=asked)
            assert status == 200 and headers["access-control-allow-origin"] == allowed and headers["vary"] == "Origin", headers
            assert "POST" in headers["access-control-allow-methods"] and "Authorization" in headers["access-control-allow-headers"]
            for body in (BODY, {**BODY, "stream": True}):
                status, headers, text = headers_of(running, "POST", "/v1/completions", body, {"Origin": allowed, **bearer})
                assert status == 200 and headers["access-control-allow-origin"] == allowed, (headers, text)
                # An error can be read too.
                status, headers, _ = headers_of(running, "POST", "/v1/completions", {}, {"Origin": allowed, **bearer})
                assert status == 400 and headers["access-control-allow-origin"] == allowed, headers
            if options:
                # So can that the key is wrong.
                for wrong in ({}, {"Authorization": "Bearer secret-2"}):
                    status, headers, _ = headers_of(running, "POST", "/v1/completions", BODY, {"Origin": allowed, **wrong})
                    assert status == 401 and headers["access-control-allow-origin"] == allowed, headers
            for origin in ("http://elsewhere.test", "https://chat.example:8443"):
                for method in ("OPTIONS", "POST"):
                    status, headers, _ = headers_of(running, method, "/v1/completions", BODY, {**asked, "Origin": origin})
                    assert status >= 400 and "access-control-allow-origin" not in headers, (origin, method, status, headers)
            assert "access-control-allow-origin" not in headers_of(running, "GET", "/health")[1]
            # A proxy of this machine hands on the name under which it was asked.
            assert headers_of(running, "GET", "/health", headers={"Host": "chat.example"})[0] == 200
        finally:
            running.stop()


def test_a_key_is_enough(tmp_path):
    key = tmp_path / "key"
    key.write_text("secret-1\n")
    running = Server("--api-key-file", str(key))
    try:
        headers = {"Origin": "http://elsewhere.test", "Host": "elsewhere.test"}
        assert running.ask("/v1/models", headers=headers)[0] == 401
        assert running.ask("/v1/models", headers={**headers, "Authorization": "Bearer secret-1"})[0] == 200
    finally:
        running.stop()


@pytest.mark.parametrize("origin", ["elsewhere.test", "https://elsewhere.test/", "https://a b"])
def test_what_is_no_origin_is_refused(origin):
    done = subprocess.run([TEMPERA, "serve", "--model", MODEL, "--port", "0", "--allow-origin", origin], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--allow-origin" in done.stderr and done.stdout == ""
