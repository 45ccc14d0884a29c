"""Prompts for a model: templates, and whether its chat template is used."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.input_files import read_text
from tempera.eval.problem import Problem
from tempera.eval.tasks.task import Task

_FIELD = re.compile(r"\{(problem|options|starter|tests)\}")


@dataclass(frozen=True)
class Template:
    """A text with {problem}, and {options}, {starter} or {tests} if the task has them; other braces stay as they are.

    >>> Template("short", r"{problem} End with \\boxed{}.").fill(Problem("1", {"problem": "1+1?"}, "2"))
    '1+1? End with \\\\boxed{}.'
    """

    name: str
    text: str

    def fill(self, problem: Problem) -> str:
        """The prompt of a problem."""

        def value(found: re.Match[str]) -> str:
            if found.group(1) not in problem.fields:
                raise BadInput(f"template {self.name}", f"{found.group()} has no meaning in this task", "{problem} has")
            return problem.fields[found.group(1)]

        return _FIELD.sub(value, self.text)


def shipped_templates() -> list[str]:
    """The names of the templates that come with tempera."""
    folder = resources.files("tempera.eval") / "templates"
    return sorted(file.name[: -len(".txt")] for file in folder.iterdir() if file.name.endswith(".txt"))


def template_named(name: str) -> Template:
    """A template that comes with tempera; one newline at the end of its file is left out."""
    file = resources.files("tempera.eval") / "templates" / f"{name}.txt"
    return Template(name, file.read_text(encoding="utf-8").removesuffix("\n"))


def template_from(given: str) -> Template:
    """A template by its name, or a file. A file's template is named after the file and its first 8 digits of SHA-256."""
    if given in shipped_templates():
        return template_named(given)
    path = Path(given)
    if not path.exists():
        raise BadInput("--template", f'there is no file or template "{given}"', f"the templates are {', '.join(shipped_templates())}")
    text = read_text(path)
    if "{problem}" not in text:
        raise BadInput(given, "the template does not name {problem}")
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return Template(f"{path.name} ({digest})", text.removesuffix("\n"))


def uses_chat(prompting: str, task: Task, model: str) -> bool:
    """True if the model's chat template is used: as told, or as in the paper.

    The paper gives the chat template to Qwen3 and raw prompts to Qwen2.5. Other models get a chat template for the
    benchmarks, and a task of one's own a raw prompt.
    """
    if prompting != "paper":
        return prompting == "chat"
    return task.name != "own" and "qwen2.5" not in model.lower() and not model.endswith(".json")
