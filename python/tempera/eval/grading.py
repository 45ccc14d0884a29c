"""The second stage: judges all answers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tempera.errors import BadInput
from tempera.eval import sandbox
from tempera.eval.answers import Answer, vote
from tempera.eval.evaluation import Evaluation
from tempera.eval.graders.verdict import Grader, Verdict
from tempera.eval.problem import Problem
from tempera.eval.progress import Progress
from tempera.eval.running import answers
from tempera.eval.sampling import Sampling
from tempera.eval.tasks import Task


@dataclass(frozen=True)
class Grade:
    """The verdict on one answer, with the figures that a report needs; `vote_correct` is None without a vote."""

    id: str
    extracted: str | None
    correct: bool
    failure: str
    second_opinion: bool | None
    vote: str | None
    vote_correct: bool | None
    log_p0: float | None
    tokens: int | None
    confidence: float | None
    terminated: bool


def read_grades(path: Path) -> list[Grade]:
    """The grades of a file; half a line at its end, of a process that was killed, is left out."""
    if not path.exists():
        return []
    grades = []
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        if line.endswith(b"\n"):
            try:
                grades.append(Grade(**json.loads(line)))
            except (TypeError, ValueError):
                raise BadInput(f"{path}, line {number}", "is not a grade of this version", "remove the file: `grade` makes it again") from None
    return grades


def grade(evaluation: Evaluation, sampling: Sampling, workers: int = 0, again: bool = False) -> int:
    """Judges what has not been judged; with `again` everything. Returns how many answers no grader judged to the end."""
    failed = 0
    task = evaluation.plan.read_task()
    if task.grader.needs_sandbox:
        sandbox.require()
    if evaluation.begin_grades_by(task.grader.file_digest):
        print(f"{evaluation.plan.grader}: the grader has changed, so all answers are judged again", file=sys.stderr)
    try:
        for settings in evaluation.samplers():
            for seed in evaluation.plan.seeds:
                if not evaluation.run_folder(settings, seed).with_name("run.done").exists():
                    raise BadInput(str(evaluation.folder), f"{settings.label} with seed {seed} has not ended", "`run` resumes it")
                given = answers(evaluation, sampling, settings, seed)
                path = evaluation.grades_file(settings, seed)
                if again:
                    path.unlink(missing_ok=True)
                _grade_file(task, given, path, f"grading {settings.label}, seed {seed}", workers, evaluation)
                failed += len(failures(read_grades(path)))
    finally:
        task.grader.close()
    return failed


def _grade_file(task: Task, given: list[Answer], path: Path, what: str, workers: int, evaluation: Evaluation | None = None) -> None:
    """Judges what a file of verdicts lacks; an evaluation notes what the grader imported."""
    done = read_grades(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(_line(grade) for grade in done), encoding="utf-8")
    judged = {grade.id for grade in done}
    problems = {problem.id: problem for problem in task.problems}
    left = [answer for answer in given if answer.returned.id not in judged]
    if not left:
        return
    progress = Progress(what, len(given), len(done))
    try:
        with path.open("a", encoding="utf-8") as file:
            for number, grade in enumerate(_grades(task.grader, left, problems, workers), len(done) + 1):
                if evaluation is not None and task.grader.imports:
                    evaluation.note_imports(task.grader.imports)  # before the verdict that they gave
                file.write(_line(grade))
                file.flush()
                progress.show(number)
    finally:
        progress.end()


def _line(grade: Grade) -> str:
    return json.dumps(grade.__dict__, ensure_ascii=True) + "\n"


def _grades(grader: Grader, left: list[Answer], problems: dict[str, Problem], workers: int) -> Iterator[Grade]:
    """Judges programs side by side, and those that ran out of time once more, alone: a busy machine makes none fail."""
    if not grader.needs_sandbox:
        for answer in left:
            yield judge(grader, answer, problems[answer.returned.id])
        return
    slow = []
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        for answer, judged in _in_turn(pool, grader, left, problems):
            if judged.failure == "timed out":
                slow.append(answer)
            else:
                yield judged
    for answer in slow:
        yield judge(grader, answer, problems[answer.returned.id])


def _in_turn(
    pool: ThreadPoolExecutor, grader: Grader, left: list[Answer], problems: dict[str, Problem]
) -> Iterable[tuple[Answer, Grade]]:
    waiting: dict[Future[Grade], Answer] = {}
    for answer in left:
        waiting[pool.submit(judge, grader, answer, problems[answer.returned.id])] = answer
    try:
        while waiting:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(future), future.result()
    finally:
        for future in waiting:
            future.cancel()


def judge(grader: Grader, answer: Answer, problem: Problem) -> Grade:
    """The grade of one answer. A grader that raises an exception has crashed: the answer counts as wrong."""
    record = answer.returned
    extracted: str | None = None
    verdict = Verdict(False)
    winner: str | None = None
    vote_correct: bool | None = None
    try:
        extracted = grader.extract(record.text, record.terminated, problem)
        if extracted is not None:
            verdict = grader.judge(extracted, problem)
        if grader.votes and len(answer.traces) > 1:
            ballots = [(grader.extract(trace.text, trace.terminated, problem), trace.log_p0) for trace in answer.traces]
            result = vote(ballots, grader.same)
            winner = result.winner if result else None
            vote_correct = grader.judge(result.winner, problem).correct if result else False
    except (BadInput, KeyboardInterrupt):
        raise
    except Exception as error:
        verdict = Verdict(False, " ".join(f"crashed: {type(error).__name__}: {error}".split()))
    return Grade(
        record.id,
        extracted,
        verdict.correct,
        verdict.failure,
        verdict.second_opinion,
        winner,
        vote_correct,
        record.log_p0,
        record.tokens,
        record.confidence,
        record.terminated,
    )


def failures(grades: Iterable[Grade]) -> list[dict[str, Any]]:
    """The answers whose grader did not come to an end, which count as wrong."""
    return [{"id": grade.id, "failure": grade.failure} for grade in grades if grade.failure]
