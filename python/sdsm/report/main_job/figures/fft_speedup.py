"""Predicted speedup of each FFT implementation on each layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from sdsm.plot import style
from sdsm.report.main_job.report import Line

SHOWN = {
    1: ("1 recursive, round-robin", style.ORANGE),
    2: ("2 hybrid, round-robin", style.VERMILION),
    3: ("3 recursive, blocks", style.SKY),
    4: ("4 hybrid, blocks", style.BLUE),
}
BAR_WIDTH = 0.2
MARKER: dict[str, Any] = {"marker": "o", "markersize": 6, "color": style.INK, "markeredgewidth": 1.4}


def draw(lines: Sequence[Line]) -> Figure | None:
    """The figure, or None if no parallel FFT was predicted. Bars: predicted; markers: published times, hollow where
    they were used to calibrate, filled where they were not."""
    fft = [line for line in lines if line.program == "fft" and line.implementation in SHOWN]
    fft = [line for line in fft if line.predicted_speedup is not None]
    if not fft:
        return None
    figure = style.new_figure(9.0, 4.6)
    axes = figure.subplots()
    layouts = list(dict.fromkeys(line.layout for line in sorted(fft, key=lambda line: (line.threads, line.nodes))))
    for line in fft:
        place = layouts.index(line.layout) + (list(SHOWN).index(line.implementation) - 1.5) * BAR_WIDTH
        speedup = line.predicted_speedup or 0.0
        axes.bar(place, speedup, width=0.92 * BAR_WIDTH, color=SHOWN[line.implementation][1])
        axes.annotate(
            f"{speedup:.2f}", (place, max(speedup, line.published_speedup or 0.0)),
            xytext=(0, 7 if line.published_speedup else 3),
            textcoords="offset points", ha="center", fontsize=7.5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )  # fmt: skip
        if line.published_speedup:
            filling = "white" if line.calibrated_by else style.INK
            axes.plot(place, line.published_speedup, **MARKER, markerfacecolor=filling)
    axes.axhline(1.0, color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.annotate("as fast as sequential", (-0.53, 1.0), xytext=(0, 13), textcoords="offset points", fontsize=7.5)
    axes.set_xticks(range(len(layouts)), layouts)
    axes.set_xlim(-0.55, len(layouts) - 0.45)
    axes.set_ylim(0, 1.12 * max(1.0, *(line.predicted_speedup or 0.0 for line in fft)))
    axes.set_xlabel("nodes x threads per node")
    axes.set_ylabel("speedup over the sequential FFT (1.5 s)")
    style.light_grid(axes)
    handles: list[Patch | Line2D] = [Patch(color=colour, label=name) for name, colour in SHOWN.values()]
    published = [line for line in fft if line.published_speedup]
    if any(line.calibrated_by for line in published):
        hollow = MARKER | {"markerfacecolor": "white", "label": "measured, used to calibrate"}
        handles.append(Line2D([], [], linestyle="none", **hollow))
    if any(not line.calibrated_by for line in published):
        handles.append(Line2D([], [], **MARKER, linestyle="none", label="measured"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=8.5, handlelength=1.2)
    explanation = "2^19 complex points. Nothing is fitted to FFT beyond each implementation's one-thread time."
    style.heading(figure, "FFT on the Pentium III cluster: predicted speedup", explanation)
    return figure
