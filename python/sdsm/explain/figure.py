"""Draws an explanation: the time by term, its cost by construct and by memory, what would help."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sdsm.base.output_file import utf8
from sdsm.explain.explanation import Explanation
from sdsm.plot import style
from sdsm.plot.results import printable

MOST_BARS = 8
#: A bar that is so many times as long as the first one is cut off there.
LONGEST = 2.0


class _Bar(NamedTuple):
    name: str
    time_s: float
    is_doubtful: bool = False


def draw(explanation: Explanation, is_named: bool = True) -> Figure:
    """A panel each of terms, constructs, arrays and alternatives: bars in seconds, the largest first.

    is_named: whether the title has the names of program and platform.
    """
    result, point = explanation.result, explanation.point
    threads = len(result.threads)
    terms = [_Bar(term, value) for term, value in explanation.terms[:MOST_BARS]]
    constructs = [_Bar(one.title, one.cost_s / threads) for one in explanation.constructs[:MOST_BARS] if one.cost_s > 0]
    memory = [_Bar(one.title, one.cost_s / threads) for one in explanation.arrays[:MOST_BARS]]
    own = _Bar("as it is", result.makespan_s, bool(result.doubts))
    others = [_Bar(one.alternative.what, one.time_s, one.is_doubtful) for one in explanation.outcomes if one.time_s is not None]
    panels = [
        ("Where the time goes", terms, style.SKY),
        ("Which construct costs it: all but computing", constructs, style.PURPLE),
        ("Which memory costs it: faults and diffs", memory, style.ORANGE),
        ("What else it could take", [own, *others] if others else [], style.GREEN),
    ]
    shown = [panel for panel in panels if panel[1]]
    figure = style.new_figure(8.6, 1.2 + sum(0.55 + 0.24 * len(bars) for _, bars, _ in shown))
    rows = figure.subplots(len(shown), 1, squeeze=False, height_ratios=[1 + len(bars) for _, bars, _ in shown])
    for axes, (title, bars, colour) in zip(rows[:, 0], shown, strict=True):
        _bars(axes, title, bars, colour)
    hatched = any(bar.is_doubtful for _, bars, _ in shown for bar in bars)
    names = printable(utf8(f"{Path(result.program[0]).name} on {Path(point.platform).stem}, ")) if is_named else ""
    style.heading(
        figure,
        style.short(f"{names}{point.layout}: {result.makespan_s:.4g} s"),
        "Seconds, mean over threads; alternatives are simulated whole." + (f" Hatched in the last panel: {style.EXTRAPOLATED}" if hatched else ""),
    )
    return figure


def _bars(axes: Axes, title: str, bars: Sequence[_Bar], colour: str) -> None:
    places = range(len(bars), 0, -1)
    longest_s = min(max(bar.time_s for bar in bars), LONGEST * bars[0].time_s)
    drawn = axes.barh(places, [min(bar.time_s, longest_s) for bar in bars], height=0.7, color=colour)
    style.name_places(axes, "y", places, (style.short(bar.name) for bar in bars))
    for at, bar, shape in zip(places, bars, drawn, strict=True):
        if bar.is_doubtful:
            shape.set(hatch="////", edgecolor="white", linewidth=0)
        cut = " (cut off)" if bar.time_s > longest_s else ""
        axes.annotate(f" {bar.time_s:.3g} s{cut}", (min(bar.time_s, longest_s), at), va="center", fontsize=8)
    axes.set_title(title)
    axes.set_xlim(left=0, right=longest_s * 1.2 or 1)
    style.light_grid(axes, "x")
