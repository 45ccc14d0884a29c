"""A benchmark: its questions, its grader, and how it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.graders.letter import LETTERS
from tempera.eval.graders.verdict import Grader
from tempera.eval.problem import Problem


@dataclass(frozen=True)
class Task:
    """A benchmark that has been read.

    `title` names it in every output, its subset included. `paper_column` is its column in the paper's tables, or
    empty. `template` asks a chat model, `raw_template` a base model.
    """

    name: str
    title: str
    problems: list[Problem]
    grader: Grader
    template: str
    raw_template: str
    paper_column: str = ""


@dataclass(frozen=True)
class TaskSource:
    """What a user names a task by: which files it takes, what reads them, and the form that they must have.

    `check` looks at what is too large to be looked at each time that the files are read.
    """

    description: str
    files: str
    form: str
    read: Callable[[list[Path], str], Task]
    options: tuple[str, ...] = ()
    check: Callable[[Task], None] | None = None


def expect_count(paths: list[Path], problems: list[Problem], count: int, title: str) -> None:
    """Refuses a file that is not the whole benchmark that it is said to be."""
    if len(problems) != count:
        where = " ".join(str(path) for path in paths)
        raise BadInput(where, f"{len(problems)} problems; {title} has {count}", "use --limit for fewer, --task own for others")


def expect_different_ids(paths: list[Path], problems: list[Problem]) -> None:
    """Refuses two problems of one id."""
    seen: set[str] = set()
    for problem in problems:
        if problem.id in seen:
            where = " ".join(str(path) for path in paths)
            raise BadInput(where, f'the id "{problem.id}" is there twice')
        seen.add(problem.id)


def lettered(options: list[str]) -> str:
    """The options of a question, a line each, with the letters from A on.

    >>> lettered(["one", "two"])
    'A) one\\nB) two'
    """
    return "\n".join(f"{letter}) {text}" for letter, text in zip(LETTERS, options))


def title_of_part(title: str, paths: list[Path], problems: list[Problem], subset: str = "") -> str:
    """The title of a benchmark that is used in parts: it names the file, or how many there are, and the subset.

    Raises BadInput if there is no problem.

    >>> title_of_part("ARC", [Path("ARC-Easy-Test.jsonl")], [Problem("1", {}, "A")])
    'ARC (ARC-Easy-Test)'
    """
    if not problems:
        where = " ".join(str(path) for path in paths)
        raise BadInput(where, f"there is no problem{' in ' + subset if subset else ''}", f"give a file of {title} that has one")
    files = paths[0].name.partition(".")[0] if len(paths) == 1 else f"{len(paths)} files"
    return f"{title} ({files}{', ' + subset if subset else ''})"


def one_file(paths: list[Path], title: str) -> Path:
    """The only file of a task that is one file."""
    if len(paths) != 1:
        raise BadInput("--data", f"{title} is one file", f"{len(paths)} were given")
    return paths[0]
