"""The exceptions that tempera raises. Each text is one line that names the place, the fault and the remedy."""

from __future__ import annotations


class Error(Exception):
    """Every error of tempera."""


class BadInput(Error, ValueError):
    """A wrong input: where it is, what is wrong, and what to do.

    >>> print(BadInput("data.jsonl, line 3", 'the field "answer" is missing', "see docs/howto/evaluation.md"))
    data.jsonl, line 3: the field "answer" is missing; see docs/howto/evaluation.md
    """

    def __init__(self, place: str, problem: str = "", remedy: str = "") -> None:
        self.place = place
        self.problem = problem
        self.remedy = remedy
        text = place + (f": {problem}" if problem else "") + (f"; {remedy}" if remedy else "")
        super().__init__(" ".join(text.split()))


class ModelError(Error, ArithmeticError):
    """The model gave logits that are not numbers."""


class DeviceError(Error, RuntimeError):
    """The device is missing or lost."""


class Bug(Error, RuntimeError):
    """A mistake in tempera itself."""
