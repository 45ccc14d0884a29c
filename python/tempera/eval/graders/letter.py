"""The chosen letter of a question with options."""

from __future__ import annotations

import re

from tempera.eval.graders.boxed import last_boxed
from tempera.eval.graders.numbers import LONGEST
from tempera.eval.graders.plain_text import plain
from tempera.eval.graders.said import CHOICE, questions, said
from tempera.eval.graders.verdict import Grader, Verdict, after_thinking
from tempera.eval.problem import Problem

LETTERS = "ABCDEFGHIJ"
_BEFORE = re.compile(
    r"(?!is\b)(?:(?:the|correct|final|best|right|clearly|definitely|probably|likely|most|therefore|thus|simply|option|choice|answer|letter|is)\b:? )*",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?P<open>[(\[] ?)?(?P<letter>[A-Ja-j])(?P<close> ?[)\]])?")
# A second letter beside the first: such an answer chooses none.
_ANOTHER = re.compile(
    r"(?: ?[,;:]|,? (?:and|or|then|to|through|plus|but|as well as)) ?(?:also |possibly )?(?:option |choice )?"
    r"[(\[]?[A-J][)\]]?(?=$| ?[.,;:]| (?:and|or|are|is also)\b)"
    r"|.* (?:else|otherwise) \(?[A-J]\b"
)
_END = re.compile(r" ?[.:!?;]?$")
# A sign that divides a letter from its option's words; a word that begins a reason; a word that is an option's own.
_DIVIDED = re.compile(r" ?[.,;:!?] | (?:- |\()[A-Za-z]{2}")
_REASON = re.compile(r" (?:as|because|since|which|for|due|given|so|with|by|is)\b")
_WORD = re.compile(r" [A-Za-z]{2,}(?![^ ]*[=+^_])")
_SPACE = re.compile(r" ")
_EMPTY_LINE = re.compile(r"\s*(?:</?[a-z]+>)?")
_IS_CORRECT = re.compile(
    r"(?:(?:ption|hoice|nswer) |^|\. |\()([A-J])\)? is (?:the )?(?:correct|right|best)\b"
    r"|(?<!not )(?<!n't )(?<!never )\b(?:choose|select|pick|go with) (?=(.*))"
)
# What may follow the letter: in a box and in what is said, in an answer of one line, in one line of several.
_PHRASE = (_END, _DIVIDED, _REASON, _WORD)
_ONLY_LINE = (_END, _DIVIDED)
_LINE = (_END,)


def _chosen(text: str, may_follow: tuple[re.Pattern[str], ...]) -> str | None:
    """The letter that a text begins with; "" if it names two, None if it names none."""
    text = plain(text[:LONGEST]).strip()
    before = _BEFORE.match(text)
    found = before and _LETTER.match(text, before.end())
    if before is None or found is None or (found.group("open") and not found.group("close")):
        return None
    letter, after = found.group("letter"), text[found.end() :]
    if _ANOTHER.match(after):
        return ""
    if found.group("close"):
        may_follow += () if may_follow is _LINE else (_SPACE,)
    elif letter.islower():
        may_follow = _LINE if may_follow is _PHRASE or not before.group() else ()
    elif letter in "AI":
        may_follow = tuple(rule for rule in may_follow if rule is not _WORD)
    return letter.upper() if any(rule.match(after) for rule in may_follow) else None


def letter_of(answer: str) -> str:
    """The letter of a right answer of the data, such as B, b or (B); empty if it is none."""
    letter = answer.strip(" ().").upper()
    return letter if len(letter) == 1 and letter in LETTERS else ""


class LetterGrader(Grader):
    r"""The letter in the last box; if it holds none, what "answer is" and its like say last; else a letter alone in its line.

    The letters are A to D, and more if a task's own answers have more.

    >>> grader = LetterGrader()
    >>> problem = Problem("", {}, "B")
    >>> [grader.extract(text, True, problem) for text in (r"\boxed{B}", r"\boxed{\text{(b)}}", "The answer is (B).", "?")]
    ['B', 'B', 'B', None]
    """

    def __init__(self, last: str = "D") -> None:
        self._letters = LETTERS[: LETTERS.index(last) + 1]

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        text = after_thinking(text)
        for part in questions(text):
            letter = self._in(part)
            if letter is not None:
                return letter or None
        return None

    def _in(self, text: str) -> str | None:
        boxed = last_boxed(text)
        lines = [line for line in text.splitlines() if not _EMPTY_LINE.fullmatch(line)]
        for sign, phrase in ([] if boxed is None else [("", boxed)]) + said(text, CHOICE):
            letter = _chosen(phrase, _PHRASE)
            if phrase.strip() == "a" and sign not in ("", ":", "="):
                continue  # an article whose noun is missing
            if letter is not None and letter in self._letters:
                return letter
        correct = [found.group(1) or _chosen(found.group(2), _PHRASE) for found in _IS_CORRECT.finditer(plain(text[-LONGEST:]).strip())]
        chosen = [letter for letter in correct if letter is not None]
        if chosen and chosen[-1] and chosen[-1] in self._letters:
            return chosen[-1]
        for line in lines[-1:] + lines[:1]:
            letter = _chosen(line, _ONLY_LINE if len(lines) == 1 else _LINE)
            if letter and letter in self._letters:
                return letter
        return None

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        return Verdict(extracted == letter_of(problem.answer))

    def fault_of(self, answer: str) -> str:
        return "" if letter_of(answer) else f"is not a letter from A to {LETTERS[-1]}"
