"""The figures as rows: one table for the page, CSV and LaTeX."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from typing import Any

from tempera.eval.evaluation import Plan
from tempera.eval.report.results import Results, SamplerResult

COLUMNS = (
    "sampler", "n", "seeds", "pass@1", "sd", "low", "high", "paper", "vote", "paper vote", "hit capacity",
    "paper hit capacity", "mean log-likelihood", "mean confidence", "decode tokens", "seconds", "peak cache GiB",
    "second opinion differs", "graders failed", "differs from the paper",
)  # fmt: skip


def percent(share: float | None) -> str:
    """A share in per cent with one decimal, empty for None.

    >>> percent(0.4567)
    '45.7'
    """
    return "" if share is None else f"{100 * share:.1f}"


def _mean(values: list[float]) -> str:
    return f"{sum(values) / len(values):.4f}" if values else ""


def name_of(result: SamplerResult) -> str:
    """The sampler's label; if that is its name, with its number of rounds or particles."""
    settings = result.settings
    if settings.label != settings.sampler:
        return settings.label
    if settings.sampler in ("power-smc", "best-of-n"):
        return f"{settings.label}, N = {settings.particles}"
    if settings.sampler in ("fixed-horizon", "power-sampling"):
        return f"{settings.label}, N_m = {settings.rounds}"
    return settings.label


def names_at_k(results: Results) -> list[str]:
    """The columns of pass@k and avg@k that were asked for; pass@1 is there anyhow."""
    return [name for name in results.samplers[0].at_k if name not in COLUMNS]


def row(result: SamplerResult) -> dict[str, str]:
    """The cells of one sampler, by column; shares in per cent."""
    votes = result.vote_by_seed
    cells = (
        name_of(result),
        str(result.problems),
        str(result.seeds),
        percent(result.accuracy),
        percent(result.deviation),
        percent(result.interval.low),
        percent(result.interval.high),
        result.paper[0] if result.paper else "",
        percent(sum(votes) / len(votes)) if votes else "",
        result.paper_vote or "",
        percent(result.hit_capacity),
        result.paper_hit_capacity or "",
        _mean(result.log_likelihoods),
        _mean(result.confidences),
        "" if result.tokens_per_answer is None else f"{result.tokens_per_answer:.0f}",
        "" if result.seconds_per_answer is None else f"{result.seconds_per_answer:.3g}",
        "" if result.cache_gib is None else f"{result.cache_gib:.3g}",
        "" if result.second_opinion_differs is None else str(result.second_opinion_differs),
        str(len(result.failures)),
        "; ".join(result.differences),
    )
    at_k = {name: percent(share) for name, share in result.at_k.items() if name not in COLUMNS}
    return dict(zip(COLUMNS, cells, strict=True)) | at_k


def asked_by(plan: Plan) -> tuple[str, str]:
    """The template's name, and "chat" or "raw"; two empty texts if the answers are from a file."""
    return (plan.template, "chat" if plan.chat else "raw") if plan.template else ("", "")


def as_csv(results: Results) -> str:
    """A line for each sampler; every line names the task, the model and the template."""
    plan = results.evaluation.plan
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("task", "model", "template", "prompting", *COLUMNS, *names_at_k(results)))
    for result in results.samplers:
        named = (results.title, plan.model, *asked_by(plan))
        writer.writerow((*named, *row(result).values()))
    return text.getvalue()


_IN_LATEX = str.maketrans(
    {sign: "\\" + sign for sign in "&%$#_{}"}
    | {"\\": "\\textbackslash{}", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}", ">": "\\textgreater{}"}
    | {"|": "\\textbar{}", "±": "$\\pm$", "α": "$\\alpha$", "–": "--", "−": "$-$"}
)


def escape_latex(text: str) -> str:
    r"""A text for LaTeX, with the characters that mean something there written out.

    >>> escape_latex("AIME 24&25, 4 %")
    'AIME 24\\&25, 4 \\%'
    >>> escape_latex(r"C:\a^b")
    'C:\\textbackslash{}a\\textasciicircum{}b'
    """
    return text.translate(_IN_LATEX)


def as_latex(results: Results) -> str:
    """A table for a paper: ours and the paper's values side by side, with booktabs."""
    plan = results.evaluation.plan
    at_k = names_at_k(results)
    lines = [
        "% needs \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{lrrrrrr{'r' * len(at_k)}}}",
        "\\toprule",
        f"Sampler & pass@1 (\\%) & 95\\,\\% interval & paper & vote & paper & decode tokens{''.join(f' & {name}' for name in at_k)} \\\\",
        "\\midrule",
    ]
    for result in results.samplers:
        cells = row(result)
        spread = f" $\\pm$ {cells['sd']}" if cells["sd"] else ""
        lines.append(
            " & ".join(
                (
                    escape_latex(cells["sampler"]),
                    cells["pass@1"] + spread,
                    f"[{cells['low']}, {cells['high']}]",
                    cells["paper"] or "--",
                    cells["vote"] or "--",
                    cells["paper vote"] or "--",
                    cells["decode tokens"] or "--",
                    *(cells[name] for name in at_k),
                )
            )
            + " \\\\"
        )
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines.append(
        escape_latex(
            f"{results.title}, {results.samplers[0].problems} problems, {len(plan.seeds)} seed{'s' if len(plan.seeds) > 1 else ''}, "
            f"{plan.model or 'answers from a file'}{', template ' + plan.template if plan.template else ''}. "
        )
    )
    for result in results.samplers:
        if result.differences:
            lines.append(escape_latex(f"{name_of(result)}: {'; '.join(result.differences)}. "))
    return "\n".join(lines) + "\n"


def as_json(results: Results) -> str:
    """All figures."""
    document: dict[str, Any] = {
        "task": results.title,
        "settings": dataclasses.asdict(results.evaluation.plan),
        "paper_model": results.paper_model,
        "samplers": [],
        "comparisons": [dataclasses.asdict(one) for one in results.comparisons],
    }
    for result in results.samplers:
        fields = dataclasses.asdict(result)
        fields |= {"accuracy": result.accuracy, "deviation": result.deviation}
        document["samplers"].append(fields)
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _seeds(results: Results) -> str:
    count = len(results.evaluation.plan.seeds)
    return f"{count} seed{'s' if count > 1 else ''}"


def as_text(results: Results) -> str:
    """The first columns, for a terminal."""
    plan = results.evaluation.plan
    asked = f"{plan.model}, {'chat' if plan.chat else 'raw'}, template {plan.template}" if plan.template else "answers from a file"
    lines = [f"{results.title}: {results.samplers[0].problems} problems, {_seeds(results)}; {asked}"]
    at_k = names_at_k(results)
    heads = "".join(f" {name:>8}" for name in at_k)
    width = max(32, *(len(name_of(result)) for result in results.samplers))
    lines.append(f"{'sampler':{width}} {'pass@1 %':>14} {'95 %':>15} {'paper':>6} {'vote':>6} {'tokens':>8}{heads}")
    for result in results.samplers:
        cells = row(result)
        value = cells["pass@1"] + (f" ± {cells['sd']}" if cells["sd"] else "")
        interval = f"[{cells['low']}, {cells['high']}]"
        lines.append(
            f"{cells['sampler']:{width}} {value:>14} {interval:>15} {cells['paper']:>6} {cells['vote']:>6} {cells['decode tokens']:>8}"
            + "".join(f" {cells[name]:>8}" for name in at_k)
        )
    failed = sum(len(result.failures) for result in results.samplers)
    if failed:
        lines.append(f"not judged to the end, and counted as wrong: {failed}; the page lists them")
    return "\n".join(lines)
