"""The third stage: writes what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tempera.errors import BadInput
from tempera.eval.evaluation import Evaluation, write_whole
from tempera.eval.report import side_by_side, tables
from tempera.eval.report.page import page
from tempera.eval.report.results import Results, gather
from tempera.eval.sampling import Sampling


def report(
    evaluation: Evaluation, sampling: Sampling, paper_model: str | None = None, k: Sequence[int] = ()
) -> tuple[Results, str]:
    """Writes report.html, results.csv, results.tex and results.json; gives the figures and the table for a terminal.

    Each has pass@k and avg@k for each of `k`. Raises BadInput if one is above the number of seeds, and then writes nothing.
    """
    results = gather(evaluation, sampling, paper_model, k)
    for name, text in (
        ("report.html", page(results)),
        ("results.csv", tables.as_csv(results)),
        ("results.tex", tables.as_latex(results)),
        ("results.json", tables.as_json(results)),
    ):
        write_whole(evaluation.folder / name, text)
    return results, f"{tables.as_text(results)}\n{evaluation.folder / 'report.html'}"


def check_table_folder(out: Path | None, evaluations: Sequence[Path]) -> None:
    """Refuses a folder that is not an evaluation, and a table of one evaluation."""
    if len(evaluations) > 1 and out is None:
        raise BadInput("--out", "is missing", "several evaluations are shown in one table, and --out names its folder")
    if len(evaluations) == 1 and out is not None:
        raise BadInput("--out", "has no effect on one evaluation", "its report is in its own folder")
    if out is not None and (out / "settings.json").exists():
        raise BadInput(str(out), "is an evaluation", "give --out a folder for the table alone")


def report_together(evaluations: Sequence[Results], out: Path) -> str:
    """Writes tables.html, tables.csv and tables.tex of several evaluations; gives the tables for a terminal."""
    found = side_by_side.side_by_side(evaluations)
    for name, text in (
        ("tables.html", side_by_side.as_page(found)),
        ("tables.csv", side_by_side.as_csv(found)),
        ("tables.tex", side_by_side.as_latex(found)),
    ):
        write_whole(out / name, text)
    return f"{side_by_side.as_text(found)}\n{out / 'tables.html'}"
