"""Predicted and measured speedup of each Laplace implementation, against the number of threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sdsm.plot import style
from sdsm.report.main_job.report import Line

# Columns: where pages live. Rows: barriers per iteration.
PANELS = (
    ((1, "1 naive"), (3, "3 locality"), (5, "5 affinity")),
    ((2, "2 naive"), (4, "4 locality"), (6, "6 affinity")),
)
COLUMNS = ("round-robin pages", "blocks of pages", "blocks, affinity schedule")
ROWS = ("two barriers per iteration", "one barrier per iteration")
TOP = (1.15, 2.15, 2.15)
THREADS = (1, 2, 4)


def draw(lines: Sequence[Line]) -> Figure | None:
    """The figure, or None if no Laplace run was predicted.

    Six panels, one per implementation. Line: predicted (the minimum over seeds, with the range of seeds as a band).
    Markers: published, filled if the prediction is one proper, hollow where a published time was used to calibrate;
    their bars are what the rounding of the published time leaves open.
    """
    laplace = [line for line in lines if line.program == "laplace" and line.predicted_s is not None]
    sequential_s = next((line.published_s for line in lines if line.program == "laplace" and line.published_s), None)
    if not laplace or sequential_s is None:
        return None
    figure = style.new_figure(9.0, 6.1)
    panels = figure.subplots(2, 3, sharex=True, squeeze=False)
    for row, implementations in enumerate(PANELS):
        for column, (implementation, name) in enumerate(implementations):
            axes = panels[row][column]
            _panel(axes, [line for line in laplace if line.implementation == implementation], TOP[column], sequential_s)
            axes.set_title(name)
            if row == 0:
                axes.annotate(COLUMNS[column], (0, 1.16), xycoords="axes fraction", fontsize=8.5, color="#555555")
            else:
                axes.set_xlabel("threads, one per node")
            if column == 0:
                axes.set_ylabel(f"speedup over sequential\n({ROWS[row]})")
    style.heading(
        figure,
        "Laplace on the Pentium III cluster: predicted and measured speedup",
        "1024 x 1024, 100 iterations. Numbers: the measured speedup [WR-opt] and the error of the predicted time.\n"
        "The left column has a scale of its own.",
    )
    figure.legend(handles=_legend(), loc="outside lower center", ncols=5, fontsize=8.5, handlelength=1.6)
    return figure


def _legend() -> list[Line2D]:
    marker: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 6.5, "color": style.PUBLISHED}
    return [
        Line2D([], [], color=style.PREDICTED, linewidth=2, marker=".", markersize=8, label="predicted"),
        Line2D([], [], color=style.PREDICTED, linewidth=7, alpha=0.22, label="range over seeds"),
        Line2D([], [], **marker, label="measured"),
        Line2D([], [], **marker, markerfacecolor="white", markeredgewidth=1.6, label="measured, used to calibrate"),
        Line2D([], [], color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), label="one for one"),
    ]


def _panel(axes: Axes, lines: Sequence[Line], top: float, sequential_s: float) -> None:
    axes.set_xlim(0.7, 4.55)
    axes.set_ylim(0, top)
    axes.set_xticks(THREADS)
    style.light_grid(axes)
    axes.plot([0, 4.5], [0, 4.5], color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    lines = sorted(lines, key=lambda line: line.threads)
    threads = [line.threads for line in lines]
    low, high = ([sequential_s / end(line.predicted_times_s) for line in lines] for end in (max, min))
    axes.fill_between(threads, low, high, color=style.PREDICTED, alpha=0.22, linewidth=0, zorder=2)
    speedups = [line.predicted_speedup or 0.0 for line in lines]
    axes.plot(threads, speedups, color=style.PREDICTED, linewidth=2, zorder=3, marker=".", markersize=8)
    for line in lines:
        if line.published_s is not None and line.published_speedup is not None:
            _published_point(axes, line, line.published_s, line.published_speedup, top, sequential_s)


def _published_point(axes: Axes, line: Line, published_s: float, speedup: float, top: float, of_s: float) -> None:
    """of_s: the time of speedup 1."""
    rounding_s = line.published_rounding_s or 0.0
    low, high = of_s / (published_s + rounding_s), of_s / (published_s - rounding_s)
    filling = "white" if line.calibrated_by else style.PUBLISHED
    axes.errorbar(
        line.threads, speedup, yerr=[[speedup - low], [high - speedup]], marker="o", markersize=6.5,
        color=style.PUBLISHED, markerfacecolor=filling, markeredgewidth=1.6, elinewidth=1.2, zorder=4,
    )  # fmt: skip
    if line.threads == 1:
        return
    text = f"{speedup:.2f}"
    if line.time_error_percent is not None:
        text += f"\ntime {line.time_error_percent:+.1f} %"
    above = speedup < 0.5 * top
    clear_of = max if above else min
    # Beside a steep line there is room on its far side only.
    beside = above and line.threads == 2
    axes.annotate(
        text, (line.threads, clear_of(speedup, line.predicted_speedup or speedup)),
        xytext=(5 if beside else 0, 11 if above else -9), textcoords="offset points", fontsize=7.5, linespacing=1.2,
        ha="left" if beside else "center", va="bottom" if above else "top", zorder=5,
    )  # fmt: skip
