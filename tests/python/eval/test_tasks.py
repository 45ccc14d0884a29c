"""Data files: each format as published, and what is said of another."""

from __future__ import annotations

import base64
import csv
import gzip
import itertools
import json
import os
import pickle
import tracemalloc
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import write_records

from tempera.errors import BadInput
from tempera.eval.evaluation import Evaluation
from tempera.eval.graders.contest_tests import ContestTestGrader
from tempera.eval.graders.function_tests import FunctionTestGrader
from tempera.eval.graders.letter import LETTERS, LetterGrader
from tempera.eval.graders.mathematics import MathematicsGrader
from tempera.eval.graders.numeric import IntegerGrader, NumericGrader
from tempera.eval.graders.plain import ExactGrader, WorkedSumGrader
from tempera.eval.graders.verdict import Grader
from tempera.eval.input_files import digest, read_records
from tempera.eval.prompts import shipped_templates
from tempera.eval.tasks import TASKS, humaneval, mathematics, read_task
from tempera.eval.tasks import gpqa as gpqa_task
from tempera.eval.tasks.gpqa import shuffled_positions


def math500(path: Path) -> Path:
    records = [{"prompt": f"{n}+1?", "answer": str(n + 1), "source": "math", "id": f"test/{n}"} for n in range(500)]
    path.write_text(json.dumps(records))
    return path


# Of the columns of gpqa_diamond.csv those that could be taken for one another, in their order.
GPQA = (
    "Pre-Revision Question", "Pre-Revision Correct Answer", "Pre-Revision Incorrect Answer 1", "Pre-Revision Incorrect Answer 2",
    "Pre-Revision Incorrect Answer 3", "Pre-Revision Explanation", "Self-reported question-writing time (minutes)", "Question",
    "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3", "Explanation",
    "Revision Comments (from Question Writer)", "Subdomain", "Writer's Difficulty Estimate", "Extra Revised Question",
    "Extra Revised Explanation", "Extra Revised Correct Answer", "Extra Revised Incorrect Answer 1",
    "Extra Revised Incorrect Answer 2", "Extra Revised Incorrect Answer 3", "Non-Expert Validator Accuracy",
    "Majority Non-Expert Vals Incorrect", "Expert Validator Accuracy", "Record ID", "High-level domain", "Question Writer",
    "Canary String",
)  # fmt: skip


def gpqa(path: Path, records: int = 198) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, GPQA)
        writer.writeheader()
        for n in range(records):
            row = {name: f'another "{name}",\r\nof {n}' for name in GPQA}
            row |= {"Record ID": f" rec{n}\t" if n % 3 == 0 else f"rec{n}", "Question": f"Which,\nof {n}? ", "Correct Answer": "right\n", "Canary String": ""}
            writer.writerow(row | {f"Incorrect Answer {k}": f"wrong {k}" for k in (1, 2, 3)})
    return path


def private(tests: list[tuple[str, str]], kind: str = "stdin") -> str:
    text = json.dumps([{"input": given, "output": right, "testtype": kind} for given, right in tests])
    return base64.b64encode(zlib.compress(pickle.dumps(text))).decode()


def contest(n: int, day: str = "2024-09-01", **changes: Any) -> dict[str, Any]:
    return {
        "question_title": f"{n}",
        "platform": "atcoder",
        "contest_id": "abc",
        "difficulty": "easy",
        "question_id": f"q{n}",
        "question_content": f"Double the number ({n}).",
        "contest_date": f"{day}T00:00:00",
        "starter_code": "",
        "public_test_cases": json.dumps([{"input": "1\n", "output": "2\n", "testtype": "stdin"}]),
        "private_test_cases": private([("2\n", "4\n")]),
        "metadata": "{}",
    } | changes


def test_math500_is_read_in_both_published_forms(tmp_path: Path) -> None:
    task = read_task("math500", [math500(tmp_path / "a.json")])
    assert len(task.problems) == 500
    assert task.problems[7].fields["problem"] == "7+1?" and task.problems[7].answer == "8"
    lines = [{"problem": f"{n}+1?", "solution": "", "answer": str(n + 1), "unique_id": f"test/{n}"} for n in range(500)]
    assert read_task("math500", [write_records(tmp_path / "b.jsonl", lines)]).problems == task.problems


def test_gsm8k_and_aime_are_read(tmp_path: Path) -> None:
    lines = [{"question": f"{n}?", "answer": f"It is <<{n}={n}>>.\n#### {n:,}"} for n in range(1319)]
    task = read_task("gsm8k", [write_records(tmp_path / "g.jsonl", lines)])
    assert task.problems[1234].answer == "1,234" and task.problems[0].id == "gsm8k-1"
    years = [
        write_records(tmp_path / f"{year}.jsonl", [{"problem": f"{year}-{n}", "answer": str(n)} for n in range(30)])
        for year in (24, 25)
    ]
    both = read_task("aime", years)
    assert both.title == "AIME 24&25" and len(both.problems) == 60
    assert both.problems[30].id == "aime25-1" and both.problems[30].fields["problem"] == "25-0"


def test_an_aime_answer_may_be_dressed(tmp_path: Path) -> None:
    """As in mirrors of AIME 2025, whose 20th answer has a degree sign."""
    for dressed in ("336^\\circ", "336^{\\circ}", "$336^\\circ$", "336°", "$336$", " 336"):
        records = [{"problem": "?", "answer": dressed if n == 19 else str(n)} for n in range(30)]
        task = read_task("aime25", [write_records(tmp_path / "a.jsonl", records)])
        for said, correct in (("336^\\circ", True), ("336", True), ("336^\\circ\\text{C}", True), ("336x", False), ("-336", False), ("33^6", False)):
            extracted = task.grader.extract(f"\\boxed{{{said}}}", True, task.problems[19])
            assert extracted is not None and task.grader.judge(extracted, task.problems[19]).correct == correct, (dressed, said)


def test_a_letter_grader_has_the_letters_of_its_data(tmp_path: Path) -> None:
    for answers, letter in (("ABCD", None), ("ABCF", "E"), (["a", "(C)", "J"], "E")):
        task = read_task("own", [write_records(tmp_path / "l.jsonl", [{"prompt": "?", "answer": answer} for answer in answers])], grader="letter")
        assert task.grader.extract("\\boxed{E}", True, task.problems[0]) == letter
        for problem in task.problems:
            assert task.grader.judge(problem.answer.strip("()").upper(), problem).correct


@pytest.mark.parametrize("last", LETTERS)
def test_a_letter_grader_knows_four_letters_though_its_data_have_fewer(last: str, tmp_path: Path) -> None:
    path = write_records(tmp_path / "letters.jsonl", [{"prompt": "?", "answer": answer} for answer in ("A", last.lower())])
    task = read_task("own", [path], grader="letter")
    for letter in LETTERS:
        assert (task.grader.extract(f"The answer is {letter}.", True, task.problems[0]) == letter) == (letter <= max("D", last))


def test_humaneval_is_read_packed(tmp_path: Path) -> None:
    lines = [
        {"task_id": f"H/{n}", "prompt": "def f(x):\n", "entry_point": "f", "canonical_solution": "    return x\n", "test": "def check(f): pass"}
        for n in range(164)
    ]
    path = tmp_path / "h.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    problems = read_task("humaneval", [path]).problems
    assert len(problems) == 164 and problems[3].details["test"] == "def check(f): pass\n\ncheck(f)\n"


def test_options_are_shuffled_by_the_id_alone(tmp_path: Path) -> None:
    task = read_task("gpqa", [gpqa(tmp_path / "gpqa.csv")])
    for n, problem in enumerate(task.problems):
        assert problem.id == f"rec{n}" and problem.fields["problem"] == f"Which,\nof {n}?"
        lines = problem.fields["options"].splitlines()
        assert lines["ABCD".index(problem.answer)] == f"{problem.answer}) right"
        assert [line[3:] for line in lines] == [["right", "wrong 1", "wrong 2", "wrong 3"][k] for k in shuffled_positions(f"rec{n}")]
    # Each letter is right about as often as the others: 198/4 = 49.5, standard deviation 6.1, 4.5 of them allowed.
    counted = Counter(problem.answer for problem in task.problems)
    assert all(abs(counted[letter] - 49.5) < 27.4 for letter in "ABCD")
    # The order of the questions and the others among them change nothing.
    assert shuffled_positions("rec7") == shuffled_positions("rec7")
    assert len({tuple(shuffled_positions(f"rec{n}")) for n in range(500)}) == 24


def test_a_subset_of_livecodebench_is_named(tmp_path: Path) -> None:
    path = write_records(tmp_path / "test5.jsonl", [contest(n) for n in range(167)])
    task = read_task("livecodebench", [path], "167")
    assert task.title == "LiveCodeBench (167)"
    assert [test["output"] for test in task.problems[0].details["tests"]()] == ["2\n", "4\n"]
    assert task.paper_column == "LCB v5"
    # Version 6 is not in the paper.
    for subset, files in (("175", "test6.jsonl alone"), ("1055", "test.jsonl to test6.jsonl")):
        of_6 = write_records(tmp_path / "test6.jsonl", [contest(n) for n in range(int(subset))])
        task = read_task("livecodebench", [of_6], subset)
        assert (task.title, task.paper_column) == (f"LiveCodeBench ({subset})", "")
        with pytest.raises(BadInput, match=f"167 problems; the subset {subset} has as many as its name says; give {files}"):
            read_task("livecodebench", [path], subset)
    window = write_records(tmp_path / "w.jsonl", [contest(1, "2024-07-31"), contest(2, "2024-08-01"), contest(3, "2025-02-01")])
    # Both days count, as in the benchmark's own --start_date and --end_date.
    task = read_task("livecodebench", [window], "2024-08-01..2025-02-01")
    assert task.title == "LiveCodeBench (2024-08-01..2025-02-01, 2 problems)"
    assert [problem.id for problem in task.problems] == ["q2", "q3"]
    assert [problem.id for problem in read_task("livecodebench", [window], "2024-07-31..2024-07-31").problems] == ["q1"]


def test_a_contest_has_its_day_whatever_its_zone_and_is_of_a_function_that_is_named_or_called(tmp_path: Path) -> None:
    dates = ("2024-09-01", "2024-09-01T00:00:00", "2024-09-01T23:59:59", "2024-09-01T12:00:00+00:00", "2024-09-01T12:00:00.5-08:00", "2024-09-01 12:00:00")
    records = [contest(n, contest_date=date) for n, date in enumerate(dates)]
    path = write_records(tmp_path / "w.jsonl", records)
    for window, are_in in (("2024-09-01..2024-09-02", True), ("2024-08-01..2024-08-31", False), ("2024-09-02..2024-09-03", False)):
        if are_in:
            assert [problem.id for problem in read_task("livecodebench", [path], window).problems] == [f"q{n}" for n in range(len(dates))]
        else:
            with pytest.raises(BadInput, match="no contest is in"):
                read_task("livecodebench", [path], window)
    for kinds in itertools.product(("stdin", "functional"), repeat=2):
        for count in (0, 1, 2):
            for named in ({}, {"func_name": None}, {"func_name": "double"}):
                public = json.dumps([{"input": "1", "output": "2", "testtype": kind} for kind in kinds[:count]])
                path = write_records(tmp_path / "f.jsonl", [contest(1, public_test_cases=public, metadata=json.dumps(named))])
                if named.get("func_name") is None and "functional" in kinds[:count]:
                    with pytest.raises(BadInput, match='the field "func_name" is'):
                        read_task("livecodebench", [path], "2024-09-01..2024-09-02")
                else:
                    (problem,) = read_task("livecodebench", [path], "2024-09-01..2024-09-02").problems
                    assert problem.details["function"] == (named.get("func_name") or "")


@pytest.mark.parametrize("form", ["lines", "packed", "array"])
def test_each_problem_has_its_own_tests(tmp_path: Path, form: str) -> None:
    records = [contest(n, question_content="ü" * n, private_test_cases=private([(f"{n}", f"ö{n}")])) for n in range(167)]
    text = json.dumps(records, ensure_ascii=False) if form == "array" else "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
    path = tmp_path / ("test5.jsonl.gz" if form == "packed" else "test5.jsonl")
    path.write_bytes(gzip.compress(text.encode()) if form == "packed" else text.encode())
    for n, problem in reversed(list(enumerate(read_task("livecodebench", [path], "167").problems))):
        assert problem.details["tests"]()[1:] == [{"input": f"{n}", "output": f"ö{n}", "testtype": "stdin"}]


def test_the_metadata_say_whether_a_function_is_called(tmp_path: Path) -> None:
    public = json.dumps([{"input": "1", "output": "2", "testtype": "functional"}])
    called = {"metadata": '{"func_name": "double"}', "starter_code": "class Solution:"}
    records = [contest(0), contest(1, metadata='{"func_name": null}')]
    records += [contest(n, public_test_cases=public, private_test_cases=private([("2", "4")], "functional"), **called) for n in range(2, 167)]
    records[3]["private_test_cases"] = private([("2", "4")])  # as the benchmark's own runner, which does not look at it
    problems = read_task("livecodebench", [write_records(tmp_path / "test5.jsonl", records)], "167").problems
    assert [problem.details["function"] for problem in problems] == ["", ""] + ["double"] * 165
    assert len(problems[3].details["tests"]()) == 2
    for wrong in ({"metadata": "{}"}, {"metadata": '{"func_name": 3}'}):
        path = write_records(tmp_path / "wrong.jsonl", [contest(1, public_test_cases=public, **wrong)])
        with pytest.raises(BadInput, match='line 1, field "metadata": the field "func_name" is'):
            read_task("livecodebench", [path], "167")


def test_the_tests_of_no_two_problems_are_in_memory_at_once(tmp_path: Path) -> None:
    packed = private([("1" * 1_000_000, "2")])
    path = write_records(tmp_path / "test5.jsonl", [contest(n, private_test_cases=packed) for n in range(167)])
    tracemalloc.start()
    try:
        problems = read_task("livecodebench", [path], "167").problems
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # One problem's million of letters is there some times over while it is unpacked; all of them would be 167 million.
    assert kept < 2_000_000 and most < 10_000_000
    assert len(problems[166].details["tests"]()[1]["input"]) == 1_000_000


def test_tests_are_unpacked_once_before_answers_are_drawn(tmp_path: Path) -> None:
    path = write_records(tmp_path / "test5.jsonl", [contest(n, **({"private_test_cases": "!"} if n == 166 else {})) for n in range(167)])
    with pytest.raises(BadInput, match='line 167, field "private_test_cases": cannot be unpacked: .*; for livecodebench a line has'):
        read_task("livecodebench", [path], "167")
    assert len(read_task("livecodebench", [path], "167", is_checked=True).problems) == 167


WINDOW = "2024-08-01..2025-02-01"  # a subset that one problem can be


class Harmful:
    def __reduce__(self) -> tuple[Any, ...]:
        return (open, ("/tmp/tempera-pickle-ran", "w"))


@pytest.mark.parametrize("content", [Harmful(), ["a list"], {"a": 1}])
def test_no_pickle_is_executed(tmp_path: Path, content: Any) -> None:
    Path("/tmp/tempera-pickle-ran").unlink(missing_ok=True)
    packed = base64.b64encode(zlib.compress(pickle.dumps(content))).decode()
    path = write_records(tmp_path / "t.jsonl", [contest(1, private_test_cases=packed)])
    with pytest.raises(BadInput, match='line 1, field "private_test_cases"'):
        read_task("livecodebench", [path], WINDOW)
    assert not Path("/tmp/tempera-pickle-ran").exists()


def wrong_files(folder: Path) -> list[tuple[str, list[Path], str, str]]:
    gsm8k = [{"question": f"{n}?", "answer": f"#### {n}"} for n in range(1319)]
    aime = [{"problem": "?", "answer": 5} for _ in range(30)]
    rows: list[tuple[str, list[Path], str, str]] = []

    def add(task: str, name: str, records: list[dict[str, Any]], said: str, subset: str = "") -> None:
        rows.append((task, [write_records(folder / f"{name}.jsonl", records)], subset, said))

    add("gsm8k", "no-field", [*gsm8k[:5], {"question": "?"}, *gsm8k[6:]], r'line 6: the field "answer" is missing')
    add("gsm8k", "no-mark", [*gsm8k[:2], {"question": "?", "answer": "5"}], r'line 3: the field "answer" does not end in "#### NUMBER"')
    add("gsm8k", "too-few", gsm8k[:9], r"9 problems; the test split of GSM8K has 1319")
    add("math500", "number", [{"prompt": "?", "answer": 3, "id": "a"}], r'line 1: the field "answer" is not text')
    add("aime24", "range", [{"problem": "?", "answer": "1000"}], r'line 1: the field "answer" is not an integer from 0 to 999')
    add("aime24", "degrees", [*aime[:7], {"problem": "?", "answer": "33^\\circ x"}], r'line 8: the field "answer" is not an integer from 0 to 999')
    add("aime", "one-year", aime, r"AIME 24&25 is two files")
    add("humaneval", "entry", [{"task_id": "1", "prompt": "def g(): ", "entry_point": "f"}], r'line 1: the field "prompt" does not define "f"')
    add("livecodebench", "v5", [contest(1)], r'give 880 .*, 167 .*, 1055 .*, 175 .* or FIRST..LAST, days of contests: "v5" and "v6" are used for several', "v5")
    add("livecodebench", "count", [contest(1)], r"1 problems; the subset 880", "880")
    add("livecodebench", "day", [contest(1, contest_date="soon")], r'line 1: the field "contest_date" is not a date', "167")
    add("livecodebench", "no-day", [contest(1)], r'"2024-13-01..2024-12-01" holds no date', "2024-13-01..2024-12-01")
    add("livecodebench", "kind", [contest(1, public_test_cases='[{"testtype": "x"}]')], 'line 1: a test has no "testtype"', "167")
    add("own", "extra", [{"prompt": "?", "answer": "1", "gold": "1"}], r'line 1: the field "gold" has no meaning here')
    add("own", "no-letter", [{"prompt": "?", "answer": "C"}, {"prompt": "?", "answer": "K"}], r'line 2: the field "answer" is not a letter from A to J; --grader letter', "letter")
    add("own", "no-number", [{"prompt": "?", "answer": "5 or 6"}], r'line 1: the field "answer" is not a number; --grader number', "number")
    add("own", "no-integer", [{"prompt": "?", "answer": 7.5}], r'line 1: the field "answer" is not a whole number; --grader integer', "integer")
    add("own", "twice", [{"id": "a", "prompt": "?", "answer": "1"}] * 2, r'the id "a" is there twice')
    broken = folder / "broken.jsonl"
    broken.write_text('{"prompt": "?", "answer": "1"}\n{"prompt": \n')
    rows.append(("own", [broken], "", r"line 2: is not JSON"))
    doubled = folder / "doubled.jsonl"
    doubled.write_text('{"prompt": "?", "prompt": "!", "answer": "1"}\n')
    rows.append(("own", [doubled], "", r'line 1: the field "prompt" is there twice'))
    empty = folder / "empty.jsonl"
    empty.write_text('{"prompt": "?", "answer": "1"}\n\n')
    rows.append(("own", [empty], "", r"line 2: is empty"))
    columns = folder / "gpqa.csv"
    columns.write_text("Question,Answer\n?,A\n")
    rows.append(("gpqa", [columns], "", r'line 1: the column "Record ID" is missing'))
    rows.append(("gpqa", [gpqa(folder / "short.csv", 3)], "", r"3 problems; GPQA-Diamond has 198"))
    rows.append(("own", [folder / "nowhere"], "", r"nowhere: cannot be read"))
    rows.append(("own", [folder / "a", folder / "b"], "", r"is one file"))
    return rows


def test_a_wrong_file_says_what_one_looks_like(tmp_path: Path) -> None:
    other = write_records(tmp_path / "other.jsonl", [{"text": "of another benchmark"}])
    forms = {
        "math500": '"problem" or "prompt", "answer", and "unique_id" or "id"',
        "gsm8k": '"question" and "answer", which ends in "#### NUMBER"',
        "aime24": '"problem" and "answer", an integer from 0 to 999',
        "aime25": '"problem" and "answer", an integer from 0 to 999',
        "humaneval": '"task_id", "prompt", "entry_point", "canonical_solution" and "test"',
        "gpqa": '"Record ID", "Question", "Correct Answer" and "Incorrect Answer 1"',
        "livecodebench": '"question_id", "question_content", "contest_date", "starter_code", "metadata", "public_test_cases"',
        "mbpp": '"text" and "test_setup_code" or "prompt" and "test_imports"',
        "mmlu": '"question", "choices" or "A" to "D", and "answer"',
        "arc": '"question" and "choices" with "text" and "label"',
        "own": '"prompt", "answer" and, if you like, "id"',
    }
    assert set(forms) == set(TASKS) - {"aime"}
    for task, form in forms.items():
        with pytest.raises(BadInput) as error:
            read_task(task, [other], "167" if task == "livecodebench" else "")
        assert "line 1" in str(error.value) and f"; for {task} " in str(error.value) and form in str(error.value)
    with pytest.raises(BadInput, match="for aime a line has"):
        read_task("aime", [other, other])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"prompt": "\\ud800", "answer": "1"}', "line 1: the field \"prompt\" holds half a character, U\\+D800"),
        ('{"prompt": "?", "answer": ' + "9" * 5000 + "}", "line 1: holds a number of too many digits"),
        ('{"prompt": "?", "answer": NaN}', "line 1: is not JSON: NaN is not a number"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"prompt": "?", "answer": "1"}\r\n\x85', "line 2: is empty"),
    ],
)
def test_what_json_can_hold_and_a_text_cannot(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(line.encode())
    with pytest.raises(BadInput, match=said) as error:
        read_task("own", [path])
    assert "\n" not in str(error.value)


def test_a_line_ends_at_its_newline_alone(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"prompt": "one\u2028two\x85", "answer": "1"}\r\n{"prompt": "?", "answer": "2"}', encoding="utf-8", newline="")
    problems = read_task("own", [path]).problems
    assert [problem.fields["problem"] for problem in problems] == ["one\u2028two\x85", "?"]


def test_a_table_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gpqa.csv"
    path.write_text('"' + "x" * 200_000 + '",b\n')
    with pytest.raises(BadInput, match="line 1: is not CSV: field larger than field limit"):
        read_task("gpqa", [path])


@pytest.mark.parametrize("content", [b"", b"not packed", pickle.dumps("[]")[:-3], b"\x80\x04]\x94(]\x94u.", b"\x80\x04}\x94(]K\x01u."])
def test_a_spoilt_pickle_is_one_line(tmp_path: Path, content: bytes) -> None:
    packed = base64.b64encode(zlib.compress(content)).decode()
    path = write_records(tmp_path / "t.jsonl", [contest(1, private_test_cases=packed)])
    with pytest.raises(BadInput, match='line 1, field "private_test_cases": cannot be unpacked'):
        read_task("livecodebench", [path], WINDOW)


def test_each_wrong_file_is_refused_with_its_place(tmp_path: Path) -> None:
    for task, paths, subset, said in wrong_files(tmp_path):
        with pytest.raises(BadInput, match=said) as error:
            read_task(task, paths, **({"grader": subset} if task == "own" else {"subset": subset}))
        assert "\n" not in str(error.value)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(BadInput, match=r"pipe.jsonl: is a pipe, and no file; give the name of a file"):
        read_task("own", [pipe])
    with pytest.raises(BadInput, match=r"pipe.jsonl: is a pipe"):
        digest(pipe)
    with pytest.raises(BadInput, match=r"/dev/zero: is a device, and no file"):
        read_task("gsm8k", [Path("/dev/zero")])
    with pytest.raises(BadInput, match=r"pipe.jsonl: is a pipe, and no folder; give the name of a folder"):
        Evaluation.open(pipe)


@pytest.mark.parametrize("option", ["subset", "grader"])
@pytest.mark.parametrize("name", TASKS)
def test_an_option_of_other_tasks_is_refused(name: str, option: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        read_task(name, [tmp_path / "nothing"], **{option: "x"})
    assert (f"--{option}: has no effect on the task {name}" in str(refused.value)) == (option not in TASKS[name].options)


def test_a_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(BadInput, match="did you mean humaneval?"):
        read_task("humanevel", [])
    with pytest.raises(BadInput, match="has no effect on the task gsm8k"):
        read_task("gsm8k", [], grader="exact")


def test_a_record_may_hold_letters_at_which_python_would_end_a_line(tmp_path: Path) -> None:
    records = [{"question": f"a\u2028b\u2029c\u0085{n}"} for n in range(3)]
    file = tmp_path / "odd.jsonl"
    file.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    assert list(read_records(file)) == [(f"{file}, line {n}", record) for n, record in enumerate(records, 1)]
    file.write_text("")
    assert list(read_records(file)) == []


FUNCTION = {"prompt": "def f(x):\n", "entry_point": "f", "canonical_solution": "    return x\n", "test": "def check(f): pass"}
ARC = {"id": "q", "question": "?", "choices": {"text": ["a", "b", "c"], "label": ["A", "B", "C"]}, "answerKey": "B"}
MBPP = {"task_id": 11, "text": "?", "code": "def f(x): return x", "test_setup_code": "", "test_list": ["assert f(1) == 1"]}
# One record of each task, the title, the paper's column, the templates for a chat model and a base model, and the grader.
EACH: dict[str, tuple[dict[str, Any], str, str, str, str, type[Grader]]] = {
    "math500": ({"prompt": "?", "answer": "1", "id": "a"}, "MATH500", "MATH500", "boxed-answer", "boxed-answer", MathematicsGrader),
    "gsm8k": ({"question": "?", "answer": "#### 1"}, "GSM8K", "GSM8K", "boxed-number", "boxed-number", NumericGrader),
    "humaneval": ({**FUNCTION, "task_id": "H/1"}, "HumanEval", "HumanEval", "function", "plain", FunctionTestGrader),
    "aime24": ({"problem": "?", "answer": "7"}, "AIME 24", "", "boxed-integer", "boxed-integer", IntegerGrader),
    "aime25": ({"problem": "?", "answer": "7"}, "AIME 25", "", "boxed-integer", "boxed-integer", IntegerGrader),
    "aime": ({"problem": "?", "answer": "7"}, "AIME 24&25", "AIME 24&25", "boxed-integer", "boxed-integer", IntegerGrader),
    "gpqa": ({}, "GPQA-Diamond", "GPQA", "boxed-letter", "boxed-letter", LetterGrader),
    "livecodebench": (contest(1), "LiveCodeBench (2024-09-01..2024-09-02, 1 problems)", "LCB v5", "program", "program", ContestTestGrader),
    "mbpp": (MBPP, "MBPP (data)", "", "function-tests", "function-tests", FunctionTestGrader),
    "mmlu": ({"question": "?", "choices": [*"wxyz"], "answer": "B"}, "MMLU (data)", "", "boxed-letter", "boxed-letter", LetterGrader),
    "arc": (ARC, "ARC (data)", "", "boxed-option", "boxed-option", LetterGrader),
    "own": ({"prompt": "?", "answer": "x"}, "data", "", "plain", "plain", ExactGrader),
}


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_asked_judged_and_compared_as_its_row_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (mathematics, humaneval, gpqa_task):
        monkeypatch.setattr(module, "expect_count", lambda *_: None)  # one record is enough here
    record, title, column, template, raw, grader = EACH[name]
    path = gpqa(tmp_path / "data.csv", 1) if name == "gpqa" else write_records(tmp_path / "data.jsonl", [record])
    task = read_task(name, [path] * (2 if name == "aime" else 1), "2024-09-01..2024-09-02" if name == "livecodebench" else "")
    task.grader.close()
    assert (task.name, task.title, task.paper_column, task.template, task.raw_template) == (name, title, column, template, raw)
    assert type(task.grader) is grader and {template, raw} <= set(shipped_templates())
    paper = json.loads((Path(__file__).parents[3] / "proofs/paper_tables.json").read_text())["tab:main-results-extended"]["columns"]
    assert not column or column in paper
    assert len(EACH) == len(TASKS) and set(paper) == {of[2] for of in EACH.values()} - {""}


def test_a_grader_of_ones_own_task_is_that_of_its_name(tmp_path: Path) -> None:
    kinds = {"exact": ExactGrader, "integer": IntegerGrader, "letter": LetterGrader, "mathematics": MathematicsGrader, "number": NumericGrader, "worked-sum": WorkedSumGrader}
    path = write_records(tmp_path / "sums.jsonl", [{"prompt": f"{n}?", "answer": "B", **({"id": "mine"} if n == 1 else {})} for n in range(3)])
    numbers = write_records(tmp_path / "numbers.jsonl", [{"prompt": f"{n}?", "answer": n} for n in range(3)])
    for name, kind in kinds.items():
        task = read_task("own", [path if name == "letter" else numbers], grader=name)
        task.grader.close()
        assert type(task.grader) is kind
    # A problem without an id has the file's name and its place in it from 1 on.
    assert [problem.id for problem in read_task("own", [path]).problems] == ["sums-1", "mine", "sums-3"]


def test_of_two_fields_or_marks_a_record_has_the_one_that_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """"prompt" before "problem", "unique_id" before "id"; of the marks of GSM8K the last line's, which ends the text."""
    monkeypatch.setattr(mathematics, "expect_count", lambda *_: None)
    records = [{**{name: name for name in ("prompt", "problem") if asked & bit[name]}, "answer": "1", **{name: name for name in ("unique_id", "id") if asked & bit[name]}}
               for bit in ({"prompt": 1, "problem": 2, "unique_id": 4, "id": 8},) for asked in range(16) if asked & 3 and asked & 12]  # fmt: skip
    task = read_task("math500", [write_records(tmp_path / "one.jsonl", records[:1])])
    task.grader.close()
    for record in records:
        (problem,) = read_task("math500", [write_records(tmp_path / "one.jsonl", [record])]).problems
        assert problem.fields["problem"] == ("prompt" if "prompt" in record else "problem")
        assert problem.id == ("unique_id" if "unique_id" in record else "id")
    for text, gold in (("#### 4\nand\n#### 5", "5"), ("so #### 6 \n", "6"), ("####7\n\n", "7"), ("#### 1,000", "1,000"), ("#### 4\nmore", None)):
        path = write_records(tmp_path / "gsm8k.jsonl", [{"question": "?", "answer": text}])
        if gold is None:
            with pytest.raises(BadInput, match='does not end in "#### NUMBER"'):
                read_task("gsm8k", [path])
        else:
            (problem,) = read_task("gsm8k", [path]).problems
            assert (problem.answer, problem.details) == (gold, {"solution": text})


def test_a_contest_is_in_a_window_from_its_first_moment_to_its_last(tmp_path: Path) -> None:
    """The last day ends as it begins, as the benchmark's own comparison of dates has it; a program is asked by its input, a method by its head."""
    days = [f"2024-09-0{day}T{time}" for day in range(1, 6) for time in ("00:00:00", "00:00:01", "23:59:59")]
    records = [contest(n, contest_date=day, starter_code="class Solution:\n" if n % 2 else "") for n, day in enumerate(days)]
    path = write_records(tmp_path / "w.jsonl", records)
    for first, last in itertools.combinations_with_replacement(range(1, 6), 2):
        problems = read_task("livecodebench", [path], f"2024-09-0{first}..2024-09-0{last}").problems
        inside = [n for n, day in enumerate(days) if f"2024-09-0{first}T00:00:00" <= day <= f"2024-09-0{last}T00:00:00"]
        assert [problem.id for problem in problems] == [f"q{n}" for n in inside]
        for n, problem in zip(inside, problems):
            asked = "Begin with this code:\n```python\nclass Solution:\n\n```" if n % 2 else "Read the input from standard input and print the output."
            assert problem.fields == {"problem": f"Double the number ({n}).", "starter": asked}
    for first, last in itertools.combinations(range(1, 6), 2):
        with pytest.raises(BadInput, match="is empty; the first day comes first"):
            read_task("livecodebench", [path], f"2024-09-0{last}..2024-09-0{first}")
