"""Draws predicted time over one axis, a line for each combination of the others; and over two axes, as a heat map."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from sdsm.base.output_file import utf8
from sdsm.calibrate.network import BANDWIDTHS, TIMES_US, quantity
from sdsm.explain.alternatives import Layout
from sdsm.plot import style
from sdsm.plot.results import printable
from sdsm.sweep.answer import median, shown, time_range, varied_values
from sdsm.sweep.results import Done
from sdsm.sweep.spec import Spec

#: Readers cannot distinguish more lines in one panel, and there are no more colours.
COLOURS = (style.BLUE, style.VERMILION, style.GREEN, style.ORANGE, style.PURPLE, style.SKY, style.INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Above this ratio an axis is logarithmic.
DECADE = 5
COLUMNS = 3
MOST_PANELS = 30
#: Longest name beside a small panel.
MOST_SIGNS = 20
#: Heat maps with more cells have no numbers.
MOST_NUMBERS = 150

#: A panel's points by the line's label, then by the value on the x axis; each a list over seeds.
Lines = dict[str, dict[str, list[Done]]]


def pictures(spec: Spec, done: Sequence[Done], program: str | None = None) -> dict[str, Figure]:
    """Returns figures by name: time, and heat if two axes vary. Empty if nothing varies, or all points failed.

    program: its name in titles; None: that of the results.
    """
    x = axis_to_draw(spec)
    results = [one.result for one in done if one.result is not None]
    if x is None or not results:
        return {}
    programs = {printable(utf8(Path(one.program[0]).name)) for one in results} if program is None else {program}
    platforms = {Path(one.point.values.get("platform", "")).stem for one in done}
    layouts = {str(Layout(one.nodes, one.threads_per_node)) for one in results}
    title = ": ".join(filter(None, (style.about(programs, platforms, layouts), "predicted time")))
    found = {"time": draw(spec, done, x, title)}
    others = [axis for axis in spec.varied() if axis not in (x, "seed", *_panels_by(spec, x))] or [
        axis for axis in spec.varied() if axis not in (x, "seed")
    ]
    if others:
        found["heat"] = draw_heat(spec, done, x, others[0], title)
    return found


def quantities(values: Sequence[str]) -> list[float] | None:
    """Returns numbers above zero for an axis, of "4", "8KiB", "10Mbps" or "x2"; None for names."""
    if all(value.startswith("x") for value in values):
        values = [value.removeprefix("x") for value in values]
    for units in ({"": 1.0}, TIMES_US, BANDWIDTHS, {"B": 1.0, "KiB": 1024.0}):
        with contextlib.suppress(ValueError):
            found = [quantity(value, units) for value in values]
            return found if min(found) > 0 else None
    return None


def axis_to_draw(spec: Spec) -> str | None:
    """Returns the requested axis; else that of the first question; else the first with several numbers; else the first that
    varies. Seeds are samples."""
    varied = [axis for axis in spec.varied() if axis not in ("seed", spec.panels)]
    asked = [one.axis for one in spec.questions if one.axis in varied]
    numeric = [axis for axis in varied if quantities(spec.axes[axis])]
    return spec.x or next(iter([*asked, *numeric, *varied]), None)


def _panels_by(spec: Spec, x: str) -> list[str]:
    """Returns axes whose values get panels: the requested one, and as many as leave no panel more lines than colours."""
    found = [spec.panels] if spec.panels else []
    others = [axis for axis in spec.varied() if axis not in (x, "seed", *found)]
    while math.prod(len(spec.axes[axis]) for axis in others) > len(COLOURS):
        enough = [axis for axis in others if math.prod(len(spec.axes[other]) for other in others if other != axis) <= len(COLOURS)]
        found.append(min(enough or others, key=lambda axis: len(spec.axes[axis])))
        others.remove(found[-1])
    return found


def _panels(spec: Spec, done: Sequence[Done], x: str) -> dict[str, Lines]:
    """Returns panels by title."""
    by = _panels_by(spec, x)
    found: dict[str, Lines] = {}
    for one in done:
        if one.result is not None:
            title = shown({axis: one.point.values[axis] for axis in by})
            label = shown(varied_values(spec, one, (x, "seed", *by)))
            lines_of = found.setdefault(title, {})
            lines_of.setdefault(label, {}).setdefault(one.point.values[x], []).append(one)
    return found


def _grid(count: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Returns panels side by side, each of one size in inches."""
    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    figure = style.new_figure(max(width * columns, 6.0), 0.9 + height * rows)
    panels = [axes for row in figure.subplots(rows, columns, squeeze=False) for axes in row]
    for axes in panels[count:]:
        axes.set_axis_off()
    return figure, panels[:count]


def _wrapped(title: str, width_in: float, fontsize: float = 9.5) -> str:
    return "\n".join(style.wrapped(title, int(style.TITLE_LETTERS * width_in * 10.5 / fontsize)))


def draw(spec: Spec, done: Sequence[Done], x: str, title: str) -> Figure:
    """Draws lines over x, or dots where its values are names. Scales are the same in all panels."""
    panels = _panels(spec, done, x)
    left = len(panels) - MOST_PANELS
    panels = dict(list(panels.items())[:MOST_PANELS])
    labels = {label for lines in panels.values() for label in lines}
    width_in = 7.6 if len(panels) == 1 else 4.2
    figure, places = _grid(len(panels), width_in, 3.3)
    if labels != {""}:
        figure.set_figheight(figure.get_figheight() + 0.2 + 0.18 * len(labels))
    times = [end for lines in panels.values() for line in lines.values() for found in line.values() for end in time_range(found)]
    looks = {label: at for at, label in enumerate(dict.fromkeys(label for lines in panels.values() for label in lines))}
    for axes, (panel, lines) in zip(places, panels.items(), strict=True):
        _panel(axes, spec.axes[x], lines, looks, width_in - 0.9)
        if max(times) > DECADE * min(times):
            style.logarithmic_y(axes, min(times) / 1.3, max(times) * 1.3)
        else:
            axes.set_ylim(0, max(times) * 1.08)
        axes.set_title(_wrapped(panel, width_in), parse_math=False)
        axes.set_xlabel(x.removeprefix("set "), parse_math=False)
        axes.set_ylabel("predicted time, seconds")
    has_band = "uncertainty" in spec.axes
    notes = ["Median over seeds; bars from the least to the greatest."] if "seed" in spec.varied() else []
    notes += ["Bars: middle 90 % over the platform's uncertain costs."] if has_band else []
    notes += [style.HOLLOW] if any(map(_is_doubtful, done)) else []
    notes += [f"{left} more panels are in points.csv."] if left > 0 else []
    style.heading(figure, title, " ".join(notes))
    if labels != {""}:
        style.legend_of_all(figure, places)
    return figure


def _is_doubtful(one: Done) -> bool:
    return one.result is not None and bool(one.result.doubts)


def _panel(axes: Axes, values: Sequence[str], lines: Lines, looks: Mapping[str, int], width_in: float) -> None:
    numbers = quantities(values)
    places = dict(zip(values, numbers or range(len(values)), strict=True))
    for label, line in lines.items():
        at = looks[label]
        drawn = [value for value in values if value in line]
        # Names have no order, so no line joins them; dots of one name stand side by side.
        aside = 0.0 if numbers else 0.5 * (at + 0.5) / len(looks) - 0.25
        xs = [places[value] + aside for value in drawn]
        ys = [median([one.value("time") for one in line[value]]) for value in drawn]
        ends = [time_range(line[value]) for value in drawn]
        bars = [[y - low for y, (low, _) in zip(ys, ends, strict=True)], [high - y for y, (_, high) in zip(ys, ends, strict=True)]]
        colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
        look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4.5}
        axes.errorbar(xs, ys, yerr=bars, capsize=2, label=style.label(label), linestyle="-" if numbers else "", **look)
        hollow = [(place, y) for place, y, value in zip(xs, ys, drawn, strict=True) if any(_is_doubtful(one) for one in line[value])]
        if hollow:
            axes.plot(*zip(*hollow, strict=True), linewidth=0, markerfacecolor="white", zorder=3.5, **look)
    if numbers and max(numbers) > DECADE * min(numbers):
        axes.set_xscale("log")
    style.names_below(axes, places.values(), [_end(value) for value in values], width_in, 2 * MOST_SIGNS)
    axes.minorticks_off()
    if not numbers:
        axes.set_xlim(-0.5, len(values) - 0.5)
    style.light_grid(axes, "both" if numbers else "y")


def _end(value: str) -> str:
    """Returns a file's name without its folder."""
    return value.rsplit("/", 1)[-1]


def _cells_in(columns: Sequence[str]) -> float:
    """The width of a heat map's cells, in."""
    return 0.55 * len(columns) + 0.5


def draw_heat(spec: Spec, done: Sequence[Done], x: str, y: str, title: str) -> Figure:
    """Draws a panel for each combination of all other axes; the colour is the median time over seeds, on the same scale in
    all panels."""
    cells: dict[str, dict[tuple[str, str], list[Done]]] = {}
    for one in done:
        if one.result is not None:
            values = one.point.values
            panel_title = shown(varied_values(spec, one, (x, y, "seed")))
            cells.setdefault(panel_title, {}).setdefault((values[y], values[x]), []).append(one)
    drawn = dict(list(cells.items())[:MOST_PANELS])
    medians = {
        name: {place: median([one.value("time") for one in found]) for place, found in panel.items()} for name, panel in drawn.items()
    }
    columns, rows = spec.axes[x], spec.axes[y]
    width_in = max(3.6, 0.55 * len(columns) + 2.0)
    figure, places = _grid(len(medians), width_in, max(2.1, 0.3 * len(rows) + 1.4) + 0.7 * style.is_crowded([_end(value) for value in columns], _cells_in(columns)))
    every = [value for panel in medians.values() for value in panel.values()]
    low, high = min(every), max(every)
    scale: Normalize = LogNorm(low, high) if high > DECADE * low else Normalize(low, max(high, low * 1.001))
    for axes, (name, panel) in zip(places, medians.items(), strict=True):
        _heat(axes, rows, columns, panel, scale, len(every) <= MOST_NUMBERS)
        _ring(axes, [(columns.index(c), rows.index(r)) for (r, c), found in drawn[name].items() if any(map(_is_doubtful, found))])
        axes.set_title(_wrapped(name, width_in - 1.2, 8), parse_math=False, fontsize=8)
        axes.set_xlabel(x.removeprefix("set "), parse_math=False)
        axes.set_ylabel(y.removeprefix("set "), parse_math=False)
    bar = figure.colorbar(places[0].collections[0], ax=places, label="predicted time, seconds")
    if isinstance(scale, LogNorm):
        style.logarithmic_bar(bar)
    notes = "Median over seeds. " * ("seed" in spec.varied()) + "Dark: long. White: it failed."
    notes += f" Ring: {style.EXTRAPOLATED}" * any(map(_is_doubtful, done))
    left = len(cells) - len(medians)
    style.heading(figure, title, notes + f" {left} more combinations are in points.csv." * (left > 0))
    return figure


def _ring(axes: Axes, cells: Sequence[tuple[int, int]]) -> None:
    """Marks a corner of each cell, given by column and row."""
    if cells:
        axes.plot(
            [column + 0.9 for column, _ in cells], [row + 0.82 for _, row in cells], linewidth=0, marker="o", markersize=3.5,
            markerfacecolor="white", markeredgecolor=style.INK, markeredgewidth=0.8,
        )  # fmt: skip


def _heat(
    axes: Axes, rows: Sequence[str], columns: Sequence[str], panel: Mapping[tuple[str, str], float], scale: Normalize, has_numbers: bool
) -> None:
    values = np.array([[panel.get((row, column), np.nan) for column in columns] for row in rows])
    axes.pcolormesh(np.ma.masked_invalid(values), cmap="viridis_r", norm=scale)
    for (row, column), value in np.ndenumerate(values):
        if has_numbers and np.isfinite(value):
            colour = "white" if scale(value) > 0.4 else style.INK
            axes.text(column + 0.5, row + 0.5, f"{value:.3g}", ha="center", va="center", fontsize=7.5, color=colour)
    style.names_below(axes, [at + 0.5 for at in range(len(columns))], [_end(value) for value in columns], _cells_in(columns), MOST_SIGNS)
    style.name_places(axes, "y", [at + 0.5 for at in range(len(rows))], (style.short(_end(value), MOST_SIGNS) for value in rows))
