"""Programs in answers: found, run, and judged by their tests."""

from __future__ import annotations

import itertools

import pytest
from conftest import needs_sandbox

from tempera.eval.graders.contest_tests import ContestTestGrader, same_output
from tempera.eval.graders.function_tests import FunctionTestGrader
from tempera.eval.graders.program_text import function_program
from tempera.eval.problem import Problem

pytestmark = needs_sandbox

PROMPT = 'import math\n\ndef helper(x):\n    return x + 1\n\ndef f(x):\n    """Twice x."""\n'
FUNCTION = Problem(
    "f",
    {"problem": PROMPT},
    "    return 2 * x\n",
    {"prompt": PROMPT, "entry_point": "f", "test": "def check(f):\n    assert f(2) == 4\n    assert helper(1) == 2\n\ncheck(f)\n"},
)


@pytest.mark.parametrize(
    ("answer", "correct"),
    [
        ("    return 2 * x\n", True),
        ("    return 2 * x\n\nprint(f('an example that is not a part'))\n", True),
        ("Here it is:\n```python\ndef f(x):\n    return x + x\n```\nIt adds.", True),
        ("```python\ndef f(x):\n    return 3\n```\nNo:\n```python\ndef f(x):\n    return x * 2\n```", True),
        ("<think>```python\ndef f(x): return 0\n```</think>\n```python\ndef f(x): return x * 2\n```", True),
        ("```\nreturn 2 * x\n```", True),
        ("    return 2 * x\n```\n\nThis function doubles.\n", True),
        ("1. So:\n\n   ```Python3\n   def f(x):\n       return 2 * x\n   ```\n   Done.\n", True),
        ("```text\n4\n```\n```python\ndef f(x):\n    return 2 * x * K\n\nK = 1\n```\n```\n4\n```", True),
        ("```python\ndef f(x):\n    return 2 * x", True),
        ("def f(x):\n    y = x\n    return y + y\n\nThis function doubles.", True),
        ("    return x\n", False),
        ("", False),
        ("I do not know.", False),
        ("    import os; os._exit(0)\n", False),
        ("    raise SystemExit\n", False),
        ("```python\ndef g(x):\n    return 2 * x\n```", False),
    ],
)
def test_functions_are_found_and_judged(answer: str, correct: bool) -> None:
    grader = FunctionTestGrader()
    program = grader.extract(answer, True, FUNCTION)
    assert program is not None
    verdict = grader.judge(program, FUNCTION)
    assert (verdict.correct, verdict.failure) == (correct, "")


def test_what_the_prompt_has_before_the_function_stays() -> None:
    program = function_program("```python\ndef f(x):\n    return helper(x) + x - 1\n```", PROMPT, "f")
    assert program.startswith("import math") and program.count("def f(") == 1


def test_a_body_may_return_nothing() -> None:
    assert function_program("    x.sort()\n```\nDone.", "def f(x):\n", "f") == "def f(x):\n    x.sort()\n"


def test_a_function_that_never_ends_is_wrong_and_says_so() -> None:
    verdict = FunctionTestGrader().judge(PROMPT + "    while True: pass\n", FUNCTION)
    assert (verdict.correct, verdict.failure) == (False, "timed out")


def contest(kind: str, tests: list[tuple[str, str]], function: str = "") -> Problem:
    return Problem(
        "c", {}, "",
        {"tests": lambda: [{"input": i, "output": o, "testtype": kind} for i, o in tests], "function": function},
    )  # fmt: skip


def fenced(source: str) -> str:
    return f"So:\n```python\n{source}\n```\n"


STDIN = contest("stdin", [("2\n1 2\n", "3\n"), ("1\n5\n", "5\n")])


@pytest.mark.parametrize(
    ("source", "correct"),
    [
        ("n = int(input())\nprint(sum(map(int, input().split())))", True),
        ("import sys\nif __name__ == '__main__':\n    print(sum(map(int, sys.stdin.read().split()[1:])))", True),
        ("input(); print(float(sum(map(int, input().split()))))", True),
        ("input(); print(reduce(lambda a, b: a + b, map(int, input().split())))", True),
        ("import threading, sys\ndef main():\n    input(); print(sum(map(int, input().split())))\n"
         "threading.stack_size(1 << 27)\nt = threading.Thread(target=main); t.start(); t.join()", True),
        # As the benchmark's own runner: its names are there, and sys.exit of any code is an end.
        ("assert ascii_lowercase and gcd(4, 6) == 2 and Counter('aa')['a'] == 2 and pow(2, 10, 7) == 2 and inf > 1 and open\n"
         "input(); print(reduce(add, map(int, stdin.readline().split())))", True),
        ("import sys\ninput(); print(sum(map(int, input().split()))); sys.exit(1)", True),
        ("str(10 ** 40000); input(); print(sum(map(int, input().split())))", True),
        ("import sys\nsys.exit(0)", False),
        ("print(3)", False),
        ("print('3 ')\nprint()", False),
        ("raise ValueError", False),
        ("input(); print(sum(map(int, input().split()))); raise ValueError", False),
    ],
)  # fmt: skip
def test_programs_of_contests(source: str, correct: bool) -> None:
    grader = ContestTestGrader()
    program = grader.extract(fenced(source), True, STDIN)
    assert program is not None and grader.judge(program, STDIN).correct == correct


@pytest.mark.parametrize(
    ("answer", "correct"),
    [
        ("Sample:\n\n```text\n3\n```\n\nProgram:\n\n```python\n{}\n```\n", True),
        ("```json\n{{}}\n```\n```python\n{}\n```\n", True),
        ("```python3.11\n{}\n```\nIt adds.\n", True),
        ("```python\r\n{}\r\n```\r\n", True),
        ("1. So:\n\n   ~~~~ {{.python title='a'}}\n   {}\n   ~~~~\n\n   ```\n   3\n   ```\n", True),
        ("```python\n{}\n```\nNo:\n```python\nprint(0)\n```\n", False),
    ],
)
def test_a_contests_program_is_found_in_its_answer(answer: str, correct: bool) -> None:
    grader = ContestTestGrader()
    program = grader.extract(answer.format("input(); print(sum(map(int, input().split())))"), True, STDIN)
    assert program is not None and grader.judge(program, STDIN).correct == correct


PAIRS = contest("functional", [("[1, 2]\n3", "[3, 6]"), ("[]\n1", "[]")], "scale")


@pytest.mark.parametrize(
    ("source", "correct"),
    [
        ("class Solution:\n    def scale(self, a: List[int], k: int):\n        print('noise')\n        return [k * x for x in a]", True),
        ("class Solution:\n    def scale(self, a, k):\n        return tuple(k * x for x in a)", True),
        ("def scale(a, k):\n    return [k * x for x in a]", True),
        ("class Solution:\n    def scale(self, a, k):\n        return a", False),
        # The names that reading and writing need may be the program's own.
        ("list = map = str = isinstance = None\ndef scale(a, k):\n    return [k * x for x in a]", True),
        ("class Solution:\n    def scale(self, a, k):\n        return {1}", False),
        ("class Solution:\n    def other(self, a, k):\n        return a", False),
        ("import os\nos.write(1, b'[3, 6]')\nos._exit(0)", False),
    ],
)
def test_functions_of_contests(source: str, correct: bool) -> None:
    grader = ContestTestGrader()
    program = grader.extract(fenced(source), True, PAIRS)
    assert program is not None and grader.judge(program, PAIRS).correct == correct


TABLE = contest("functional", [('"a\u2028b"', '[["a\\u2028b", 1]]')], "table")


@pytest.mark.parametrize(
    ("source", "correct"),
    [
        ("def table(text):\n    return [[text, 1]]", True),
        ("def table(text):\n    return ([text, 1],)", True),
        # The benchmark's own runner takes a tuple for a list, and one within a list for something else.
        ("def table(text):\n    return [(text, 1)]", False),
        ("def table(text):\n    return [[text, True]]", True),
        ("def table(text):\n    return [[text, '1']]", False),
    ],
)
def test_results_are_compared_as_lists(source: str, correct: bool) -> None:
    grader = ContestTestGrader()
    program = grader.extract(fenced(source), True, TABLE)
    assert program is not None and grader.judge(program, TABLE).correct == correct


def test_an_answer_without_a_program_has_none() -> None:
    assert ContestTestGrader().extract("It cannot be done.", True, STDIN) is None


def test_outputs_are_compared_by_lines_and_numbers() -> None:
    assert same_output("YES\n", "YES") and same_output("0.50 1", "0.5 1.0") and same_output(" a \nb", "a\nb ")
    assert not same_output("yes", "YES") and not same_output("a b", "a  b") and not same_output("1\n2", "1 2")
    assert same_output("a\x0cb", "a\x0cb") and not same_output("a\x0cb", "a\nb")
    assert not same_output("", "0") and not same_output("nan", "0")


def test_spaces_at_the_ends_of_lines_are_no_difference_on_either_side() -> None:
    ends = ("", " ", "\t")
    for lines in (["a", "1 2"], ["a"], ["", "b", "", "c"]):
        for before, after, last in itertools.product(ends, ends, ("", "\n", " \n\n")):
            dressed = "\n".join(before + line + after for line in lines) + last
            plain = "\n".join(lines)
            assert same_output(dressed, plain) and same_output(plain, dressed) and same_output(dressed, dressed)
            assert not same_output(dressed, plain + "x") and not same_output(plain + "x", dressed) and not same_output(dressed, plain + "\nx")


def test_what_tries_the_last_definition_of_a_function_is_left_out_and_nothing_before_it() -> None:
    first, last = "def f(x):\n    return 1\n", "def f(x):\n    return 2 * x\n"
    for trial in ("print(f(1))\n", "assert f(1)\n", "f\n"):
        for count in (0, 1, 2):
            program = function_program(f"Here it is:\n{first}{trial}{last}{trial * count}", "", "f")
            assert program.rstrip("\n") + "\n" == f"\n{first}{trial}{last}", program
