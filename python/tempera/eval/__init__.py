"""Benchmarks over tempera's samplers: draw answers, grade them, report what was found.

`python -m tempera.eval run`, `grade` and `report` are the three stages; docs/howto/evaluation.md shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tempera.eval.problem import Problem
from tempera.eval.graders.verdict import Grader, Verdict

if TYPE_CHECKING:
    import tempera.model

__all__ = ["Grader", "Problem", "Verdict", "run"]


def run(model: tempera.model.Model, arguments: Sequence[str]) -> None:
    """Draws the answers of an evaluation from any model, also one of `Model.from_callable` or `Model.from_transformers`.

    `arguments` are those of `tempera eval run`, such as `["--task", "gsm8k", "--data", "test.jsonl", "--out", "folder"]`;
    `--model NAME` only names it in the report. `tempera eval grade` and `report` take the folder. A run that is drawn is left
    as it is.

    Raises BadInput for arguments that cannot be meant, and what `Model.sample` raises.
    """
    from tempera.eval.command import run_own

    run_own(model, arguments)
