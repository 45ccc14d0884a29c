"""What a text says its answer is, apart from boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A base model goes on to another question of its own.
_NEXT_QUESTION = re.compile(r"^\W{0,4}(?:Q|Question|Problem|Human|User)\W{0,4}(?:[0-9]+\W{0,4})?[:.]", re.MULTILINE)
_ANSWER_IS = re.compile(
    r"\b(?:answer|option|choice)\b[*_ \t]{0,4}(?::|=|(?:is|equals|(?:will|would|should|must) be)\b:?)[*_: \t]*", re.IGNORECASE
)
_LINE = re.compile(r"\s*(?:\$\$|\\\[|\*\*)?\s*([^\n]*)")


def questions(text: str) -> list[str]:
    r"""A text, cut before each line that begins another question.

    >>> questions("#### 5\nQuestion: 2 + 2?\n#### 4")
    ['#### 5\n', 'Question: 2 + 2?\n#### 4']
    """
    cuts = [0, *(found.start() for found in _NEXT_QUESTION.finditer(text)), len(text)]
    return [text[begin:end] for begin, end in zip(cuts, cuts[1:]) if text[begin:end].strip()]


def phrases(text: str, mark: re.Pattern[str]) -> Iterator[str]:
    """What stands behind each mark, up to the end of its line; of the next line if its own is empty."""
    for found in mark.finditer(text):
        line = _LINE.match(text, found.end())
        if line is not None:
            yield line.group(1)


def said(text: str) -> list[str]:
    """What follows each "answer is", the last first."""
    return list(phrases(text, _ANSWER_IS))[::-1]
