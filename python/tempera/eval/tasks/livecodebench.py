"""LiveCodeBench: contest problems, tested by execution; which of them is always said."""

from __future__ import annotations

import base64
import datetime
import io
import json
import pickle
import re
import zlib
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from tempera.errors import BadInput
from tempera.eval.graders.contest_tests import ContestTestGrader
from tempera.eval.input_files import StoredRecord, WrongRecord, parse_json, stored_records, text_field
from tempera.eval.problem import Problem
from tempera.eval.progress import Progress
from tempera.eval.tasks.task import Task, expect_different_ids

# The subsets that a number of problems names, with their files; "v5" and "v6" each mean two of them.
_FILES = {
    "880": "test.jsonl to test5.jsonl",
    "167": "test5.jsonl alone",
    "1055": "test.jsonl to test6.jsonl",
    "175": "test6.jsonl alone",
}
# The most bytes that one problem's private tests may unpack to.
_LARGEST_TESTS = 1 << 30


class _TextUnpickler(pickle.Unpickler):
    """Reads a pickled text and nothing else: a name that would be imported is refused, so nothing is called."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it names {module}.{name}, and a text needs no name")

    def persistent_load(self, identity: Any) -> NoReturn:
        raise pickle.UnpicklingError("it holds a persistent identity")


def private_tests(packed: str, where: str) -> Any:
    """The private tests of a problem: base64 of zlib of a pickled JSON text, or that JSON itself.

    >>> private_tests('[{"input": "1", "output": "2", "testtype": "stdin"}]', "here")[0]["output"]
    '2'
    """
    field = f'{where}, field "private_test_cases"'
    if packed.lstrip().startswith("["):
        return parse_json(packed, field)
    try:
        unpacker = zlib.decompressobj()
        pickled = unpacker.decompress(base64.b64decode(packed, validate=True), _LARGEST_TESTS)
        if unpacker.unconsumed_tail:
            raise WrongRecord(field, "unpacks to more than 1 GiB")
        text = _TextUnpickler(io.BytesIO(pickled)).load()
    except BadInput:
        raise
    except Exception as error:  # a spoilt pickle may raise anything
        raise WrongRecord(field, f"cannot be unpacked: {error}") from None
    if not isinstance(text, str):
        raise WrongRecord(field, "holds a pickle of something that is not text", "it is not read: a pickle can run programs")
    return parse_json(text, field)


def _tests(where: str, all_tests: Any) -> list[dict[str, str]]:
    if not isinstance(all_tests, list):
        raise WrongRecord(where, "its tests are not a list")
    for test in all_tests:
        if not isinstance(test, dict) or test.get("testtype") not in ("stdin", "functional"):
            raise WrongRecord(where, 'a test has no "testtype" of "stdin" or "functional"')
    return [{name: text_field(where, test, name) for name in ("input", "output", "testtype")} for test in all_tests]


def _public_tests(where: str, record: dict[str, Any]) -> list[dict[str, str]]:
    text = text_field(where, record, "public_test_cases")
    return _tests(where, parse_json(text, f'{where}, field "public_test_cases"'))


def _all_tests(record: StoredRecord) -> list[dict[str, str]]:
    """The public tests of a problem, then the private ones, unpacked when they are asked for."""
    where, content = record.where, record.read()
    tests = _public_tests(where, content) + _tests(where, private_tests(text_field(where, content, "private_test_cases"), where))
    if not tests:
        raise WrongRecord(where, "there are no tests")
    return tests


def _function(where: str, record: dict[str, Any]) -> str:
    """The name of the function that the tests call, empty if a program is tested: as the benchmark's own runner decides it."""
    field = f'{where}, field "metadata"'
    metadata = parse_json(text_field(where, record, "metadata"), field)
    if not isinstance(metadata, dict):
        raise WrongRecord(where, 'the field "metadata" is not a JSON object')
    is_called = any(test["testtype"] == "functional" for test in _public_tests(where, record))
    return text_field(field, metadata, "func_name") if is_called or metadata.get("func_name") is not None else ""


def _read_problem(record: StoredRecord, content: dict[str, Any]) -> tuple[Problem, datetime.datetime]:
    where = record.where
    function = _function(where, content)
    text_field(where, content, "private_test_cases")
    written = text_field(where, content, "contest_date")
    try:
        moment = datetime.datetime.fromisoformat(written).replace(tzinfo=None)
    except ValueError:
        raise WrongRecord(where, f'the field "contest_date" is not a date: {json.dumps(written)}') from None
    starter = text_field(where, content, "starter_code")
    problem = Problem(
        text_field(where, content, "question_id"),
        {
            "problem": text_field(where, content, "question_content"),
            "starter": f"Begin with this code:\n```python\n{starter}\n```" if starter
            else "Read the input from standard input and print the output.",
        },
        "",
        {"tests": partial(_all_tests, record), "function": function},
    )
    return problem, moment


def check_tests(task: Task) -> None:
    """Unpacks the tests of every problem, one problem at a time, so that what is spoilt is found before answers are drawn."""
    progress = Progress("unpacking the tests", len(task.problems), 0)
    try:
        for number, problem in enumerate(task.problems, 1):
            problem.details["tests"]()
            progress.show(number)
    finally:
        progress.end()


def read_livecodebench(paths: list[Path], subset: str = "") -> Task:
    """test*.jsonl as published, in one of the subsets that "v5" and "v6" are used for, or in a window of dates.

    `880`: versions 1 to 5 together, five files. `167`: what is new in version 5, test5.jsonl alone. `1055` and `175`: the
    same of version 6.
    `2024-08-01..2025-01-31`: the contests from the first day to the last, as the benchmark's --start_date and --end_date.

    The first five files have 4.35 GB, and more when they are unpacked. So the tests of a problem are read when it is judged.
    """
    window = re.fullmatch(r"(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)", subset)
    first, last = datetime.datetime.min, datetime.datetime.max
    if window:
        try:
            first, last = (datetime.datetime.fromisoformat(day) for day in window.groups())
        except ValueError:
            raise BadInput("--subset", f'"{subset}" holds no date') from None
        if first > last:
            raise BadInput("--subset", f'the window "{subset}" is empty', "the first day comes first")
    elif subset not in _FILES:
        raise BadInput(
            "--subset",
            f'there is no subset "{subset}" of LiveCodeBench',
            'give 880 (versions 1 to 5), 167 (new in version 5), 1055 (versions 1 to 6), 175 (new in version 6) or FIRST..LAST, '
            'days of contests: "v5" and "v6" are used for several',
        )
    problems = []
    for path in paths:
        for record, content in stored_records(path):
            problem, moment = _read_problem(record, content)
            if first <= moment <= last:
                problems.append(problem)
    where = " ".join(str(path) for path in paths)
    if window and not problems:
        raise BadInput(where, f"no contest is in {subset}")
    if not window and len(problems) != int(subset):
        raise BadInput(where, f"{len(problems)} problems; the subset {subset} has as many as its name says", f"give {_FILES[subset]}")
    expect_different_ids(paths, problems)
    what = f"{subset}, {len(problems)} problems" if window else subset
    title = f"LiveCodeBench ({what})"
    return Task("livecodebench", title, problems, ContestTestGrader(), "program", "program", "" if subset in ("1055", "175") else "LCB v5")
