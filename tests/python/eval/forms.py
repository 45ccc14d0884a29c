"""The forms of answers that tests/fixtures/graders/make_forms.py makes, and whether the graders judge them as they are to."""

from __future__ import annotations

import ast
import contextlib
import io
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tempera.eval.graders import program_text
from tempera.eval.graders.letter import LetterGrader
from tempera.eval.graders.numeric import IntegerGrader, NumericGrader
from tempera.eval.graders.verdict import Grader
from tempera.eval.problem import Problem

MAKER = runpy.run_path(str(Path(__file__).parents[2] / "fixtures/graders/make_forms.py"))
PROMPT = 'def g(x):\n    return x + 1\n\ndef f(x):\n    """Twice x."""\n'
GRADERS: dict[str, Grader] = {"number": NumericGrader(), "integer": IntegerGrader(), "letter": LetterGrader()}


@dataclass(frozen=True)
class Form:
    """An answer, the right one, and the verdict that it is to get."""

    grader: str
    text: str
    answer: str
    is_right: bool

    def verdict(self) -> bool:
        """True if the answer is judged right. Of a program the text is compared, and a function is called."""
        if self.grader == "program":
            return _same_program(program_text.whole_program(self.text), self.answer)
        if self.grader == "function":
            return _doubles(program_text.function_program(self.text, PROMPT, "f"))
        grader, problem = GRADERS[self.grader], Problem("", {"problem": "How many gizmos do you see, a dozen?"}, self.answer)
        extracted = grader.extract(self.text, True, problem)
        return extracted is not None and grader.judge(extracted, problem).correct


def _same_program(found: str | None, right: str) -> bool:
    try:
        return found is not None and ast.dump(ast.parse(found)) == ast.dump(ast.parse(right))
    except SyntaxError:
        return False


def _doubles(program: str) -> bool:
    names: dict[str, Any] = {}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(program, "program", "exec"), names)  # noqa: S102
        return all(names["f"](x) == 2 * x for x in (0, 1, 5))
    except Exception:  # whatever a wrong program raises
        return False


def forms() -> list[Form]:
    return [Form(grader, text, answer, bool(right)) for grader, text, answer, right in MAKER["ROWS"]]


def misjudged(of: list[Form]) -> Iterator[Form]:
    for form in of:
        if form.verdict() != form.is_right:
            yield form
