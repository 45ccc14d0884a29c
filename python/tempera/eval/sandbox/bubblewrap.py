"""Runs a Python program in bubblewrap: no network, a read-only system, limited memory, time, files and processes.

What each limit rests on: namespaces of their own for network, processes, users, mounts and messages; a filter of system
calls (`system_call_filter`); resource limits on the one process; a temporary folder of limited size; time and output
watched from outside. Where one of them is not there, nothing is run: `require` says why.
"""

from __future__ import annotations

import functools
import json
import os
import secrets
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.sandbox.system_call_filter import filter_here

_INSIDE = Path(__file__).with_name("inside.py")
_SECONDS_TO_START = 60.0
# A program is ended after this many times its seconds, whatever it has waited for.
_MOST_TIMES = 20.0


@dataclass(frozen=True)
class Limits:
    """What a program may take: seconds from its first statement on, bytes of memory, of output and of files.

    Seconds in which it waits for a core that others have are not counted: a busy machine makes none fail.
    """

    seconds: float = 3.0
    memory: int = 4 << 30
    output: int = 64 << 20
    files: int = 64 << 20


@dataclass(frozen=True)
class Outcome:
    """How a program ended.

    `status`: "finished", "timed out", "too much output" or "failed" (an exit code other than 0). `passed` is set in
    the mode "tests" if the program came to its end. `error` is the end of what it wrote on standard error.
    """

    status: str
    output: bytes = b""
    error: str = ""
    passed: bool = False


def _command(bwrap: str, source: int, filter_file: int, ready: int, files: int) -> list[str]:
    python = os.path.realpath(sys.executable)
    command = [
        bwrap, "--unshare-all", "--unshare-user", "--new-session", "--die-with-parent", "--cap-drop", "ALL",
        "--uid", "65534", "--gid", "65534", "--hostname", "sandbox", "--clearenv",
        "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8",
        # One order of sets and dictionaries, so that a program gives the same verdict each time.
        "--setenv", "PYTHONHASHSEED", "0",
    ]  # fmt: skip
    for folder in ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives"):
        if os.path.islink(folder):
            command += ["--symlink", os.readlink(folder), folder]
        elif os.path.exists(folder):
            command += ["--ro-bind", folder, folder]
    for prefix in sorted({sys.base_prefix, str(Path(python).parent.parent)}):
        if not Path(prefix).is_relative_to("/usr"):
            command += ["--ro-bind", prefix, prefix]
    for device in ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"):
        command += ["--dev-bind", device, device]
    return command + [
        "--ro-bind", str(_INSIDE), "/sandbox/inside.py",
        "--ro-bind-data", str(source), "/sandbox/program.py",
        "--size", str(files), "--tmpfs", "/tmp", "--remount-ro", "/", "--chdir", "/tmp",
        "--seccomp", str(filter_file),
        # Without the user's folder and installed packages; the environment is ours.
        "--", python, "-s", "-S", "-B", "-X", "utf8", "/sandbox/inside.py", "/sandbox/program.py", str(ready),
    ]  # fmt: skip


def _file_with(content: bytes) -> int:
    descriptor = os.memfd_create("tempera")
    os.write(descriptor, b"") if not content else _write_all(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _start(source: str, order: dict[str, object], given: bytes, ready: int, limits: Limits) -> subprocess.Popen[bytes]:
    bwrap = shutil.which("bwrap")
    system_calls = filter_here()
    if bwrap is None or system_calls is None:
        raise BadInput("the sandbox", "is not there", "install bubblewrap, on x86-64 or arm64 Linux")
    descriptors = [_file_with(source.encode("utf-8", "surrogatepass")), _file_with(system_calls)]
    standard_input = tempfile.TemporaryFile()
    try:
        standard_input.write(json.dumps(order).encode() + b"\n" + given)
        standard_input.seek(0)
        return subprocess.Popen(
            _command(bwrap, descriptors[0], descriptors[1], ready, limits.files),
            stdin=standard_input,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(*descriptors, ready),
            start_new_session=True,
        )
    finally:
        standard_input.close()
        for descriptor in descriptors:
            os.close(descriptor)


class _Clock:
    """The seconds that a program has had since it began, without those in which it waited for a core.

    The kernel counts the latter for each thread; those of the first thread are taken. A program of many threads has at
    least its share of all cores, so that threads of its own that wait for each other give it no more time. Where the
    kernel tells nothing, all seconds count.
    """

    def __init__(self, bwrap: int) -> None:
        self._bwrap = bwrap
        self._began = time.monotonic()
        self._waited = self._look()[0]

    def _look(self) -> tuple[float, float]:
        """Seconds of waiting of the first thread, and of computing of all."""
        try:
            first, program = self._bwrap, ""
            for _ in range(2):  # the first process of the namespace, and the program, its only child
                program = Path(f"/proc/{first}/task/{first}/children").read_text().split()[0]
                first = int(program)
            waited = int(Path(f"/proc/{program}/schedstat").read_text().split()[1]) / 1e9
            fields = Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()
            return waited, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError, ValueError):  # it has ended, or this kernel does not count
            return 0.0, 0.0

    def left(self, seconds: float) -> float:
        """How much of its seconds is left."""
        elapsed = time.monotonic() - self._began
        if elapsed < seconds:
            return seconds - elapsed
        waited, computed = self._look()
        had = max(elapsed - max(0.0, waited - self._waited), computed / (os.cpu_count() or 1))
        return min(seconds - had, _MOST_TIMES * seconds - elapsed)


def _watch(process: subprocess.Popen[bytes], ready: int, limits: Limits) -> tuple[str, bytes, bytes]:
    """Reads what a program writes until it ends, takes too long or writes too much; then nothing of it is left."""
    assert process.stdout is not None and process.stderr is not None
    texts = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    latest_start = time.monotonic() + _SECONDS_TO_START
    clock: _Clock | None = None

    def left() -> float:
        return latest_start - time.monotonic() if clock is None else clock.left(limits.seconds)

    status = ""
    with selectors.DefaultSelector() as waiting:
        for descriptor in (*texts, ready):
            waiting.register(descriptor, selectors.EVENT_READ)
        while len(waiting.get_map()) and not status:
            seconds = left()
            if seconds <= 0:
                status = "timed out"
                break
            for key, _ in waiting.select(seconds):
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    waiting.unregister(key.fd)
                elif key.fd == ready:
                    clock = _Clock(process.pid)
                else:
                    texts[key.fd] += chunk
                    if len(texts[key.fd]) > limits.output:
                        status = "too much output"
    while not status and process.poll() is None:
        # Its output is closed; it may still run.
        seconds = left()
        if seconds <= 0:
            status = "timed out"
            break
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
    process.kill()  # bwrap's end takes all processes of its namespace with it
    process.wait()
    output, error = bytes(texts[process.stdout.fileno()]), bytes(texts[process.stderr.fileno()])
    process.stdout.close()
    process.stderr.close()
    if not status:
        status = "finished" if process.returncode == 0 else "failed"
    return status, output, error


def _run(source: str, mode: str, given: bytes, limits: Limits, may_exit: bool = False) -> Outcome:
    secret = secrets.token_hex(16)
    order: dict[str, object] = {
        "mode": mode,
        "may_exit": may_exit,
        "memory": limits.memory,
        "file_bytes": limits.files,
        "cpu_seconds": int(limits.seconds) + 60,
    }
    if mode == "tests":
        order["secret"] = secret
    ready, ready_inside = os.pipe()
    try:
        try:
            process = _start(source, order, given, ready_inside, limits)
        finally:
            os.close(ready_inside)
        status, output, error = _watch(process, ready, limits)
    finally:
        os.close(ready)
    tail = error[-2000:].decode("utf-8", "replace").strip()
    if mode == "tests":
        return Outcome(status, b"", tail, status == "finished" and output == secret.encode())
    return Outcome(status, output, tail)


_PROBE = """
import os, socket
refused = []
for attempt in (os.fork, socket.socket, lambda: open("/usr/tempera", "w"), lambda: open("/tempera", "w")):
    try:
        attempt()
    except OSError:
        refused.append(True)
assert len(refused) == 4
assert not os.path.exists("/home") and not os.path.exists("/proc/self")
"""


@functools.lru_cache(maxsize=1)
def _why_not() -> str:
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (apt-get install bubblewrap)"
    if filter_here() is None:
        return "the filter of system calls is for x86-64 and arm64 only"
    try:
        outcome = _run(_PROBE, "tests", b"", Limits(seconds=20.0))
    except OSError as error:
        return f"bwrap cannot be started: {error.strerror}"
    if not outcome.passed:
        return "a trial run failed: " + (outcome.error.splitlines() or [outcome.status])[-1]
    return ""


def require() -> None:
    """Refuses if programs cannot be contained here; nothing is ever run without it."""
    why = _why_not()
    if why:
        raise BadInput("the sandbox", why, "programs are graded in a sandbox or not at all")


def run_python(
    source: str, given: bytes = b"", limits: Limits = Limits(), tests: bool = False, may_exit: bool = False
) -> Outcome:
    """Runs a program with its input. With `may_exit`, sys.exit() of any code is an end like every other.

    With `tests` it has neither input nor output, and `passed` says whether it came to its end. A program that knows
    where to look can find the secret that says so: the tests of such a benchmark run in the program's own process.
    """
    require()
    return _run(source, "tests" if tests else "program", given, limits, may_exit)
