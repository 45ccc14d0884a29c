"""The contents of a run folder of `tempera sample`, whoever drew it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from tempera import run_files
from tempera.errors import BadInput
from tempera.eval.sampling import Drawn, Figures, Prompt, Sampling


def make_way(folder: Path) -> bool:
    """True if a run is there that can be resumed. A run that ended before its first checkpoint is removed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if (folder / "checkpoint").exists():
        return True
    if folder.exists():
        shutil.rmtree(folder)
    return False


def naming_problems(error: BadInput, pattern: str, prompts: Sequence[Prompt], first: int) -> BadInput:
    r"""The same error, with the problem's id in the place of the number that samplers know a prompt by.

    >>> str(naming_problems(BadInput("p.jsonl, line 2", "is too long"), r"p.jsonl, line (\d+)", [Prompt("a", ""), Prompt("b", "")], 1))
    'problem "b": is too long'
    """

    def named(found: re.Match[str]) -> str:
        number = int(found.group(1) or first) - first
        return f'problem "{prompts[number].id}"' if 0 <= number < len(prompts) else found.group()

    return BadInput(re.sub(pattern, named, str(error), count=1))


class RunFolders(Sampling):
    """Samplers whose answers are in run folders."""

    def done(self, folder: Path) -> int:
        return run_files.answers_so_far(folder)

    def records(self, folder: Path) -> list[Drawn]:
        confidences = _last_confidences(folder)
        records = []
        for sample in run_files.lines(folder, "samples.jsonl"):
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
        return Figures(*(run_files.document(folder, f"{name}.json") for name in ("summary", "speed", "config")))


def _last_confidences(folder: Path) -> dict[tuple[str, int], float]:
    """The confidence of each answer after its last round, of the record that has the answer's log p0.

    An answer is one of the records of the last round, whichever rung or particle it is; records of one log p0 to the
    last bit are copies.
    """
    likelihoods = {}
    for sample in run_files.lines(folder, "samples.jsonl"):
        likelihoods[(sample["id"], sample["sample"])] = sample["log_p0"]
    found: dict[tuple[str, int], float] = {}
    for event in run_files.lines(folder, "events.jsonl", run_files.mark_of("round")):
        key = (event["id"], event["sample"])
        found.pop(key, None)
        if likelihoods.get(key) in event["log_p0"] and "confidence" in event:
            found[key] = event["confidence"][event["log_p0"].index(likelihoods[key])]
    return found
