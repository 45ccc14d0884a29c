"""The fenced blocks of code in a text, as CommonMark has them."""

from __future__ import annotations

import re
from dataclasses import dataclass

# An opening fence, after the signs of quotations and lists; the info string of one of backticks has no backtick. It may
# be indented however far: models indent fences within lists by other amounts than the list asks for.
_OPENING = re.compile(r"(?P<before>(?:[ \t]|>|(?:[-*+]|[0-9]+[.)])[ \t])*)(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")
_CLOSING = re.compile(r"(?P<before>[ \t>]*)(?P<fence>`+|~+)[ \t]*")
_QUOTED = re.compile(r" *> ?")
_FURTHER_IN = 3  # columns that a closing fence may be indented more than its opening one
_LINE_END = re.compile(r"\r\n?|\n")
_PYTHON = re.compile(r"[{.\s]*(?:python|pypy|py)(?![a-z])", re.IGNORECASE)
_MARKDOWN = re.compile(r"[{.\s]*(?:markdown|md)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """A block of code: its info string, and its lines, each with its end."""

    info: str
    code: str

    @property
    def is_python(self) -> bool:
        """True if the info string says Python: ```python, ```Python3, ```py title="a.py"."""
        return _PYTHON.match(self.info) is not None


def fenced_blocks(text: str) -> list[Block]:
    r"""The fenced blocks of a text, in order; one that is never closed reaches to the end.

    A block of Markdown is read for blocks itself.

    >>> fenced_blocks("So:\n```python\nx = 1\n```\nDone.")
    [Block(info='python', code='x = 1\n')]
    """
    blocks: list[Block] = []
    lines = _LINE_END.split(text)
    number = 0
    while number < len(lines):
        opening = _OPENING.fullmatch(lines[number])
        number += 1
        if opening is None:
            continue
        code: list[str] = []
        while number < len(lines) and not _closes(lines[number], opening):
            code.append(_within(lines[number], opening))
            number += 1
        number += 1
        block = Block(opening.group("info").strip(), "".join(line + "\n" for line in code))
        blocks += fenced_blocks(block.code) if _MARKDOWN.match(block.info) else [block]
    return blocks


def _columns(before: str) -> int:
    """How far a text of spaces, tabs and signs reaches."""
    return len(before.expandtabs(4))


def _closes(line: str, opening: re.Match[str]) -> bool:
    """True if a line is a closing fence: of the same sign, as long, and at most three columns further in."""
    found = _CLOSING.fullmatch(line)
    if found is None or not found.group("fence").startswith(opening.group("fence")):
        return False
    return _columns(found.group("before")) <= _columns(opening.group("before")) + _FURTHER_IN


def _within(line: str, opening: re.Match[str]) -> str:
    """A line of a block without what its container and its fence's indentation take of it."""
    for _ in range(opening.group("before").count(">")):
        quoted = _QUOTED.match(line)
        line = line[quoted.end() :] if quoted else line
    left = _columns(opening.group("before").rpartition(">")[2])
    if ">" in opening.group("before"):
        left -= opening.group("before").rpartition(">")[2][:1] in (" ", "\t")
    column = 0
    while left > column and line[:1] in (" ", "\t") and line:
        width = 1 if line[0] == " " else 4 - column % 4
        line = line[1:]
        column += width
    return " " * max(0, column - left) + line
