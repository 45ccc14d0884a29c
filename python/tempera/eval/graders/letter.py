"""The chosen letter of a question with options."""

from __future__ import annotations

import re

from tempera.eval.graders.boxed import stated_box
from tempera.eval.graders.denied import is_denied
from tempera.eval.graders.numbers import LONGEST
from tempera.eval.graders.plain_text import plain
from tempera.eval.graders.said import CHOICE, Said, questions, said
from tempera.eval.graders.verdict import Grader, Verdict, after_thinking
from tempera.eval.problem import Problem

LETTERS = "ABCDEFGHIJ"
_BEFORE = re.compile(
    r"(?:(?:the|correct|final|best|right|clearly|indeed|definitely|probably|likely|most|therefore|thus|simply|option|choice|answer|letter|is)\b:? )*",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?P<open>[(\[] ?)?(?P<letter>[A-Ja-j])(?P<close> ?[)\]])?")
# A second letter beside the first: such an answer chooses none.
_ANOTHER = re.compile(
    r"(?: ?[,;:]|,? (?:and|or|then|to|through|plus|but|as well as)) ?(?:also |possibly )?(?:option |choice )?"
    r"[(\[]?[A-J][)\]]?(?=$| ?[.,;:]| (?:and|or|are|is also)\b)"
)
_END = re.compile(r" ?[.:!?;]?$")
# A sign that divides a letter from its option's words; a word that begins a reason; a word that is an option's own.
_DIVIDED = re.compile(r" ?[.,;:!?] | (?:- |\()[A-Za-z]{2}")
_REASON = re.compile(r" (?:as|because|since|which|for|due|given|so|with|by)\b")
_WORD = re.compile(r" [A-Za-z]{2,}(?![^ ]*[=+^_])")
_SPACE = re.compile(r" ")
_EMPTY_LINE = re.compile(r"\s*(?:</?[a-z]+>)?")
_IS_CORRECT = re.compile(
    r"(?:(?:ption|hoice|nswer) |^|\. |\()([A-J])\)? is (?:the )?(?:correct|right|best|answer)\b|\b(?:choose|select|pick|go with) (?=(.*))",
    re.MULTILINE,
)
# A question for what is wrong: the answer may be called so.
_ASKS_FOR_WRONG = re.compile(r"\b(?:not|false|wrong|incorrect|except)\b", re.IGNORECASE)
# What may follow the letter: in a box and in what is said, in an answer of one line, in one line of several.
_PHRASE = (_END, _DIVIDED, _REASON, _WORD)
_ONLY_LINE = (_END, _DIVIDED)
_LINE = (_END,)


def _chosen(text: str, may_follow: tuple[re.Pattern[str], ...], before: str, behind: str, may_be_wrong: bool) -> str | None:
    """The letter that a text between two others begins with; "" if it names two, None if it names none or denies it."""
    text = plain(text[:LONGEST]).strip()
    lead = _BEFORE.match(text)
    found = lead and _LETTER.match(text, lead.end())
    if lead is None or found is None or (found.group("open") and not found.group("close")):
        return None
    letter, after = found.group("letter"), text[found.end() :]
    if _ANOTHER.match(after):
        return ""
    if found.group("close"):
        may_follow += () if may_follow is _LINE else (_SPACE,)
    elif letter.islower():
        may_follow = _LINE if may_follow is _PHRASE or not lead.group() else ()
    elif letter in "AI":
        may_follow = tuple(rule for rule in may_follow if rule is not _WORD)
    if not any(rule.match(after) for rule in may_follow) or is_denied(before + lead.group(), after + behind, may_be_wrong):
        return None
    return letter.upper()


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
            letter = self._in(part, _ASKS_FOR_WRONG.search(problem.fields.get("problem", "")) is not None)
            if letter is not None:
                return letter or None
        return None

    def _in(self, text: str, may_be_wrong: bool) -> str | None:
        boxed, rest = stated_box(text)
        if boxed is None:
            text = rest
        for sign, phrase, before, after in ([] if boxed is None else [Said("", boxed, "", "")]) + list(said(text, CHOICE)):
            letter = _chosen(phrase, _PHRASE, before, after, may_be_wrong)
            if phrase.strip() == "a" and sign not in ("", ":", "="):
                continue  # an article whose noun is missing
            if letter is not None and letter in self._letters:
                return letter
        end = "\n".join(plain(line).strip() for line in text[-LONGEST:].splitlines())
        for found in reversed(list(_IS_CORRECT.finditer(end))):
            if found.group(1):
                letter = None if is_denied(end[: found.start(1)], end[found.end() :], may_be_wrong) else found.group(1)
            else:
                letter = _chosen(found.group(2), _PHRASE, end[: found.end()], end[found.end(2) :], may_be_wrong)
            if letter is not None:
                if letter in self._letters:
                    return letter or None
                break
        lines = text.splitlines()
        full = [number for number, line in enumerate(lines) if not _EMPTY_LINE.fullmatch(line)]
        for number in full[-1:] + full[:1]:
            around = "\n".join([*lines[:number], ""]), "\n".join(["", *lines[number + 1 :]])
            letter = _chosen(lines[number], _ONLY_LINE if len(full) == 1 else _LINE, *around, may_be_wrong)
            if letter and letter in self._letters:
                return letter
        return None

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        return Verdict(extracted == letter_of(problem.answer))

    def fault_of(self, answer: str) -> str:
        return "" if letter_of(answer) else f"is not a letter from A to {LETTERS[-1]}"
