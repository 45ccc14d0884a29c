"""The folder of an evaluation: its settings, which are decided once, and where each thing is.

    settings.json            everything that decides an answer or a verdict
    ladder.json              the equi-accepting ladder of a sweep that pilots found
    matched.json             rounds and particles at matched decode tokens, with the pilots that they come from
    pilots/ answers/         run folders of `tempera sample`, one for each sampler and seed
    grades/                  a line for each answer, one file for each sampler and seed; grader.json, which state of a
                             grader of the user's own gave them, and of the modules that it imported
    report.html results.csv results.tex results.json
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tempera.errors import BadInput
from tempera.eval.input_files import digest, parse_json, read_text, require_no_special_file
from tempera.eval.problem import Problem
from tempera.eval.prompts import Template
from tempera.eval.samplers import Settings
from tempera.eval.tasks import Task, read_task


@dataclass(frozen=True)
class Plan:
    """The request: a task, a model, samplers and seeds. `settings.json` holds it."""

    task: str
    data: tuple[str, ...]
    data_digests: tuple[str, ...]
    subset: str
    grader: str
    limit: int
    model: str
    model_flags: tuple[str, ...]
    chat: bool
    template: str
    template_text: str
    preset: str
    seeds: tuple[int, ...]
    samplers: tuple[Settings, ...]
    all_rungs: bool
    matched: bool
    pilot_problems: int
    sweep: str
    answers_digest: str = ""  # of the file of answers that another program drew

    def read_task(self) -> Task:
        """The task with its problems, the limit applied; refused if the data are no longer those of the run."""
        paths = [Path(path) for path in self.data]
        for path, expected in zip(paths, self.data_digests, strict=True):
            if digest(path) != expected:
                raise BadInput(str(path), "is another file than the one that the answers were drawn for")
        task = read_task(self.task, paths, self.subset, self.grader, is_checked=True)
        return dataclasses.replace(task, problems=task.problems[: self.limit or None])

    def prompt(self, problem: Problem) -> str:
        """The prompts for the model."""
        return Template(self.template, self.template_text).fill(problem) if self.template else ""


def plan_from(document: dict[str, Any]) -> Plan:
    """A plan from its JSON form."""
    values = dict(document)
    for name in ("data", "data_digests", "model_flags", "seeds"):
        values[name] = tuple(values[name])
    values["samplers"] = tuple(
        Settings(**{**settings, "powers": tuple(settings["powers"])}) for settings in values["samplers"]
    )
    return Plan(**values)


def write_whole(path: Path, text: str) -> None:
    """Writes a file so that it is whole or not there."""
    beside = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise BadInput(str(path), f"cannot be written: {error.strerror}") from None


def _digest_or_none(path: Path) -> str | None:
    """None if there is no such file."""
    return digest(path) if path.is_file() else None


def folder_name(label: str) -> str:
    """A label as a folder's name.

    >>> folder_name("K = 3")
    'K-3'
    """
    return re.sub(r"[^A-Za-z0-9.]+", "-", label).strip("-")


@dataclass(frozen=True)
class Evaluation:
    """An evaluation's folder with its plan."""

    folder: Path
    plan: Plan

    @classmethod
    def open(cls, folder: Path) -> Evaluation:
        """The evaluation in a folder."""
        path = folder / "settings.json"
        if folder.exists():
            require_no_special_file(folder, "folder")
        if not path.exists():
            raise BadInput(str(folder), "is not an evaluation: settings.json is not there", "`run` makes one")
        document = parse_json(read_text(path), str(path))
        try:
            return cls(folder, plan_from(document))
        except (KeyError, TypeError):
            raise BadInput(str(path), "is the settings of another version", "make the evaluation again") from None

    @classmethod
    def make(cls, folder: Path, plan: Plan) -> Evaluation:
        """A new evaluation, or the one that is there with the same plan; another plan is refused."""
        path = folder / "settings.json"
        if path.exists():
            there = cls.open(folder).plan
            if there != plan:
                differing = [
                    field.name.replace("_", " ")
                    for field in dataclasses.fields(Plan)
                    if getattr(there, field.name) != getattr(plan, field.name)
                ]
                raise BadInput(
                    str(folder),
                    f"holds an evaluation of other settings ({', '.join(differing)})",
                    "give --out another folder",
                )
            return cls(folder, plan)
        if folder.exists() and any(folder.iterdir()):
            raise BadInput(str(folder), "is not empty and no evaluation", "give --out another folder")
        write_whole(path, json.dumps(dataclasses.asdict(plan), indent=1, ensure_ascii=False) + "\n")
        return cls(folder, plan)

    def samplers(self) -> tuple[Settings, ...]:
        """The samplers as they are run: with the powers, rounds and particles that pilots chose, if that was asked for."""
        samplers = self.with_found_ladder()
        if not self.plan.matched:
            return samplers
        amounts = {row["label"]: row["amount"] for row in self._found("matched.json")["samplers"]}
        return tuple(
            settings.with_amount(amounts[settings.label]) if settings.label in amounts else settings for settings in samplers
        )

    def with_found_ladder(self) -> tuple[Settings, ...]:
        """The samplers of the plan, with the ladder that pilots found in the place of the one that was to be found."""
        if not any(settings.is_to_find for settings in self.plan.samplers):
            return self.plan.samplers
        powers = tuple(self._found("ladder.json")["powers"])
        return tuple(
            dataclasses.replace(settings, powers=powers) if settings.is_to_find else settings for settings in self.plan.samplers
        )

    def _found(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        if not path.exists():
            raise BadInput(str(self.folder), "its pilots have not ended", "`run` resumes them")
        found: dict[str, Any] = parse_json(read_text(path), str(path))
        return found

    def remove_if_empty(self) -> None:
        """Removes an evaluation that nothing has been drawn for, so that its folder is free for other settings."""
        drawn = ("checkpoint", "given.jsonl", "ladder.json", "matched.json")
        if any(path.name in drawn or path.suffix == ".done" for path in self.folder.rglob("*")):
            return
        for name in ("answers", "pilots"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / "settings.json").unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # something else is in it
            self.folder.rmdir()

    def run_folder(self, settings: Settings, seed: int, rung: int | None = None) -> Path:
        """Where the answers of one sampler and seed are; those of one rung apart."""
        name = "run" if rung is None else f"rung-{rung}"
        return self.folder / "answers" / folder_name(settings.label) / f"seed-{seed}" / name

    def grades_file(self, settings: Settings, seed: int) -> Path:
        """Where the verdicts of one sampler and seed are."""
        return self.folder / "grades" / folder_name(settings.label) / f"seed-{seed}.jsonl"

    def is_graded_by(self, file_digest: str) -> bool:
        """True if the user's grader that gave the verdicts had this SHA-256, empty if none of the user's did, and imported
        what its modules hold now."""
        found = self._grader()
        return found["sha256"] == file_digest and all(
            _digest_or_none(self._beside_grader() / name) == expected for name, expected in found["imports"].items()
        )

    def begin_grades_by(self, file_digest: str) -> bool:
        """Removes all verdicts if the user's grader was another one; returns whether there were any."""
        if self.is_graded_by(file_digest):
            return False
        old = list((self.folder / "grades").rglob("*.jsonl"))
        for path in old:
            path.unlink()
        self._write_grader({"sha256": file_digest, "imports": {}})
        return bool(old)

    def note_imports(self, imports: Mapping[str, str]) -> None:
        """Keeps beside the verdicts what the user's grader imported for them."""
        found = self._grader()
        known: dict[str, str] = found["imports"]
        named = {os.path.relpath(file, self._beside_grader()): digest for file, digest in imports.items()}
        if not named.keys() <= known.keys():
            self._write_grader({**found, "imports": {**named, **known}})

    def _grader(self) -> dict[str, Any]:
        path = self.folder / "grades" / "grader.json"
        return {"sha256": "", "imports": {}, **(parse_json(read_text(path), str(path)) if path.exists() else {})}

    def _write_grader(self, described: dict[str, Any]) -> None:
        write_whole(self.folder / "grades" / "grader.json", json.dumps(described) + "\n")

    def _beside_grader(self) -> Path:
        """The folder that the names of imported files begin at: they may move together with the grader."""
        return Path(self.plan.grader.rpartition(":")[0]).resolve().parent

    def other_rungs(self, settings: Settings) -> list[int]:
        """The rungs whose records are drawn too, so that they can vote."""
        if not self.plan.all_rungs or settings.sampler not in ("ppt", "uncoupled-ladder"):
            return []
        return list(range(1, len(settings.powers)))
