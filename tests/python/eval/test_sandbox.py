"""Hostile programs are contained, and nothing runs where they could not be."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import needs_sandbox

from tempera.errors import BadInput
from tempera.eval import sandbox
from tempera.eval.sandbox import Limits, bubblewrap, run_python
from tempera.eval.sandbox.system_call_filter import filter_for

pytestmark = needs_sandbox

QUICK = Limits(seconds=10.0, memory=1 << 30, output=1 << 20, files=1 << 20)


def test_a_program_reads_and_prints() -> None:
    outcome = run_python("print(int(input()) + 1)", b"41\n", QUICK)
    assert (outcome.status, outcome.output) == ("finished", b"42\n")
    assert run_python("assert 1 == 1", tests=True, limits=QUICK).passed


@pytest.mark.parametrize(
    "source",
    [
        "assert 1 == 2",
        "raise SystemExit(0)",
        "import os; os._exit(0)",
        "import sys; sys.exit()",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "def f(: pass",
        "import os; os.write(1, b'passed'); os._exit(0)",
        "import ctypes; ctypes.string_at(0)",
    ],
)
def test_only_a_program_that_comes_to_its_end_has_passed(source: str) -> None:
    assert not run_python(source, tests=True, limits=QUICK).passed


HOSTILE = {
    "fork bomb": "import os\nwhile True: os.fork()",
    "child": "import subprocess; subprocess.run(['/bin/true'])",
    "spawn": "import os; os.posix_spawn('/bin/true', ['true'], {})",
    "socket": "import socket; socket.create_connection(('127.0.0.1', 22))",
    "local socket": "import socket; socket.socket(socket.AF_UNIX).bind('/tmp/s')",
    "memory": "x = bytearray(2 << 30)",
    "file too long": "open('/tmp/a', 'wb').write(b'x' * (2 << 20))",
    "many files": "for n in range(2000): open(f'/tmp/{n}', 'wb', buffering=0).write(b'x' * 4096)",
    "write in /usr": "open('/usr/x', 'w')",
    "write in /": "open('/x', 'w')",
    "write at home": "open('/root/x', 'w')",
    "own program": "open('/sandbox/program.py', 'w')",
    "other processes": "import os; os.kill(1, 0) or os.listdir('/proc/1/fd')",
    "mount": "import ctypes, os; l = ctypes.CDLL(None, use_errno=True); assert l.mount(b'a', b'/tmp', b'tmpfs', 0, None) == 0",
    "namespace": "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
    "memory file": "import os; os.memfd_create('x')",
    "passwords": "open('/etc/passwd').read()",
    "own shadow": "open('/etc/shadow').read()",
    "terminal": "open('/dev/tty', 'w')",
    "descriptor limit": "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1)); x = bytearray(2 << 30)",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_programs_fail(name: str) -> None:
    outcome = run_python(HOSTILE[name], limits=QUICK)
    assert outcome.status == "failed", outcome


def test_endless_programs_are_ended_with_all_that_they_started() -> None:
    def contained() -> set[str]:
        found = set()
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if b"/sandbox/inside.py" in process.read_bytes():
                    found.add(process.parent.name)
            except OSError:  # it has ended
                pass
        return found

    source = """
import signal, threading
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
threads = [threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True) for _ in range(4)]
for thread in threads: thread.start()
while True: pass
"""
    before = contained()
    assert run_python(source, limits=Limits(seconds=1.0)).status == "timed out"
    deadline = time.monotonic() + 600
    while contained() - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not contained() - before


def test_a_program_that_sleeps_or_closes_its_output_is_ended_too() -> None:
    assert run_python("import time; time.sleep(99)", limits=Limits(seconds=0.5)).status == "timed out"
    closed = "import os, time\nos.close(1); os.close(2); time.sleep(99)"
    assert run_python(closed, limits=Limits(seconds=0.5)).status == "timed out"


@contextlib.contextmanager
def a_busy_core(others: int) -> Iterator[None]:
    """This process and what it starts have one core, which they share with others that never rest."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    started = []
    try:
        # Each in a session of its own, since the system gives each session its share.
        spin = [sys.executable, "-c", "while True: pass"]
        started = [subprocess.Popen(spin, start_new_session=True) for _ in range(others)]
        yield
    finally:
        os.sched_setaffinity(0, cores)
        for process in started:
            process.kill()
            process.wait()


COMPUTES = "import time\nwhile time.process_time() < {seconds}: pass"


def test_a_busy_machine_ends_no_program_early(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    look = bubblewrap._Clock._look
    monkeypatch.setattr(bubblewrap._Clock, "_look", lambda clock: looks.append(clock) or look(clock))
    with a_busy_core(4):
        assert run_python(COMPUTES.format(seconds=1.0), limits=Limits(seconds=2.0)).status == "finished"
        # The first look is at its start, and the next ones when by a clock on the wall it would have been ended.
        assert len(looks) > 1
        assert run_python(COMPUTES.format(seconds=3.0), limits=Limits(seconds=1.0)).status == "timed out"


def test_threads_that_wait_for_each_other_win_no_time() -> None:
    source = """
import hashlib, threading
block = b"x" * (64 << 20)
def compute():
    while True: hashlib.sha256(block)
for _ in range(40): threading.Thread(target=compute, daemon=True).start()
compute()
"""
    assert run_python(source, limits=Limits(seconds=1.0)).status == "timed out"


def test_a_program_has_its_seconds_without_those_in_which_it_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    now, waited, computed = 100.0, 7.0, 0.0
    monkeypatch.setattr(bubblewrap.time, "monotonic", lambda: now)
    monkeypatch.setattr(bubblewrap._Clock, "_look", lambda clock: (waited, computed))
    clock = bubblewrap._Clock(0)
    now = 101.5
    assert clock.left(2.0) == 0.5
    now, waited = 102.5, 7.0 + 1.75
    assert clock.left(2.0) == 2.0 - 0.75
    # Threads that wait for each other: all seconds that they computed, shared by all cores, are the program's.
    computed = 1.5 * (os.cpu_count() or 1)
    assert clock.left(2.0) == 0.5
    # Waiting for ever for a core ends after 20 times the seconds.
    now, waited, computed = 100.0 + 39.0, 7.0 + 39.0, 0.0
    assert clock.left(2.0) == 1.0
    now, waited = 100.0 + 40.0, 7.0 + 40.0
    assert clock.left(2.0) == 0.0


def test_a_program_that_waits_for_ever_for_a_core_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap._Clock, "_look", lambda clock: (time.monotonic(), 0.0))
    assert run_python("while True: pass", limits=Limits(seconds=0.1)).status == "timed out"


def test_endless_output_is_cut() -> None:
    assert run_python("while True: print('x' * 4096)", limits=QUICK).status == "too much output"
    assert run_python("import sys\nwhile True: sys.stderr.write('x' * 4096)", limits=QUICK).status == "too much output"


def test_nothing_outside_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    monkeypatch.setenv("TEMPERA_SECRET", "secret")
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    source = f"""
import os
assert not os.path.exists({str(secret)!r}) and not os.path.exists({str(Path(__file__))!r})
assert "TEMPERA_SECRET" not in os.environ
assert os.getuid() != 0 and not os.path.exists("/proc/self") and os.listdir("/tmp") == []
assert os.sched_getaffinity(0)
print(sorted(os.listdir("/dev")), len(os.listdir("/sandbox")))
"""
    outcome = run_python(source, limits=QUICK)
    listener.close()
    assert outcome.status == "finished", outcome.error
    assert outcome.output == b"['null', 'random', 'urandom', 'zero'] 2\n"


def test_the_same_program_gives_the_same_output() -> None:
    source = "import random\nprint({str(n) for n in range(50)}, hash('a'), random.random())"
    assert run_python(source, limits=QUICK) == run_python(source, limits=QUICK)


@pytest.fixture
def fresh_verdict() -> object:
    bubblewrap._why_not.cache_clear()
    yield
    bubblewrap._why_not.cache_clear()


def test_without_bubblewrap_nothing_runs(monkeypatch: pytest.MonkeyPatch, fresh_verdict: object, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="bubblewrap is not installed"):
        run_python("print(1)")


def test_on_a_machine_without_a_filter_nothing_runs(monkeypatch: pytest.MonkeyPatch, fresh_verdict: object) -> None:
    monkeypatch.setattr(bubblewrap, "filter_here", lambda: None)
    with pytest.raises(BadInput, match="filter of system calls"):
        sandbox.require()


def test_a_filter_that_lets_everything_through_is_noticed(monkeypatch: pytest.MonkeyPatch, fresh_verdict: object) -> None:
    allow_all = bytes.fromhex("060000000000ff7f")
    monkeypatch.setattr(bubblewrap, "filter_here", lambda: allow_all)
    with pytest.raises(BadInput, match="a trial run failed"):
        sandbox.require()


def test_a_bwrap_that_does_not_work_is_noticed(monkeypatch: pytest.MonkeyPatch, fresh_verdict: object, tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(BadInput, match="No permissions to create new namespace"):
        sandbox.require()


def test_both_machines_have_a_filter() -> None:
    for machine in ("x86_64", "aarch64"):
        filter_bytes = filter_for(machine)
        assert filter_bytes is not None and len(filter_bytes) % 8 == 0
    assert filter_for("riscv64") is None
