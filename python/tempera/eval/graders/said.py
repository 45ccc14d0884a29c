"""What a text says its answer is, apart from boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

# A base model goes on to another question of its own.
_NEXT_QUESTION = re.compile(r"^\W{0,4}(?:Q|Question|Problem|Human|User)\W{0,4}(?:[0-9]+\W{0,4})?[:.]", re.MULTILINE)
_ANSWER_IS = re.compile(
    r"\b(?:answer|option|choice)\b[*_ \t]{0,4}(?::|=|(?:is|equals|(?:will|would|should|must) be)\b:?)[*_: \t]*", re.IGNORECASE
)
_LINE = re.compile(r"\s{0,9}(?:\$\$|\\\[|\*\*)?\s{0,9}([^\n]{0,400})")
_MOST = 100  # of a text that repeats itself


def questions(text: str) -> list[str]:
    r"""A text, cut before each line that begins another question.

    >>> questions("#### 5\nQuestion: 2 + 2?\n#### 4")
    ['#### 5\n', 'Question: 2 + 2?\n#### 4']
    """
    cuts = [0, *(found.start() for found in _NEXT_QUESTION.finditer(text)), len(text)]
    return [text[begin:end] for begin, end in zip(cuts, cuts[1:]) if text[begin:end].strip()]


def phrases(text: str, marks: list[re.Match[str]]) -> Iterator[str]:
    """What stands behind each mark: 400 characters at most of its line, or of the next one if its own is empty."""
    for found in marks:
        line = _LINE.match(text, found.end())
        if line is not None:
            yield line.group(1)


def marked(text: str, mark: str) -> list[str]:
    """What follows each of the first 100 marks."""
    return list(phrases(text, list(islice(re.finditer(re.escape(mark), text), _MOST))))


def said(text: str) -> list[str]:
    """What follows each of the last 100 times that a text says "answer is" or its like, the last first."""
    return list(phrases(text, list(_ANSWER_IS.finditer(text))[: -_MOST - 1 : -1]))
