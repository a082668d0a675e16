"""Draws an explanation: the time by term, its cost by memory, what would help."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sdsm.explain.explanation import Explanation
from sdsm.plot import style

MOST_BARS = 8


def draw(explanation: Explanation) -> Figure:
    """A panel each of terms, arrays and alternatives: bars in seconds, the largest first."""
    time_s = explanation.result.makespan_s
    terms = [(term, value) for term, value in explanation.terms[:MOST_BARS]]
    memory = [(one.title, one.cost_s / len(explanation.result.threads)) for one in explanation.arrays[:MOST_BARS]]
    others = [(one.alternative.what, one.time_s) for one in explanation.outcomes if one.time_s is not None]
    panels = [
        ("Where the time goes", terms, style.SKY),
        ("Which memory costs it: faults and diffs", memory, style.ORANGE),
        ("What else it could take", [("as it is", time_s), *others] if others else [], style.GREEN),
    ]
    shown = [panel for panel in panels if panel[1]]
    figure = style.new_figure(7.6, 1.0 + sum(0.55 + 0.24 * len(bars) for _, bars, _ in shown))
    rows = figure.subplots(len(shown), 1, squeeze=False, height_ratios=[1 + len(bars) for _, bars, _ in shown])
    for axes, (title, bars, colour) in zip(rows[:, 0], shown, strict=True):
        _bars(axes, title, bars, colour)
    layout = explanation.point.layout
    style.heading(figure, f"{layout}: {time_s:.4g} s", "Seconds, mean over threads; alternatives are simulated whole.")
    return figure


def _bars(axes: Axes, title: str, bars: list[tuple[str, float]], colour: str) -> None:
    places = range(len(bars), 0, -1)
    axes.barh(places, [value for _, value in bars], height=0.7, color=colour)
    style.name_places(axes, "y", places, (style.short(name) for name, _ in bars))
    for at, (_, value) in zip(places, bars, strict=True):
        axes.annotate(f" {value:.3g} s", (value, at), va="center", fontsize=8)
    axes.set_title(title)
    axes.set_xlim(left=0, right=max(value for _, value in bars) * 1.15 or 1)
    style.light_grid(axes, "x")
