"""Progress is shown on a terminal, with the time left, and nowhere else."""

from __future__ import annotations

import io
import sys
import time

import pytest

from tempera.eval.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_a_line_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = Progress("ppt, seed 1 of 5", 20)
    now[0] = 60.0
    progress.show(5)
    assert terminal.getvalue().endswith("\r\x1b[Kppt, seed 1 of 5: 5 of 20, 3 min left")
    progress.show(20)
    assert terminal.getvalue().endswith("20 of 20")
    progress.end()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_what_was_done_before_does_not_count_for_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = Progress("grading", 100, 90)
    now[0] = 50.0
    progress.show(95)
    assert terminal.getvalue().endswith("95 of 100, 50 s left")


def test_in_a_pipe_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    progress = Progress("ppt", 20)
    progress.show(5)
    progress.end()
    assert pipe.getvalue() == ""
