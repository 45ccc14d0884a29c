"""The program in an answer."""

from __future__ import annotations

import re

from tempera.eval.graders.verdict import after_thinking

_FENCED = re.compile(r"```[ \t]*(?:(?:python3?|py|Python)[ \t]*)?\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)


def fenced_blocks(text: str) -> list[str]:
    """The fenced blocks of code in a text, in order; one that is never closed reaches to the end.

    >>> fenced_blocks("So:\\n```python\\nx = 1\\n```\\nDone.")
    ['x = 1\\n']
    """
    return _FENCED.findall(text)


def continuation(text: str) -> str:
    """The body of a function that a text begins with: up to the first line that is neither indented nor empty.

    >>> continuation("    return x\\n\\nprint(1)\\n")
    '    return x\\n\\n'
    """
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.strip() and not line[0].isspace() and lines:
            break
        lines.append(line)
    return "".join(lines)


def function_program(text: str, prompt: str, entry_point: str) -> str:
    """The program that an answer to a function's prompt means.

    A whole definition is taken, from the last fenced block that has it or from the text itself, with what the prompt
    has before its own definition. Otherwise the text continues the prompt.
    """
    answer = after_thinking(text)
    definition = re.compile(rf"^(?:async )?def {re.escape(entry_point)}\b", re.MULTILINE)
    before = prompt[: prompt.rindex(f"def {entry_point}(")]
    blocks = fenced_blocks(answer)
    for block in reversed(blocks):
        if definition.search(block):
            return f"{before}\n{block}"
    if blocks:
        return prompt + (blocks[-1] if blocks[-1][:1].isspace() else _indented(blocks[-1]))
    found = definition.search(answer)
    if found:
        return f"{before}\n{_without_tail(answer[found.start():])}"
    return prompt + continuation(answer)


def _indented(block: str) -> str:
    return "".join("    " + line for line in block.splitlines(keepends=True))


def _without_tail(text: str) -> str:
    """A text that begins with code, up to the first line that can be no code: prose after a definition."""
    lines = text.splitlines(keepends=True)
    kept = lines[:1]
    for line in lines[1:]:
        if line.strip() and not line[0].isspace() and not re.match(r"(?:def|class|import|from|@|#|[)\]}]|\w+ *=)", line):
            break
        kept.append(line)
    return "".join(kept)


def whole_program(text: str) -> str | None:
    """The last fenced block of an answer; None if there is none."""
    blocks = fenced_blocks(after_thinking(text))
    return blocks[-1] if blocks else None
