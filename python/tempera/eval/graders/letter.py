"""The chosen letter of a question with options."""

from __future__ import annotations

import re

from tempera.eval.graders.boxed import last_boxed
from tempera.eval.graders.verdict import Grader, Verdict, after_thinking
from tempera.eval.problem import Problem

# A small letter with words after it is the article: "a prime number".
_LETTER = re.compile(
    r"^[\s({$]*(?:\\(?:text|mathrm|mathbf|textbf)\s*\{\s*\(?)?(?:([A-D])(?![A-Za-z])|([a-d])\s*(?:[)}\].:,$]|$))"
)
# No two neighbours of it take the same sign, so that a long run of spaces takes no time.
_ANSWER_IS = re.compile(
    r"(?i:answer\s*(?:is|:))\s*(?::\s*)?(?:\*+\s*)?(?:\(?([A-D])(?![A-Za-z])|\(([a-d])\))"
)


def _letter_of(found: re.Match[str] | None) -> str | None:
    return (found.group(1) or found.group(2)).upper() if found else None


class LetterGrader(Grader):
    r"""The letter in the last box, else after the last "answer is".

    >>> grader = LetterGrader()
    >>> problem = Problem("", {}, "B")
    >>> [grader.extract(text, True, problem) for text in (r"\boxed{B}", r"\boxed{\text{(b)}}", "The answer is (B).", "?")]
    ['B', 'B', 'B', None]
    """

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        text = after_thinking(text)
        boxed = last_boxed(text)
        if boxed is not None:
            return _letter_of(_LETTER.match(boxed))
        said: re.Match[str] | None = None
        for said in _ANSWER_IS.finditer(text):
            pass
        return _letter_of(said)

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        return Verdict(extracted == problem.answer)
