"""Each column that a question of GPQA needs, missing, absent and blank."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tempera.errors import BadInput
from tempera.eval.tasks.gpqa import _OPTIONS, read_gpqa

COLUMNS = ["Question", "Record ID", *_OPTIONS]


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_that_is_missing_or_empty_is_named(tmp_path: Path, column: str) -> None:
    path = tmp_path / "gpqa_diamond.csv"

    def refusal(columns: list[str], value: str) -> str:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerow({name: value if name == column else f"text of {name}" for name in columns})
        with pytest.raises(BadInput) as refused:
            read_gpqa([path])
        return str(refused.value)

    assert f'line 1: the column "{column}" is missing' in refusal([name for name in COLUMNS if name != column], "")
    for blank in ("", " \t"):
        assert f'line 2: the column "{column}" is empty' in refusal(COLUMNS, blank)
    assert "is empty" not in refusal(COLUMNS, "x")  # but there are too few questions
