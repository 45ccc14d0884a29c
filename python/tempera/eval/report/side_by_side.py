"""Several evaluations as the paper's own table: a row for each sampler, a column for each task, its values beside ours."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

from tempera.errors import BadInput
from tempera.eval.report import paper_values
from tempera.eval.report.page import document, table
from tempera.eval.report.results import Results, SamplerResult
from tempera.eval.report.tables import asked_by, escape_latex, percent
from tempera.eval.samplers import PAPER_ROWS


@dataclass(frozen=True)
class Cell:
    """One sampler on one task: our figures, the paper's value with its table, and numbers of notes; None is nothing."""

    ours: SamplerResult | None
    paper: tuple[str, str] | None
    paper_deviation: str | None
    notes: tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """A sampler by our name and by the paper's, with a cell for each task. Either name may be empty."""

    label: str
    in_paper: str
    cells: list[Cell]

    @property
    def name(self) -> str:
        """Our name, or the paper's with a word on it."""
        return self.label or f"{self.in_paper} (the paper's alone)"


@dataclass(frozen=True)
class ModelTable:
    """The table of one model; `paper_model` is the paper's model whose values are beside. `asked` has for each task the
    template's name, and "chat" or "raw"; both are empty for answers from a file."""

    model: str
    paper_model: str
    tasks: list[str]
    rows: list[Row]
    asked: list[tuple[str, str]]

    @property
    def prompts(self) -> str:
        """The prompts' templates for all tasks."""
        asked = zip(self.tasks, self.asked, strict=True)
        return "; ".join(f"{task}: {f'template {template}, {prompting}' if template else 'answers from a file'}" for task, (template, prompting) in asked)


@dataclass
class SideBySide:
    """The tables of all models, and the notes that their cells number from 1: what differs from the paper's setting."""

    models: list[ModelTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> int:
        """The number of a note, a new one if there is none."""
        if text not in self.notes:
            self.notes.append(text)
        return self.notes.index(text) + 1


def side_by_side(evaluations: Sequence[Results]) -> SideBySide:
    """The tables of evaluations, in the order in which models, tasks and samplers first come.

    Samplers of the paper's own table that were not run have the paper's values alone. Raises BadInput for two
    evaluations of one model and task.
    """
    found = SideBySide()
    for model in dict.fromkeys(one.evaluation.plan.model for one in evaluations):
        of_model = [one for one in evaluations if one.evaluation.plan.model == model]
        for number, one in enumerate(of_model):
            for other in of_model[:number]:
                if one.title == other.title:
                    raise BadInput(
                        f"{other.evaluation.folder} and {one.evaluation.folder}",
                        f"are both of {one.title} and {model or 'answers from a file'}",
                        "a table has one cell for them: give one of the two",
                    )
        found.models.append(_model_table(found, model, of_model))
    return found


def _model_table(found: SideBySide, model: str, of_model: list[Results]) -> ModelTable:
    beside = next((one.paper_model for one in of_model if one.paper_model), "")
    labels = list(dict.fromkeys(result.settings.label for one in of_model for result in one.samplers))
    rows = [_our_row(found, label, of_model) for label in labels]
    run = {row.in_paper for row in rows}
    for name in paper_values.rows_of(beside):
        cells = [Cell(None, paper_values.of_row(beside, name, one.paper_column), paper_values.deviation(beside, name, one.paper_column), ()) for one in of_model]
        if name not in run and any(cell.paper for cell in cells):
            rows.append(Row("", name, cells))
    return ModelTable(model, beside, [one.title for one in of_model], rows, [asked_by(one.evaluation.plan) for one in of_model])


def _our_row(found: SideBySide, label: str, of_model: list[Results]) -> Row:
    cells = []
    in_paper = ""
    for one in of_model:
        result = next((each for each in one.samplers if each.settings.label == label), None)
        if result is None:
            cells.append(Cell(None, None, None, ()))
            continue
        row = PAPER_ROWS.get(result.settings.sampler, "") if label == result.settings.sampler else ""
        in_paper = in_paper or row
        is_of_tasks = result.paper is not None and result.paper == paper_values.of_row(one.paper_model, row, one.paper_column)
        spread = paper_values.deviation(one.paper_model, row, one.paper_column) if is_of_tasks else None
        cells.append(Cell(result, result.paper, spread, tuple(map(found.note, result.differences))))
    return Row(label, in_paper, cells)


def _ours(result: SamplerResult) -> str:
    return percent(result.accuracy) + (f" ± {percent(result.deviation)}" if result.deviation is not None else "")


def _papers(cell: Cell) -> str:
    return "" if cell.paper is None else cell.paper[0] + (f" ± {cell.paper_deviation}" if cell.paper_deviation else "")


def _counted(result: SamplerResult) -> str:
    return f"n = {result.problems}, {result.seeds} seed{'s' if result.seeds > 1 else ''}"


def _title(one: ModelTable) -> str:
    return (one.model or "Answers from a file") + (f", beside the paper's {one.paper_model}" if one.paper_model else "")


def as_page(found: SideBySide) -> str:
    """One page with all tables."""
    body = "<h1>Samplers by task</h1><p>pass@1 in per cent: the mean over seeds ± the standard deviation over seeds, with the 95 % "
    body += "interval for problems like these, n problems and seeds. Below is the paper's value and the table that has it. "
    body += "Raised numbers are notes: what differs from the paper's setting.</p>"
    for one in found.models:
        rows = [(html.escape(row.name), *(_html_cell(cell) for cell in row.cells)) for row in one.rows]
        body += f"<h2>{html.escape(_title(one))}</h2><p class=quiet>{html.escape(one.prompts)}.</p>{table(['sampler', *one.tasks], rows)}"
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in found.notes)
    return document("Samplers by task", body + (f"<h2>Notes</h2><ol>{notes}</ol>" if notes else ""))


def _html_cell(cell: Cell) -> str:
    text = ""
    if cell.ours is not None:
        marks = f"<sup>{','.join(map(str, cell.notes))}</sup>" if cell.notes else ""
        interval = f"[{percent(cell.ours.interval.low)}, {percent(cell.ours.interval.high)}]"
        text = f"<b>{percent(cell.ours.accuracy)}</b>{_ours(cell.ours)[len(percent(cell.ours.accuracy)):]}{marks}<small>{interval}, {_counted(cell.ours)}</small>"
    if cell.paper is not None:
        text += f"<small>paper {_papers(cell)}, {html.escape(cell.paper[1])}</small>"
    return text or "–"


def as_csv(found: SideBySide) -> str:
    """A line for each cell that has a value, ours or the paper's."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ("model", "task", "template", "prompting", "sampler", "pass@1", "sd", "low", "high", "n", "seeds", "paper model", "paper sampler", "paper", "paper sd",
         "paper table", "differs from the paper")
    )  # fmt: skip
    for one in found.models:
        for row in one.rows:
            for task, asked, cell in zip(one.tasks, one.asked, row.cells, strict=True):
                if cell.ours is None and cell.paper is None:
                    continue
                ours: tuple[str, ...] = ("",) * 6
                if cell.ours is not None:
                    shares = (cell.ours.accuracy, cell.ours.deviation, cell.ours.interval.low, cell.ours.interval.high)
                    ours = (*map(percent, shares), str(cell.ours.problems), str(cell.ours.seeds))
                paper = (cell.paper[0], cell.paper_deviation or "", cell.paper[1]) if cell.paper else ("", "", "")
                named = (one.paper_model, row.in_paper) if cell.paper else ("", "")
                differs = "; ".join(found.notes[number - 1] for number in cell.notes)
                writer.writerow((one.model, task, *asked, row.label, *ours, *named, *paper, differs))
    return text.getvalue()


def as_latex(found: SideBySide) -> str:
    """A table of each model, ours and the paper's value in each cell, with booktabs, and the notes below."""
    lines = ["% needs \\usepackage{booktabs}"]
    for one in found.models:
        heads = "".join(f" & \\multicolumn{{2}}{{c}}{{{escape_latex(task)}}}" for task in one.tasks)
        lines += [f"\\begin{{tabular}}{{l{'rr' * len(one.tasks)}}}", "\\toprule", escape_latex(_title(one)) + heads + " \\\\"]
        lines += [" & ours & paper" * len(one.tasks) + " \\\\", "\\midrule"]
        for row in one.rows:
            cells = [pair for cell in row.cells for pair in (_latex_cell(cell), escape_latex(_papers(cell)) or "--")]
            lines.append(" & ".join((escape_latex(row.name), *cells)) + " \\\\")
        lines += ["\\bottomrule", "\\end{tabular}"]
        counts = dict.fromkeys(f"{task}: {_counted(cell.ours)}" for row in one.rows for task, cell in zip(one.tasks, row.cells, strict=True) if cell.ours)
        lines.append(escape_latex("; ".join(counts) + f". {one.prompts}."))
    lines += [escape_latex(f"({number}) {note}.") for number, note in enumerate(found.notes, 1)]
    return "\n".join(lines) + "\n"


def _latex_cell(cell: Cell) -> str:
    if cell.ours is None:
        return "--"
    return escape_latex(_ours(cell.ours)) + (f"$^{{{','.join(map(str, cell.notes))}}}$" if cell.notes else "")


def as_text(found: SideBySide) -> str:
    """The tables for a terminal: ours, and the paper's value in brackets."""
    lines = []
    for one in found.models:
        first, widths = max(32, *(len(row.name) for row in one.rows)), [max(len(task), 24) for task in one.tasks]
        lines.append(_title(one) + "; pass@1 in per cent, the paper's in brackets")
        lines.append(one.prompts)
        lines.append("  ".join([f"{'sampler':{first}}", *(f"{task:>{width}}" for task, width in zip(one.tasks, widths, strict=True))]))
        for row in one.rows:
            cells = [(_ours(cell.ours) if cell.ours else "–") + (f" ({_papers(cell)})" if cell.paper else "") for cell in row.cells]
            lines.append("  ".join([f"{row.name:{first}}", *(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))]))
    return "\n".join(lines)
