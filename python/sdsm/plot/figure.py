"""Draws predicted and measured speedup, a panel for each program."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from sdsm.plot import style
from sdsm.plot.results import PREDICTED
from sdsm.plot.series import Series, place

COLUMNS = 3
#: Above this ratio of places, axes are logarithmic, and times stand beside speedups.
DECADE = 10
#: Colours of further lines of the same kind; after the last, they repeat with another marker.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
COLOURS = {
    True: (style.PREDICTED, style.GREEN, style.PURPLE, style.SKY),
    False: (style.PUBLISHED, style.ORANGE, style.INK, style.YELLOW),
}


def draw(programs: Mapping[str, Sequence[Series]], by: str, reference: str) -> Figure:
    """by: "threads" or "nodes". reference: description of the speedups' reference."""
    wanted = [(program, lines, times) for program, lines in programs.items() for times in (False, True)[: 1 + _is_wide(lines, by)]]
    columns = min(COLUMNS, len(wanted))
    rows = -(-len(wanted) // columns)
    most_lines = max(len(lines) for lines in programs.values())
    figure = style.new_figure(max(4.4 * columns, 6.0), 1.2 + (3.6 + 0.17 * most_lines) * rows)
    panels = [axes for row in figure.subplots(rows, columns, squeeze=False) for axes in row]
    for axes, (program, lines, times) in zip(panels, wanted, strict=False):
        _panel(axes, lines, by, times)
        axes.set_title("\n".join([*_wrapped(program, 2), *_platform(lines)]), parse_math=False)
    for axes in panels[len(wanted) :]:
        axes.set_axis_off()
    every = [line for lines in programs.values() for line in lines]
    marks = []
    if any(line.kind == PREDICTED and line.has_band for line in every):
        marks.append("Bands of predictions: middle 90 % over the platform's uncertain costs.")
    if any(line.kind == PREDICTED and not line.has_band and _spreads(line) for line in every):
        marks.append("Bands of other predictions: least to greatest of several.")
    if any(line.kind != PREDICTED and _spreads(line) for line in every):
        marks.append("Bars of measurements: least to greatest run.")
    if any(one.is_doubtful for line in every for one in line.points):
        marks.append(style.HOLLOW)
    style.heading(figure, "Speedup", "\n".join([f"Over {reference}. Dashed: one for one.", *marks]))
    return figure


def _wrapped(text: str, most_lines: int) -> list[str]:
    return textwrap.wrap(text, 48, max_lines=most_lines, placeholder=" ...")


def _platform(lines: Sequence[Series]) -> list[str]:
    """Names the platform of all predictions. If there are several, the legend names them."""
    names = {line.platform for line in lines if line.platform}
    return _wrapped(f"predicted for {names.pop()}", 1) if len(names) == 1 else []


def _spreads(line: Series) -> bool:
    return any(one.low_s < one.high_s for one in line.points)


def _is_wide(lines: Sequence[Series], by: str) -> bool:
    places = [place(one, by) for line in lines for one in line.points]
    return max(places) > DECADE * min(places)


def _panel(axes: Axes, lines: Sequence[Series], by: str, shows_times: bool) -> None:
    used = {True: 0, False: 0}
    top, right = 1.0, 1
    is_wide = _is_wide(lines, by)
    for line in lines:
        is_predicted = line.kind == PREDICTED
        colours = COLOURS[is_predicted]
        colour = colours[used[is_predicted] % len(colours)]
        marker = MARKERS[used[is_predicted] // len(colours) % len(MARKERS)]
        used[is_predicted] += 1
        places = [place(one, by) for one in line.points]
        shown = [(one.time_s, one.low_s, one.high_s) if shows_times else line.speedup(one) for one in line.points]
        middle, low, high = ([values[i] for values in shown] for i in range(3))
        top, right = max(top, *high), max(right, *places)
        label = textwrap.fill(f"{line.kind}, {line.label}" if line.label else line.kind, 44)
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
            axes.plot(places, middle, color=colour, linewidth=2, marker=marker, markersize=4.5, zorder=3, label=label)
            hollow = [(x, y) for x, y, one in zip(places, middle, line.points, strict=True) if one.is_doubtful]
            if hollow:
                axes.plot(*zip(*hollow, strict=True), color=colour, linewidth=0, marker=marker, markersize=4.5, markerfacecolor="white", zorder=3.5)
        else:
            axes.errorbar(
                places, middle, yerr=bars, color=colour, marker=marker, markersize=5.5, linewidth=1, linestyle=(0, (1, 2)),
                elinewidth=1.3, capsize=2.5, zorder=4, label=label,
            )  # fmt: skip
    if not shows_times:
        axes.plot([1 if is_wide else 0, right], [1 if is_wide else 0, right], color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    if is_wide:
        axes.set_xscale("log")
        axes.set_yscale("log")
        style.logarithmic_y(axes, *axes.get_ylim())
    else:
        axes.set_xlim(0, 1.05 * right)
        axes.set_ylim(0, 1.12 * top)
    axes.xaxis.set_major_locator(FixedLocator(sorted({place(one, by) for line in lines for one in line.points})))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(by)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_ylabel("time, s" if shows_times else "speedup")
    style.light_grid(axes)
    style.legend_below(axes)
