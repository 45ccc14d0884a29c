"""The folder that `tempera sample --out` and `Model.sample(…, out=…)` write, as columns.

    import pandas
    import tempera

    run = tempera.RunFolder("run")
    swaps = pandas.DataFrame(run.events("swap"))
    swaps.groupby("rung").accepted.mean()
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from tempera import diagnostics, partition, run_files, wishes
from tempera.diagnostics import AgainstExact
from tempera.errors import BadInput, shown
from tempera.model import Acceptance, Answer
from tempera.wishes import path, text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The values of one field, one for each line: an array if they are all numbers or all truths, else a list.
Column = Union["NDArray[np.generic]", list[Any]]

EVENTS = ("extension", "local_move", "swap", "resampling", "round")


def columns(records: Iterable[dict[str, Any]]) -> dict[str, Column]:
    """Records as columns, in the order in which their fields first come; what a record lacks is None.

    >>> columns([{"id": "a", "n": 1}, {"id": "b", "n": 2}])
    {'id': ['a', 'b'], 'n': array([1, 2])}
    """
    import numpy

    found: dict[str, list[Any]] = {}
    count = 0
    for record in records:
        for name in record:
            if name not in found:
                found[name] = [None] * count
        for name, values in found.items():
            values.append(record.get(name))
        count += 1
    kinds: dict[str, Column] = {}
    for name, values in found.items():
        of = {type(value) for value in values}
        kinds[name] = numpy.array(values) if of <= {int, float} or of == {bool} else values
    return kinds


class _Counts:
    """The totals of the events of one answer."""

    def __init__(self, rungs: int) -> None:
        self.log_p0: list[float] = []
        self.decode_tokens = 0
        self.moves = [[0, 0] for _ in range(rungs)]
        self.swaps = [[0, 0] for _ in range(rungs - 1)]

    def take(self, event: dict[str, Any]) -> None:
        self.decode_tokens += event.get("tokens", 0)
        if event["kind"] == "round":
            self.log_p0 = event["log_p0"]
        elif event["kind"] in ("local_move", "swap"):
            counts = (self.moves if event["kind"] == "local_move" else self.swaps)[event["rung"] - 1]
            counts[0] += event.get("proposals", 1) if event.get("proposed", True) else 0
            counts[1] += event["accepted"]

    def answer(self, sample: dict[str, Any], prompt: int) -> Answer:
        return Answer(
            text=sample["answer"],
            tokens=tuple(sample["tokens"]),
            log_p0=sample["log_p0"],
            log_p0_of_rungs=tuple(self.log_p0),
            local_moves=tuple(Acceptance(*pair) for pair in self.moves),
            swaps=tuple(Acceptance(*pair) for pair in self.swaps),
            decode_tokens=self.decode_tokens,
            finish_reason="stop" if sample.get("stopped") else "terminal" if sample["terminated"] else "horizon",
            prompt=prompt,
            sample=sample["sample"],
        )


class RunFolder:
    """A run of `tempera sample --out FOLDER`, finished or not: only read, never changed.

    Raises BadInput if the folder is not a run.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(path("folder", folder))
        if not os.path.isfile(self.folder / "config.json"):
            raise BadInput(str(folder), "is not a run: config.json is not there", "`Model.sample(…, out=…)` makes one")

    def __repr__(self) -> str:
        return f"RunFolder({str(self.folder)!r})"

    @property
    def config(self) -> dict[str, Any]:
        """Everything resolved: model, sampler, ladder, seed, prompts."""
        return run_files.document(self.folder, "config.json")

    @property
    def summary(self) -> dict[str, Any]:
        """The figures of the finished run: acceptances, round trips, decode tokens. Raises BadInput before its end."""
        return run_files.document(self.folder, "summary.json")

    @property
    def speed(self) -> dict[str, Any]:
        """The cost: seconds, tokens, forward passes, the most bytes of caches."""
        return run_files.document(self.folder, "speed.json")

    @property
    def samples(self) -> dict[str, Column]:
        """The answers: id, sample, tokens, text, answer, log_p0, terminated."""
        return columns(run_files.lines(self.folder, "samples.jsonl"))

    def answers(self) -> list[Answer]:
        """The answers as Model.sample returns them, but for their `records`, which no run folder keeps."""
        counts: dict[tuple[str | None, int], _Counts] = {}
        rungs = len(self.config["powers"])
        for event in run_files.lines(self.folder, "events.jsonl"):
            key = (event.get("id"), event["sample"])
            counts.setdefault(key, _Counts(rungs)).take(event)
        numbers = {prompt["id"]: number for number, prompt in enumerate(self.config.get("prompts", []))}
        return [
            counts.get((sample.get("id"), sample["sample"]), _Counts(rungs)).answer(sample, numbers.get(sample.get("id"), 0))
            for sample in run_files.lines(self.folder, "samples.jsonl")
        ]

    def events(self, kind: str) -> dict[str, Column]:
        """The events of one kind:  "extension", "local_move", "swap", "resampling", or "round" after each round.

        `rung` counts from 1; of a swap it is the lower of the two. `log_ratio` is log R of the acceptance. A round's
        columns `replicas`, `lengths` and `log_p0` have a list for each line, by rung.
        """
        if text("kind", kind) not in EVENTS:
            raise BadInput("kind", f"there is no event {shown(kind)}", f"give one of {', '.join(EVENTS)}")
        found = columns(run_files.lines(self.folder, "events.jsonl", run_files.mark_of(kind)))
        found.pop("kind", None)
        return found

    def diagnostics(self) -> list[diagnostics.Diagnostics]:
        """Effective sample sizes, R-hat and Monte Carlo errors of log p0 and length, for each prompt and rung.

        A chain is one answer at one rung; its draws are the records after the rounds of the last stage. Raises BadInput if
        there are fewer than four of them: a run of more `rounds` has more.
        """
        return diagnostics.diagnose(self.events("round"))

    def against_exact(self, exact: RunFolder, confidence: float = 0.95) -> list[AgainstExact]:
        """Lower bounds of the total variation from exact draws, and rank tests, of log p0, length and answer for each prompt.

        exact: a run of exact-rejection from the same model and prompts, at the same horizon and the power of the answers, under another seed. Each
        bound holds at the confidence by itself. Raises BadInput if `exact` is none.
        """
        confidence = wishes.confidence(confidence)
        if not isinstance(exact, RunFolder):
            raise BadInput("exact", f"{shown(exact)} is not a run folder", "give a tempera.RunFolder")
        if exact.config.get("sampler") != "exact-rejection":
            raise BadInput(str(exact.folder), "holds no exact draws", "draw them with the sampler exact-rejection")
        ours, theirs = self.config, exact.config
        for name, key in (("model", "model_path"), ("horizon", "horizon")):
            if ours[key] != theirs[key]:
                raise BadInput(str(exact.folder), f"has the {name} {theirs[key]}, and {self.folder} {ours[key]}", "draw both alike")
        power, of_exact = ours["powers"][ours["output_rung"] - 1], theirs["powers"][-1]
        if power != of_exact:
            raise BadInput(str(exact.folder), f"has the power {of_exact}, and {self.folder} {power}", "draw both alike")
        if ours["seed"] == theirs["seed"]:
            raise BadInput(str(exact.folder), f"has the seed {theirs['seed']}, as {self.folder} has", "draw it with another: the answers must be independent")
        answers, draws = (list(run_files.lines(run.folder, "samples.jsonl")) for run in (self, exact))
        return diagnostics.against(answers, draws, confidence)

    def log_partition(self, confidence: float = 0.95) -> list[partition.Partition]:
        """log Z_α of each prompt with an interval: by the share that exact rejection kept, or by the ladder of ppt.

        Warns (partition.PartitionWarning) if two ways disagree. Raises BadInput for another sampler, a ladder that does not begin
        at 1, and fewer than two answers of a ladder.
        """
        return partition.of_run(self.config, self.events, wishes.confidence(confidence))

    def to_arviz(self, id: str | None = None) -> Any:
        """The chains of one prompt as arviz takes them: `log_p0`, `length` and `answer` of shape (chain, draw, rung).

        id: the prompt; may be left out if the run has one. Raises BadInput if it is unknown, ImportError without arviz.
        """
        if id is not None:
            text("id", id)
        import arviz  # type: ignore[import-not-found, unused-ignore]

        chains = diagnostics.chains_of(self.events("round"))
        prompts = list(dict.fromkeys(prompt for prompt, _ in chains))
        if id is None and len(prompts) == 1:
            id = prompts[0]
        if id not in prompts:
            named = ", ".join(str(prompt) for prompt in prompts[:10])
            raise BadInput("id", f"the run has no rounds of the prompt {shown(id)}", f"give one of {named}" if prompts else "draw with a ladder or local moves")
        groups = {"posterior": {quantity: chains[id, quantity] for quantity in ("log_p0", "length", "answer")}}
        shape = {
            "coords": {"rung": list(range(1, chains[id, "log_p0"].shape[2] + 1))},
            "dims": {"log_p0": ["rung"], "length": ["rung"], "answer": ["rung"]},
        }
        # From 1.0 on arviz takes all groups as one argument.
        from_dict: Any = arviz.from_dict
        return from_dict(**groups, **shape) if arviz.__version__.startswith("0.") else from_dict(groups, **shape)
