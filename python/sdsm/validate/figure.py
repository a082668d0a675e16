"""Draws predicted against measured speedup: right predictions are on the diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sdsm.plot import style
from sdsm.validate.outcome import Line

COLOURS = {"laplace 3": style.SKY, "laplace 4": style.BLUE, "laplace 6": style.GREEN}
COLOURS |= {"fft 2": style.ORANGE, "fft 4": style.VERMILION, "fft 5": style.YELLOW, "fft 6": style.PURPLE}
MARKERS = ("o", "s", "D", "^", "v", "P")


def draw(clusters: Sequence[tuple[str, Sequence[Line]]]) -> Figure | None:
    """A panel for each cluster that has lines, or None. Bars: the confidence interval of the measured median, and the
    band of the prediction (Line.band_s), or else the range of the predictions over seeds."""
    shown = [(name, lines) for name, lines in clusters if lines]
    if not shown:
        return None
    figure = style.new_figure(4.9 * len(shown), 5.6)
    panels = figure.subplots(1, len(shown), squeeze=False)[0]
    nodes = sorted({line.case.nodes for _, lines in shown for line in lines})
    marker = {count: MARKERS[i % len(MARKERS)] for i, count in enumerate(nodes)}
    programs = list(dict.fromkeys(line.case.label for _, lines in shown for line in lines))
    for axes, (name, lines) in zip(panels, shown, strict=True):
        top = 1.1 * max(max(line.measured_speedup, line.predicted_speedup) for line in lines)
        axes.plot([0, top], [0, top], color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        axes.fill_between([0, top], [0, 0.9 * top], [0, 1.1 * top], color=style.PALE, alpha=0.5, linewidth=0, zorder=0)
        for line in lines:
            interval = line.interval
            fast, slow = line.band_s or (min(line.predicted_s), max(line.predicted_s))
            x, y = line.measured_speedup, line.predicted_speedup
            colour = COLOURS.get(line.case.label, style.GREY)
            x_error = [[x - line.sequential_s / interval.high], [line.sequential_s / interval.low - x]]
            # The median over seeds may lie outside of a narrow band.
            y_error = [[max(y - line.sequential_s / slow, 0.0)], [max(line.sequential_s / fast - y, 0.0)]]
            look: dict[str, Any] = {"marker": marker[line.case.nodes], "markersize": 6, "color": colour, "zorder": 3}
            axes.errorbar(x, y, xerr=x_error, yerr=y_error, elinewidth=1.1, **look)
        axes.set_xlim(0, top)
        axes.set_ylim(0, top)
        axes.set_aspect("equal")
        axes.set_title(name)
        axes.set_xlabel("measured speedup")
        axes.set_ylabel("predicted speedup")
        style.light_grid(axes, "both")
    keys = [("o", COLOURS.get(label, style.GREY), label) for label in programs]
    keys += [(marker[count], style.INK, f"{count} nodes") for count in nodes]
    handles = [Line2D([], [], linestyle="none", marker=m, color=colour, label=label) for m, colour, label in keys]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8.5)
    has_bands = any(line.band_s for _, lines in shown for line in lines)
    predictions = "middle 90 % of predictions" if has_bands else "range of predictions"
    explanation = f"Bars: confidence interval of the measured median, {predictions}.\nGrey: within a tenth."
    style.heading(figure, "Simulator against native DSM", explanation)
    return figure
