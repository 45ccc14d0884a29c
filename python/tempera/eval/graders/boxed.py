"""The last boxed answer of a text."""

from __future__ import annotations

import re


_BOX = re.compile(r"\\(?:boxed|fbox)(?=\{|\s+\S)")
_UNBRACED = re.compile(r"\s*([^$\n]*)")
_BRACE = re.compile(r"[{}]")
_OPENING = re.compile(r"\s*\{")


def _closing_braces(text: str) -> dict[int, int]:
    """Where each brace that is closed is closed: one walk, however many are never closed."""
    closed = {}
    still_open: list[int] = []
    for found in _BRACE.finditer(text):
        if found.group() == "{":
            still_open.append(found.start())
        elif still_open:
            closed[still_open.pop()] = found.start()
    return closed


def last_boxed(text: str) -> str | None:
    r"""What the last balanced `\boxed{…}` or `\fbox{…}` holds; `\boxed 5` holds what follows up to a `$`.

    A box that is never closed is passed over: the last balanced one counts. The time is linear in the text's length.

    >>> last_boxed(r"first \boxed{1}, then \boxed{\frac{1}{2}}.")
    '\\frac{1}{2}'
    >>> last_boxed(r"so \boxed 5$.")
    '5'
    >>> last_boxed("no box") is None
    True
    """
    boxes = list(_BOX.finditer(text))
    closed = _closing_braces(text) if boxes else {}
    for found in reversed(boxes):
        opening = _OPENING.match(text, found.end())
        if opening is None:
            unbraced = _UNBRACED.match(text, found.end())
            content = unbraced.group(1).strip() if unbraced else ""
            if content:
                return content
        elif opening.end() - 1 in closed:
            return text[opening.end() : closed[opening.end() - 1]].strip()
    return None
