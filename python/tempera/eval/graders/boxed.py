"""The last boxed answer of a text."""

from __future__ import annotations

import re


def last_boxed(text: str) -> str | None:
    r"""What the last balanced `\boxed{…}` or `\fbox{…}` holds; `\boxed 5` holds what follows up to a `$`.

    A box that is never closed is passed over: the last balanced one counts.

    >>> last_boxed(r"first \boxed{1}, then \boxed{\frac{1}{2}}.")
    '\\frac{1}{2}'
    >>> last_boxed(r"so \boxed 5$.")
    '5'
    >>> last_boxed("no box") is None
    True
    """
    for found in reversed(list(re.finditer(r"\\(?:boxed|fbox)(?=\s*\{|\s+\S)", text))):
        rest = text[found.end() :]
        if not rest.lstrip().startswith("{"):
            content = re.split(r"[$\n]", rest.strip(), maxsplit=1)[0].strip()
            if content:
                return content
            continue
        start = found.end() + rest.index("{") + 1
        depth = 1
        for index in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[index], 0)
            if depth == 0:
                return text[start:index].strip()
    return None
