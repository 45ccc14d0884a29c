"""The answers that a text states outside boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from tempera.eval.graders.denied import NEAR

# A base model goes on to another question of its own.
_NEXT_QUESTION = re.compile(r"^[*# ]*(?:Q|Question|Problem|Human|User)[* ]*[0-9]*[:.]", re.MULTILINE)
ANSWER = re.compile(r"(?<![a-z])answer(?: to (?:the|this) (?:question|problem))?", re.IGNORECASE)
CHOICE = re.compile(r"(?<![a-z])(?:answer(?: to (?:the|this) (?:question|problem))?|option|choice)", re.IGNORECASE)
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


class Said(NamedTuple):
    """An "answer is" or its like: its verb or sign, what follows in its line, and the text before and after that line."""

    sign: str
    phrase: str
    before: str
    after: str


def said(text: str, noun: re.Pattern[str]) -> Iterator[Said]:
    """Each "answer is" or its like; the last 100, the last first."""
    marks = [mark for found in noun.finditer(text) if (mark := _IS.match(text, found.end()))]
    for mark in marks[: -_MOST - 1 : -1]:
        line = _LINE.match(text, mark.end())
        assert line is not None  # it may be empty
        cut = min(line.end(), line.start(1) + _LONGEST)
        yield Said((mark.group(1) or mark.group(2)).lower(), text[line.start(1) : cut], text[max(0, line.start(1) - NEAR) : line.start(1)], text[cut : cut + NEAR])
