"""Numbers compared exactly: GSM8K's and AIME's graders."""

from __future__ import annotations

import re
from unicodedata import category

from tempera.eval.graders.boxed import stated_box
from tempera.eval.graders.denied import is_denied
from tempera.eval.graders.numbers import LONGEST, NoNumber, last_side, number_in, number_of, read_value
from tempera.eval.graders.plain_text import plain
from tempera.eval.graders.said import ANSWER, marked, questions, said
from tempera.eval.graders.units import CHANGERS, NOT_LEADING, NOUNS, SYMBOLS, singular, words_of
from tempera.eval.graders.verdict import Grader, Verdict, after_thinking
from tempera.eval.problem import Problem

_HEADING = re.compile(r"([0-9]+)[.):] +[A-Z]")
# Between "answer is" and its number there may be six words, and none between #### and its number.
_WORDS_BEFORE = re.compile(r"(?:[A-Za-z]+ ){0,6}(?=[-+(]? ?\.?[0-9]|-?⟨)")
_SENTENCE_END = re.compile(r"[.,;] ")
_GLUED_UNIT = re.compile(r" ?%|°[CF]?|[A-Za-z]{2,}")
# A number that one of these follows, after its unit, is a part of something else.
_GOES_ON = re.compile(
    r"[A-Za-z_]|![=.]"  # 5x, 5_8, 5!=120
    r"|(?! ?μ[a-z]) ?[\u0370-\u03ff](?![\u0370-\u03ff])"  # 5π and 5 π, not 5 μm
    r"|'? ?[0-9⟨\\]"  # 1 2, 5' 6", 5\pi
    r"| ?[+*^=<>]|,? ?\.\."  # 3 + 4, 1, 2, ...
    r"|[′″‰‱]| ?[·…&•‧] ?-?[0-9⟨]"  # 5′, 5·2, 5 & 6
    r"| ?-(?! [a-z]{2})"  # 12-15; a dash before a word is prose
    r"| ?\((?!(?!mod)[a-z]{2})"  # 5(x + 1), 5 (mod 7)
    r"| ?[,:] ?[-+]?[0-9⟨]|;[0-9]|; [-0-9.]+$"  # 5, 6 and 5:30
    r"|,? (?:and |or )?[A-Za-z] ?="  # 5, y = 6
    r"|(?: percent)? of [0-9]"  # 1/3 of 27
    r"| (?:out of|per|by|through|versus|vs\.?) [0-9]| in [0-9]+\.?$"  # 5 out of 6
    r"|(?: [a-z]+){0,2},? (?:and|or|to) -?[0-9⟨]"  # 5 apples or 6
)
# Beyond ASCII, signs of mathematics and digits of other forms are parts of a number too: 5√2, 5⅞, 5⁴, 5０.
_SIGN = re.compile(r" ?(\S)")
_SIGN_BEFORE = re.compile(r"(\S) ?$")
_LEADING = frozenset("→⇒⟹⟶∴≈")  # these are before an answer
_OF_NUMBERS = frozenset(("Sm", "No", "Nd", "Lm"))
_NEXT_WORD = re.compile(r" ([A-Za-z]+)")
_NUMBER_NEXT = re.compile(r" [0-9⟨]")
# The last number of a text: not within a name or an exponent, and not the second of two.
_NUMBER = re.compile(r"(?<![0-9A-Za-z_^{.])\.?[0-9]|⟨")
_BEFORE = re.compile(r"[0-9)⟩°%] ?(?:(?:and|or|to|mod|times|plus)|[-+*·:,]) ?\(?$")
# Before the last number, these make another of it, or none: f(5), x > 5, —5.
_CHANGED = re.compile(
    r"[a-z]\($|[a-zα-ω]/$|[α-ω⌊]$|(?<![-=>])[<>]=? ?$|(?<!\S)—$|log_?[0-9] ?\(?$"
    r"|(?<![a-z])(?:than|least|most|under|above|below|negative|minus|twice|double|triple|sin|cos|tan|log|ln|sqrt|(?:half|root) of) ?$",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"(?<![a-z]\^)[0-9]")


def _is_of_numbers(sign: re.Match[str] | None) -> bool:
    """True if a sign beside a number is one of mathematics, or a digit."""
    return sign is not None and not sign.group(1).isascii() and category(sign.group(1)) in _OF_NUMBERS


def _goes_on(text: str) -> bool:
    """True if a number that this text follows is a part of something else."""
    unit = _GLUED_UNIT.match(text)
    if unit and (not unit.group().isalpha() or unit.group() in SYMBOLS):
        text = text[unit.end() :]
    if _GOES_ON.match(text) or _is_of_numbers(_SIGN.match(text)):
        return True
    word = _NEXT_WORD.match(text)
    if word is None:
        return False
    written = word.group(1)
    if written != "in" and (written in SYMBOLS or singular(written.lower()) in NOUNS) and _NUMBER_NEXT.match(text, word.end()):
        return True  # 5 feet 6 inches
    return written.lower() in CHANGERS or (len(written) == 1 and written not in ("a", "I") and written not in SYMBOLS)


def _said_number(phrase: str, has_words: bool, before: str = "", after: str = "") -> str | None:
    """The number that a phrase between two texts says; "" if it says something else of numbers, and None if it says nothing of them."""
    phrase = plain(phrase).strip()
    sentence = _SENTENCE_END.split(phrase, maxsplit=1)[0]
    words = _WORDS_BEFORE.match(phrase)
    places = []
    if words and (has_words or not words.group()):
        if not NOT_LEADING.isdisjoint(words.group().lower().replace("most likely", "").split()):
            return ""
        places.append(words.end())
    elif "=" not in sentence and "≈" not in sentence:
        return None
    side = last_side(sentence)
    places += [] if side is None else [side]
    for place in places:
        try:
            _, end = read_value(phrase, place)
        except NoNumber:
            continue
        if not _goes_on(phrase[end:]):
            return None if is_denied(before + phrase[:place], phrase[end:] + after) else phrase[place:end].strip()
    return ""


def _last_number(text: str) -> str | None:
    """The last number of a text; None if there is none, or if it is a part of something else or denied."""
    lines = text[-LONGEST:].splitlines()
    text = plain(text[-LONGEST:])
    place, start, end = 0, 0, 0
    while found := _NUMBER.search(text, place):
        start = found.start()
        try:
            _, end = read_value(text, start)
            place = end
        except NoNumber:
            place, end = found.end(), start
    before = text[:start]
    if start == end or _goes_on(text[end:]) or _BEFORE.search(before) or _DIGIT.search(text[end:]):
        return None
    sign = _SIGN_BEFORE.search(before)
    if _CHANGED.search(before) or (_is_of_numbers(sign) and sign and sign.group(1) not in _LEADING):
        return None
    # Where lines end shows in the text as it is written.
    line = next((number for number in range(len(lines) - 1, -1, -1) if text[start:end].strip() in plain(lines[number])), None)
    if line is not None:
        in_line, _, after = plain(lines[line]).rpartition(text[start:end].strip())
        if is_denied("\n".join([*lines[:line], in_line]), "\n".join([after, *lines[line + 1 :]])):
            return None
    return ("-" if text[:start].endswith("-") else "") + text[start:end].strip()


class NumericGrader(Grader):
    """The final number: the last box, else after the first `####`, else after the last "answer is", else the last number.

    A base model that goes on to a question of its own is cut there.

    >>> grader = NumericGrader()
    >>> grader.extract("3 and 4 make 7. The answer is $7.00.", True, Problem("", {}, "7"))
    '7.00'
    >>> grader.judge("7.00", Problem("", {}, "7")).correct
    True
    """

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        text = after_thinking(text)
        for part in questions(text):
            found = self._marked(part, words_of(problem.fields.get("problem", "")))
            if found is not None:
                return found or None
        return _last_number(stated_box(text)[1])

    def _marked(self, text: str, words: frozenset[str]) -> str | None:
        boxed, text = stated_box(text)
        if boxed is not None:
            number = number_in(boxed, words)
            return boxed if number is None else number
        for count, phrase in enumerate(marked(text), 1):
            heading = _HEADING.match(phrase)
            if heading and int(heading.group(1)) == count:
                continue  # the heading of the text's step of this number
            number = _said_number(phrase, has_words=False)
            if number is not None:
                return number
        numbers = (_said_number(phrase, True, before, after) for _, phrase, before, after in said(text, ANSWER))
        return next((number for number in numbers if number is not None), None)

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        found = number_of(extracted)
        return Verdict(found is not None and found == number_of(problem.answer))

    def fault_of(self, answer: str) -> str:
        return "is not a number" if number_of(answer) is None else ""

    def same(self, one: str, other: str) -> bool:
        first = number_of(one)
        return one == other if first is None else first == number_of(other)


class IntegerGrader(NumericGrader):
    """A whole number: a value such as 7.5 or 1/2 is not an answer, 073 is 73.

    >>> IntegerGrader().judge("073", Problem("", {}, "73")).correct
    True
    """

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        found = number_of(extracted)
        return Verdict(found is not None and found.denominator == 1 and found == number_of(problem.answer))

    def fault_of(self, answer: str) -> str:
        number = number_of(answer)
        return "is not a whole number" if number is None or number.denominator != 1 else ""
