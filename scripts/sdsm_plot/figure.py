"""Predicted and measured speedup, a panel for each program."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from sdsm_plot.results import PREDICTED
from sdsm_plot.series import Series, place
from sdsm_report.figures import style

COLUMNS = 3
#: Of further lines of the same kind.
COLOURS = {
    True: (style.PREDICTED, style.GREEN, style.PURPLE, style.SKY),
    False: (style.PUBLISHED, style.ORANGE, style.INK, style.YELLOW),
}


def draw(programs: Mapping[str, Sequence[Series]], by: str, reference: str) -> Figure:
    """by: "threads" or "nodes". reference: what speedups refer to, in words."""
    columns = min(COLUMNS, len(programs))
    rows = -(-len(programs) // columns)
    figure = style.new_figure(max(4.4 * columns, 6.0), 1.2 + 3.6 * rows)
    panels = [axes for row in figure.subplots(rows, columns, squeeze=False) for axes in row]
    for axes, (program, lines) in zip(panels, programs.items(), strict=False):
        _panel(axes, lines, by)
        axes.set_title("\n".join(textwrap.wrap(program, 48, max_lines=2, placeholder=" ...")))
    for axes in panels[len(programs) :]:
        axes.set_axis_off()
    every = [line for lines in programs.values() for line in lines]
    marks = []
    if any(line.kind == PREDICTED and line.has_band for line in every):
        marks.append("Bands of predictions: middle 90 % over the platform's standard errors.")
    if any(line.kind == PREDICTED and not line.has_band and _spreads(line) for line in every):
        marks.append("Bands of other predictions: least to greatest of several.")
    if any(line.kind != PREDICTED and _spreads(line) for line in every):
        marks.append("Bars of measurements: least to greatest run.")
    style.heading(figure, "Speedup", "\n".join([f"Over {reference}. Dashed: one for one.", *marks]))
    return figure


def _spreads(line: Series) -> bool:
    return any(one.low_s < one.high_s for one in line.points)


def _panel(axes: Axes, lines: Sequence[Series], by: str) -> None:
    used = {True: 0, False: 0}
    top, right = 1.0, 1
    for line in lines:
        is_predicted = line.kind == PREDICTED
        colours = COLOURS[is_predicted]
        colour = colours[used[is_predicted] % len(colours)]
        used[is_predicted] += 1
        places = [place(one, by) for one in line.points]
        speedups = [line.speedup(one) for one in line.points]
        middle, low, high = ([values[i] for values in speedups] for i in range(3))
        top, right = max(top, *high), max(right, *places)
        label = f"{line.kind}, {line.label}" if line.label else line.kind
        bars = [
            [max(m - least, 0.0) for m, least in zip(middle, low, strict=True)],
            [max(h - m, 0.0) for h, m in zip(high, middle, strict=True)],
        ]
        if is_predicted:
            # An area needs a width: a single place gets a bar.
            if len(places) > 1:
                axes.fill_between(places, low, high, color=colour, alpha=0.22, linewidth=0, zorder=2)
            else:
                axes.errorbar(places, middle, yerr=bars, color=colour, elinewidth=5, alpha=0.22, zorder=2)
            axes.plot(places, middle, color=colour, linewidth=2, marker=".", markersize=8, zorder=3, label=label)
        else:
            axes.errorbar(
                places, middle, yerr=bars, color=colour, marker="o", markersize=5.5, linewidth=1, linestyle=(0, (1, 2)),
                elinewidth=1.3, capsize=2.5, zorder=4, label=label,
            )  # fmt: skip
    axes.plot([0, right], [0, right], color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.set_xlim(0, 1.05 * right)
    axes.set_ylim(0, 1.12 * top)
    axes.xaxis.set_major_locator(FixedLocator(sorted({place(one, by) for line in lines for one in line.points})))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(by)
    axes.set_ylabel("speedup")
    style.light_grid(axes)
    axes.legend(loc="best", fontsize=8)
