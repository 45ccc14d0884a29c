"""The chosen letter of a question with options."""

from __future__ import annotations

import re

from tempera.eval.graders.boxed import last_boxed
from tempera.eval.graders.verdict import Grader, Verdict, after_thinking
from tempera.eval.problem import Problem

_LETTER = re.compile(r"^[\s({$]*(?:\\(?:text|mathrm|mathbf|textbf)\s*\{\s*\(?)?([A-Da-d])(?![A-Za-z])")
_ANSWER_IS = re.compile(r"answer\s*(?:is|:)\s*:?\s*\**\s*\(?([A-D])(?![A-Za-z])", re.IGNORECASE)


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
            found = _LETTER.match(boxed)
            return found.group(1).upper() if found else None
        said = _ANSWER_IS.findall(text)
        return said[-1].upper() if said else None

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        return Verdict(extracted == problem.answer)
