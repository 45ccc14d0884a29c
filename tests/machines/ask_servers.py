"""Runs the two servers of docs/howto/machines.md, has them draw a batch, and compares it with that of one server alone.

usage: ask_servers.py WORK MODEL, in a network of its own whose loopback is not up yet; WORK/servers holds their commands.
"""

import fcntl
import json
import os
import shlex
import socket
import struct
import subprocess
import sys
import time
import urllib.request

BOUNDARY = "a-line-of-no-file"


def bring_loopback_up() -> None:
    get, put, is_up = 0x8913, 0x8914, 1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(any_socket, get, asked))[1]
        fcntl.ioctl(any_socket, put, struct.pack("16sh22x", b"lo", flags | is_up))


def ask(path: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
    request = urllib.request.Request("http://127.0.0.1:8080" + path, data=body, headers={"Content-Type": kind})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return answer.read()


def wait_for(condition) -> None:  # type: ignore[no-untyped-def]
    for _ in range(12000):
        try:
            if condition():
                return
        except OSError:  # it does not listen yet
            pass
        time.sleep(0.05)
    raise AssertionError("it did not come")


def answers_of(commands: list[str], folder: str) -> list[object]:
    """What servers, the first at port 8080, answer to a batch: the choices of each line."""
    os.makedirs(folder)
    running = [subprocess.Popen(shlex.split(command), cwd=folder, stderr=subprocess.DEVNULL) for command in commands]
    try:
        wait_for(lambda: ask("/health") is not None)
        lines = "".join(
            json.dumps({"custom_id": f"sum {n}", "method": "POST", "url": "/v1/completions",
                        "body": {"prompt": f"{n}+{n + 1}?", "max_tokens": 28, "seed": n}}) + "\n"
            for n in range(9)
        )  # fmt: skip
        parts = [("purpose", "", "batch"), ("file", '; filename="lines.jsonl"', lines)]
        body = "".join(
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'
            for name, more, value in parts
        )
        file = json.loads(ask("/v1/files", f"{body}--{BOUNDARY}--\r\n".encode(), f"multipart/form-data; boundary={BOUNDARY}"))
        wish = {"input_file_id": file["id"], "endpoint": "/v1/completions", "completion_window": "24h"}
        batch = json.loads(ask("/v1/batches", json.dumps(wish).encode()))
        wait_for(lambda: json.loads(ask(f"/v1/batches/{batch['id']}"))["status"] == "completed")
        done = json.loads(ask(f"/v1/batches/{batch['id']}"))
        assert done["request_counts"] == {"total": 9, "completed": 9, "failed": 0}, done
        said = [json.loads(line) for line in ask(f"/v1/files/{done['output_file_id']}/content").splitlines()]
        return [[line["custom_id"], line["response"]["body"]["choices"]] for line in said]
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def main() -> None:
    work, model = sys.argv[1:]
    bring_loopback_up()
    with open(f"{work}/servers", encoding="utf-8") as file:
        commands = file.read().splitlines()
    together = answers_of(commands, f"{work}/servers of a page")
    drew = {name for _, folders, _ in os.walk(f"{work}/servers of a page") for name in folders if name.startswith("shard-")}
    assert drew == {"shard-2-of-2"}, drew
    assert together == answers_of([f"tempera serve --model {shlex.quote(model)} --batch-folder alone"], f"{work}/one server")


if __name__ == "__main__":
    main()
