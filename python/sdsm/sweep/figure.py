"""Draws predicted time over one axis, a line for each combination of the others; and over two axes, as a heat map."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from sdsm.plot import style
from sdsm.sweep.answer import median, shown, time_range, varied_values
from sdsm.sweep.results import Done
from sdsm.sweep.spec import Spec

COLOURS = (style.BLUE, style.VERMILION, style.GREEN, style.ORANGE, style.PURPLE, style.SKY, style.INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Above this ratio an axis is logarithmic.
DECADE = 5
#: Readers cannot distinguish more lines in one panel.
MOST_LINES = 12
COLUMNS = 3
MOST_PANELS = 30
#: Heat maps with more cells have no numbers.
MOST_NUMBERS = 150

#: A panel's points by the line's label, then by the value on the x axis; each a list over seeds.
Lines = dict[str, dict[str, list[Done]]]


def pictures(spec: Spec, done: Sequence[Done]) -> dict[str, Figure]:
    """Returns figures by name: time, and heat if two axes vary. Empty if nothing varies, or all points failed."""
    x = axis_to_draw(spec)
    if x is None or all(one.result is None for one in done):
        return {}
    found = {"time": draw(spec, done, x)}
    others = [axis for axis in spec.varied() if axis not in (x, "seed", spec.panels)]
    if others:
        found["heat"] = draw_heat(spec, done, x, others[0])
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def axis_to_draw(spec: Spec) -> str | None:
    """Returns the requested axis; else the first with several numbers; else the first that varies. Seeds are samples."""
    varied = [axis for axis in spec.varied() if axis not in ("seed", spec.panels)]
    numeric = [axis for axis in varied if all(_number(value) is not None for value in spec.axes[axis])]
    return spec.x or next(iter([*numeric, *varied]), None)


def _panels(spec: Spec, done: Sequence[Done], x: str) -> dict[str, Lines]:
    """Returns panels by title: one with all lines, unless an axis is asked for, or they are many."""
    others = [axis for axis in spec.varied() if axis not in (x, "seed")]
    lines = int(np.prod([len(spec.axes[axis]) for axis in others]))
    axis = spec.panels or (others[0] if lines > MOST_LINES else None)
    found: dict[str, Lines] = {}
    for one in done:
        if one.result is not None:
            title = shown({axis: one.point.values[axis]}) if axis else ""
            label = shown(varied_values(spec, one, (x, "seed", *([axis] if axis else []))))
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


def draw(spec: Spec, done: Sequence[Done], x: str) -> Figure:
    """Draws lines over x, in small multiples if requested. Scales are the same in all panels."""
    panels = _panels(spec, done, x)
    most = max(len(lines) for lines in panels.values())
    figure, places = _grid(len(panels), 7.6 if len(panels) == 1 else 4.2, 3.3 + 0.18 * most)
    times = [end for lines in panels.values() for line in lines.values() for found in line.values() for end in time_range(found)]
    for axes, (title, lines) in zip(places, panels.items(), strict=True):
        _panel(axes, spec.axes[x], lines)
        if max(times) > DECADE * min(times):
            style.logarithmic_y(axes, min(times) / 1.3, max(times) * 1.3)
        else:
            axes.set_ylim(0, max(times) * 1.08)
        axes.set_title(title, parse_math=False)
        axes.set_xlabel(x.removeprefix("set "), parse_math=False)
        axes.set_ylabel("predicted time, seconds")
        style.legend_below(axes)
    has_band = "uncertainty" in spec.axes
    notes = ["Median over seeds; bars from the least to the greatest."] if "seed" in spec.varied() else []
    notes += ["Bars: middle 90 % over the platform's uncertain costs."] if has_band else []
    notes += [style.HOLLOW] if any(map(_is_doubtful, done)) else []
    style.heading(figure, "Predicted time", " ".join(notes))
    return figure


def _is_doubtful(one: Done) -> bool:
    return one.result is not None and bool(one.result.doubts)


def _panel(axes: Axes, values: Sequence[str], lines: Lines) -> None:
    numbers = [_number(value) for value in values]
    is_numeric = all(number is not None and number > 0 for number in numbers)
    for at, (label, line) in enumerate(lines.items()):
        drawn = [value for value in values if value in line]
        xs = [float(value) if is_numeric else values.index(value) for value in drawn]
        ys = [median([one.value("time") for one in line[value]]) for value in drawn]
        ends = [time_range(line[value]) for value in drawn]
        bars = [[y - low for y, (low, _) in zip(ys, ends, strict=True)], [high - y for y, (_, high) in zip(ys, ends, strict=True)]]
        colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at // len(COLOURS) % len(MARKERS)]
        axes.errorbar(xs, ys, yerr=bars, color=colour, marker=marker, markersize=4.5, capsize=2, label=label or "time")
        hollow = [(place, y) for place, y, value in zip(xs, ys, drawn, strict=True) if any(_is_doubtful(one) for one in line[value])]
        if hollow:
            axes.plot(*zip(*hollow, strict=True), color=colour, linewidth=0, marker=marker, markersize=4.5, markerfacecolor="white", zorder=3.5)
    if is_numeric:
        if max(map(float, values)) > DECADE * min(map(float, values)):
            axes.set_xscale("log")
        axes.set_xticks([float(value) for value in values], values)
        axes.minorticks_off()
    else:
        _name(axes, "x", range(len(values)), values)
    style.light_grid(axes, "both")


def _name(axes: Axes, which: str, places: Sequence[float], values: Sequence[str]) -> None:
    style.name_places(axes, which, places, (style.short(value.rsplit("/", 1)[-1]) for value in values))


def draw_heat(spec: Spec, done: Sequence[Done], x: str, y: str) -> Figure:
    """Draws a panel for each combination of all other axes; the colour is the median time over seeds, on the same scale in
    all panels."""
    cells: dict[str, dict[tuple[str, str], list[Done]]] = {}
    for one in done:
        if one.result is not None:
            values = one.point.values
            title = shown(varied_values(spec, one, (x, y, "seed")))
            cells.setdefault(title, {}).setdefault((values[y], values[x]), []).append(one)
    drawn = dict(list(cells.items())[:MOST_PANELS])
    medians = {
        title: {place: median([one.value("time") for one in found]) for place, found in panel.items()} for title, panel in drawn.items()
    }
    columns, rows = spec.axes[x], spec.axes[y]
    figure, places = _grid(len(medians), max(3.6, 0.55 * len(columns) + 2.0), max(2.1, 0.3 * len(rows) + 1.4))
    every = [value for panel in medians.values() for value in panel.values()]
    low, high = min(every), max(every)
    scale: Normalize = LogNorm(low, high) if high > DECADE * low else Normalize(low, max(high, low * 1.001))
    for axes, (title, panel) in zip(places, medians.items(), strict=True):
        _heat(axes, rows, columns, panel, scale, len(every) <= MOST_NUMBERS)
        _ring(axes, [(columns.index(c), rows.index(r)) for (r, c), found in drawn[title].items() if any(map(_is_doubtful, found))])
        axes.set_title("\n".join(textwrap.wrap(title, 28)), parse_math=False, fontsize=8)
        axes.set_xlabel(x.removeprefix("set "), parse_math=False)
        axes.set_ylabel(y.removeprefix("set "), parse_math=False)
    figure.colorbar(places[0].collections[0], ax=places, label="predicted time, seconds")
    notes = "Median over seeds. " * ("seed" in spec.varied()) + "Dark: short. White: it failed."
    notes += f" Ring: {style.EXTRAPOLATED}" * any(map(_is_doubtful, done))
    left = len(cells) - len(medians)
    style.heading(figure, "Predicted time", notes + f" {left} more combinations are in points.csv." * (left > 0))
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
    axes.pcolormesh(np.ma.masked_invalid(values), cmap="viridis", norm=scale)
    for (row, column), value in np.ndenumerate(values):
        if has_numbers and np.isfinite(value):
            colour = "white" if scale(value) < 0.6 else style.INK
            axes.text(column + 0.5, row + 0.5, f"{value:.3g}", ha="center", va="center", fontsize=7.5, color=colour)
    _name(axes, "x", [at + 0.5 for at in range(len(columns))], columns)
    _name(axes, "y", [at + 0.5 for at in range(len(rows))], rows)
