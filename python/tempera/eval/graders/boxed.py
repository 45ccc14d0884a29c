"""The last boxed answer of a text."""

from __future__ import annotations

import re

from tempera.eval.graders.denied import NEAR, is_denied

_BOX = re.compile(r"\\(?:boxed|fbox)(?=\{|\s+\S)")
_UNBRACED = re.compile(r"\s*([^$\n]{0,200})")
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


def stated_box(text: str) -> tuple[str | None, str]:
    r"""What the last balanced `\boxed{…}` or `\fbox{…}` holds that the text does not deny, and the text after the last of all.

    `\boxed 5` holds what follows up to a `$`. A box that is never closed is passed over. The time is linear in the text's length.

    >>> stated_box(r"first \boxed{1}, then \boxed{\frac{1}{2}}.")
    ('\\frac{1}{2}', '.')
    >>> stated_box(r"so \boxed 5$, not $\boxed{6}$"), stated_box("no box")
    (('5', '$'), (None, 'no box'))
    """
    boxes = list(_BOX.finditer(text))
    closed = _closing_braces(text) if boxes else {}
    rest = None
    for found in reversed(boxes):
        opening = _OPENING.match(text, found.end())
        unbraced = None if opening else _UNBRACED.match(text, found.end())
        if unbraced is not None and unbraced.group(1).strip():
            content, end = unbraced.group(1), unbraced.end()
        elif opening is not None and opening.end() - 1 in closed:
            end = closed[opening.end() - 1] + 1
            content = text[opening.end() : end - 1]
        else:
            continue
        rest = text[end:] if rest is None else rest
        if not is_denied(text[max(0, found.start() - NEAR) : found.start()], text[end : end + NEAR]):
            return content.strip(), rest
    return None, text if rest is None else rest
