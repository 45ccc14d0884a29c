"""Which option means something beside which other: one that would decide nothing is refused. And what a stage ends with."""

from __future__ import annotations

import argparse
import itertools
import signal
from pathlib import Path
from typing import Any, cast

import pytest
from conftest import write_records

from tempera.errors import BadInput, Bug, DeviceError, ModelError
from tempera.eval import command
from tempera.eval.sampling import Sampling

PARSER = command.parser()
NEEDED = ["run", "--task", "own", "--data", "x.jsonl"]
WORDS = {
    "--estimate": ["--estimate"], "--answers": ["--answers", "a.jsonl"], "--matched": ["--matched"], "--equal-powers": ["--equal-powers", "1,2"],
    "--out": ["--out", "o"], **{f"--sweep {kind}": ["--sweep", kind] for kind in ("replicas", "rounds", "ladder", "schedule")},
}  # fmt: skip
# These say which answers are taken from a file, and who judges them.
OF_A_FILE = {"--task", "--data", "--subset", "--grader", "--limit", "--out", "--model", "--tempera", "--answers"}


def options() -> dict[str, list[str]]:
    """Each option of `run`, with a value."""
    stages = next(action for action in PARSER._actions if isinstance(action, argparse._SubParsersAction))
    found = {}
    for action in stages.choices["run"]._actions:
        if action.option_strings and action.dest not in ("help", "task", "data"):
            name = action.option_strings[-1]
            value = [] if action.nargs == 0 else [next(iter(action.choices))] if action.choices else ["3"]
            found[name] = [name, *value]
    return found


def means_nothing(option: str, beside: set[str]) -> bool:
    sweep = next((name.partition(" ")[2] for name in beside if name.startswith("--sweep")), "")
    is_file = "--answers" in beside and option not in OF_A_FILE
    is_estimate = "--estimate" in beside and option in ("--out", "--shard", "--answers", "--matched")
    is_swept = (sweep and option == "--samplers") or (sweep == "rounds" and option in ("--rounds", "--matched")) or (sweep == option[2:] == "schedule")
    is_of_ladder = option == "--equal-powers" and sweep != "ladder"
    is_of_pilots = option == "--pilot-problems" and "--matched" not in beside and (sweep != "ladder" or "--equal-powers" in beside)
    return bool(is_file or is_estimate or is_swept or is_of_ladder or is_of_pilots)


def refused(words: list[str]) -> str:
    try:
        command._refuse_without_effect(PARSER.parse_args([*NEEDED, *words]))
    except BadInput as error:
        return str(error)
    return ""


def test_an_option_is_refused_where_it_means_nothing() -> None:
    every = options()
    assert len(every) > 30
    beside = [set(names) for count in (1, 2, 3) for names in itertools.combinations(WORDS, count) if sum(name.startswith("--sweep") for name in names) < 2]
    for names in beside:
        if "--estimate" in names and "--out" in names or not names & {"--estimate", "--out"}:
            continue
        alone = refused([word for name in sorted(names) for word in WORDS[name]])
        pairs = {name: means_nothing(name.partition(" ")[0], names) or ("--answers" in names and name.startswith("--sweep")) for name in names}
        needs_powers = "--estimate" in names and "--sweep ladder" in names and "--equal-powers" not in names
        assert bool(alone) == (any(pairs.values()) or needs_powers), (names, alone)
        if alone:
            continue
        for option, words in every.items():
            if option in ("--sweep", *names):
                continue
            said = refused([*(word for name in sorted(names) for word in WORDS[name]), *words])
            # Another of these may be refused because this one is there: they are pairs of their own above.
            if option not in WORDS:
                assert said.startswith(f"{option}: has no effect ") == bool(said) == means_nothing(option, names), (names, option, said)


@pytest.mark.parametrize(("first", "count", "seeds"), [(None, None, (1,)), ("0", None, (0,)), ("0", "3", (0, 1, 2)), ("7", "2", (7, 8)), (None, "2", (1, 2))])
def test_seeds_are_as_many_as_asked_from_the_first_on(first: str | None, count: str | None, seeds: tuple[int, ...], tmp_path: Path) -> None:
    data = write_records(tmp_path / "data.jsonl", [{"prompt": "1+1?", "answer": "2"}])
    asked = ["run", "--task", "own", "--data", str(data), "--model", "m", "--horizon", "8", "--out", "o"]
    asked += (["--first-seed", first] if first else []) + (["--seeds", count] if count else [])
    assert command._plan(PARSER.parse_args(asked), cast(Sampling, None)).seeds == seeds


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BadInput("x", "is wrong"), 2, "tempera eval: x: is wrong\n"), (ModelError("nan"), 2, "tempera eval: nan\n"), (DeviceError("lost"), 2, "tempera eval: lost\n"),
        (Bug("no"), 3, "tempera eval: "), (OSError(28, "No space left on device", "f"), 2, "tempera eval: f: No space left on device\n"),
        (OSError(28, "No space left on device"), 2, "tempera eval: output: No space left on device\n"), (BrokenPipeError(), 2, ""),
        (KeyboardInterrupt(), 130, "tempera eval: stopped; the same command resumes it\n"), (None, 0, ""),
    ],
)  # fmt: skip
def test_a_stage_ends_with_the_code_of_its_error(
    error: BaseException | None, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stage(given: Any) -> None:
        if error is not None:
            raise error

    before = signal.getsignal(signal.SIGTERM)
    try:
        for name in ("_run", "_merge", "_grade", "_report"):
            monkeypatch.setattr(command, name, stage)
        for words in ([*NEEDED, "--out", "o"], ["merge", "f"], ["grade", "f"], ["report", "f"]):
            assert command.main(words) == code
            told = capsys.readouterr().err
            assert told.startswith(said) and (told == said or isinstance(error, Bug)) and told.count("\n") == bool(said)
    finally:
        signal.signal(signal.SIGTERM, before)
