"""Each form of a report, read back: every figure is in its place, whatever is missing, in tables, LaTeX, JSON, page and plots."""

from __future__ import annotations

import csv
import dataclasses
import html
import io
import itertools
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from tempera.eval import reporting
from tempera.eval.evaluation import Evaluation, Plan
from tempera.eval.report import side_by_side, svg, tables
from tempera.eval.report.page import document, page
from tempera.eval.report.results import Comparison, Edge, Results, SamplerResult
from tempera.eval.report.tables import escape_latex
from tempera.eval.samplers import Settings
from tempera.eval.statistics import Interval, Paired
from tempera.settings import takes

# Some have a ladder, some rounds, some particles, and one is of a file.
KINDS = ("ppt", "standard", "power-smc", "best-of-n", "fixed-horizon", "power-sampling", "uncoupled-ladder", "given")


def a_plan(chance: random.Random, **changes: Any) -> Plan:
    values: dict[str, Any] = {one.name: "" for one in dataclasses.fields(Plan)}
    seeds = tuple(range(3, 3 + chance.randrange(1, 5)))
    values |= {"data": ("d & d.jsonl", "e.jsonl"), "data_digests": ("0a", "1b"), "limit": 0, "model_flags": (), "samplers": (), "seeds": seeds}
    template = chance.choice(["", "boxed_1"])
    texts = {"template": template, "template_text": "<b>{problem}</b> & so", "model": chance.choice(["m/Qwen3-8B", "a_b & <c>"]), "chat": chance.random() < 0.5}
    return Plan(**{**values, **texts, **changes})


def a_result(chance: random.Random, sampler: str, plan: Plan, label: str = "", problems: int = 0) -> SamplerResult:
    """Figures that all differ, each missing in some."""

    def perhaps(value: Any) -> Any:
        return value if chance.random() < 0.7 else None

    def numbers(most: int, scale: float) -> list[float]:
        return [-scale * chance.random() for _ in range(chance.randrange(most))]

    powers = (1.0, 1.25, 4.0)[: 1 if sampler in ("given", "standard") else 3]
    settings = Settings(label or sampler, sampler, powers, 28, chance.choice([None, 7]), chance.randrange(2, 9), chance.choice(["adj", "deo"]), chance.randrange(2, 9))
    low, share, high = sorted(chance.random() for _ in range(3))
    spread = chance.choice([0, 1, 1])  # seeds that all agree have a deviation of 0, which is shown
    problems = problems or chance.randrange(2, 300)
    ends = [(1.0, 1.25), (1.25, 4.0)]
    edges = [Edge(powers, attempts, attempts and chance.randrange(attempts)) for powers in ends for attempts in (chance.choice([0, 17, 230]),)]
    names = [f"{name}@{k}" for k in (1, 3) for name in ("pass", "avg")]
    return SamplerResult(
        settings=settings, problems=problems, seeds=len(plan.seeds), right=(1,) * problems,
        by_seed=tuple(min(1.0, max(0.0, share + spread * chance.uniform(-0.1, 0.1))) for _ in plan.seeds), interval=Interval(low, high),
        at_k={name: chance.random() for name in names}, vote_by_seed=tuple(chance.random() for _ in plan.seeds) if chance.random() < 0.7 else (),
        second_opinion_differs=perhaps(chance.randrange(3)),
        failures=[{"seed": chance.choice(plan.seeds), "id": f"<p{n}>", "failure": f"timed out & {n}"} for n in chance.choices(range(9), k=chance.randrange(3))],
        hit_capacity=perhaps(chance.random()), tokens_per_answer=perhaps(chance.uniform(10, 9000)), seconds_per_answer=perhaps(chance.uniform(0.1, 90)),
        cache_gib=perhaps(chance.uniform(0.01, 9)), log_likelihoods=numbers(4, 3), confidences=numbers(4, 0.5), edges=edges if sampler == "ppt" else [],
        round_trips=chance.randrange(1, 90) if sampler == "ppt" else None, round_trips_expected=perhaps(chance.uniform(1, 90)) if sampler == "ppt" else None,
        horizon=chance.randrange(20, 40), paper=perhaps((f"{chance.uniform(10, 99):.1f}", chance.choice(["tab:main_1", "tab:<2>"]))),
        paper_vote=perhaps(f"{chance.uniform(10, 99):.1f}"), paper_hit_capacity=perhaps(f"{chance.uniform(10, 99):.1f}"),
        differences=chance.sample(["template & 1", "T = 5 (the paper: 6)", "100 % <b>", "N_m"], chance.randrange(4)),
    )  # fmt: skip


def a_report(case: int, **changes: Any) -> Results:
    chance = random.Random(case)
    plan = a_plan(chance, **changes)
    problems = chance.randrange(2, 300)
    samplers = [a_result(chance, kind, plan, chance.choice(["", "", f"mine {n}", f"the answers of a long file, {n}"]), problems) for n, kind in enumerate(chance.sample(KINDS, chance.randrange(1, 5)))]

    def paired() -> Paired:
        low, middle, high = sorted(chance.uniform(-1, 1) for _ in range(3))
        return Paired(middle, Interval(low, high), chance.random(), chance.randrange(9), chance.randrange(10, 20))

    comparisons = [Comparison(samplers[0].settings.label, f"{one.settings.label} & <co>", paired()) for one in samplers[1:]]
    in_paper = chance.random() < 0.5
    return Results("A & <B>", Evaluation(Path("f"), plan), "Qwen3-8B" * in_paper, "GPQA" * in_paper, chance.choice([None, "0.274"]), samplers, comparisons)


def name_of(one: SamplerResult) -> str:
    """The label; one that is the sampler's own name has the number that its cost grows with."""
    settings = one.settings
    numbers = {"power-smc": f", N = {settings.particles}", "best-of-n": f", N = {settings.particles}"}
    numbers |= {"fixed-horizon": f", N_m = {settings.rounds}", "power-sampling": f", N_m = {settings.rounds}"}
    return settings.label + (numbers.get(settings.sampler, "") if settings.label == settings.sampler else "")


def percent(share: float | None) -> str:
    return "" if share is None else f"{share * 100:.1f}"


def deviation(values: tuple[float, ...]) -> float | None:
    mean = sum(values) / len(values)
    return (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5 if len(values) > 1 else None


def cells_of(one: SamplerResult) -> dict[str, str]:
    """The cells by column."""

    def mean(values: list[float]) -> str:
        return f"{sum(values) / len(values):.4f}" if values else ""

    def figure(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    return {
        "sampler": name_of(one), "n": str(one.problems), "seeds": str(one.seeds), "pass@1": percent(sum(one.by_seed) / len(one.by_seed)),
        "sd": percent(deviation(one.by_seed)), "low": percent(one.interval.low), "high": percent(one.interval.high), "paper": one.paper[0] if one.paper else "",
        "vote": percent(sum(one.vote_by_seed) / len(one.vote_by_seed)) if one.vote_by_seed else "", "paper vote": one.paper_vote or "",
        "hit capacity": percent(one.hit_capacity), "paper hit capacity": one.paper_hit_capacity or "", "mean log-likelihood": mean(one.log_likelihoods),
        "mean confidence": mean(one.confidences), "decode tokens": figure(one.tokens_per_answer, ".0f"), "seconds": figure(one.seconds_per_answer, ".3g"),
        "peak cache GiB": figure(one.cache_gib, ".3g"), "second opinion differs": figure(one.second_opinion_differs, "d"),
        "graders failed": str(len(one.failures)), "differs from the paper": "; ".join(one.differences),
        **{name: percent(one.at_k[name]) for name in ("avg@1", "pass@3", "avg@3") if name in one.at_k},
    }  # fmt: skip


def plural(count: int, what: str) -> str:
    return f"{count} {what}" + "s" * (count != 1)


CASES = range(24)


@pytest.mark.parametrize("case", CASES)
def test_the_csv_has_every_figure_under_its_name(case: int) -> None:
    found = a_report(case)
    plan = found.evaluation.plan
    asked = {"template": plan.template, "prompting": ("chat" if plan.chat else "raw") if plan.template else ""}
    expected = [{"task": "A & <B>", "model": plan.model, **asked, **cells_of(one)} for one in found.samplers]
    assert list(csv.DictReader(io.StringIO(tables.as_csv(found)))) == expected


@pytest.mark.parametrize("case", CASES)
def test_the_json_has_every_figure(case: int) -> None:
    found = a_report(case)
    document = json.loads(tables.as_json(found))
    assert list(document) == ["task", "settings", "paper_model", "samplers", "comparisons"]
    assert (document["task"], document["paper_model"]) == ("A & <B>", found.paper_model)
    assert document["settings"] == {name: list(value) if isinstance(value, tuple) else value for name, value in vars(found.evaluation.plan).items()}

    def plain(value: Any) -> Any:
        if dataclasses.is_dataclass(value):
            return {name: plain(of) for name, of in vars(value).items()}
        return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value

    for of, one in zip(document["samplers"], found.samplers, strict=True):
        expected = plain(one)
        assert {name: value for name, value in of.items() if name in expected} == expected
        assert of["accuracy"] == pytest.approx(sum(one.by_seed) / len(one.by_seed)) and of["deviation"] == pytest.approx(deviation(one.by_seed))
        assert set(of) == {*expected, "accuracy", "deviation"}
    assert document["comparisons"] == [plain(one) for one in found.comparisons]


def said_of_the_run(found: Results) -> list[str]:
    return [f"{found.samplers[0].problems} problems", plural(len(found.evaluation.plan.seeds), "seed")]


@pytest.mark.parametrize("case", CASES)
def test_the_latex_table_has_every_figure_under_its_name(case: int) -> None:
    found = a_report(case, **({"model": ""} if case % 5 == 0 else {}))
    plan = found.evaluation.plan
    lines = tables.as_latex(found).splitlines()
    top, middle, bottom = (lines.index(mark) for mark in ("\\toprule", "\\midrule", "\\bottomrule"))
    (head,) = lines[top + 1 : middle]
    assert lines[:top] == ["% needs \\usepackage{booktabs}", "\\begin{tabular}{l" + "r" * head.count(" & ") + "}"] and lines[bottom + 1] == "\\end{tabular}"
    at_k = [name for name in ("avg@1", "pass@3", "avg@3") if name in found.samplers[0].at_k]
    assert head == " & ".join(["Sampler", "pass@1 (\\%)", "95\\,\\% interval", "paper", "vote", "paper", "decode tokens", *at_k]) + " \\\\"
    for line, one in zip(lines[middle + 1 : bottom], found.samplers, strict=True):
        cells = cells_of(one)
        spread = f" $\\pm$ {cells['sd']}" if len(one.by_seed) > 1 else ""
        expected = [escape_latex(cells["sampler"]), cells["pass@1"] + spread, f"[{cells['low']}, {cells['high']}]"]
        expected += [cells[name] or "--" for name in ("paper", "vote", "paper vote", "decode tokens", *at_k)]
        assert line == " & ".join(expected) + " \\\\"
    below = [", ".join(["A & <B>", *said_of_the_run(found), plan.model or "answers from a file", *([f"template {plan.template}"] if plan.template else [])])]
    below += [f"{name_of(one)}: {'; '.join(one.differences)}" for one in found.samplers if one.differences]
    assert lines[bottom + 2 :] == [escape_latex(f"{text}. ") for text in below]


@pytest.mark.parametrize("case", CASES)
def test_the_terminals_table_has_its_figures_under_their_names(case: int) -> None:
    found = a_report(case)
    plan = found.evaluation.plan
    first, head, *rows = tables.as_text(found).splitlines()
    asked = f"{plan.model}, {'chat' if plan.chat else 'raw'}, template {plan.template}" if plan.template else "answers from a file"
    assert first == f"A & <B>: {', '.join(said_of_the_run(found))}; {asked}"
    failed = sum(len(one.failures) for one in found.samplers)
    if failed:
        assert rows.pop() == f"not judged to the end, and counted as wrong: {failed}; the page lists them"
    names = ["pass@1 %", "95 %", "paper", "vote", "tokens", *(name for name in ("avg@1", "pass@3", "avg@3") if name in found.samplers[0].at_k)]
    assert re.split(r"  +|(?<=[a-z]) (?=avg@3)", head) == ["sampler", *names]
    longest = max(32, *(len(name_of(one)) for one in found.samplers))
    for line, one in zip(rows, found.samplers, strict=True):
        cells = cells_of(one)
        value = cells["pass@1"] + (f" ± {cells['sd']}" if len(one.by_seed) > 1 else "")
        expected = [value, f"[{cells['low']}, {cells['high']}]", *(cells[name] for name in ("paper", "vote", "decode tokens", *names[5:]))]
        # Each ends where its name ends.
        end = 0
        for name, cell in zip(["sampler", *names], [cells["sampler"], *expected], strict=True):
            begin, end = end, head.index(name, end) + len(name) if name != "sampler" else longest
            assert line[begin:end].strip() == cell, (name, line)
        assert len(line) == end


class Read(HTMLParser):
    """A page's sections by their titles: the texts of paragraphs and items, tables as rows of texts, plots as they are written."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sections: dict[str, dict[str, list[Any]]] = {}
        self._into: list[str] | None = None
        self._tags: list[str] = []
        self._title = ""
        self.feed(text)
        for title, part in zip([""] + re.findall(r"<h2>(.*?)</h2>", text), re.split(r"<h2>.*?</h2>", text), strict=True):
            self.section(html.unescape(title))["plots"] = re.findall(r"<svg[^>]*viewBox.*?</svg>", part)

    def section(self, title: str) -> dict[str, list[Any]]:
        return self.sections.setdefault(title, {"p": [], "li": [], "pre": [], "tables": [], "plots": [], "h1": [], "h3": []})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        here = self.section(self._title)
        if tag in ("p", "li", "pre", "h1", "h2", "h3", "th", "td"):
            self._into = [""]
        if tag == "table":
            here["tables"].append([])
        elif tag == "tr":
            here["tables"][-1].append([])
        elif tag == "small" and self._into is not None:
            self._into.append("")
        elif tag in ("sup", "b") and self._into is not None:
            self._into[-1] += {"sup": "^", "b": "*"}[tag]

    def handle_endtag(self, tag: str) -> None:
        if self._into is None:
            return
        here = self.section(self._title)
        if tag in ("th", "td"):
            here["tables"][-1][-1].append("|".join(self._into))
        elif tag in ("p", "li", "pre", "h1", "h3"):
            here[tag].append("|".join(self._into))
        elif tag == "h2":
            self._title = self._into[0]
            self.section(self._title)
        if tag in ("p", "li", "pre", "h1", "h2", "h3", "th", "td"):
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into[-1] += data


def sections_of(found: Results) -> dict[str, dict[str, list[Any]]]:
    return Read(page(found)).sections


def test_a_page_is_a_title_and_its_body() -> None:
    text = document("<A> & B", "<p>x</p>")
    assert "<title>&lt;A&gt; &amp; B</title>" in text and text.endswith("<body><p>x</p></body></html>\n")


@pytest.mark.parametrize("case", CASES)
def test_the_page_says_what_was_highest_and_of_which_run(case: int) -> None:
    found = a_report(case)
    sections = sections_of(found)
    accuracies = [sum(one.by_seed) / len(one.by_seed) for one in found.samplers]
    best = found.samplers[accuracies.index(max(accuracies))]
    seeds = found.evaluation.plan.seeds
    told = f"{best.problems} problems, " + (f"seeds {min(seeds)} to {max(seeds)}" if len(seeds) > 1 else f"seed {seeds[0]}")
    told += f". The highest share is {percent(max(accuracies))} % [{percent(best.interval.low)}, {percent(best.interval.high)}], of {name_of(best)}."
    assert sections[""]["h1"] == ["A & <B>"] and sections[""]["p"] == [told]
    explained = [one for one in sections["Accuracy"]["p"] if "avg@k" in one]
    assert len(explained) == 1 and f"all choices of k of the {len(seeds)} answers to a problem" in explained[0]


@pytest.mark.parametrize("case", CASES)
def test_the_pages_tables_have_their_figures_under_their_names(case: int) -> None:
    found = a_report(case)
    sections = sections_of(found)
    rows = [cells_of(one) for one in found.samplers]
    seeds = len(found.evaluation.plan.seeds)
    at_k = [name for name in ("avg@1", "pass@3", "avg@3") if name in found.samplers[0].at_k]
    (accuracy,) = sections["Accuracy"]["tables"]
    paper = f"paper, {found.paper_model}" if found.paper_model else "paper"
    assert accuracy[0] == ["sampler", "pass@1 %, mean ± sd over seeds", "95 % interval", paper, "vote %", "paper, vote", *(f"{name} %" for name in at_k)]
    for told, cells, one in zip(accuracy[1:], rows, found.samplers, strict=True):
        value = f"*{cells['pass@1']}" + (f" ± {cells['sd']}" if seeds > 1 else "") + f"|n = {one.problems}, {plural(seeds, 'seed')}"
        beside = f"{one.paper[0]}|{one.paper[1]}" if one.paper else "–"
        assert told == [
            cells["sampler"], value, f"[{cells['low']}, {cells['high']}]", beside, cells["vote"] or "–", cells["paper vote"] or "–", *(cells[name] for name in at_k),
        ]  # fmt: skip
    (cost,) = sections["Cost and likelihood"]["tables"]
    names = ("mean log-likelihood", "mean confidence", "decode tokens", "seconds", "peak cache GiB")
    assert cost[0] == ["sampler", "hit capacity %", "log-likelihood a token", "confidence", "decode tokens an answer", "seconds an answer", "peak cache, GiB"]
    for told, cells in zip(cost[1:], rows, strict=True):
        hit = (cells["hit capacity"] or "–") + (f"|paper {cells['paper hit capacity']}" if cells["paper hit capacity"] else "")
        assert told == [cells["sampler"], hit, *(cells[name] or "–" for name in names)]
    if not found.comparisons:
        assert "Paired comparison" not in sections
        return
    (compared,) = sections["Paired comparison"]["tables"]
    assert compared[0] == ["samplers", "difference, points", "95 % interval", "p", "problems better / worse"]
    for told, one in zip(compared[1:], found.comparisons, strict=True):
        low, difference, high = (f"{'-' if value < 0 else '+'}{abs(100 * value):.1f}" for value in (one.result.interval.low, one.result.difference, one.result.interval.high))
        assert told == [f"{one.first} − {one.second}", difference, f"[{low}, {high}]", f"{one.result.p_value:.3g}", f"{one.result.better} / {one.result.worse}"]


@pytest.mark.parametrize("case", CASES)
def test_the_page_lists_swaps_differences_failures_and_settings(case: int) -> None:
    found = a_report(case)
    plan = found.evaluation.plan
    sections = sections_of(found)
    edges = [(one, edge) for one in found.samplers for edge in one.edges]
    swaps = [
        [name_of(one), f"{edge.powers[0]:g} – {edge.powers[1]:g}", f"{edge.accepted / edge.attempts:.3f}" if edge.attempts else "–", str(edge.attempts)]
        for one, edge in edges
    ]
    if edges:
        assert sections["Swaps"]["tables"] == [[["sampler", "powers", "swaps accepted", "attempts"], *swaps]]
        trips = [
            f"{name_of(one)}: {one.round_trips} round trips; by the paper's formula at these acceptances "
            + ("not known." if one.round_trips_expected is None else f"{one.round_trips_expected:.1f}.")
            for one in found.samplers
            if one.settings.sampler == "ppt"
        ]
        paper = [f"The paper's mean acceptance for {found.paper_model}: {found.paper_swap_acceptance}."] if found.paper_swap_acceptance else []
        assert sections["Swaps"]["p"] == trips + paper
    assert ("Swaps" in sections) == bool(edges)
    differences = [f"*{name_of(one)}: {'; '.join(one.differences)}" for one in found.samplers if one.differences]
    assert sections.get("What differs from the paper's setting", {"li": []})["li"] == differences
    failures = [[name_of(one), str(failure["seed"]), failure["id"], failure["failure"]] for one in found.samplers for failure in one.failures]
    title = "Answers that could not be judged to the end"
    assert (title in sections) == bool(failures)
    if failures:
        assert sections[title]["tables"] == [[["sampler", "seed", "problem", "why"], *failures]]
    asked = [[name_of(one), str(one.second_opinion_differs)] for one in found.samplers if one.second_opinion_differs is not None]
    assert ("Second opinion" in sections) == bool(asked)
    if asked:
        assert sections["Second opinion"]["tables"] == [[["sampler", "verdicts that differ"], *asked]]
    settings = sections["Settings"]
    assert settings["p"][-1] == "Data: d & d.jsonl, e.jsonl (SHA-256 0a, 1b)"
    if not plan.template:
        assert settings["p"][:-1] == ["The answers are from a file."] and settings["li"] == []
        return
    assert settings["p"][:-1] == [f"Model {plan.model}, {'the model' + chr(39) + 's chat template' if plan.chat else 'a raw prompt'}, template {plan.template}:"]
    assert settings["pre"] == ["<b>{problem}</b> & so"]
    for told, one in zip(settings["li"], found.samplers, strict=True):
        of = one.settings
        block = of.block or "T/4"
        powers = {"standard": "power 1", "best-of-n": "power 1", "ppt": "powers 1, 1.25, 4", "uncoupled-ladder": "powers 1, 1.25, 4"}.get(of.sampler, "power 4")
        text = f"{name_of(one)}: sampler {of.sampler}, {powers}, T = {one.horizon}"
        text += f", B = {block}, N_m = {of.rounds}" if of.sampler in ("ppt", "fixed-horizon", "power-sampling", "uncoupled-ladder") else ""
        text += f", weights looked at every {block} tokens" if of.sampler == "power-smc" else ""
        text += f", schedule {of.schedule}" if of.sampler == "ppt" else ""
        assert told == (text if of.sampler != "given" else f"{of.label}: answers from a file")
        assert takes(of.sampler, "rounds") == ("N_m = " in told.partition(": ")[2]) or of.sampler == "given"


class Mark(NamedTuple):
    """A dot, or the ends of a line, as figures: x, y, and the title."""

    x: float
    y: float
    title: str = ""


class Drawn:
    """A plot read back by the numbers at its axes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.width, self.height = (float(size) for size in re.findall(r'viewBox="0 0 (\S+) (\S+)"', text)[0])
        ticks = [(dict(re.findall(r'(\S+)="([^"]*)"', tag)), said) for tag, said in re.findall(r'<text class="tick"([^>]*)>([^<]*)</text>', text)]
        self.at_x = [(float(tag["x"]), self._value(said)) for tag, said in ticks if tag.get("text-anchor") == "middle"]
        # A number is 4 below the line that it names.
        self.at_y = [(float(tag["y"]) - 4, self._value(said)) for tag, said in ticks if tag.get("text-anchor") == "end"]
        # To the right and upwards figures grow; shares alone are in per cent.
        assert [value for _, value in sorted(self.at_x)] == sorted(value for _, value in self.at_x)
        assert [value for _, value in sorted(self.at_y, reverse=True)] == sorted(value for _, value in self.at_y)
        self.in_per_cent = {tag["text-anchor"]: said.endswith(" %") for tag, said in ticks if "text-anchor" in tag}
        self.below = [float(tag["y"]) for tag, _ in ticks if tag.get("text-anchor") == "middle"]
        self.titles = [html.unescape(said) for said in re.findall(r'<text class="axis"[^>]*>([^<]*)', text)]
        self.label = html.unescape(re.findall(r'aria-label="([^"]*)"', text)[0])

    @staticmethod
    def _value(said: str) -> float:
        return float(said[:-2]) / 100 if said.endswith(" %") else float(said)

    @staticmethod
    def _at(ticks: list[tuple[float, float]], place: float) -> float:
        (first, low), (last, high) = ticks[0], ticks[-1]
        if first == last:  # one number has no scale
            return low if abs(place - first) < 0.2 else math.nan
        for here, value in ticks:  # the axis is straight; each place is rounded to a tenth
            assert abs(low + (here - first) / (last - first) * (high - low) - value) <= 0.2 * abs((high - low) / (last - first))
        return low + (place - first) / (last - first) * (high - low)

    def x(self, place: float) -> float:
        return self._at(self.at_x, place)

    def y(self, place: float) -> float:
        return self._at(self.at_y, place)

    def near(self, ticks: list[tuple[float, float]]) -> float:
        """The most that a figure may be off by when it is read back: each place is rounded to 0.05, and one beyond the ticks is off threefold."""
        (first, low), (last, high) = ticks[0], ticks[-1]
        return 0.2 * abs((high - low) / (last - first)) + 1e-9

    def is_at(self, found: Mark, x: float, y: float) -> bool:
        return abs(found.x - x) <= self.near(self.at_x) and abs(found.y - y) <= self.near(self.at_y)

    def tags(self, name: str) -> Iterator[dict[str, str]]:
        for tag in re.findall(rf"<{name} ([^>]*?)/?>", self.text):
            yield dict(re.findall(r'(\S+)="([^"]*)"', tag))

    def dots(self) -> list[Mark]:
        found = re.findall(r'<circle cx="(\S+)" cy="(\S+)"[^>]*><title>([^<]*)</title>', self.text)
        return [Mark(self.x(float(x)), float(y) if not self.at_y else self.y(float(y)), html.unescape(title)) for x, y, title in found]

    def intervals(self) -> list[dict[str, str]]:
        return [tag for tag in self.tags("line") if tag.get("class") != "grid"]

    def lines(self) -> list[list[Mark]]:
        return [[Mark(self.x(float(x)), self.y(float(y))) for x, y in (point.split(",") for point in tag["points"].split())] for tag in self.tags("polyline")]

    def is_inside(self) -> bool:
        """Nothing is drawn over the numbers of the axis below, or outside the picture."""
        places = [(float(tag[x]), float(tag[y])) for name, ends in (("circle", ("cx", "cy")), ("line", ("x1", "y1")), ("line", ("x2", "y2"))) for tag in self.tags(name) for x, y in (ends,)]
        places += [tuple(map(float, point.split(","))) for tag in self.tags("polyline") for point in tag["points"].split()]
        return all(0 <= x <= self.width and 0 <= y <= min(self.below) - 14 for x, y in places)

    def grid_is_at_its_numbers(self) -> bool:
        grid = [tag for tag in self.tags("line") if tag.get("class") == "grid"]
        across = [float(tag["y1"]) for tag in grid if tag["y1"] == tag["y2"]]
        down = [float(tag["x1"]) for tag in grid if tag["x1"] == tag["x2"]]
        return across == pytest.approx([place for place, _ in self.at_y]) and (not down or down == pytest.approx([place for place, _ in self.at_x]))


def rows_of(drawn: Drawn) -> list[str]:
    """The names beside a plot's rows from the top, by their places."""
    found = re.findall(r'<text class="axis" x="\S+" y="([\d.]+)" text-anchor="end">([^<]*)(?:<title>([^<]*)</title>)?</text>', drawn.text)
    return [html.unescape(whole or name) for _, name, whole in sorted(found, key=lambda one: float(one[0]))]


@pytest.mark.parametrize("case", range(12))
def test_dots_and_bars_are_where_their_figures_are(case: int) -> None:
    chance = random.Random(case)
    names = [f"<sampler {n}>" + "x" * chance.choice([0, 40]) for n in range(chance.randrange(1, 9))]
    rows = [(name, *(sorted(chance.random() for _ in range(3)))) for name in names]
    drawn = Drawn(svg.dots([(name, share, low, high) for name, low, share, high in rows], "pass & 1"))
    assert rows_of(drawn) == names and drawn.titles[-1] == drawn.label == "pass & 1" and drawn.is_inside() and drawn.grid_is_at_its_numbers()
    assert drawn.in_per_cent == {"middle": True}
    assert [value for _, value in drawn.at_x] == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    near = drawn.near(drawn.at_x)
    for dot, line, (name, low, share, high) in zip(drawn.dots(), drawn.intervals(), rows, strict=True):
        assert abs(dot.x - share) <= near and dot.title == f"{name}: {100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        assert abs(drawn.x(float(line["x1"])) - low) <= near and abs(drawn.x(float(line["x2"])) - high) <= near and float(line["y1"]) == float(line["y2"]) == dot.y
    assert [dot.y for dot in drawn.dots()] == sorted({dot.y for dot in drawn.dots()})
    values = [0.0 if case == 0 else chance.choice([0.0, chance.uniform(0, 40)]) for _ in names]
    drawn = Drawn(svg.bars([svg.Bar(name, value) for name, value in zip(names, values)], "trips & more"))
    assert rows_of(drawn) == names and drawn.titles[-1] == drawn.label == "trips & more" and drawn.grid_is_at_its_numbers()
    assert drawn.in_per_cent == {"middle": False}
    near = drawn.near(drawn.at_x)
    for bar, value in zip(drawn.tags("rect"), values, strict=True):
        left = float(bar["x"])
        assert abs(drawn.x(left)) <= near and abs(drawn.x(left + float(bar["width"])) - value) <= near and left + float(bar["width"]) <= drawn.width
    said = re.findall(r'<text class="tick" x="(\S+)" y="\S+">([^<]*)</text>', drawn.text)
    assert [text for _, text in said] == [f"{value:.3g}" for value in values]
    assert all(0 < drawn.x(float(place)) - value <= 10 * near + 10 / 400 * max(values) or max(values) == 0 for (place, _), value in zip(said, values))


@pytest.mark.parametrize("case", range(24))
def test_curves_are_where_their_figures_are(case: int) -> None:
    """Points, their lines and their intervals; whole numbers have no tick between them."""
    chance = random.Random(case)
    is_whole, is_one = case % 2 == 0, case % 3 == 0
    xs = sorted(chance.sample(range(1, 12), chance.randrange(1, 5))) if is_whole else sorted(chance.uniform(100, 900) for _ in range(3))
    series = []
    for name in ["<one>"] if is_one else ["<one>", "two", "three"]:
        ends = [sorted(chance.random() for _ in range(3)) for _ in xs]
        series.append(svg.Series(name, [(float(x), share) for x, (_, share, _) in zip(xs, ends)], [(low, high) for low, _, high in ends] if is_one and case % 4 else ()))
    text = svg.curve(series[0], "rounds & more", "pass & 1") if is_one else svg.curves(series, "rounds & more", "pass & 1")
    drawn = Drawn(text.partition("</svg>")[0])
    assert drawn.titles == ["rounds & more", "pass & 1"] and drawn.label == "pass & 1 by rounds & more: " + ", ".join(one.name for one in series)
    assert drawn.is_inside() and drawn.grid_is_at_its_numbers() and drawn.in_per_cent == {"middle": False, "end": True}
    assert not is_whole or all(value == int(value) for _, value in drawn.at_x)
    if len(drawn.at_x) < 2:
        return
    points = [(one.name, x, y) for one in series for x, y in one.points]
    for dot, (name, x, y) in zip(drawn.dots(), points, strict=True):
        assert drawn.is_at(dot, x, y) and dot.title == f"{name}: {y:.4g}"
    for line, one in zip(drawn.lines(), series, strict=True):
        assert all(drawn.is_at(mark, x, y) for mark, (x, y) in zip(line, one.points, strict=True))
    ends = [(x, *interval) for one in series for (x, _), interval in zip(one.points, one.intervals)]
    for tag, (x, low, high) in zip(drawn.intervals(), ends, strict=True):
        assert drawn.is_at(Mark(drawn.x(float(tag["x1"])), drawn.y(float(tag["y1"]))), x, low) and drawn.is_at(Mark(drawn.x(float(tag["x2"])), drawn.y(float(tag["y2"]))), x, high)
    if not is_one:  # of shares the whole is seen, and each line has its colour in the legend
        assert (min(value for _, value in drawn.at_y), max(value for _, value in drawn.at_y)) == (0, 1)
        lines = [(tag["stroke"], tag.get("stroke-dasharray")) for tag in Drawn.tags(drawn, "polyline")]
        legend = re.findall(r'<li><svg[^>]*><line[^>]* stroke="([^"]*)"[^>]*></svg> ([^<]*)</li>', text)
        assert [(colour, html.unescape(name)) for colour, name in legend] == [(stroke, one.name) for (stroke, _), one in zip(lines, series)]
        dots = [tag["fill"] for tag in drawn.tags("circle")]
        assert dots == [stroke for (stroke, _), one in zip(lines, series) for _ in one.points]


def test_values_that_are_no_shares_have_room_up_to_their_largest() -> None:
    drawn = Drawn(svg.curves([svg.Series("a", [(1.0, 1.0), (2.0, 3.5)]), svg.Series("b", [(1.0, 2.0), (2.0, 8.0)])], "k", "α", percent=False).partition("</svg>")[0])
    assert min(value for _, value in drawn.at_y) == 0 and max(value for _, value in drawn.at_y) == 8 and drawn.is_inside()
    assert drawn.in_per_cent == {"middle": False, "end": False}
    assert [(round(dot.x, 1), round(dot.y, 1)) for dot in drawn.dots()] == [(1, 1), (2, 3.5), (1, 2), (2, 8)]


@pytest.mark.parametrize("case", range(12))
def test_a_distribution_rises_by_the_share_of_answers_up_to_each_value(case: int) -> None:
    chance = random.Random(case)
    series = [(f"<s{n}>", [chance.choice([chance.uniform(-3, 0), -1.0]) for _ in range(chance.randrange(1, 6))]) for n in range(chance.randrange(1, 8))]
    text = svg.distributions(series, "log & p0")
    drawn = Drawn(text.partition("</svg>")[0])
    assert drawn.titles == ["log & p0", "share of answers at most"] and drawn.label == "share of answers by log & p0" and drawn.grid_is_at_its_numbers()
    assert drawn.in_per_cent == {"middle": False, "end": True}
    paths = re.findall(r'<path d="M(\S+) (\S+?)((?:H\S+?V\S+?)+)H([\d.]+)"[^>]*><title>([^<]*)</title>', drawn.text)
    near = drawn.near(drawn.at_x)
    assert [html.unescape(name) for *_, name in paths] == [name for name, _ in series]
    everything = [value for _, values in series for value in values]
    for (first, bottom, steps, last, _), (_, values) in zip(paths, series, strict=True):
        # From just below the least value of all to just above the largest.
        room = 0.05 * ((max(everything) - min(everything)) or 1.0) + near
        assert -near <= min(everything) - drawn.x(float(first)) <= room and -near <= drawn.x(float(last)) - max(everything) <= room
        assert abs(drawn.y(float(bottom))) <= drawn.near(drawn.at_y)
        for x, y in re.findall(r"H([\d.]+)V([\d.]+)", steps):
            value = min(values, key=lambda one: abs(one - drawn.x(float(x))))
            assert abs(value - drawn.x(float(x))) <= near
            # The last step of equal values is their share; each other is below it.
            assert drawn.y(float(y)) <= sum(one <= value for one in values) / len(values) + drawn.near(drawn.at_y)
        heights = [drawn.y(float(y)) for y in re.findall(r"V([\d.]+)", steps)]
        assert heights == pytest.approx([(rank + 1) / len(values) for rank in range(len(values))], abs=drawn.near(drawn.at_y))
        places = [drawn.x(float(x)) for x in re.findall(r"H([\d.]+)V", steps)]
        assert places == pytest.approx(sorted(values), abs=near)
    assert svg.distributions([("a", [])], "x") == ""


@pytest.mark.parametrize("case", CASES)
def test_the_page_draws_what_its_tables_say(case: int) -> None:
    found = a_report(case)
    sections = sections_of(found)
    (plot,) = sections["Accuracy"]["plots"]
    drawn = Drawn(plot)
    assert rows_of(drawn) == [name_of(one) for one in found.samplers]
    accuracies = [sum(one.by_seed) / len(one.by_seed) for one in found.samplers]
    assert [dot.title for dot in drawn.dots()] == [
        f"{name_of(one)}: {percent(share)} % [{percent(one.interval.low)}, {percent(one.interval.high)}]" for one, share in zip(found.samplers, accuracies)
    ]
    values = {"average log-likelihood a token": [(name_of(one), one.log_likelihoods) for one in found.samplers], "confidence": [(name_of(one), one.confidences) for one in found.samplers]}
    there = {title: [(name, of) for name, of in series if of] for title, series in values.items()}
    titles = [title for title, series in there.items() if series]
    shown = sections.get("Likelihood and confidence", {"plots": [], "h3": []})
    assert shown["h3"] == [title.capitalize() for title in titles]
    for plot, title in zip(shown["plots"], titles, strict=True):
        assert plot == re.findall(r"<svg[^>]*viewBox.*?</svg>", svg.distributions(there[title], title))[0]


@pytest.mark.parametrize("case", range(12))
@pytest.mark.parametrize("kind", ["", "replicas", "rounds", "ladder", "schedule"])
def test_a_sweep_draws_its_figures(kind: str, case: int) -> None:
    """The numbers that are swept over, the costs, the swaps by edge and the round trips of an answer, against the results' own."""
    chance = random.Random(case)
    plan = a_plan(chance, sweep=kind, template="t")
    samplers = []
    for number in range(1, 5):
        one = a_result(chance, "fixed-horizon" if kind == "replicas" and number == 1 else "ppt", plan, f"K <{number}>")
        powers = (1.0, 1.5, 2.0, 3.0, 5.0)[: number + 1]
        accuracy = chance.uniform(0.2, 0.8)
        settings = dataclasses.replace(one.settings, powers=powers, rounds=number**2)
        changes = {"settings": settings, "by_seed": (accuracy,) * len(plan.seeds), "interval": Interval(accuracy - 0.1, accuracy + 0.15)}
        samplers.append(dataclasses.replace(one, **changes, **({"tokens_per_answer": chance.uniform(100, 999)} if case % 3 else {})))
    found = Results("T", Evaluation(Path("f"), plan), "", "", None, samplers)
    sections = sections_of(found)
    title = {"replicas": "Sweep over replicas K", "rounds": "Sweep over rounds N_m", "ladder": "Sweep over ladders", "schedule": "Sweep over schedules of swaps"}.get(kind)
    assert [one for one in sections if one.startswith("Sweep")] == [title] * (title is not None)
    if title is None:
        return
    plots = sections[title]["plots"]
    shares = [one.by_seed[0] for one in samplers]
    if kind in ("replicas", "rounds"):
        numbers = [float(one.settings.rounds) for one in samplers] if kind == "rounds" else [1.0, 3.0, 4.0, 5.0]
        costs = [one.tokens_per_answer for one in samplers]
        expected = [(numbers, title.partition("over ")[2])] + ([(costs, "decode tokens an answer")] if None not in costs else [])
        assert len(plots) == len(expected)
        for plot, (places, axis) in zip(plots, expected, strict=True):
            drawn = Drawn(plot)
            assert drawn.titles == [axis, "pass@1"]
            assert all(drawn.is_at(dot, cast(float, x), y) for dot, x, y in zip(drawn.dots(), places, shares, strict=True))
            for tag, one in zip(drawn.intervals(), samplers, strict=True):
                low, high = sorted((drawn.y(float(tag["y1"])), drawn.y(float(tag["y2"]))))
                assert (low, high) == pytest.approx((one.interval.low, one.interval.high), abs=drawn.near(drawn.at_y))
        return
    dots = [Drawn(plot).dots() for plot in plots]
    if kind == "ladder":
        assert [dot.title for dot in dots[0]] == [f"{one.settings.label}: {power:.4g}" for one in samplers for power in one.settings.powers]
        assert [round(dot.x) for dot in dots[0]] == [k for one in samplers for k in range(1, len(one.settings.powers) + 1)]
        assert Drawn(plots[0]).titles == ["rung k", "power α_k"] and not Drawn(plots[0]).in_per_cent["end"]
        dots, plots = dots[1:], plots[1:]
    edges = [(one, number, edge) for one in samplers for number, edge in enumerate(one.edges, 1) if edge.attempts]
    if edges:
        assert [dot.title for dot in dots[0]] == [f"{one.settings.label}: {edge.accepted / edge.attempts:.4g}" for one, _, edge in edges]
        if len({number for _, number, _ in edges}) > 1:
            assert [round(dot.x) for dot in dots[0]] == [number for _, number, _ in edges]
        assert Drawn(plots[0]).titles == ["edge of rungs k and k + 1", "swaps accepted"]
        plots = plots[1:]
    assert ("Swaps of one answer depend on each other, so no intervals are drawn for them." in sections[title]["p"]) == bool(edges)
    (trips,) = plots
    drawn = Drawn(trips)
    assert rows_of(drawn) == [one.settings.label for one in samplers] and drawn.titles[-1] == "round trips an answer"
    said = re.findall(r'<text class="tick" x="\S+" y="\S+">([^<]*)</text>', trips)
    assert said == [f"{cast(int, one.round_trips) / (one.problems * one.seeds):.3g}" for one in samplers]


def several(case: int) -> list[Results]:
    """Evaluations of two models and three tasks, some samplers in some of them; the paper has values beside some."""
    chance = random.Random(case)
    found = []
    for model, paper_model in (("m/Qwen3.5-9B", "Qwen3.5-9B"), ("a_b & <c>", chance.choice(["", "Qwen3-8B"]))):
        for title, column in (("G_1", "GPQA"), ("H & <I>", "HumanEval"), ("mine", "")):
            if chance.random() < 0.7 or title == "G_1":
                plan = a_plan(chance, model=model)
                kinds = chance.sample(["ppt", "standard", "power-smc", "given"], chance.randrange(1, 4))
                samplers = [a_result(chance, kind, plan, chance.choice(["", f"own {kind}"])) for kind in kinds]
                found.append(Results(title, Evaluation(Path(f"{model} {title}"), plan), paper_model if column else "", column, None, samplers))
    chance.shuffle(found)
    return found


PAPER = json.loads((Path(__file__).parents[3] / "proofs/paper_tables.json").read_text())
NAMES = {"ppt": "PPT", "standard": "Standard", "power-smc": "PowerSMC"}


def of_paper(table: str, model: str, row: str, column: str) -> str | None:
    cells = PAPER[table]
    return dict(zip(cells["columns"], cells["groups"].get(model, {}).get(row, ()))).get(column)


class Expected(NamedTuple):
    """A cell of a table of several evaluations."""

    label: str
    in_paper: str
    ours: SamplerResult | None
    paper: tuple[str, str] | None
    spread: str | None


def expected_tables(evaluations: list[Results]) -> list[tuple[str, str, list[Results], list[list[Expected]]]]:
    """Each model's name, the paper's beside it, its evaluations, and the rows; written out by search."""
    found = []
    for model in dict.fromkeys(one.evaluation.plan.model for one in evaluations):
        of_model = [one for one in evaluations if one.evaluation.plan.model == model]
        beside = ([one.paper_model for one in of_model if one.paper_model] + [""])[0]
        rows = []
        for label in dict.fromkeys(result.settings.label for one in of_model for result in one.samplers):
            row = []
            for one in of_model:
                ours = next((result for result in one.samplers if result.settings.label == label), None)
                name = NAMES.get(label, "")
                values = [(of_paper(table, one.paper_model, name, one.paper_column), table) for table in ("tab:main-results-extended", "tab:qwen35-9b")]
                spread = None
                if ours is not None and ours.paper is not None and ours.paper in values:
                    spread = of_paper("tab:main-results-extended, deviations", one.paper_model, name, one.paper_column)
                row.append(Expected(label, name, ours, ours.paper if ours else None, spread))
            rows.append(row)
        run = {row[0].in_paper for row in rows}
        tables_of = [table for table in ("tab:main-results-extended", "tab:qwen35-9b") if beside in PAPER[table]["groups"]]
        for name in PAPER[tables_of[0]]["groups"][beside] if tables_of else []:
            if name in run:
                continue
            row = []
            for one in of_model:
                values = [(value, table) for table in tables_of if (value := of_paper(table, beside, name, one.paper_column)) is not None]
                spread = of_paper("tab:main-results-extended, deviations", beside, name, one.paper_column)
                row.append(Expected("", name, None, values[0] if values else None, spread))
            if any(cell.paper for cell in row):
                rows.append(row)
        found.append((model, beside, of_model, rows))
    return found


def with_papers_values(evaluations: list[Results]) -> list[Results]:
    """Some samplers have the value of the paper's table by task beside them, as evaluations have, and some that of another table."""
    for one in evaluations:
        for number, result in enumerate(one.samplers):
            name = NAMES.get(result.settings.sampler, "")
            values = [(value, table) for table in ("tab:main-results-extended", "tab:qwen35-9b") if (value := of_paper(table, one.paper_model, name, one.paper_column))]
            if number % 3 and values:
                one.samplers[number] = dataclasses.replace(result, paper=values[0])
    return evaluations


def ours_of(cell: SamplerResult) -> str:
    cells = cells_of(cell)
    return cells["pass@1"] + (f" ± {cells['sd']}" if cells["sd"] else "")


def papers_of(cell: Expected) -> str:
    return "" if cell.paper is None else cell.paper[0] + (f" ± {cell.spread}" if cell.spread else "")


def notes_of(expected: list[tuple[str, str, list[Results], list[list[Expected]]]]) -> list[str]:
    """All differences, once each, in the order of the cells."""
    return list(dict.fromkeys(text for _, _, _, rows in expected for row in rows for cell in row if cell.ours for text in cell.ours.differences))


def prompts_of(of_model: list[Results]) -> str:
    told = []
    for one in of_model:
        plan = one.evaluation.plan
        told.append(f"{one.title}: " + (f"template {plan.template}, {'chat' if plan.chat else 'raw'}" if plan.template else "answers from a file"))
    return "; ".join(told)


def title_of(model: str, beside: str) -> str:
    return (model or "Answers from a file") + (f", beside the paper's {beside}" if beside else "")


@pytest.mark.parametrize("case", CASES)
def test_several_evaluations_are_one_table_in_every_form(case: int) -> None:
    evaluations = with_papers_values(several(case))
    found = side_by_side.side_by_side(evaluations)
    expected = expected_tables(evaluations)
    notes = notes_of(expected)
    lines = []
    for model, beside, of_model, rows in expected:
        for row in rows:
            for one, cell in zip(of_model, row, strict=True):
                if cell.ours is None and cell.paper is None:
                    continue
                plan, cells = one.evaluation.plan, cells_of(cell.ours) if cell.ours else {}
                of_paper_ = {"paper model": beside, "paper sampler": row[0].in_paper, "paper": cell.paper[0], "paper sd": cell.spread or "", "paper table": cell.paper[1]} if cell.paper else {}
                names = ("pass@1", "sd", "low", "high", "n", "seeds")
                lines.append(
                    {"model": model, "task": one.title, "template": plan.template, "prompting": ("chat" if plan.chat else "raw") if plan.template else "", "sampler": cell.label}
                    | {name: cells.get(name, "") for name in names}
                    | {name: of_paper_.get(name, "") for name in ("paper model", "paper sampler", "paper", "paper sd", "paper table")}
                    | {"differs from the paper": cells.get("differs from the paper", "")}
                )
    assert list(csv.DictReader(io.StringIO(side_by_side.as_csv(found)))) == lines

    def numbers(cell: Expected) -> str:
        return ",".join(str(notes.index(text) + 1) for text in cell.ours.differences) if cell.ours else ""

    sections = Read(side_by_side.as_page(found)).sections
    assert sections.get("Notes", {"li": []})["li"] == notes
    assert [title for title in sections if title not in ("", "Notes")] == [title_of(model, beside) for model, beside, _, _ in expected]
    for model, beside, of_model, rows in expected:
        section = sections[title_of(model, beside)]
        told = [["sampler", *(one.title for one in of_model)]]
        for row in rows:
            texts = []
            for cell in row:
                text = ""
                if cell.ours:
                    cells = cells_of(cell.ours)
                    text = f"*{ours_of(cell.ours)}" + (f"^{numbers(cell)}" if numbers(cell) else "")
                    text += f"|[{cells['low']}, {cells['high']}], n = {cells['n']}, {plural(cell.ours.seeds, 'seed')}"
                text += f"|paper {papers_of(cell)}, {cell.paper[1]}" if cell.paper else ""
                texts.append(text or "–")
            told.append([row[0].label or f"{row[0].in_paper} (the paper's alone)", *texts])
        assert section["tables"] == [told] and section["p"] == [f"{prompts_of(of_model)}."]

    latex = side_by_side.as_latex(found).splitlines()
    told = ["% needs \\usepackage{booktabs}"]
    for model, beside, of_model, rows in expected:
        told += [f"\\begin{{tabular}}{{l{'rr' * len(of_model)}}}", "\\toprule"]
        told += [escape_latex(title_of(model, beside)) + "".join(f" & \\multicolumn{{2}}{{c}}{{{escape_latex(one.title)}}}" for one in of_model) + " \\\\"]
        told += [" & ours & paper" * len(of_model) + " \\\\", "\\midrule"]
        for row in rows:
            pairs = []
            for cell in row:
                mark = f"$^{{{numbers(cell)}}}$" if numbers(cell) else ""
                pairs += [escape_latex(ours_of(cell.ours)) + mark if cell.ours else "--", escape_latex(papers_of(cell)) or "--"]
            told.append(" & ".join([escape_latex(row[0].label or f"{row[0].in_paper} (the paper's alone)"), *pairs]) + " \\\\")
        told += ["\\bottomrule", "\\end{tabular}"]
        counts = dict.fromkeys(f"{one.title}: n = {cell.ours.problems}, {plural(cell.ours.seeds, 'seed')}" for row in rows for one, cell in zip(of_model, row) if cell.ours)
        told.append(escape_latex(f"{'; '.join(counts)}. {prompts_of(of_model)}."))
    assert latex == told + [escape_latex(f"({number}) {text}.") for number, text in enumerate(notes, 1)]

    text = iter(side_by_side.as_text(found).splitlines())
    for model, beside, of_model, rows in expected:
        assert next(text) == title_of(model, beside) + "; pass@1 in per cent, the paper's in brackets" and next(text) == prompts_of(of_model)
        head = next(text)
        assert re.split(r"   +", head) == ["sampler", *(one.title for one in of_model)]
        for row in rows:
            line = next(text)
            texts = [(ours_of(cell.ours) if cell.ours else "–") + (f" ({papers_of(cell)})" if cell.paper else "") for cell in row]
            assert re.split(r"   +", line) == [row[0].label or f"{row[0].in_paper} (the paper's alone)", *texts] and len(line) == len(head)
    assert next(text, None) is None


def test_two_evaluations_are_refused_if_model_and_task_are_the_same_and_only_then() -> None:
    chance = random.Random(1)
    for models, titles in itertools.product(itertools.product(("m", ""), repeat=3), itertools.product(("A", "B"), repeat=3)):
        plans = [a_plan(chance, model=model) for model in models]
        evaluations = [Results(title, Evaluation(Path(f"f{n}"), plan), "", "", None, [a_result(chance, "ppt", plan)]) for n, (title, plan) in enumerate(zip(titles, plans))]
        doubles = [(i, j) for j in range(3) for i in range(j) if (models[i], titles[i]) == (models[j], titles[j])]
        if not doubles:
            assert [(one.model, one.tasks) for one in side_by_side.side_by_side(evaluations).models] == [
                (model, [title for of, title in zip(models, titles) if of == model]) for model in dict.fromkeys(models)
            ]
            continue
        with pytest.raises(reporting.BadInput) as refused:
            side_by_side.side_by_side(evaluations)
        said = {f"f{i} and f{j}: are both of {titles[i]} and {models[i] or 'answers from a file'}; a table has one cell for them: give one of the two" for i, j in doubles}
        assert str(refused.value) in said


def test_a_report_writes_each_form_under_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = a_plan(random.Random(3))
    found = dataclasses.replace(a_report(3), evaluation=Evaluation(tmp_path, plan))
    told: list[Any] = []
    monkeypatch.setattr(reporting, "gather", lambda *arguments: told.append(arguments) or found)
    results, text = reporting.report(found.evaluation, cast(Any, "sampling"), "Tulu", (1, 3))
    assert results is found and told == [(found.evaluation, "sampling", "Tulu", (1, 3))]
    forms: dict[str, Callable[[Results], str]] = {"report.html": page, "results.csv": tables.as_csv, "results.tex": tables.as_latex, "results.json": tables.as_json}
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: form(found) for name, form in forms.items()}
    assert text == f"{tables.as_text(found)}\n{tmp_path / 'report.html'}"
    out = tmp_path / "together"
    text = reporting.report_together([found], out)
    together = side_by_side.side_by_side([found])
    of_tables: dict[str, Callable[[side_by_side.SideBySide], str]] = {"tables.html": side_by_side.as_page, "tables.csv": side_by_side.as_csv, "tables.tex": side_by_side.as_latex}
    assert {path.name: path.read_text() for path in out.iterdir()} == {name: form(together) for name, form in of_tables.items()}
    assert text == f"{side_by_side.as_text(together)}\n{out / 'tables.html'}"
