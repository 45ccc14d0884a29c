"""The exceptions that tempera raises. Each text is one line that names the place, the fault and the remedy."""

from __future__ import annotations


#: The most characters of a value that a message quotes.
_MOST_SHOWN = 200


def shown(value: object) -> str:
    """A value as a message quotes it: its repr, or its type for what has none, such as an integer of 5,000 digits.

    >>> shown([1, "a"]), shown(10**5000)
    ("[1, 'a']", 'an object of the type int')
    """
    try:
        found = repr(value)
    except Exception:  # noqa: BLE001 (whatever the repr of a user's object raises)
        found = f"an object of the type {type(value).__name__}"
    return found if len(found) <= _MOST_SHOWN else found[: _MOST_SHOWN - 1] + "…"


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
