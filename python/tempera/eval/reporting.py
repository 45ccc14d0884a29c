"""The third stage: writes what was found."""

from __future__ import annotations

from tempera.eval.evaluation import Evaluation, write_whole
from tempera.eval.report import tables
from tempera.eval.report.page import page
from tempera.eval.report.results import gather
from tempera.eval.sampling import Sampling


def report(evaluation: Evaluation, sampling: Sampling, paper_model: str | None = None) -> str:
    """Writes report.html, results.csv, results.tex and results.json; gives the table for a terminal."""
    results = gather(evaluation, sampling, paper_model)
    for name, text in (
        ("report.html", page(results)),
        ("results.csv", tables.as_csv(results)),
        ("results.tex", tables.as_latex(results)),
        ("results.json", tables.as_json(results)),
    ):
        write_whole(evaluation.folder / name, text)
    return f"{tables.as_text(results)}\n{evaluation.folder / 'report.html'}"
