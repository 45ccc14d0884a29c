"""Numbers compared exactly: GSM8K's and AIME's graders."""

from __future__ import annotations

import re
from fractions import Fraction

from tempera.eval.graders.boxed import last_boxed
from tempera.eval.graders.verdict import Grader, Verdict, after_thinking
from tempera.eval.problem import Problem

_NUMBER = r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?"
_PRINTED_NUMBER = re.compile(r"-?\$?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|-?\$?\.[0-9]+")
_ANSWER_IS = re.compile(r"answer\s*(?:is|:|=)\s*:?\s*", re.IGNORECASE)
_LONGEST_NUMBER = 4000  # characters; a text of more is no number, and reading it could take minutes
_FRACTION = re.compile(r"(-?)\\[dt]?frac\{(-?[0-9]+)\}\{([0-9]+)\}")


def number_of(text: str) -> Fraction | None:
    r"""The number that a text is, as a fraction; None if it is none.

    Signs of dollars and per cent, units, commas of thousands and a last full stop are left out. A text of more than 4,000
    characters is none.

    >>> number_of(r"\$1,200.50") == Fraction(2401, 2)
    True
    >>> number_of("18 dollars"), number_of("3/4"), number_of(r"\frac{3}{4}")
    (Fraction(18, 1), Fraction(3, 4), Fraction(3, 4))
    >>> number_of("x") is None
    True
    """
    if len(text) > _LONGEST_NUMBER:
        return None
    text = re.sub(r"\\text\s*\{[^}]*\}|\\(?:mathrm|mbox)\{[^}]*\}", " ", text)
    text = re.sub(r"\\[!,;: ]", "", text).replace("{,}", ",")
    text = text.replace("\\$", "").replace("$", "").replace("\\%", "").replace("%", "").strip().rstrip(".")
    text = re.sub(r"^\+", "", text)
    stacked = _FRACTION.fullmatch(text)
    if stacked:
        sign, above, below = stacked.groups()
        if int(below) == 0:
            return None
        return Fraction(int(above), int(below)) * (-1 if sign else 1)
    text = re.sub(r"(?<=[0-9])\s*[A-Za-z][A-Za-z ^0-9/.]*$", "", text)
    text = re.sub(r"^-\s+", "-", text)
    if not re.fullmatch(rf"{_NUMBER}(?:\s*/\s*[0-9]+)?", text) or not re.search(r"[0-9]", text):
        return None
    above, slash, below = text.replace(",", "").partition("/")
    if not re.search(r"[0-9]", above) or (slash and int(below) == 0):
        return None
    return Fraction(above.strip()) / (int(below) if slash else 1)


class NumericGrader(Grader):
    """The final number: the last box, else after the last `####`, else after "answer is", else the last number.

    >>> grader = NumericGrader()
    >>> grader.extract("3 and 4 make 7. The answer is $7.00.", True, Problem("", {}, "7"))
    '7.00'
    >>> grader.judge("7.00", Problem("", {}, "7")).correct
    True
    """

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        text = after_thinking(text)
        boxed = last_boxed(text)
        if boxed is not None:
            return boxed
        before, mark, after = text.rpartition("####")
        if mark:
            found = _PRINTED_NUMBER.search(after)
            if found:
                return found.group().replace("$", "")
        for said in reversed(list(_ANSWER_IS.finditer(text))):
            found = re.compile(rf"[^0-9\n.]{{0,20}}?({_PRINTED_NUMBER.pattern})").match(text, said.end())
            if found:
                return found.group(1).replace("$", "")
        numbers = _PRINTED_NUMBER.findall(text)
        return numbers[-1].replace("$", "") if numbers else None

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        found = number_of(extracted)
        return Verdict(found is not None and found == number_of(problem.answer))

    def same(self, one: str, other: str) -> bool:
        first = number_of(one)
        return one == other if first is None else first == number_of(other)


class IntegerGrader(NumericGrader):
    """A whole number: a value such as 7.5 or 1/2 is no answer, 073 is 73.

    >>> IntegerGrader().judge("073", Problem("", {}, "73")).correct
    True
    """

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        found = number_of(extracted)
        return Verdict(found is not None and found.denominator == 1 and found == number_of(problem.answer))
