"""A user's own function as a grader, in a process of its own with a time limit."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.graders.limited_worker import Crashed, LimitedWorker, TimedOut
from tempera.eval.graders.verdict import Grader, Verdict, after_thinking
from tempera.eval.input_files import read_text
from tempera.eval.problem import Problem

_SECONDS = 30.0


class FunctionGrader(Grader):
    """FUNCTION(text, answer) of a Python file says True or False; the text is the answer without what was thought.

    Two answers are one in a vote if their texts are equal. The function judges as the file was when the grader was made:
    its text is compiled, and what Python keeps in __pycache__ is not used.
    """

    def __init__(self, file: Path, function: str) -> None:
        self._source = read_text(file)
        try:
            tree = ast.parse(self._source)
        except SyntaxError as error:
            raise BadInput(f"{file}, line {error.lineno}", f"is not Python: {error.msg}") from None
        if not any(isinstance(node, ast.FunctionDef) and node.name == function for node in tree.body):
            raise BadInput(str(file), f'there is no function "{function}"', "--grader FILE.py:FUNCTION names one")
        self.file_digest = hashlib.sha256(self._source.encode()).hexdigest()
        self._file = str(file.resolve())
        self._function = function
        self._worker = LimitedWorker(_SECONDS)

    @property
    def imports(self) -> Mapping[str, str]:
        return self._worker.imports

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        return after_thinking(text).strip()

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        try:
            return Verdict(bool(self._worker.ask("own_function", self._file, self._source, self._function, extracted, problem.answer)))
        except TimedOut as error:
            return Verdict(False, f"timed out {error}")
        except Crashed as error:
            return Verdict(False, f"crashed: {error}")

    def close(self) -> None:
        self._worker.close()
