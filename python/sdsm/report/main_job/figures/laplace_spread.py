"""Distributions of Laplace 1 and 2 over seeds, beside the published minimum, mean and standard deviation."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sdsm.plot import style
from sdsm.report.main_job.plan import JITTER
from sdsm.report.main_job.report import Line


def draw(lines: Sequence[Line]) -> Figure | None:
    """The figure, or None if no distribution was predicted. One row per configuration: above, a tick per seed with the
    mean; below, the published minimum and, where given, mean and one standard deviation to each side."""
    spread = [line for line in lines if line.is_distribution]
    if not spread:
        return None
    figure = style.new_figure(9.0, 1.9 + 0.72 * len(spread))
    axes = figure.subplots()
    for place, line in enumerate(spread):
        _row(axes, place, line)
    names = [f"implementation {line.implementation}\n{line.threads} threads" for line in spread]
    axes.set_yticks(range(len(spread)), names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(spread) - 0.4, -0.6)
    # A third more on the right for the figures beside the marks.
    axes.set_xlim(0, 1.32 * max(_end_s(line) for line in spread))
    axes.set_xlabel("seconds per run")
    style.light_grid(axes, "x")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=4, fontsize=8.5)
    seeds = max(line.seeds for line in spread)
    style.heading(
        figure,
        "Laplace with round-robin pages: predicted and measured distributions",
        f"Predicted: {seeds} seeds, jitter of each remote fault with a coefficient of variation of "
        f"{JITTER * 100:g} %, fitted to nothing."
        "\nMeasured [WR-opt]: minimum of several runs; mean and standard deviation for implementation 1 only.",
    )
    return figure


def _end_s(line: Line) -> float:
    published_s = (line.published_mean_s or line.published_s or 0.0) + (line.published_standard_deviation_s or 0.0)
    return max(*line.predicted_times_s, published_s)


def _row(axes: Axes, place: int, line: Line) -> None:
    above, below = place - 0.14, place + 0.17
    axes.plot(line.predicted_times_s, [above] * line.seeds, "|", color=style.PREDICTED, markersize=13, alpha=0.7)
    mean: dict[str, Any] = {"marker": "D", "markersize": 5, "markeredgecolor": "white"}
    axes.plot(statistics.fmean(line.predicted_times_s), above, color=style.PREDICTED, linestyle="none", **mean)
    if line.predicted_s is not None and line.predicted_standard_deviation_s is not None:
        mean_s, deviation_s = line.predicted_mean_s, line.predicted_standard_deviation_s
        text = f"{line.predicted_s:.1f} min, {mean_s:.1f} mean, {deviation_s:.2f} sd"
        _beside(axes, text, max(line.predicted_times_s), above, style.PREDICTED)
    if line.published_s is not None:
        axes.plot(line.published_s, below, "|", color=style.PUBLISHED, markersize=13, markeredgewidth=2)
        text, end_s = f"{line.published_s:.1f} min", line.published_s
        if line.published_mean_s is not None and line.published_standard_deviation_s is not None:
            deviation_s = line.published_standard_deviation_s
            bar: dict[str, Any] = {"color": style.PUBLISHED, "elinewidth": 1.4, "capsize": 3}
            axes.errorbar(line.published_mean_s, below, xerr=deviation_s, **bar, **mean)
            end_s = line.published_mean_s + deviation_s
            text += f", {line.published_mean_s:.1f} mean, {deviation_s:.2f} sd"
        _beside(axes, text, end_s, below, style.PUBLISHED)


def _beside(axes: Axes, text: str, end_s: float, place: float, colour: str) -> None:
    beside: dict[str, Any] = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
    axes.annotate(text, (end_s, place), fontsize=7.5, color=colour, **beside)


def _legend() -> list[Line2D]:
    tick: dict[str, Any] = {"linestyle": "none", "marker": "|", "markersize": 12}
    return [
        Line2D([], [], **tick, color=style.PREDICTED, label="predicted, each seed"),
        Line2D([], [], linestyle="none", marker="D", markersize=5, color=style.PREDICTED, label="predicted mean"),
        Line2D([], [], **tick, markeredgewidth=2, color=style.PUBLISHED, label="measured minimum"),
        Line2D([], [], marker="D", markersize=5, color=style.PUBLISHED, label="measured mean and standard deviation"),
    ]
