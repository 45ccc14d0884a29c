"""Asks a process of its own, and ends it if no answer comes in time."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_SECONDS_TO_START = 120.0
_PACKAGES = str(Path(__file__).parents[3])


class TimedOut(Exception):
    """The question took longer than it may."""


class Crashed(Exception):
    """The question ended its process or raised an exception."""


class LimitedWorker:
    """A worker process, started when it is first asked and again after it was ended.

    `modules` are imported before the first question, so that their import takes no question's time.

    >>> worker = LimitedWorker(20, ["sympy"])
    >>> worker.ask("difference_is_zero", "(x+x)-(2*x)")
    True
    >>> worker.close()
    """

    def __init__(self, seconds: float, modules: list[str] | None = None) -> None:
        self.seconds = seconds
        self._modules = modules or []
        self.imports: dict[str, str] = {}  # each module of the user's that a question imported, by its file, as it was first
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""

    def ask(self, question: str, *arguments: str) -> Any:
        """The answer; TimedOut or Crashed if there is none."""
        process = self._process
        if process is None or process.poll() is not None:
            process = self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write((json.dumps([question, arguments]) + "\n").encode())
            process.stdin.flush()
        except BrokenPipeError:
            self.close()
            raise Crashed("the grader's process ended") from None
        answer = self._answer(process, self.seconds)
        if "crash" in answer:
            raise Crashed(answer["crash"])
        return answer["answer"]

    def _start(self) -> subprocess.Popen[bytes]:
        self.close()
        paths = [_PACKAGES, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tempera.eval.graders.worker", *self._modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self._unread = b""
        self._answer(self._process, _SECONDS_TO_START)
        return self._process

    def _answer(self, process: subprocess.Popen[bytes], seconds: float) -> dict[str, Any]:
        """The next line that is an answer; what the lines before it say was imported is kept."""
        assert process.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            while True:
                line, end, rest = self._unread.partition(b"\n")
                if end:
                    self._unread = rest
                    answer: dict[str, Any] = json.loads(line)
                    if "imports" not in answer:
                        return answer
                    for file, digest in answer["imports"].items():
                        self.imports.setdefault(file, digest)
                    continue
                if not waiting.select(max(0.0, deadline - time.monotonic())):
                    self.close()
                    raise TimedOut(f"after {seconds:g} s")
                part = os.read(process.stdout.fileno(), 1 << 16)
                if not part:
                    self.close()
                    raise Crashed("the grader's process ended")
                self._unread += part

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except BrokenPipeError:
                        pass
            self._process = None
