"""The answers that a text states outside boxes."""

from __future__ import annotations

import re
from itertools import islice

# A base model goes on to another question of its own.
_NEXT_QUESTION = re.compile(r"^[*# ]*(?:Q|Question|Problem|Human|User)[* ]*[0-9]*[:.]", re.MULTILINE)
ANSWER = re.compile(r"(?<![a-z])answer", re.IGNORECASE)
CHOICE = re.compile(r"(?<![a-z])(?:answer|option|choice)", re.IGNORECASE)
# Before one of these, an answer is denied: "I do not think that the answer is 5".
_DENIED = re.compile(
    r"(?:(?:wrong|incorrect) (?:answer|option|choice)"
    r"|(?:not|n['’]t|never) (?:think|believe|say|sure|certain)[a-z ]*(?:answer|option|choice)"
    r"|(?:false|doubt) that (?:the )?(?:answer|option|choice))$",
    re.IGNORECASE,
)
_IS = re.compile(r"[*_ ]*(?:([:：=])|(is|equals|(?:will|would|should|must) be)\b:?)", re.IGNORECASE)
_MARK = re.compile(r"####")
_LINE = re.compile(r"\s*(?:\$\$|\\\[)?\s*([^\n]*)")
_LONGEST = 400  # characters of a line; its answer is at the beginning
_MOST = 100  # of a text that repeats itself


def questions(text: str) -> list[str]:
    r"""A text, cut before each line that begins another question.

    >>> questions("#### 5\nQuestion: 2 + 2?\n#### 4")
    ['#### 5\n', 'Question: 2 + 2?\n#### 4']
    """
    cuts = [0, *(found.start() for found in _NEXT_QUESTION.finditer(text)), len(text)]
    return [text[begin:end] for begin, end in zip(cuts, cuts[1:])]


def _after(text: str, mark: re.Match[str]) -> str:
    """The line after a mark, or the next one if nothing is left of its own."""
    line = _LINE.match(text, mark.end())
    return line.group(1)[:_LONGEST] if line else ""


def marked(text: str) -> list[str]:
    """The text after each `####`, for the first 100."""
    return [_after(text, mark) for mark in islice(_MARK.finditer(text), _MOST)]


def is_denied(text: str, end: int) -> bool:
    """True if a text says until `end` that what follows is not the answer."""
    return _DENIED.search(text[max(0, end - _LONGEST) : end]) is not None


def said(text: str, noun: re.Pattern[str]) -> list[tuple[str, str]]:
    """Each "answer is" or its like, as its verb or sign and what follows; the last 100, the last first."""
    marks = [mark for found in noun.finditer(text) if (mark := _IS.match(text, found.end())) and not is_denied(text, found.end())]
    return [((mark.group(1) or mark.group(2)).lower(), _after(text, mark)) for mark in marks[: -_MOST - 1 : -1]]
