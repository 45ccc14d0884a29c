"""The program in an answer."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings

from tempera.eval.graders.fences import fenced_blocks
from tempera.eval.graders.verdict import after_thinking

_WORKS = (ast.Call, ast.FunctionDef, ast.ClassDef)
_HELPERS = (ast.FunctionDef, ast.ClassDef)
# After the function that is asked for, these are a trial of it, or one word of prose.
_TRIALS = (ast.Expr, ast.Assert)
_CODE = re.compile(r"(?:async def|def|class|import|from|@|#|\w+ *(?:: *\w+ *)?\+?=)")
_MOST_CUTS = 50


def parsed(source: str) -> ast.Module | int:
    """A program's statements; if it is none, the line where that is seen."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):  # a null byte, parentheses without end
        return 1


def _works(tree: ast.AST) -> bool:
    """True if statements do anything: an output such as YES or {"a": 1} can be read as Python too."""
    return any(isinstance(node, _WORKS) for node in ast.walk(tree))


def _lines(text: str) -> list[str]:
    return [line + "\n" for line in text.split("\n")]


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _longest_program(lines: list[str], first: int, margin: str) -> ast.Module | None:
    """Drops lines from the end until what is left is a program: from a line on that is indented by `margin`.

    The first lines, `first` of them, stay. None if they alone are not a program.
    """
    for _ in range(_MOST_CUTS):
        tree = parsed("".join(lines))
        if isinstance(tree, ast.Module):
            return tree
        cut = min(tree, len(lines)) - 1
        while cut > first and (not lines[cut].strip() or _margin(lines[cut]) != margin):
            cut -= 1
        if cut <= first:
            return None
        del lines[cut:]
    return None


def _end_of_body(lines: list[str], start: int) -> int:
    """The first line from `start` on that is neither indented nor empty; how many lines there are if all of them are."""
    return next((number for number in range(start, len(lines)) if lines[number].strip() and not lines[number][0].isspace()), len(lines))


def _function(tree: ast.Module, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    found = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name]
    return found[-1] if found else None


def _helpers(lines: list[str], tree: ast.Module) -> str:
    """The definitions that follow a body, which it may call; none of a name that is there already."""
    following = _longest_program(lines, 0, "")
    known = {node.name for node in tree.body if isinstance(node, _HELPERS)}
    found = following.body if following else []
    return "".join(ast.unparse(node) + "\n" for node in found if isinstance(node, _HELPERS) and node.name not in known)


def _continued(text: str, prompt: str, name: str) -> str | None:
    """The prompt with the longest body of its function that a text begins with; None if the text begins with none.

    The body is indented as it is, or lacks the indentation of its first line, or of all lines.
    """
    body = text.strip("\n")
    indentation = _margin(prompt.rstrip().rpartition("\n")[2]) or "    "
    forms = [body] if body[:1].isspace() else [indentation + body, textwrap.indent(textwrap.dedent(body), indentation)]
    if prompt and not prompt.endswith("\n"):
        forms.append(body)
    programs = []
    for form in forms:
        first = prompt.count("\n")
        lines = _lines(prompt + form)
        end = _end_of_body(lines, first + 1)
        following = lines[end:]
        del lines[end:]
        tree = _longest_program(lines, first, _margin(lines[first]))
        function = _function(tree, name) if tree else None
        if tree and function and any(not isinstance(node, ast.Expr) or _works(node) for node in function.body):
            programs.append("".join(lines) + _helpers(following, tree))
    return max(programs, key=len, default=None)


def _defined(text: str, name: str) -> str | None:
    """The program around the definition of a function, in a text that has prose before and after it."""
    lines = _lines(text)
    definition = re.compile(rf"(?:async )?def {re.escape(name)}\b")
    place = next((number for number, line in enumerate(lines) if definition.match(line)), None)
    if place is None:
        return None
    start = place
    while start and (_CODE.match(lines[start - 1]) or not lines[start - 1].strip() or lines[start - 1][0].isspace()):
        start -= 1
    while not _CODE.match(lines[start]):
        start += 1
    for begin in (start, place):
        program = lines[begin:]
        tree = _longest_program(program, 0, "")
        function = _function(tree, name) if tree else None
        if tree and function:
            for node in reversed(tree.body[tree.body.index(function) + 1 :]):
                is_trial = isinstance(node, _TRIALS) or (isinstance(node, ast.AnnAssign) and node.value is None)
                if is_trial and node.end_lineno:
                    del program[node.lineno - 1 : node.end_lineno]
            return "".join(program)
    return "".join(lines[place:])


def function_program(text: str, prompt: str, name: str) -> str:
    r"""The program that an answer to a function's prompt means: the first of these that the answer has.

    The prompt continued by a body that the answer begins with. What the prompt has before its function, with a whole
    definition: from the last fenced block that has one, or from the text itself without the prose around it. The prompt
    continued by a body in a fenced block, the last that is one. An empty prompt cannot be continued: the answer has to
    define the function.

    >>> function_program("Sure:\n```\nreturn 2 * x\n```", "def f(x):\n", "f")
    'def f(x):\n    return 2 * x\n'
    """
    answer = after_thinking(text)
    before = prompt.rpartition(f"def {name}(")[0]
    definition = re.compile(rf"^(?:async )?def {re.escape(name)}\b", re.MULTILINE)
    blocks = fenced_blocks(answer)
    lines = _lines(answer.strip("\n"))
    body = "".join(lines[: _end_of_body(lines, 0)])
    if body and not definition.search(textwrap.dedent(body)):
        program = _continued(answer, prompt, name)
        if program is not None:
            return program
    for block in reversed(blocks):
        code = textwrap.dedent(block.code)
        if definition.search(code):
            return f"{before}\n{code}"
    program = _defined(textwrap.dedent(answer), name)
    if program is not None:
        return f"{before}\n{program}"
    for part in [*(block.code for block in reversed(blocks)), answer]:
        program = _continued(part, prompt, name)
        if program is not None:
            return program
    return prompt + (blocks[-1].code if blocks else answer)


def whole_program(text: str) -> str | None:
    """The program of an answer: the last fenced block that is one; None if there is no block.

    A block that is called Python is one, as LiveCodeBench's own rule takes the last block. So is another that can be read
    as Python and calls or defines something: many answers go on with what the program prints, or with the command that starts it.

    >>> whole_program('```py\\nprint(input())\\n```\\nIt prints\\n```\\n4\\n```')
    'print(input())\\n'
    """
    blocks = fenced_blocks(after_thinking(text))
    for block in reversed(blocks):
        tree = None if block.is_python else parsed(block.code)
        if block.is_python or (isinstance(tree, ast.Module) and _works(tree)):
            return block.code
    return blocks[-1].code if blocks else None
