"""Progress is shown on a terminal, with the time left, and nowhere else."""

from __future__ import annotations

import io
import os
import shutil
import sys
import time

import pytest

from tempera.eval.progress import Progress, _duration


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


def test_a_duration_is_in_the_largest_unit_that_has_two_digits_or_a_tenth() -> None:
    """In seconds below 99, in minutes below 99 of them, else in hours: never further off than half of what it shows last."""
    for seconds in [*range(0, 20000, 7), 98.4, 98.99, 99, 99.5, 5939, 5940, 5999]:
        number, unit = _duration(seconds).split()
        size = {"s": 1, "min": 60, "h": 3600}[unit]
        assert unit == ("s" if seconds < 99 else "min" if seconds / 60 < 99 else "h")
        assert abs(float(number) * size - seconds) <= size * (0.05 if unit == "h" else 0.5) and ("." in number) == (unit == "h")


def test_a_line_is_one_sign_shorter_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the terminal goes to the next row, and the line is written over no more."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    whole = "a long name: 5 of 20"
    for columns in range(2, 30):
        monkeypatch.setattr(shutil, "get_terminal_size", lambda columns=columns: os.terminal_size((columns, 24)))
        Progress("a long name", 20, 5)
        assert terminal.getvalue().rpartition("\x1b[K")[2] == whole[: columns - 1]
