"""Measured and simulated microbenchmarks, overlaid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdsm_calibrate.gate import Row


def draw(rows: Sequence[Row], title: str, folder: Path, name: str) -> list[Path]:
    """NAME.png and NAME.svg. Raises OSError."""
    from sdsm_report.figures.style import GREY, PREDICTED, PUBLISHED, heading, light_grid, new_figure, save

    figure = new_figure(8.5, 2.0 + 0.26 * len(rows))
    heading(
        figure,
        title,
        "Left: time, with two standard errors of the measurement. Right: simulated less measured;\n"
        "the bar is what is allowed, the larger of 2 % and two standard errors.",
    )
    times, differences = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    places = range(len(rows))
    for place, row in zip(places, rows, strict=True):
        value, error = row.measured.value, row.measured.standard_error or 0.0
        times.errorbar(
            [value], [place], xerr=[2 * error], fmt="o", color=PUBLISHED, markersize=6, markerfacecolor="none",
            label="measured" if place == 0 else None,
        )  # fmt: skip
        scale = 100 / abs(value) if value else 0.0
        differences.barh([place], [2 * row.allowed * scale], left=[-row.allowed * scale], color="#E6E6E6", height=0.6)
        if row.simulated is not None:
            times.plot(
                [row.simulated], [place], "x", color=PREDICTED, markersize=6, label="simulated" if place == 0 else None
            )
            ok = PREDICTED if row.passes else PUBLISHED
            differences.plot([(row.simulated - value) * scale], [place], "o", color=ok, markersize=4)
    times.set_xscale("symlog", linthresh=0.1)
    times.set_xlabel("microseconds")
    times.set_yticks(list(places), [row.name for row in rows])
    times.invert_yaxis()
    times.legend(loc="lower right")
    differences.axvline(0, color=GREY, linewidth=0.8)
    differences.set_xlabel("per cent of the measurement")
    for axes in (times, differences):
        light_grid(axes, "x")
    return save(figure, folder, name)
