"""A grader's verdict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from tempera.eval.problem import Problem


@dataclass(frozen=True)
class Verdict:
    """True if an answer is right.

    `failure` says that the grader itself did not come to an end ("timed out", "crashed: …"): the answer then counts as
    wrong and is listed apart. `second_opinion` is Math-Verify's verdict, None if it was not asked.
    """

    correct: bool
    failure: str = ""
    second_opinion: bool | None = None


class Grader(ABC):
    """Takes the final answer out of a text and compares it with the right one."""

    votes = True  # whether answers of several records can be merged by equality
    needs_sandbox = False
    file_digest = ""  # of the user's own file that judges: verdicts of another state of it are not kept

    @property
    def imports(self) -> Mapping[str, str]:
        """The user's own modules that the verdicts so far took, by their files, each with the SHA-256 of its text."""
        return {}

    @abstractmethod
    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        """The final answer in a text, None if there is none."""

    @abstractmethod
    def judge(self, extracted: str, problem: Problem) -> Verdict:
        """True if an extracted answer is right."""

    def fault_of(self, answer: str) -> str:
        """The reason why no answer can equal this right answer of the data; empty if one can."""
        return ""

    def same(self, one: str, other: str) -> bool:
        """True if two extracted answers are one answer, for a vote."""
        return one == other

    def close(self) -> None:
        """Ends what the grader has started."""


def after_thinking(text: str) -> str:
    """What follows the last `</think>`: a model that thinks first gives its answer after that.

    >>> after_thinking("<think>is it 3?</think>It is 4.")
    'It is 4.'
    """
    return text.rpartition("</think>")[2]
