"""Runs one program inside the sandbox. Its first line of input says how; what follows is the program's own input.

Started as `python -s -S -B inside.py PROGRAM READY`: PROGRAM is the file with the source, READY the descriptor that is
written to when the program's time begins. Modes: "program" runs the source with its own input and output. "tests" runs
it with neither; if it comes to its end, the secret of the first line is written to the output, so that a program which
ends the process early has not passed.
"""

import json
import os
import random
import resource
import sys


def limit(memory: int, file_bytes: int, seconds: int) -> None:
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_CPU, seconds),
    ):
        # A limit that is already lower stays.
        hard = resource.getrlimit(what)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (value, value))


def first_line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            break
        line += byte
    return line


def main() -> None:
    order = json.loads(first_line())
    with open(sys.argv[1], encoding="utf-8") as file:
        source = file.read()
    ready = int(sys.argv[2])
    limit(order["memory"], order["file_bytes"], order["cpu_seconds"])
    tested = order["mode"] == "tests"
    secret = order.pop("secret", "").encode()
    output = 1
    if tested:
        output = os.dup(1)
        nothing = os.open("/dev/null", os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
    sys.argv = ["program.py"]
    del sys.path[0]  # the folder of this file
    # Some tests draw their cases: the same ones each time, so that a verdict can be repeated.
    random.seed(0)
    names = {"__name__": "__main__" if not tested else "program", "__builtins__": __builtins__}
    os.write(ready, b".")
    os.close(ready)
    try:
        exec(compile(source, "program.py", "exec"), names)
    except SystemExit:
        if not order["may_exit"]:
            raise
    if tested:
        os.write(output, secret)
        os._exit(0)


if __name__ == "__main__":
    main()
