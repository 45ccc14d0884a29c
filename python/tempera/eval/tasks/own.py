"""A task on data of one's own: JSONL with prompt and answer, and a named grader or a Python function."""

from __future__ import annotations

from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.graders.function_grader import FunctionGrader
from tempera.eval.graders.letter import LetterGrader, letter_of
from tempera.eval.graders.mathematics import MathematicsGrader
from tempera.eval.graders.numeric import IntegerGrader, NumericGrader
from tempera.eval.graders.plain import ExactGrader, WorkedSumGrader
from tempera.eval.graders.verdict import Grader
from tempera.eval.input_files import WrongRecord, read_records, text_field, text_or_number_field
from tempera.eval.problem import Problem
from tempera.eval.tasks.task import Task, expect_different_ids, one_file

_GRADERS: dict[str, type[Grader]] = {
    "exact": ExactGrader,
    "integer": IntegerGrader,
    "letter": LetterGrader,
    "mathematics": MathematicsGrader,
    "number": NumericGrader,
    "worked-sum": WorkedSumGrader,
}


def grader_named(name: str) -> Grader:
    """A grader by its name, or FILE.py:FUNCTION, where FUNCTION(text, answer) says whether an answer is right."""
    if name in _GRADERS:
        return _GRADERS[name]()
    file, colon, function = name.rpartition(":")
    if colon and file.endswith(".py"):
        return FunctionGrader(Path(file), function)
    names = ", ".join(_GRADERS)
    raise BadInput("--grader", f'there is no grader "{name}"', f"give one of {names}, or FILE.py:FUNCTION")


def read_own(paths: list[Path], grader: str = "exact") -> Task:
    """{"prompt", "answer"} a line, with an "id" if there is one, and no other field."""
    path = one_file(paths, "a task of one's own")
    judge = grader_named(grader or "exact")
    problems = []
    for number, (where, record) in enumerate(read_records(path), 1):
        for name in record:
            if name not in ("id", "prompt", "answer"):
                raise WrongRecord(where, f'the field "{name}" has no meaning here')
        identity = text_field(where, record, "id") if "id" in record else f"{path.stem}-{number}"
        answer = text_or_number_field(where, record, "answer")
        fault = judge.fault_of(answer)
        if fault:
            raise WrongRecord(where, f'the field "answer" {fault}', f"--grader {grader} would count every answer as wrong")
        problems.append(Problem(identity, {"problem": text_field(where, record, "prompt")}, answer))
    if not problems:
        raise BadInput(str(path), "there is no problem")
    expect_different_ids([path], problems)
    if isinstance(judge, LetterGrader):
        judge = LetterGrader(max("D", *(letter_of(problem.answer) for problem in problems)))
    return Task("own", path.stem, problems, judge, "plain", "plain")
