"""Overheads of EPCC's directives on the simulated cluster, by layout."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from sdsm.plot import style
from sdsm.report.main_job.directives import DirectiveRow

COLOURS = (style.SKY, style.GREEN, style.BLUE, style.ORANGE, style.VERMILION)
MARKERS = "osD^v"


def draw(rows: Sequence[DirectiveRow]) -> Figure | None:
    """Draws a row for each directive, a mark for each layout; None if nothing was predicted. Values up to 0.1 us are left out."""
    done = [row for row in rows if row.predicted_us is not None and row.predicted_us > 0.1]
    if not done:
        return None
    names = list(dict.fromkeys(row.directive for row in done))
    figure = style.new_figure(7.2, 1.6 + 0.34 * len(names))
    axes = figure.subplots()
    for place, layout in enumerate(dict.fromkeys(row.layout for row in rows)):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        predicted = {"color": colour, "marker": marker, "markersize": 5, "label": layout}
        given = {"color": style.INK, "marker": "|", "markersize": 13, "label": "given [WR-env]" if place == 0 else None}
        for figure_of, look in (("predicted_us", predicted), ("given_us", given)):
            of = [row for row in done if row.layout == layout and getattr(row, figure_of)]
            values, rows_of = [getattr(row, figure_of) for row in of], [names.index(row.directive) for row in of]
            axes.plot(values, rows_of, linestyle="none", **look)  # type: ignore[arg-type]
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("overhead [µs]")
    style.light_grid(axes, "x")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles), fontsize=8)
    explanation = "Printed by EPCC's program itself; nodes x threads per node. Barriers and locks were given, the rest "
    explanation += "is predicted."
    style.heading(figure, "What a directive costs on the simulated cluster", explanation)
    return figure
