r"""One grammar of numbers, which reads a text to its end: a text with anything left over is not a number."""

from __future__ import annotations

import re
from fractions import Fraction

from tempera.eval.graders.plain_text import plain
from tempera.eval.graders.units import CHANGERS, is_unit

LONGEST = 4000  # characters; a text of more is not a number, and reading it could take minutes
_DEEPEST = 20  # parentheses and fractions within each other

# 1,234.5 and .5; 0.1[6] is the repeating decimal 1/6; 2e3 is 2000.
_DECIMAL = re.compile(
    r"(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.(?P<part>[0-9]*)(?:\[(?P<again>[0-9]+)\]|(?<=[0-9])))?"
    r"(?:[eE](?P<tens>[-+]?[0-9]{1,4}))?"
)
_MIXED = re.compile(r" ([0-9]+)/([0-9]+)")
_EXPONENT = re.compile(r" ?\^ ?(?:\(([-+]?[0-9]{1,4})\)|([-+]?[0-9]{1,4}))")
_TENS = re.compile(r" ?× ?10(?= ?\^)")
_SIGN = re.compile(r" ?(?:[-+] ?)?")
_SLASH = re.compile(r" ?/ ?")


class NoNumber(ValueError):
    """A text that does not begin with a number."""


def read_value(text: str, start: int, depth: int = 0) -> tuple[Fraction, int]:
    """The longest number at a place of a plain text, and where it ends; NoNumber if there is none."""
    sign = _SIGN.match(text, start)
    assert sign is not None  # it may be empty
    if depth > _DEEPEST:
        raise NoNumber
    value, end = _unsigned(text, sign.end(), depth)
    return (-value if "-" in sign.group() else value), end


def _unsigned(text: str, start: int, depth: int) -> tuple[Fraction, int]:
    value, end = _atom(text, start, depth)
    if text[start:end].isdigit():
        mixed = _MIXED.match(text, end)
        if mixed and 0 < int(mixed.group(1)) < int(mixed.group(2)):
            return value + Fraction(int(mixed.group(1)), int(mixed.group(2))), mixed.end()
        place = end + 1 if text[end : end + 1] == " " else end
        if text[place : place + 1] == "⟨":
            part, after = _atom(text, place, depth)
            if not 0 < part < 1:
                raise NoNumber
            return value + part, after
    tens = _TENS.match(text, end)
    if tens:
        power, end = _powered(Fraction(10), text, tens.end())
        return value * power, end
    value, end = _powered(value, text, end)
    slash = _SLASH.match(text, end)
    if slash:
        below, end = _atom(text, slash.end(), depth)
        below, end = _powered(below, text, end)
        if below == 0 or _SLASH.match(text, end):
            raise NoNumber
        value /= below
    return value, end


def _powered(base: Fraction, text: str, start: int) -> tuple[Fraction, int]:
    found = _EXPONENT.match(text, start)
    if found is None:
        return base, start
    exponent = int(found.group(1) or found.group(2))
    digits = len(str(max(abs(base.numerator), base.denominator)))
    if digits * abs(exponent) > LONGEST or (base == 0 and exponent <= 0):
        raise NoNumber
    return base**exponent, found.end()


def _atom(text: str, start: int, depth: int) -> tuple[Fraction, int]:
    """A decimal, a fraction ⟨a⁄b⟩, or a number in parentheses."""
    if text[start : start + 1] == "⟨":
        above, end = read_value(text, start + 1, depth + 1)
        end = _past(text, end, "⁄")
        below, end = read_value(text, end, depth + 1)
        if below == 0:
            raise NoNumber
        return above / below, _past(text, end, "⟩")
    if text[start : start + 1] == "(":
        value, end = read_value(text, start + 1, depth + 1)
        if "," in text[start:end]:  # (1,234) is a pair as well
            raise NoNumber
        return value, _past(text, end, ")")
    found = _DECIMAL.match(text, start)
    assert found is not None  # it may be empty
    whole, part, again = found.group("whole").replace(",", ""), found.group("part") or "", found.group("again")
    if not (whole or part or again):
        raise NoNumber
    value = Fraction(int("0" + whole + part), 10 ** len(part))
    if again:
        value += Fraction(int(again), 10 ** len(part) * (10 ** len(again) - 1))
    return value * Fraction(10) ** int(found.group("tens") or 0), found.end()


def _past(text: str, place: int, sign: str) -> int:
    if text[place : place + 1] == " ":
        place += 1
    if text[place : place + 1] != sign:
        raise NoNumber
    return place + 1


_EQUALS = re.compile(r"[=≈]")
_LEAD = re.compile(r" ?(?:(?:the|final|answer|is|about|approximately|roughly|exactly):? )*", re.IGNORECASE)
_ENDING = re.compile(r"[.,;]$")
# A side of an equation before its last: a name or a formula, but 2x = 6 does not say 6 of x; the others are arithmetic.
_NAME = re.compile(r"(?!.*[0-9](?:[A-Za-z]| [A-Za-z](?![a-z])))(?!.*\\(?:ne|le|ge|pm))[^,;<>≤≥≠±]*")
_WORD = re.compile(r"[a-z]+")
_ARITHMETIC = re.compile(r"[-+×*/^%0-9.,()⟨⟩⁄!° ]*")


def last_side(text: str) -> int | None:
    """Where the last side of an equation begins, 0 if a text has one side; None if what is before may be another answer."""
    *sides, last = _EQUALS.split(text)
    for number, side in enumerate(sides):
        rule = _ARITHMETIC if number else _NAME
        if not rule.fullmatch(side) or not CHANGERS.isdisjoint(_WORD.findall(side.lower())):
            return None
    return len(text) - len(last)


def number_in(text: str, words: frozenset[str] = frozenset()) -> str | None:
    """The number that a text is, as it is written, without markup and units; None if it is none.

    >>> number_in(r"\\text{Total} = \\$1,200 \\text{ per day}")
    '1,200'
    """
    if len(text) > LONGEST:
        return None
    text = _ENDING.sub("", plain(text).strip()).rstrip()
    start = last_side(text)
    if start is None:
        return None
    lead = _LEAD.match(text, start)
    assert lead is not None  # it may be empty
    start = lead.end()
    try:
        _, end = read_value(text, start)
    except NoNumber:
        return None
    return text[start:end].strip() if is_unit(text[end:], words) else None


def number_of(text: str, words: frozenset[str] = frozenset()) -> Fraction | None:
    r"""The number that a text is, as a fraction; None if it is none.

    These are left out: markup, currency, per cent, degrees, units (of units.py, and `words`), commas of thousands, the
    sides of an equation before its last, and a last full stop. Powers and fractions of numbers are worked out, sums and
    products are not. A text of more than 4,000 characters is none.

    >>> number_of(r"\$1,200.50") == Fraction(2401, 2)
    True
    >>> number_of("18 dollars"), number_of("3/4"), number_of(r"x = 1\frac{3}{4}"), number_of(r"10^{3}\text{ m}")
    (Fraction(18, 1), Fraction(3, 4), Fraction(7, 4), Fraction(1000, 1))
    >>> [number_of(text) for text in ("x", "5x", "5 or 6", "5 thousand", "12,34")]
    [None, None, None, None, None]
    """
    number = number_in(text, words)
    return None if number is None else read_value(number, 0)[0]
