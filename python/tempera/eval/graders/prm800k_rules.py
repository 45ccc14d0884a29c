"""Steps 2 and 3 of the published MATH grader, as PRM800K added them.

Step 2 compares plain forms of the two answers. Step 3 splits tuples and intervals and compares their elements, in the
last resort by `difference_is_zero`, which is given: it runs in a process of its own, with a time limit.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from tempera.eval.graders.hendrycks_rules import normal_form

# A macro that it cannot read is no news to a user: the text then stays as it is.
logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)

_UNITS = tuple("degree cm centimeter meter mile second minute hour day week month year foot feet inch yard".split())
_UNIT_ENDING = re.compile(r"(es)?(s)? *(\^[0-9]+)?")
_WHOLE_TEXT = re.compile(r"^\\text\{(.+?)\}$")
_REPLACED = (
    ("\\%", "%"), ("\\$", "$"), ("$", ""), ("%", ""), (" or ", " , "), (" and ", " , "),
    ("million", "*10^6"), ("billion", "*10^9"), ("trillion", "*10^12"),
)  # fmt: skip
_DEGREES = re.compile(r"\^ *\\circ")
_SPACED_COMMA = re.compile(r",\\! *")
_SPACED_MINUS = re.compile(r"- *")
_MIXED = re.compile(r"([0-9]) +([0-9])")
_THOUSANDS = re.compile(r"(\d),(\d\d\d)($|\D)")
_FRACTION = re.compile(r"^-?[0-9]+.?/0*[1-9][0-9]*.?$")
_NO_LETTERS = ("sqrt", "frac")
_MOST_LETTERS = 2
_NOT_EVALUATED = (re.compile(r"\^[{(]"), re.compile(r"\^[0-9]+\^"), re.compile(r"\^[0-9][0-9]+"))
_SYMBOLS = {"√": "sqrt", "π": "pi", "∞": "inf", "∪": "U", "·": "*", "×": "*"}
_BRACKETS = "()[]"
_WHOLE_NUMBER_ERROR = 1e-7  # the published grader's


def plain_text_of_latex(text: str) -> str:
    r"""LaTeX as plain text, by pylatexenc.

    >>> plain_text_of_latex(r"3\sqrt{13}")
    '3sqrt(13)'
    """
    from pylatexenc.latex2text import LatexNodes2Text  # type: ignore[import-untyped]

    text = text.replace("\\tfrac", "\\frac").replace("\\dfrac", "\\frac").replace("\\frac", " \\frac")
    text = str(LatexNodes2Text().latex_to_text(text))
    for symbol, name in _SYMBOLS.items():
        text = text.replace(symbol, name)
    return text.strip()


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _near_whole(value: float | None) -> bool:
    return value is not None and abs(value) != float("inf") and value == value and abs(value - round(value)) <= _WHOLE_NUMBER_ERROR


def _without_thousands_commas(text: str) -> str:
    before = None
    while before != text:
        before = text
        text = _THOUSANDS.sub(r"\1\2\3", text)
    return text


def is_whole(text: str) -> bool:
    """True if a text is a whole number, commas of thousands left out.

    >>> is_whole("1,000"), is_whole("2.0"), is_whole("2.5"), is_whole("x")
    (True, True, False, False)
    """
    return _near_whole(_as_float(_without_thousands_commas(text)))


def plain_form(answer: str) -> str:
    r"""The answer without LaTeX, units, signs of dollars and per cent; numbers in one way of writing.

    >>> plain_form(r"\$1,200")
    '1200'
    >>> plain_form("7 3/4")
    '7+3/4'
    """
    whole = _WHOLE_TEXT.search(answer)
    text = whole.group(1) if whole else answer
    for old, new in _REPLACED:
        text = text.replace(old, new)
    for unit in _UNITS:
        text = re.sub(unit + _UNIT_ENDING.pattern, "", text)
    text = _DEGREES.sub("", text)
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    text = _SPACED_COMMA.sub("", text)
    value = _as_float(text)
    if value is not None and _near_whole(value):
        text = str(round(value))
    if "\\" in text:
        try:
            text = plain_text_of_latex(text)
        except ImportError:
            raise
        except Exception:  # what pylatexenc cannot read stays as it is, as in the published grader
            pass
    text = _SPACED_MINUS.sub("-", text)
    text = _MIXED.sub(r"\1+\2", text)
    text = text.replace(" ", "").replace("{", "").replace("}", "").lower()
    if is_whole(text):
        text = str(int(float(text.replace(",", ""))))
    return text


def elements(text: str) -> list[str]:
    """The elements of a tuple or an interval; any other text is one element.

    >>> elements("(1,2]")
    ['1', '2']
    >>> elements("1,234")
    ['1234']
    """
    text = _without_thousands_commas(text)
    if not text:
        return []
    if len(text) > 2 and text[0] in _BRACKETS and text[-1] in _BRACKETS:
        inner = text[1:-1]
        if not any(bracket in inner for bracket in _BRACKETS):
            return [element.strip() for element in inner.split(",")]
    return [text]


def _is_fraction(text: str) -> bool:
    return _FRACTION.search(text) is not None


def may_be_evaluated(text: str) -> bool:
    """True if a difference is simple enough for sympy: at most two unknown letters, no tower of powers.

    >>> may_be_evaluated("(x+1)-(1+x)"), may_be_evaluated("2^{3}"), may_be_evaluated("9^9^9")
    (True, False, False)
    """
    without = text
    for name in _NO_LETTERS:
        without = without.replace(name, "")
    letters = {letter for letter in without if letter.isalpha()}
    return len(letters) <= _MOST_LETTERS and not any(rule.search(text) for rule in _NOT_EVALUATED)


def equal(given: str, truth: str, difference_is_zero: Callable[[str], bool]) -> bool:
    """True if the published MATH grader takes `given` for `truth`.

    `difference_is_zero(text)` says whether sympy simplifies the expression to 0.

    >>> equal("2/4", "1/2", lambda text: True)  # a fraction that is not reduced is wrong
    False
    """
    if normal_form(given) == normal_form(truth):
        return True
    plain_truth, plain_given = plain_form(truth), plain_form(given)
    if plain_truth == plain_given:
        return True
    if not plain_given or not plain_truth:
        return False
    right, found = elements(plain_truth), elements(plain_given)
    if len(right) > 1 and (plain_truth[0] != plain_given[0] or plain_truth[-1] != plain_given[-1]):
        return False
    if len(right) != len(found):
        return False
    return all(_same_element(r, f, difference_is_zero) for r, f in zip(right, found))


def _same_element(right: str, found: str, difference_is_zero: Callable[[str], bool]) -> bool:
    if _is_fraction(right) and _is_fraction(found):
        return right == found
    if is_whole(right) != is_whole(found):
        return False
    difference = f"({right})-({found})"
    return may_be_evaluated(difference) and difference_is_zero(difference)
