"""The page: tables and plots in one HTML file that loads nothing."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from tempera.eval.report import svg
from tempera.eval.report.results import Results, SamplerResult
from tempera.eval.report.tables import name_of, names_at_k, percent, row
from tempera.settings import takes

_STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --card: #f5f6f8; --ink: #1b1d21; --quiet: #565c65; --line: #d7dade;
  --curve-1: #00629c; --curve-2: #b84a00; --curve-3: #00795a; --curve-4: #a8477f; --curve-5: #6b4fbb; --curve-6: #8a6200; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14161a; --card: #1d2025; --ink: #e7e9ec; --quiet: #a6adb6; --line: #373c44; --curve-1: #6cbcf0;
    --curve-2: #ff9f5a; --curve-3: #4fd0a4; --curve-4: #f09ccb; --curve-5: #b8a5ff; --curve-6: #e7b257; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(1rem, 3vw, 2.5rem) 4rem; max-width: 76rem; background: var(--page);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.3rem; margin: 2.4rem 0 .4rem; border-top: 1px solid var(--line); padding-top: 1.1rem; }
p { margin: .3rem 0 .6rem; max-width: 75ch; }
h1, h2, p, li { overflow-wrap: break-word; }
.quiet, caption { color: var(--quiet); text-align: left; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: right; padding: .25rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th:first-child, td:first-child, td.text { text-align: left; }
td small { color: var(--quiet); display: block; }
pre, code { font: .875em/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: var(--card); padding: .7rem 1rem; border-radius: .5rem; }
.plot { max-width: 44rem; min-width: 34rem; width: 100%; height: auto; display: block; }
.plot text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.plot .tick { fill: var(--quiet); }
.plot .grid { stroke: var(--line); }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; font-size: .9rem; }
.legend svg { vertical-align: middle; }
"""


def document(title: str, body: str) -> str:
    """A whole page that loads nothing; the body is HTML already."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are HTML already."""
    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" for cells in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _accuracy(results: Results) -> str:
    at_k = names_at_k(results)
    rows = []
    for result in results.samplers:
        cells = row(result)
        spread = f" ± {cells['sd']}" if cells["sd"] else ""
        counted = f"n = {result.problems}, {result.seeds} seed{'s' if result.seeds > 1 else ''}"
        paper = f"{cells['paper']}<small>{html.escape(result.paper[1])}</small>" if result.paper else "–"
        rows.append(
            (
                html.escape(cells["sampler"]),
                f"<b>{cells['pass@1']}</b>{spread}<small>{counted}</small>",
                f"[{cells['low']}, {cells['high']}]",
                paper,
                cells["vote"] or "–",
                cells["paper vote"] or "–",
                *(cells[name] for name in at_k),
            )
        )
    head = ["sampler", "pass@1 %, mean ± sd over seeds", "95 % interval"]
    head += [f"paper, {results.paper_model}" if results.paper_model else "paper", "vote %", "paper, vote"]
    head += [f"{name} %" for name in at_k]
    return table(head, rows) + svg.dots(
        [(name_of(one), one.accuracy, one.interval.low, one.interval.high) for one in results.samplers], "pass@1"
    )


def _comparisons(results: Results) -> str:
    rows = []
    for one in results.comparisons:
        found = one.result
        rows.append(
            (
                html.escape(f"{one.first} − {one.second}"),
                f"{100 * found.difference:+.1f}",
                f"[{100 * found.interval.low:+.1f}, {100 * found.interval.high:+.1f}]",
                f"{found.p_value:.3g}",
                f"{found.better} / {found.worse}",
            )
        )
    text = "<p class=quiet>Samplers answered the same problems, so they are compared problem by problem. p is exact: the "
    text += "share of all ways to exchange the two samplers on single problems that give a difference as large; with one "
    text += "seed it is McNemar's exact test. No p is corrected for how many there are.</p>"
    head = ("samplers", "difference, points", "95 % interval", "p", "problems better / worse")
    return text + table(head, rows)


def _cost(results: Results) -> str:
    rows = []
    for result in results.samplers:
        cells = row(result)
        hit = cells["hit capacity"] or "–"
        if cells["paper hit capacity"]:
            hit += f"<small>paper {cells['paper hit capacity']}</small>"
        names = ("mean log-likelihood", "mean confidence", "decode tokens", "seconds", "peak cache GiB")
        rows.append((html.escape(cells["sampler"]), hit, *(cells[name] or "–" for name in names)))
    head = ("sampler", "hit capacity %", "log-likelihood a token", "confidence", "decode tokens an answer", "seconds an answer", "peak cache, GiB")
    note = "<p class=quiet>Hit capacity: the share of returned answers that their horizon cut. Log-likelihood: log p0 divided by "
    note += "the tokens; confidence: the mean negative entropy of the next token; both nearer to 0 where the model is "
    note += "surer, which is not an accuracy. Seconds are of this machine, many answers at a time.</p>"
    return note + table(head, rows)


def _swaps(results: Results) -> str:
    rows = []
    for result in results.samplers:
        for edge in result.edges:
            share = f"{edge.accepted / edge.attempts:.3f}" if edge.attempts else "–"
            between = f"{edge.powers[0]:g} – {edge.powers[1]:g}"
            rows.append((html.escape(name_of(result)), between, share, str(edge.attempts)))
    if not rows:
        return ""
    text = table(("sampler", "powers", "swaps accepted", "attempts"), rows)
    for result in results.samplers:
        if result.round_trips is not None:
            expected = "not known" if result.round_trips_expected is None else f"{result.round_trips_expected:.1f}"
            text += f"<p>{html.escape(name_of(result))}: {result.round_trips} round trips; by the paper's formula at these acceptances {expected}.</p>"
    if results.paper_swap_acceptance:
        text += f"<p class=quiet>The paper's mean acceptance for {results.paper_model}: {results.paper_swap_acceptance}.</p>"
    return f"<h2>Swaps</h2>{text}"


def _sweep(results: Results) -> str:
    kind = results.evaluation.plan.sweep
    if kind in ("replicas", "rounds"):
        return _sweep_of_numbers(results, kind)
    return _sweep_of_kinds(results, kind) if kind else ""


def _sweep_of_numbers(results: Results, kind: str) -> str:
    points = []
    for result in results.samplers:
        settings = result.settings
        rungs = 1 if settings.sampler == "fixed-horizon" else len(settings.powers)
        points.append((float(settings.rounds if kind == "rounds" else rungs), result.accuracy))
    series = svg.Series("pass@1", points, [(one.interval.low, one.interval.high) for one in results.samplers])
    title = "rounds N_m" if kind == "rounds" else "replicas K"
    text = svg.curve(series, title, "pass@1")
    costs = [(one.tokens_per_answer, one.accuracy) for one in results.samplers if one.tokens_per_answer is not None]
    if len(costs) == len(points):
        known = [(cost, share) for cost, share in costs if cost is not None]
        text += svg.curve(svg.Series("pass@1 by cost", known, series.intervals), "decode tokens an answer", "pass@1")
    return f"<h2>Sweep over {title}</h2>{text}"


def _sweep_of_kinds(results: Results, kind: str) -> str:
    """The effects of the ladder or the schedule other than pass@1, whose plot is above: powers, swaps and round trips."""
    text = ""
    if kind == "ladder":
        powers = [svg.Series(one.settings.label, [(float(k), power) for k, power in enumerate(one.settings.powers, 1)]) for one in results.samplers]
        text += svg.curves(powers, "rung k", "power α_k", percent=False)
    swaps = [
        svg.Series(one.settings.label, [(number, edge.accepted / edge.attempts) for number, edge in enumerate(one.edges, 1) if edge.attempts])
        for one in results.samplers
    ]
    swaps = [one for one in swaps if one.points]
    if swaps:
        text += svg.curves(swaps, "edge of rungs k and k + 1", "swaps accepted")
    trips = [svg.Bar(one.settings.label, one.round_trips / (one.problems * one.seeds)) for one in results.samplers if one.round_trips is not None]
    if trips:
        text += svg.bars(trips, "round trips an answer")
    note = "<p class=quiet>Swaps of one answer depend on each other, so no intervals are drawn for them.</p>" if swaps else ""
    title = "ladders" if kind == "ladder" else "schedules of swaps"
    return f"<h2>Sweep over {title}</h2>{note}{text}"


def _likelihoods(results: Results) -> str:
    text = ""
    for title, values in (
        ("average log-likelihood a token", [(name_of(one), one.log_likelihoods) for one in results.samplers]),
        ("confidence", [(name_of(one), one.confidences) for one in results.samplers]),
    ):
        there = [(name, of_sampler) for name, of_sampler in values if of_sampler]
        if there:
            text += f"<h3>{title.capitalize()}</h3>{svg.distributions(there, title)}"
    return f"<h2>Likelihood and confidence</h2>{text}" if text else ""


def _differences(results: Results) -> str:
    items = "".join(
        f"<li><b>{html.escape(name_of(one))}</b>: {html.escape('; '.join(one.differences))}</li>"
        for one in results.samplers
        if one.differences
    )
    if not items:
        return ""
    return f"<h2>What differs from the paper's setting</h2><ul>{items}</ul>"


def _failures(results: Results) -> str:
    rows = [
        (html.escape(name_of(one)), str(failure["seed"]), html.escape(failure["id"]), html.escape(failure["failure"]))
        for one in results.samplers
        for failure in one.failures
    ]
    text = ""
    if rows:
        text += "<h2>Answers that could not be judged to the end</h2><p>They count as wrong.</p>"
        text += table(("sampler", "seed", "problem", "why"), rows)
    asked = [one for one in results.samplers if one.second_opinion_differs is not None]
    if asked:
        text += "<h2>Second opinion</h2><p>Math-Verify judged each extracted answer too; the accuracies above do not use it.</p>"
        text += table(("sampler", "verdicts that differ"), [(html.escape(name_of(one)), str(one.second_opinion_differs)) for one in asked])
    return text


def _settings(results: Results) -> str:
    plan = results.evaluation.plan
    data = f"<p>Data: {html.escape(', '.join(plan.data))} (SHA-256 {html.escape(', '.join(plan.data_digests))})</p>"
    if not plan.template:
        return f"<h2>Settings</h2><p>The answers are from a file.</p>{data}"
    sampler = "".join(f"<li>{html.escape(_described(one))}</li>" for one in results.samplers)
    prompting = "the model's chat template" if plan.chat else "a raw prompt"
    return (
        f"<h2>Settings</h2><p>Model {html.escape(plan.model or 'unknown: answers from a file')}, {prompting}, template "
        f"{html.escape(plan.template)}:</p><pre>{html.escape(plan.template_text)}</pre><ul>{sampler}</ul>"
        f"{data}"
    )


def _described(result: SamplerResult) -> str:
    settings = result.settings
    if settings.sampler == "given":
        return f"{settings.label}: answers from a file"
    powers = ", ".join(f"{power:g}" for power in settings.used_powers)
    text = f"{name_of(result)}: sampler {settings.sampler}, power{'s' if ',' in powers else ''} {powers}, T = {result.horizon}"
    if takes(settings.sampler, "rounds"):
        text += f", B = {settings.block or 'T/4'}, N_m = {settings.rounds}"
    if settings.sampler == "power-smc":
        text += f", weights looked at every {settings.block or 'T/4'} tokens"
    return text + (f", schedule {settings.schedule}" if settings.sampler == "ppt" else "")


def _explained_at_k(results: Results) -> str:
    if not results.samplers[0].at_k:
        return ""
    return (
        "<p class=quiet>pass@k is the share of problems that at least one of k answers solves, and avg@k the mean accuracy of k "
        f"answers; both are means over all choices of k of the {results.samplers[0].seeds} answers to a problem.</p>"
    )


def page(results: Results) -> str:
    """The whole page."""
    plan = results.evaluation.plan
    highest = max(one.accuracy for one in results.samplers)
    best = [one for one in results.samplers if one.accuracy == highest]
    seeds = f"seeds {plan.seeds[0]} to {plan.seeds[-1]}" if len(plan.seeds) > 1 else f"seed {plan.seeds[0]}"
    lead = (
        f"{best[0].problems} problems, {seeds}. The highest share is {percent(highest)} % "
        f"[{percent(best[0].interval.low)}, {percent(best[0].interval.high)}], of {', '.join(map(name_of, best))}."
    )
    body = (
        f"<h1>{html.escape(results.title)}</h1><p>{html.escape(lead)}</p><h2>Accuracy</h2>"
        "<p class=quiet>Intervals are for problems like these: answers to one problem depend on each other, so problems are "
        "what is counted. pass@1 takes one returned answer a problem and seed.</p>"
        f"{_explained_at_k(results)}"
        f"{_accuracy(results)}{_sweep(results)}"
    )
    if results.comparisons:
        body += f"<h2>Paired comparison</h2>{_comparisons(results)}"
    body += f"{_differences(results)}<h2>Cost and likelihood</h2>{_cost(results)}{_swaps(results)}{_likelihoods(results)}"
    body += f"{_failures(results)}{_settings(results)}"
    return document(results.title, body)
