"""Where the time of each Laplace implementation goes."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from sdsm.plot import style
from sdsm.report.main_job.figures import time_account
from sdsm.report.main_job.report import Line

PANELS = (((1, 2), "round-robin pages"), ((3, 4, 5, 6), "pages in blocks"))


def draw(lines: Sequence[Line]) -> Figure | None:
    """The figure, or None if no Laplace run on several threads was predicted. Bars: mean over threads, first seed."""
    laplace = [line for line in lines if line.program == "laplace" and line.threads > 1 and line.mean_account_s]
    if not laplace:
        return None
    panels = [([line for line in laplace if line.implementation in shown], title) for shown, title in PANELS]
    panels = [(chosen, title) for chosen, title in panels if chosen]
    figure = style.new_figure(9.0, 2.6 + 0.30 * sum(len(chosen) for chosen, _ in panels) + 0.5 * len(panels))
    grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=[len(chosen) + 0.8 for chosen, _ in panels])
    for (axes,), (chosen, title) in zip(grid, panels, strict=True):
        places, labels = [], []
        previous, place = None, -1.0
        for line in chosen:
            place += 1.0 if line.implementation == previous else 1.35
            previous = line.implementation
            places.append(place)
            labels.append(f"implementation {line.implementation}, {line.threads} threads")
        time_account.bars(axes, chosen, labels, places)
        axes.set_title(title)
    time_account.legend(figure, laplace)
    style.heading(
        figure,
        "Where the time of Laplace goes (predicted)",
        "1024 x 1024, 100 iterations, one thread per node. Each bar is a run, averaged over its threads (seed 1);\n"
        "the two panels have scales of their own.",
    )
    return figure
