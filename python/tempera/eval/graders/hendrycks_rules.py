r"""Step 1 of the published MATH grader: two answers are equal if the normal forms of Hendrycks et al. are.

Each rule is a function from text to text or a list of texts to replace; `RULES` is their order, which matters.
"""

from __future__ import annotations

import re
from collections.abc import Callable


def _replaced(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text


class NoNormalForm(ValueError):
    """A rule does not fit the text: the answer is then taken as it is written."""


def _without_unit(text: str) -> str:
    r"""A unit is what `\text{ ` begins; two of them have no normal form."""
    parts = text.split("\\text{ ")
    if len(parts) > 2:
        raise NoNormalForm
    return parts[0]


_LEADING_ZEROS = ((" .", " 0."), ("{.", "{0."))
_LONGEST_LEFT_SIDE = 2


def _leading_zero(text: str) -> str:
    text = _replaced(text, _LEADING_ZEROS)
    return "0" + text if text.startswith(".") else text


def _without_short_left_side(text: str) -> str:
    """`k = 5` is 5: a left side of at most two characters is left out."""
    sides = text.split("=")
    return sides[1] if len(sides) == 2 and len(sides[0]) <= _LONGEST_LEFT_SIDE else text


def _braced_roots(text: str) -> str:
    r"""`\sqrt3` is `\sqrt{3}`."""
    first, *rest = text.split("\\sqrt")
    for part in rest:
        if not part:
            raise NoNormalForm
        first += "\\sqrt" + (part if part[0] == "{" else "{" + part[0] + "}" + part[1:])
    return first


def _braced_fractions(text: str) -> str:
    r"""`\frac12` is `\frac{1}{2}`, `\frac1{2}` too."""
    first, *rest = text.split("\\frac")
    for part in rest:
        if not part:
            raise NoNormalForm
        if part[0] == "{":
            first += "\\frac" + part
            continue
        if len(part) < 2:
            return text
        above, below, after = part[0], part[1], part[2:]
        first += "\\frac{" + above + "}" + ("{" + below + "}" if below != "{" else below) + after
    return first


def _one_half(text: str) -> str:
    return "\\frac{1}{2}" if text == "0.5" else text


def _stacked_quotient(text: str) -> str:
    r"""`3/4` of two whole numbers is `\frac{3}{4}`."""
    parts = text.split("/")
    if len(parts) != 2:
        return text
    try:
        above, below = int(parts[0]), int(parts[1])
    except ValueError:
        return text
    return f"\\frac{{{above}}}{{{below}}}" if text == f"{above}/{below}" else text


# Texts that are replaced, and functions.
RULES: tuple[Callable[[str], str] | tuple[tuple[str, str], ...], ...] = (
    (("\n", ""), ("\\!", "")),
    (("\\\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac")),
    (("\\left", ""), ("\\right", ""), ("^{\\circ}", ""), ("^\\circ", ""), ("\\$", "")),
    _without_unit,
    (("\\%", ""),),
    _leading_zero,
    _without_short_left_side,
    _braced_roots,
    ((" ", ""),),
    _braced_fractions,
    _one_half,
    _stacked_quotient,
)

_WHOLE_TEXT = re.compile(r"^\\text\{(.+?)\}$")


def normal_form(answer: str) -> str:
    r"""The answer after all rules; the answer as written if one does not fit.

    >>> normal_form(r"\dfrac12") == normal_form(" 1/2 ") == normal_form("0.5")
    True
    >>> normal_form(r"18\text{ cm}")
    '18'
    """
    answer = answer.strip()
    whole = _WHOLE_TEXT.match(answer)
    written = text = whole.group(1).strip() if whole else answer
    try:
        for rule in RULES:
            text = rule(text) if callable(rule) else _replaced(text, rule)
    except NoNormalForm:
        return written
    return text
