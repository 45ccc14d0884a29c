"""The folder of an evaluation: its files, and the count of answers that were not judged to the end."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tempera.errors import BadInput
from tempera.eval.evaluation import Evaluation, Plan
from tempera.eval.graders.verdict import Grader, Verdict
from tempera.eval.grading import grade, read_grades
from tempera.eval.input_files import WrongRecord, digest, read_records, text_or_number_field
from tempera.eval.problem import Problem
from tempera.eval.prompts import template_from
from tempera.eval.samplers import Settings
from tempera.eval.sampling import Drawn, Sampling
from tempera.eval.tasks import Task


def evaluation_in(folder: Path, **plan: Any) -> Evaluation:
    values: dict[str, Any] = {one.name: "" for one in fields(Plan)}
    return Evaluation(folder, Plan(**{**values, "samplers": (), "seeds": (1,), **plan}))


@pytest.mark.parametrize(
    ("file", "is_drawn"),
    [
        ("answers/ppt/seed-1/run/checkpoint", True), ("answers/given/seed-1/run/given.jsonl", True), ("ladder.json", True), ("matched.json", True),
        ("answers/ppt/seed-1/run.done", True), ("pilots/ppt-3.done", True), ("pilots/ppt-3/checkpoint", True), ("pilots/ladder.prompts.jsonl", False),
        ("answers/ppt/seed-1/run.prompts.jsonl", False), ("answers/ppt/seed-1/run.errors", False), ("answers/ppt/seed-1/run/config.json", False),
    ],
)  # fmt: skip
def test_a_folder_is_free_again_if_nothing_was_drawn_for_it(file: str, is_drawn: bool, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    for name in ("settings.json", file):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    evaluation_in(folder).remove_if_empty()
    assert folder.exists() == (folder / "settings.json").exists() == (folder / file).exists() == is_drawn


def test_what_a_grader_imported_is_kept_as_it_was_first(tmp_path: Path) -> None:
    """Verdicts of before a change would otherwise pass for those of after it."""
    files = {name: tmp_path / name for name in ("a.py", "b.py")}
    evaluation = evaluation_in(tmp_path / "out", grader=f"{tmp_path}/mine.py:grade")
    evaluation.begin_grades_by("grader")
    digests = {}
    for text in ("1", "2"):
        for file in files.values():
            file.write_text(text)
        digests[text] = hashlib.sha256(text.encode()).hexdigest()
    for told in ({"a.py": "1"}, {"a.py": "2", "b.py": "2"}, {"b.py": "1"}):
        evaluation.note_imports({str(files[name]): digests[text] for name, text in told.items()})
    assert json.loads((tmp_path / "out/grades/grader.json").read_text())["imports"] == {"a.py": digests["1"], "b.py": digests["2"]}
    for a in ("1", "2"):
        for b in ("1", "2"):
            files["a.py"].write_text(a)
            files["b.py"].write_text(b)
            assert evaluation.is_graded_by("grader") == ((a, b) == ("1", "2"))
            assert not evaluation.is_graded_by("another")


class Failing(Grader):
    """Raises an exception at a text of its name."""

    def extract(self, text: str, terminated: bool, problem: Problem) -> str | None:
        return text

    def judge(self, extracted: str, problem: Problem) -> Verdict:
        if extracted == "fails":
            raise RuntimeError("no")
        return Verdict(extracted == "right")


def test_every_answer_that_was_not_judged_to_the_end_is_counted(tmp_path: Path) -> None:
    texts = {("a", 1): ["fails", "right"], ("a", 2): ["fails", "fails"], ("b", 1): ["wrong", "right"], ("b", 2): ["right", "fails"]}
    samplers = [Settings(name, "given", (1.0,), None, None, 0) for name in "ab"]
    problems = [Problem(f"p{number}", {}, "") for number in range(2)]
    task = Task("own", "own", problems, Failing(), "plain", "plain")

    def run_folder(settings: Settings, seed: int, rung: int | None = None) -> Path:
        return tmp_path / settings.label / str(seed) / "run"

    def records(folder: Path) -> list[Drawn]:
        return [Drawn(f"p{n}", 0, text, None, None, True, None) for n, text in enumerate(texts[folder.parts[-3], int(folder.parts[-2])])]

    for settings in samplers:
        for seed in (1, 2):
            run_folder(settings, seed).parent.mkdir(parents=True)
            run_folder(settings, seed).with_name("run.done").touch()
    evaluation = SimpleNamespace(
        plan=SimpleNamespace(read_task=lambda: task, seeds=(1, 2)), folder=tmp_path, samplers=lambda: samplers, other_rungs=lambda _: [],
        begin_grades_by=lambda _: False, run_folder=run_folder, grades_file=lambda settings, seed: tmp_path / f"{settings.label}{seed}.jsonl",
    )  # fmt: skip
    for again in (False, False, True):  # what is judged already counts as well
        assert grade(cast(Evaluation, evaluation), cast(Sampling, SimpleNamespace(records=records)), again=again) == 4
    for (label, seed), of_run in texts.items():
        assert [one.correct for one in read_grades(tmp_path / f"{label}{seed}.jsonl")] == [text == "right" for text in of_run]


def test_a_template_of_a_file_is_its_text_without_one_newline_at_its_end(tmp_path: Path) -> None:
    for number, end in enumerate(("", "\n", "\n\n", "\n\n\n", " \n", "\n ")):
        file = tmp_path / f"{number}.txt"
        file.write_text("{problem}" + end)
        assert template_from(str(file)).text == "{problem}" + (end[:-1] if end.endswith("\n") else end)


def test_a_text_or_a_number_is_taken_as_it_is_written_and_nothing_else() -> None:
    for value, text in ((0, "0"), (-7, "-7"), (2.5, "2.5"), (10**30, "1" + "0" * 30), ("", ""), ("x", "x"), ("true", "true")):
        assert text_or_number_field("here", {"answer": value}, "answer") == text
    for value in (True, False, None, [], {}, ["1"]):
        with pytest.raises(WrongRecord, match='^here: the field "answer" is not text'):
            text_or_number_field("here", {"answer": value}, "answer")
    with pytest.raises(WrongRecord, match='^here: the field "answer" is missing'):
        text_or_number_field("here", {"other": 1}, "answer")


def test_a_byte_that_is_not_utf_8_is_told_by_its_place_in_the_file(tmp_path: Path) -> None:
    whole = '{"id": "é"}\n{"id": "b"}\n{"id": "c"}\n'.encode()
    file = tmp_path / "data.jsonl"
    for place in range(1, len(whole)):
        file.write_bytes(whole[:place] + b"\xff" + whole[place:])
        # Within a letter of two bytes the letter is named.
        begin = place - 1 if whole[place - 1 : place] == "é".encode()[:1] else place
        with pytest.raises(BadInput, match=f"^{file}: is not UTF-8 at byte {begin}$"):
            list(read_records(file))


def settings_of(label: str, sampler: str = "ppt", **changes: Any) -> Settings:
    return Settings(label, sampler, **{"powers": (1.0, 2.0, 4.0), "horizon": 8, "block": None, "rounds": 3, "particles": 5, **changes})


def test_samplers_are_run_with_what_their_pilots_found(tmp_path: Path) -> None:
    """Those that pilots looked at; a ladder is found for the one that was to be found, and amounts by label."""
    samplers = (settings_of("a", is_to_find=True), settings_of("b"), settings_of("c", "power-smc"), settings_of("d", "fixed-horizon"), settings_of("e", "standard"))
    for matched, to_find in itertools.product((False, True), repeat=2):
        asked = samplers if to_find else samplers[1:]
        folder = tmp_path / f"{matched}{to_find}"
        folder.mkdir()
        evaluation = evaluation_in(folder, samplers=asked, matched=matched)
        for name, is_needed in (("ladder.json", to_find), ("matched.json", matched)):
            if is_needed:
                with pytest.raises(BadInput, match="its pilots have not ended; `run` resumes them"):
                    evaluation.samplers()
                found = {"powers": [1.0, 1.5, 4.0], "samplers": [{"label": "c", "amount": 21}, {"label": "d", "amount": 22}]}
                (folder / name).write_text(json.dumps(found))
        expected = []
        for one in asked:
            values = dict(vars(one))
            values |= {"powers": (1.0, 1.5, 4.0)} if one.label == "a" else {}
            values |= {"c": {"particles": 21}, "d": {"rounds": 22}}.get(one.label, {}) if matched else {}
            expected.append(Settings(**values))
        assert evaluation.samplers() == tuple(expected)


def test_each_sampler_seed_and_rung_has_a_place_of_its_own(tmp_path: Path) -> None:
    labels = ["K = 1", "K = 10", "a.5", "a5", "a,5", "ladder geometric", "B"]
    evaluation = evaluation_in(tmp_path, seeds=(1, 11), all_rungs=True)
    places = [
        evaluation.run_folder(settings_of(label), seed, rung) for label in labels for seed in (1, 11) for rung in [None, *evaluation.other_rungs(settings_of(label))]
    ]
    assert len(set(places)) == len(places) == 7 * 2 * 3
    assert places[:3] == [tmp_path / f"answers/K-1/seed-1/{name}" for name in ("run", "rung-1", "rung-2")]
    files = [evaluation.grades_file(settings_of(label), seed) for label in labels for seed in (1, 11)]
    assert len(set(files)) == len(files) and files[0] == tmp_path / "grades/K-1/seed-1.jsonl"


def test_a_limit_is_of_the_first_problems(tmp_path: Path) -> None:
    data = tmp_path / "d.jsonl"
    data.write_text("".join(json.dumps({"prompt": f"{n}?", "answer": str(n)}) + "\n" for n in range(5)))
    for limit in range(7):
        plan = evaluation_in(tmp_path, task="own", data=(str(data),), data_digests=(digest(data),), limit=limit).plan
        assert [problem.answer for problem in plan.read_task().problems] == [str(n) for n in range(limit if 0 < limit < 5 else 5)]
    with pytest.raises(BadInput, match="is another file than the one that the answers were drawn for"):
        evaluation_in(tmp_path, task="own", data=(str(data),), data_digests=("0",), limit=0).plan.read_task()


def a_whole_plan(folder: Path) -> Plan:
    """Every field has a value of its own kind that is not its empty one."""
    lists: dict[str, Any] = {"data": ("a", "b"), "data_digests": ("0", "1"), "model_flags": ("--batch", "3"), "seeds": (1, 2), "samplers": (settings_of("a"), settings_of("b"))}
    numbers: dict[str, Any] = {"limit": 3, "pilot_problems": 4, "chat": True, "all_rungs": True, "matched": True}
    values = {one.name: f"its {one.name}" for one in fields(Plan)} | lists | numbers
    return Plan(**values)


def test_a_plan_that_is_kept_is_the_same_when_it_is_read(tmp_path: Path) -> None:
    plan = a_whole_plan(tmp_path)
    folder = tmp_path / "out"
    assert Evaluation.make(folder, plan).plan == plan
    found = Evaluation.open(folder)
    assert (found.folder, found.plan) == (folder, plan) and Evaluation.make(folder, plan).plan == plan
    assert all(type(getattr(found.plan, one.name)) is type(getattr(plan, one.name)) for one in fields(Plan))
    assert found.plan.samplers == plan.samplers and hash(found.plan.samplers) == hash(plan.samplers)  # tuples within, too


@pytest.mark.parametrize("name", [one.name for one in fields(Plan)])
def test_another_plan_is_refused_by_what_differs(name: str, tmp_path: Path) -> None:
    plan = a_whole_plan(tmp_path)
    Evaluation.make(tmp_path / "out", plan)
    value = getattr(plan, name)
    other = value[:1] if isinstance(value, tuple) else not value if isinstance(value, bool) else value * 2
    with pytest.raises(BadInput) as refused:
        Evaluation.make(tmp_path / "out", replace(plan, **{name: other}))
    assert str(refused.value) == f"{tmp_path / 'out'}: holds an evaluation of other settings ({name.replace('_', ' ')}); give --out another folder"
    assert Evaluation.open(tmp_path / "out").plan == plan


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    plan = a_whole_plan(tmp_path)
    (tmp_path / "empty").mkdir()
    assert Evaluation.make(tmp_path / "empty", plan).plan == plan
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").touch()
    with pytest.raises(BadInput, match="full: is not empty and no evaluation; give --out another folder"):
        Evaluation.make(tmp_path / "full", plan)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]


def test_verdicts_of_another_grader_go_and_it_is_told_if_there_were_any(tmp_path: Path) -> None:
    evaluation = evaluation_in(tmp_path)
    assert not evaluation.begin_grades_by("") and not evaluation.begin_grades_by("one")  # there are none yet
    files = [evaluation.grades_file(settings_of(label), seed) for label in ("a", "b") for seed in (1, 2)]
    for digest_of, goes in (("one", False), ("two", True), ("two", False), ("", True)):
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        assert evaluation.begin_grades_by(digest_of) == goes and [file.exists() for file in files] == [not goes] * 4
        assert evaluation.is_graded_by(digest_of) and not evaluation.is_graded_by("three")
