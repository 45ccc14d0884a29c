"""What a run folder of `tempera sample` holds, whoever drew it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tempera.eval.sampling import Drawn, Figures, Sampling


def make_way(folder: Path) -> bool:
    """Whether a run is there that can go on. What ended before its first checkpoint is removed: it is of no use."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if (folder / "checkpoint").exists():
        return True
    if folder.exists():
        shutil.rmtree(folder)
    return False


class RunFolders(Sampling):
    """Samplers whose answers are in run folders."""

    def done(self, folder: Path) -> int:
        samples = folder / "samples.jsonl"
        return samples.read_bytes().count(b"\n") if samples.exists() else 0

    def records(self, folder: Path) -> list[Drawn]:
        confidences = _last_confidences(folder)
        records = []
        for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines():
            sample = json.loads(line)
            key = (sample["id"], sample["sample"])
            records.append(
                Drawn(
                    sample["id"],
                    sample["sample"],
                    sample["answer"],
                    sample["log_p0"],
                    len(sample["tokens"]),
                    sample["terminated"],
                    confidences.get(key),
                )
            )
        return records

    def figures(self, folder: Path) -> Figures:
        return Figures(*(_read(folder / f"{name}.json") for name in ("summary", "speed", "config")))


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _last_confidences(folder: Path) -> dict[tuple[str, int], float]:
    """The confidence of each answer after its last round, of the record that has the answer's log p0.

    An answer is one of the records of the last round, whichever rung or particle it is; records of one log p0 to the
    last bit are copies.
    """
    likelihoods = {}
    for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        likelihoods[(sample["id"], sample["sample"])] = sample["log_p0"]
    found: dict[tuple[str, int], float] = {}
    with (folder / "events.jsonl").open(encoding="utf-8") as events:
        for line in events:
            if '"kind":"round"' in line:
                event = json.loads(line)
                key = (event["id"], event["sample"])
                found.pop(key, None)
                if likelihoods.get(key) in event["log_p0"] and "confidence" in event:
                    found[key] = event["confidence"][event["log_p0"].index(likelihoods[key])]
    return found
