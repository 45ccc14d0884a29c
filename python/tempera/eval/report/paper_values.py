"""The paper's values for what was run: its accuracies, votes, hit-capacity rates and settings."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from tempera.eval.samplers import PAPER_ROWS, Settings

# What a model's name contains, and the paper's name of it.
_MODELS = (
    ("qwen3.5-9b", "Qwen3.5-9B"), ("qwen3-8b", "Qwen3-8B"), ("qwen3-4b", "Qwen3-4B"),
    ("qwen2.5-math", "Qwen 2.5 MATH"), ("qwen2.5", "Qwen 2.5"), ("phi-3.5", "Phi 3.5 instruct"), ("tulu", "Tulu"),
)  # fmt: skip


@lru_cache(maxsize=1)
def _tables() -> dict[str, Any]:
    # Beside this file if the package is installed; in the source tree it is the one that the claims are compared with.
    installed = Path(__file__).with_name("paper_tables.json")
    file = installed if installed.exists() else Path(__file__).parents[4] / "proofs" / "paper_tables.json"
    tables: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return tables


def models() -> list[str]:
    """The paper's names of its models."""
    return [name for _, name in _MODELS]


def paper_model(model: str) -> str:
    """The paper's name of a model, empty if it is none of the paper's.

    >>> paper_model("/models/Qwen3-8B"), paper_model("smollm2")
    ('Qwen3-8B', '')
    """
    squeezed = model.lower().replace("_", "-").replace("qwen-", "qwen")
    return next((name for part, name in _MODELS if part in squeezed), "")


def _cell(table: str, group: str, row: str, column: str) -> str | None:
    found = _tables()[table]
    if column not in found["columns"] or row not in found["groups"].get(group, {}):
        return None
    value: str | None = found["groups"][group][row][found["columns"].index(column)]
    return value


def accuracy(settings: Settings, model: str, column: str, matched: bool) -> tuple[str, str] | None:
    """The paper's pass@1 in per cent and the table that it is in; None if the paper has none."""
    if settings.sampler not in PAPER_ROWS:
        return None
    row = PAPER_ROWS[settings.sampler]
    cells = [(table, row, column) for table in _OF_TASKS]
    if settings.schedule == "deo":
        cells = [("tab:deo-adj", "DEO", column)]
    elif settings.sampler == "fixed-horizon":
        cells = [("tab:compute-matched-single-chain", row, column)] if matched else []
        if not matched and column == "MATH500":
            cells = [("tab:cold-replica-results", "Fixed-horizon, K = 1", "Accuracy")]
    elif settings.sampler in ("uncoupled-ladder", "uncoupled-ladder-by-likelihood", "best-of-n"):
        cells = [("tab:compute-matched-app", row, f"{column} Pass@1")]
    for table, name, cell_column in cells:
        value = _cell(table, model, name, cell_column)
        if value is not None:
            return value, table
    return None


# The paper's tables of pass@1 by sampler and task. The deviations of the first are its own too.
_OF_TASKS = ("tab:main-results-extended", "tab:qwen35-9b")


def rows_of(model: str) -> list[str]:
    """The samplers of the paper's table for a model, in its order; GRPO, which is a trained model, among them.

    >>> rows_of("Qwen3-8B")
    ['Standard', 'Lower Temperature', 'Power Sampling', 'PowerSMC', 'GRPO', 'PPT']
    """
    return next((list(_tables()[table]["groups"][model]) for table in _OF_TASKS if model in _tables()[table]["groups"]), [])


def of_row(model: str, row: str, column: str) -> tuple[str, str] | None:
    """pass@1 in per cent that one of these tables gives for a row and a task, and the table; None if none does."""
    for table in _OF_TASKS:
        value = _cell(table, model, row, column)
        if value is not None:
            return value, table
    return None


def deviation(model: str, row: str, column: str) -> str | None:
    """The paper's standard deviation over seeds of such a value; it gives none for Qwen3.5-9B."""
    return _cell("tab:main-results-extended, deviations", model, row, column)


def voted(settings: Settings, model: str, column: str) -> str | None:
    """The paper's accuracy of the vote, in per cent."""
    row = "Uncoupled ladder" if settings.sampler.startswith("uncoupled") else PAPER_ROWS.get(settings.sampler, "")
    return _cell("tab:compute-matched-app", model, row, f"{column} Vote")


def hit_capacity(settings: Settings, model: str, column: str) -> str | None:
    """The paper's share of answers that their horizon cut, in per cent; it gives that of MATH500."""
    rows = {"power-sampling": "Truncating, K = 1", "fixed-horizon": "Fixed-horizon, K = 1", "ppt": "PPT"}
    if column != "MATH500":
        return None
    return _cell("tab:cold-replica-results", model, rows.get(settings.sampler, ""), "Hit capacity")


def swap_acceptance(model: str, column: str) -> str | None:
    """The paper's mean acceptance of swaps."""
    return _cell("tab:swap-acceptance", "acceptance", column, model)


def hyperparameters(model: str, column: str) -> dict[str, Any] | None:
    """The paper's T, B, N_m and powers for a task; None if it gives none for the model."""
    groups = {"Qwen3.5-9B": ("tab:ppt-hyperparams-qwen35-9b", "Qwen3.5-9B")}
    table, group = groups.get(model, ("tab:ppt-hyperparams-qwen3-4b", "Qwen3"))
    if model not in ("Qwen3.5-9B", "Qwen3-4B", "Qwen3-8B"):
        return None
    values = {name: _cell(table, group, column, name) for name in _tables()[table]["columns"]}
    if values["T"] is None:
        return None
    powers = tuple(float(value) for name, value in values.items() if name.startswith("alpha") and value)
    return {"T": int(values["T"]), "B": int(values["B"] or 0), "rounds": int(values["N_MCMC"] or 0), "powers": powers}
