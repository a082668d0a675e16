"""Where the time of each FFT implementation goes."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from sdsm.plot import style
from sdsm.report.main_job.figures import time_account
from sdsm.report.main_job.report import Line

NAMES = {1: "1 recursive, round-robin pages", 2: "2 hybrid, round-robin pages"}
NAMES |= {3: "3 recursive, pages in blocks", 4: "4 hybrid, pages in blocks"}


def draw(lines: Sequence[Line]) -> Figure | None:
    """The figure, or None if no parallel FFT was predicted. Bars: mean over the threads."""
    fft = [line for line in lines if line.program == "fft" and line.implementation in NAMES and line.mean_account_s]
    if not fft:
        return None
    figure = style.new_figure(9.0, 6.4)
    panels = figure.subplots(2, 2, sharex=True, squeeze=False)
    for axes, implementation in zip(panels.flat, (1, 3, 2, 4), strict=True):
        chosen = [line for line in fft if line.implementation == implementation]
        axes.set_title(NAMES[implementation])
        if chosen:
            time_account.bars(axes, chosen, [line.layout for line in chosen], list(range(len(chosen))))
            axes.set_ylabel("nodes x threads per node")
    longest_s = max(sum(line.mean_account_s.values()) for line in fft)
    for axes in panels.flat:
        axes.set_xlim(0, 1.16 * longest_s)
    for axes in panels[0]:
        axes.set_xlabel("")
    time_account.legend(figure, fft)
    explanation = "2^19 complex points. Each bar is a run, averaged over its threads."
    style.heading(figure, "Where the time of the FFT goes (predicted)", explanation)
    return figure
