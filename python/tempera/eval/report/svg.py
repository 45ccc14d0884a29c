"""Plots as SVG, drawn with the page's own colours."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 62, 14, 14, 44
_LONGEST_NAME = 30  # signs, as long as the longest sampler's
COLOURS = 6  # the page has --curve-1 … --curve-6; more samplers take them again with dashes


@dataclass(frozen=True)
class Series:
    """A named list of points; `low` and `high` are the ends of intervals, if there are some."""

    name: str
    points: Sequence[tuple[float, float]]
    intervals: Sequence[tuple[float, float]] = ()


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from `low` to `high`.

    >>> ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    step = (high - low) / about
    power = 10 ** math.floor(math.log10(step))
    step = min((size * power for size in (1, 2, 5, 10)), key=lambda size: abs(size - step))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 10) + 0.0 for number in range(first, last + 1)]


def _colour(number: int) -> str:
    return f"var(--curve-{number % COLOURS + 1})"


def _dashes(number: int) -> str:
    return "" if number < COLOURS else ' stroke-dasharray="6 3"'


class _Plot:
    def __init__(self, x: tuple[float, float], y: tuple[float, float], height: int, label: str) -> None:
        self.x, self.y, self.height = x, y, height
        self.ticks_of_x = ticks(*x)
        self.parts = [
            f'<div class="wide"><svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{html.escape(label, quote=True)}" class="plot">'
        ]

    def at_x(self, value: float) -> float:
        low, high = self.x
        return _LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)

    def at_y(self, value: float) -> float:
        low, high = self.y
        return self.height - _BOTTOM - (value - low) / (high - low) * (self.height - _TOP - _BOTTOM)

    def axes(self, x_title: str, y_title: str, percent: bool) -> None:
        for value in ticks(*self.y):
            y = self.at_y(value)
            self.parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            text = f"{100 * value:g} %" if percent else f"{value:g}"
            self.parts.append(f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        for value in self.ticks_of_x:
            x = self.at_x(value)
            self.parts.append(f'<text class="tick" x="{x:.1f}" y="{self.height - _BOTTOM + 18}" text-anchor="middle">{value:g}</text>')
        self.parts.append(
            f'<text class="axis" x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{self.height - 6}" text-anchor="middle">{html.escape(x_title)}</text>'
        )
        self.parts.append(
            f'<text class="axis" transform="translate(14 {self.height / 2}) rotate(-90)" text-anchor="middle">{html.escape(y_title)}</text>'
        )

    def end(self) -> str:
        return "".join(self.parts) + "</svg></div>"


def _short(name: str) -> str:
    """A name as there is room for it beside its row; the whole of it is the title.

    >>> _short("a" * 40)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaa…<title>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</title>'
    """
    whole = html.escape(name)
    return whole if len(name) <= _LONGEST_NAME else f"{html.escape(name[: _LONGEST_NAME - 1])}…<title>{whole}</title>"


def legend(names: Sequence[str]) -> str:
    """The names of the series with their colours."""
    items = (
        f'<li><svg width="22" height="10"><line x1="0" x2="22" y1="5" y2="5" stroke="{_colour(number)}" stroke-width="3"'
        f"{_dashes(number)}/></svg> {html.escape(name)}</li>"
        for number, name in enumerate(names)
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def distributions(series: Sequence[tuple[str, Sequence[float]]], x_title: str) -> str:
    """Cumulative distributions: of each value, the share of answers that have at most it."""
    values = sorted(value for _, of_series in series for value in of_series)
    if not values:
        return ""
    low, high = values[0], values[-1]
    spread = (high - low) or 1.0
    plot = _Plot((low - 0.02 * spread, high + 0.02 * spread), (0.0, 1.0), 300, f"share of answers by {x_title}")
    plot.axes(x_title, "share of answers at most", True)
    for number, (name, of_series) in enumerate(series):
        ordered = sorted(of_series)
        path = f"M{plot.at_x(plot.x[0]):.1f} {plot.at_y(0):.1f}"
        for rank, value in enumerate(ordered, 1):
            path += f"H{plot.at_x(value):.1f}V{plot.at_y(rank / len(ordered)):.1f}"
        path += f"H{plot.at_x(plot.x[1]):.1f}"
        plot.parts.append(
            f'<path d="{path}" fill="none" stroke="{_colour(number)}" stroke-width="2"{_dashes(number)}>'
            f"<title>{html.escape(name)}</title></path>"
        )
    return plot.end() + legend([name for name, _ in series])


def dots(rows: Sequence[tuple[str, float, float, float]], x_title: str) -> str:
    """A row for each name: a dot and its interval, of shares."""
    height = _TOP + _BOTTOM + 28 * len(rows)
    left = 230
    parts = [f'<div class="wide"><svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{html.escape(x_title, quote=True)}" class="plot">']

    def at(share: float) -> float:
        return left + share * (_WIDTH - left - _RIGHT - 10)

    for share in ticks(0, 1):
        parts.append(f'<line class="grid" x1="{at(share):.1f}" x2="{at(share):.1f}" y1="{_TOP}" y2="{height - _BOTTOM}"/>')
        parts.append(f'<text class="tick" x="{at(share):.1f}" y="{height - _BOTTOM + 18}" text-anchor="middle">{100 * share:g} %</text>')
    for number, (name, share, low, high) in enumerate(rows):
        y = _TOP + 28 * number + 14
        parts.append(
            f'<text class="axis" x="{left - 12}" y="{y + 4}" text-anchor="end">{_short(name)}</text>'
            f'<line x1="{at(low):.1f}" x2="{at(high):.1f}" y1="{y}" y2="{y}" stroke="var(--curve-1)" stroke-width="2"/>'
            f'<circle cx="{at(share):.1f}" cy="{y}" r="5" fill="var(--curve-1)"><title>{html.escape(name)}: '
            f"{100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]</title></circle>"
        )
    parts.append(f'<text class="axis" x="{(left + _WIDTH) / 2}" y="{height - 6}" text-anchor="middle">{html.escape(x_title)}</text></svg></div>')
    return "".join(parts)


@dataclass(frozen=True)
class Bar:
    """A named value that is not negative."""

    name: str
    value: float


def bars(rows: Sequence[Bar], x_title: str) -> str:
    """A bar for each value, from 0."""
    left, height = 230, _TOP + _BOTTOM + 28 * len(rows)
    highest = max(row.value for row in rows) or 1.0
    parts = [f'<div class="wide"><svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{html.escape(x_title, quote=True)}" class="plot">']

    def at(value: float) -> float:
        return left + value / highest * (_WIDTH - left - _RIGHT - 40)

    for value in ticks(0, highest):
        parts.append(f'<line class="grid" x1="{at(value):.1f}" x2="{at(value):.1f}" y1="{_TOP}" y2="{height - _BOTTOM}"/>')
        parts.append(f'<text class="tick" x="{at(value):.1f}" y="{height - _BOTTOM + 18}" text-anchor="middle">{value:g}</text>')
    for number, row in enumerate(rows):
        y = _TOP + 28 * number + 14
        parts.append(
            f'<text class="axis" x="{left - 12}" y="{y + 4}" text-anchor="end">{_short(row.name)}</text>'
            f'<rect x="{left}" y="{y - 7}" width="{at(row.value) - left:.1f}" height="14" fill="var(--curve-1)"/>'
            f'<text class="tick" x="{at(row.value) + 6:.1f}" y="{y + 4}">{row.value:.3g}</text>'
        )
    parts.append(f'<text class="axis" x="{(left + _WIDTH) / 2}" y="{height - 6}" text-anchor="middle">{html.escape(x_title)}</text></svg></div>')
    return "".join(parts)


def curve(series: Series, x_title: str, y_title: str) -> str:
    """Points joined by a line, with their intervals, of shares."""
    ends = [end for interval in series.intervals for end in interval] or [y for _, y in series.points]
    low, high = max(0.0, min(ends) - 0.02), min(1.0, max(ends) + 0.02)
    return _curves([series], x_title, y_title, (low, max(high, low + 0.05)), True)


def curves(series: Sequence[Series], x_title: str, y_title: str, percent: bool = True) -> str:
    """A line for each series, and which is which; shares from 0 to 1, other values from 0 to their largest."""
    highest = 1.0 if percent else 1.05 * max(y for one in series for _, y in one.points)
    return _curves(series, x_title, y_title, (0.0, highest), percent) + legend([one.name for one in series])


def _curves(series: Sequence[Series], x_title: str, y_title: str, y: tuple[float, float], percent: bool) -> str:
    horizontal = [x for one in series for x, _ in one.points]
    spread = (max(horizontal) - min(horizontal)) or 1.0
    label = ", ".join(one.name for one in series)
    plot = _Plot((min(horizontal) - 0.05 * spread, max(horizontal) + 0.05 * spread), y, 300, f"{y_title} by {x_title}: {label}")
    if all(x == int(x) for x in horizontal):  # rungs, edges, rounds: there is nothing between two of them
        plot.ticks_of_x = [value for value in plot.ticks_of_x if value == int(value)]
    plot.axes(x_title, y_title, percent)
    for number, one in enumerate(series):
        line = " ".join(f"{plot.at_x(x):.1f},{plot.at_y(y):.1f}" for x, y in one.points)
        plot.parts.append(f'<polyline points="{line}" fill="none" stroke="{_colour(number)}" stroke-width="2"{_dashes(number)}/>')
        for (x, _), (bottom, top) in zip(one.points, one.intervals):  # without intervals none
            plot.parts.append(
                f'<line x1="{plot.at_x(x):.1f}" x2="{plot.at_x(x):.1f}" y1="{plot.at_y(bottom):.1f}" y2="{plot.at_y(top):.1f}" stroke="{_colour(number)}"/>'
            )
        for x, value in one.points:
            plot.parts.append(
                f'<circle cx="{plot.at_x(x):.1f}" cy="{plot.at_y(value):.1f}" r="4" fill="{_colour(number)}"><title>{html.escape(one.name)}: {value:.4g}</title></circle>'
            )
    return plot.end()
