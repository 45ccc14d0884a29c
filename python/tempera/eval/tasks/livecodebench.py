"""LiveCodeBench: contest problems, tested by execution; which of them is always said."""

from __future__ import annotations

import base64
import datetime
import io
import json
import pickle
import re
import zlib
from pathlib import Path
from typing import Any, NoReturn

from tempera.errors import BadInput
from tempera.eval.graders.contest_tests import ContestTestGrader
from tempera.eval.input_files import WrongRecord, parse_json, read_records, text_field
from tempera.eval.problem import Problem
from tempera.eval.tasks.task import Task, expect_different_ids

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
        raise WrongRecord(field, "holds a pickle of something that is no text", "it is not read: a pickle can run programs")
    return parse_json(text, field)


def _tests(where: str, record: dict[str, Any], all_tests: Any) -> list[dict[str, str]]:
    tests = []
    if not isinstance(all_tests, list) or not all_tests:
        raise WrongRecord(where, "there are no tests")
    for test in all_tests:
        if not isinstance(test, dict) or test.get("testtype") not in ("stdin", "functional"):
            raise WrongRecord(where, 'a test has no "testtype" of "stdin" or "functional"')
        tests.append({name: text_field(where, test, name) for name in ("input", "output", "testtype")})
    kinds = {test["testtype"] for test in tests}
    if len(kinds) > 1:
        raise WrongRecord(where, "tests of both kinds, stdin and functional")
    return tests


def _read_problem(where: str, record: dict[str, Any]) -> tuple[Problem, datetime.date]:
    public = parse_json(text_field(where, record, "public_test_cases"), f'{where}, field "public_test_cases"')
    private = private_tests(text_field(where, record, "private_test_cases"), where)
    if not isinstance(public, list) or not isinstance(private, list):
        raise WrongRecord(where, "its tests are no list")
    tests = _tests(where, record, public + private)
    function = ""
    if tests[0]["testtype"] == "functional":
        metadata = parse_json(text_field(where, record, "metadata"), f'{where}, field "metadata"')
        if not isinstance(metadata, dict):
            raise WrongRecord(where, 'the field "metadata" is no JSON object')
        function = text_field(f'{where}, field "metadata"', metadata, "func_name")
    written = text_field(where, record, "contest_date")
    try:
        day = datetime.date.fromisoformat(written[:10])
    except ValueError:
        raise WrongRecord(where, f'the field "contest_date" is no date: {json.dumps(written)}') from None
    starter = text_field(where, record, "starter_code")
    problem = Problem(
        text_field(where, record, "question_id"),
        {
            "problem": text_field(where, record, "question_content"),
            "starter": f"Begin with this code:\n```python\n{starter}\n```" if starter
            else "Read the input from standard input and print the output.",
        },
        "",
        {"tests": tests, "function": function, "starter": starter},
    )
    return problem, day


def read_livecodebench(paths: list[Path], subset: str = "") -> Task:
    """test*.jsonl as published, in one of the subsets that "v5" is used for, or in a window of dates.

    `880`: versions 1 to 5 together, five files. `167`: what is new in version 5, test5.jsonl alone.
    `2024-08-01..2025-02-01`: the contests from the first day on, before the last.
    """
    window = re.fullmatch(r"(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)", subset)
    first, last = datetime.date.min, datetime.date.max
    if window:
        try:
            first, last = (datetime.date.fromisoformat(day) for day in window.groups())
        except ValueError:
            raise BadInput("--subset", f'"{subset}" holds no date') from None
        if first >= last:
            raise BadInput("--subset", f'the window "{subset}" is empty', "the first day comes first")
    elif subset not in ("880", "167"):
        raise BadInput(
            "--subset",
            f'there is no subset "{subset}" of LiveCodeBench',
            '"v5" is used for several: give 880 (versions 1 to 5), 167 (new in version 5) or FIRST..LAST, days of contests',
        )
    problems = []
    for path in paths:
        for where, record in read_records(path):
            problem, day = _read_problem(where, record)
            if first <= day < last:
                problems.append(problem)
    where = " ".join(str(path) for path in paths)
    if window and not problems:
        raise BadInput(where, f"no contest is in {subset}")
    if not window and len(problems) != int(subset):
        files = "test.jsonl to test5.jsonl" if subset == "880" else "test5.jsonl alone"
        raise BadInput(where, f"{len(problems)} problems; the subset {subset} has as many as its name says", f"give {files}")
    expect_different_ids(paths, problems)
    what = f"{subset}, {len(problems)} problems" if window else subset
    title = f"LiveCodeBench ({what})"
    return Task("livecodebench", title, problems, ContestTestGrader(), "program", "program", "LCB v5")
