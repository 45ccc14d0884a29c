"""A run folder's columns where its events are silent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from tempera.eval.run_folders import RunFolders, _last_confidences, make_way
from tempera.eval.sampling import Drawn


def test_the_confidence_is_that_of_the_last_round_or_none(tmp_path: Path) -> None:
    def confidences(rounds: list[dict[str, object]], log_p0: float = -2.0) -> dict[tuple[str, int], float]:
        sample = {"id": "a", "sample": 0, "log_p0": log_p0}
        (tmp_path / "samples.jsonl").write_text(json.dumps(sample) + "\n")
        events = [json.dumps({"kind": "round", "id": "a", "sample": 0, **one}, separators=(",", ":")) for one in rounds]
        (tmp_path / "events.jsonl").write_text("".join(line + "\n" for line in events))
        return _last_confidences(tmp_path)

    known = {"log_p0": [-3.0, -2.0], "confidence": [0.1, 0.2]}
    silent = {"log_p0": [-3.0, -2.0]}
    elsewhere = {"log_p0": [-3.0, -4.0], "confidence": [0.3, 0.4]}
    for first in (known, silent, elsewhere):
        assert confidences([first, known]) == {("a", 0): 0.2}
        assert confidences([first, silent]) == {}
        assert confidences([first, elsewhere]) == {}
    assert confidences([]) == {}


def test_a_record_is_that_of_its_line_and_its_confidence_that_of_its_own_chain(tmp_path: Path) -> None:
    """Two problems and two samples each, whose rounds come mixed; the record is at another rung in each."""
    keys = [(name, sample) for name in ("b", "a") for sample in (0, 1)]
    samples, events, expected = [], [], []
    for number, (name, sample) in enumerate(keys):
        tokens = list(range(3 + number))
        line = {"id": name, "sample": sample, "tokens": tokens, "text": "with its end", "answer": f"of {name} {sample}", "log_p0": -1.0 - number, "terminated": number % 2 == 0}
        samples.append(line)
        log_p0 = [-90.0, -91.0, -92.0]
        log_p0[number % 3] = line["log_p0"]
        confidences = [-0.1 * number - 0.01 * rung for rung in range(3)]
        events.append({"kind": "round", "id": name, "sample": sample, "log_p0": log_p0, "confidence": confidences})
        expected.append(Drawn(name, sample, line["answer"], line["log_p0"], len(tokens), line["terminated"], confidences[number % 3]))
    for name, lines in (("samples.jsonl", samples), ("events.jsonl", events[::-1])):
        (tmp_path / name).write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    for name in ("summary", "speed", "config"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"decode_tokens": len(name), "of": name}))
    folders = cast(RunFolders, None)  # what reads a folder needs nothing of a sampler
    assert RunFolders.records(folders, tmp_path) == expected and RunFolders.done(folders, tmp_path) == 4
    figures = RunFolders.figures(folders, tmp_path)
    assert [of["of"] for of in (figures.summary, figures.speed, figures.config)] == ["summary", "speed", "config"] and figures.decode_tokens == 7


def test_a_run_that_ended_before_its_first_checkpoint_makes_way(tmp_path: Path) -> None:
    for is_there, has_checkpoint in ((False, False), (True, False), (True, True)):
        folder = tmp_path / f"{is_there}{has_checkpoint}" / "run"
        if is_there:
            folder.mkdir(parents=True)
            (folder / "config.json").touch()
        if has_checkpoint:
            (folder / "checkpoint").touch()
        assert make_way(folder) == has_checkpoint and folder.exists() == has_checkpoint and folder.parent.is_dir()
