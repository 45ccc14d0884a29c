"""LiveCodeBench's grader: a program's output, or a function's result, for each test; 6 seconds a test.

Each test is a run of its own, and what it gives is compared outside the sandbox. A problem's details are `tests`, which
reads its tests, and `function`, the name of what they call; without a name a program is run.
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from tempera.eval.graders.program_text import whole_program
from tempera.eval.graders.verdict import Grader, Verdict
from tempera.eval.problem import Problem
from tempera.eval.sandbox import Limits, run_python

_LIMITS = Limits(seconds=6.0)

# What LiveCodeBench's own runner imports for a program: all names of these modules, the built-in ones last, so that
# they are as usual; then the modules themselves.
_MODULES = (
    "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics", "itertools", "functools",
    "operator", "io", "sys", "json",
)  # fmt: skip
_PRELUDE = (
    "".join(f"from {name} import *\n" for name in (*_MODULES, "builtins", "typing"))
    + f"import {', '.join(_MODULES)}, os\n"
    + "sys.setrecursionlimit(50000)\ngetattr(sys, 'set_int_max_str_digits', abs)(50000)\n"
)

# Reads one argument a line, calls the function, and writes its result if the program itself cannot print. As in the
# benchmark's own runner a tuple is a list, and a tuple within the result is none.
_DRIVER = """
def _tempera_call(name):
    import json, os, sys
    from builtins import TypeError, dict, getattr, globals, isinstance, list, str, tuple
    def require_json(value):
        if isinstance(value, tuple):
            raise TypeError
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise TypeError
            value = list(value.values())
        if isinstance(value, list):
            for one in value:
                require_json(one)
    arguments = [json.loads(line) for line in sys.stdin.read().split("\\n") if line.strip()]
    output = os.dup(1)
    os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
    function = getattr(globals()["Solution"](), name) if "Solution" in globals() else globals()[name]
    result = function(*arguments)
    if isinstance(result, tuple):
        result = list(result)
    require_json(result)
    os.write(output, json.dumps(result).encode())
    os._exit(0)
_tempera_call({name!r})
"""


def same_output(printed: str, expected: str) -> bool:
    """True if two outputs have the same lines without spaces at their ends, or lines of equal decimal numbers.

    >>> same_output("1 2 \\n3\\n", "1 2\\n3"), same_output("1.0 2", "1 2.00"), same_output("1", "1\\n2")
    (True, True, False)
    """
    found = [line.strip() for line in printed.strip().split("\n")]
    right = [line.strip() for line in expected.strip().split("\n")]
    return len(found) == len(right) and all(map(_same_line, found, right))


def _same_line(found: str, right: str) -> bool:
    if found == right:
        return True
    try:
        return [Decimal(word) for word in found.split()] == [Decimal(word) for word in right.split()]
    except InvalidOperation:
        return False


class ContestTestGrader(Grader):
    """Right if every test is passed; the first that is not ends the grading of an answer."""

    votes = False
    needs_sandbox = True

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        return whole_program(text)

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        functional = bool(problem.details["function"])
        driver = _DRIVER.format(name=problem.details["function"]) if functional else ""
        for test in problem.details["tests"]():
            outcome = run_python(_PRELUDE + extracted + "\n" + driver, test["input"].encode(), _LIMITS, may_exit=not functional)
            if outcome.status in ("timed out", "too much output"):
                return Verdict(False, outcome.status)
            if outcome.status != "finished":
                return Verdict(False)
            printed = outcome.output.decode("utf-8", "replace")
            if not (_same_result(printed, test["output"]) if functional else same_output(printed, test["output"])):
                return Verdict(False)
        return Verdict(True)


def _same_result(printed: str, expected: str) -> bool:
    try:
        found: Any = json.loads(printed)
        right: Any = json.loads(expected)
    except ValueError:
        return False
    return bool(found == right)
