"""A line that shows how far long work is, on a terminal only."""

from __future__ import annotations

import shutil
import sys
import time


class Progress:
    """`what: done of all, time left` on standard error, written over itself.

    `done` are there before the work begins, and tell nothing about the time that is left.
    """

    def __init__(self, what: str, total: int, done: int = 0) -> None:
        self._what = what
        self._total = total
        self._began = time.monotonic()
        self._first = done
        self._shown = sys.stderr.isatty()
        self.show(done)

    def show(self, done: int) -> None:
        """Says that `done` of all are done."""
        if not self._shown:
            return
        line = f"{self._what}: {done} of {self._total}"
        fresh = done - self._first
        if 0 < fresh and done < self._total:
            left = (time.monotonic() - self._began) / fresh * (self._total - done)
            line += f", {_duration(left)} left"
        width = shutil.get_terminal_size().columns
        sys.stderr.write("\r\x1b[K" + line[: width - 1])
        sys.stderr.flush()

    def end(self) -> None:
        """Takes the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _duration(seconds: float) -> str:
    """A duration with its largest unit.

    >>> _duration(30), _duration(600), _duration(9000)
    ('30 s', '10 min', '2.5 h')
    """
    if seconds < 99:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5940 else f"{seconds / 3600:.1f} h"
