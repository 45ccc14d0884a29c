"""A process that answers questions which may take for ever or crash: one JSON line in, one JSON line out.

Started by `limited_worker`, which ends it when its time is over. Its arguments are modules to import first; then it
writes one line to say that it is ready. Before an answer comes a line {"imports": {FILE: SHA-256}} for each module of the
user's that the question has imported.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

from tempera.check import own_code

_MEMORY = 4 << 30


def sympy_difference_is_zero(text: str) -> bool:
    """True if sympy simplifies an expression to 0; what it cannot read is not."""
    import sympy  # type: ignore[import-untyped]
    from sympy.parsing import sympy_parser  # type: ignore[import-untyped]

    rules = (*sympy_parser.standard_transformations, sympy_parser.implicit_multiplication_application)
    try:
        return bool(sympy.simplify(sympy_parser.parse_expr(text.replace("^", "**"), transformations=rules)) == 0)
    except Exception:  # as in the published grader: no difference, no equality
        return False


def math_verify_equal(given: str, truth: str) -> bool | None:
    """Math-Verify's opinion, None if it is not installed."""
    try:
        import math_verify  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return None
    # The gold answer comes first: its comparison is not symmetric. The time is limited by the caller.
    gold = math_verify.parse(f"\\boxed{{{truth}}}", parsing_timeout=None)
    answer = math_verify.parse(f"\\boxed{{{given}}}", parsing_timeout=None)
    return bool(math_verify.verify(gold, answer, timeout_seconds=None))


_own_grader: tuple[str, Any] = ("", None)


def own_function(file: str, source: str, name: str, text: str, answer: str) -> bool:
    """The verdict of a function on an answer; `source` is the text of the user's file that defines it."""
    global _own_grader
    if _own_grader[0] != source:
        _own_grader = source, own_code.module_of("own_grader", file, source)
    verdict = getattr(_own_grader[1], name)(text, answer)
    if not isinstance(verdict, bool):
        raise TypeError(f"{name} gave {type(verdict).__name__}, not True or False")
    return verdict


QUESTIONS: dict[str, Callable[..., bool | None]] = {
    "difference_is_zero": sympy_difference_is_zero,
    "math_verify": math_verify_equal,
    "own_function": own_function,
}


def main() -> None:
    """Answers until its input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What the code that is asked prints must not become an answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    for module in sys.argv[1:]:
        try:
            importlib.import_module(module)
        except ImportError:  # the question that needs it says so
            pass
    own_code.TextLoader.tell = lambda file, digest: answers.write(json.dumps({"imports": {file: digest}}) + "\n")
    answers.write("{}\n")
    for line in sys.stdin:
        question, arguments = json.loads(line)
        try:
            answer: Any = QUESTIONS[question](*arguments)
            answers.write(json.dumps({"answer": answer}) + "\n")
        except BaseException as error:
            answers.write(json.dumps({"crash": " ".join(f"{type(error).__name__}: {error}".split())}) + "\n")


if __name__ == "__main__":
    main()
