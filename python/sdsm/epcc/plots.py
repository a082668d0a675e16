"""Plots overhead against number of threads, chunk size or array size: a panel per directive."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdsm.epcc.groups import Collection, Environment, Group
from sdsm.epcc.tables import UNIT_SIGNS, factor
from sdsm.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = {"threads": "threads", "chunk": "chunk size (iterations)", "array_size": "array size (elements)"}
COLUMNS = 3
COLOURS = (style.BLUE, style.VERMILION, style.GREEN, style.PURPLE, style.ORANGE, style.SKY, style.INK, style.GREY)
MARKERS = "os^Dv<>p"
EXPLANATION = "Mean over all samples of all runs. Bars: SD over the runs; of a single run what EPCC prints, 1.96 SD of its samples."


@dataclass(frozen=True)
class Plot:
    """A drawn figure, its name for files, and a sentence for those who cannot see it."""

    name: str
    title: str
    figure: Figure

    @cached_property
    def svg(self) -> bytes:
        """The figure as SVG, the same bytes from the same data."""
        return style.drawing(self.figure, "svg")


@dataclass(frozen=True, slots=True)
class _Point:
    x: int
    overhead: float
    spread: float  # SD over runs, for one run EPCC's half width; 0 if the output does not say


_Lines = dict[str, list[_Point]]


def draw(collection: Collection, unit: str, by: str = "auto") -> list[Plot]:
    """Draws a figure for the directives of each kind in the runs.

    by: "threads", "chunk" or "array_size" is what overhead is drawn against; "auto" takes a directive's own size, else
    threads. Directives all measured at one point only share one figure of their overheads side by side. Returns no
    figure for a key that no result has. Raises ValueError as tables.factor does.
    """
    groups = [group for group in collection.groups if group.overhead is not None]
    labels = _labels(collection.environments)
    plots = []
    for program in dict.fromkeys(group.key.program for group in groups):
        for axis in AXES:
            chosen = [group for group in groups if group.key.program == program and _axis(group, by) == axis]
            panels = _panels(chosen, axis, unit, labels)
            if not panels:
                continue
            xs = {point.x for lines in panels.values() for points in lines.values() for point in points}
            if len(xs) > 1:
                title, figure = _against(program, panels, axis, unit)
            else:
                title, figure = _side_by_side(program, panels, axis, unit, xs.pop())
            # Laid out once, not again in every format that it is saved in.
            figure.get_layout_engine().execute(figure)  # type: ignore[union-attr]
            figure.set_layout_engine(None)
            plots.append(Plot(f"{program}-{axis.replace('_', '-')}", f"{program}: {title}", figure))
    return plots


def _axis(group: Group, by: str) -> str | None:
    own = group.key.size_kind
    if by == "auto":
        return own or "threads"
    return by if by in ("threads", own) else None


def _labels(environments: Sequence[Environment]) -> dict[Environment, str]:
    """Returns the parts that distinguish each environment; for files the name without folder if that suffices."""
    names = [field.name for field in fields(Environment)]
    telling = [name for name in names if len({getattr(environment, name) for environment in environments}) > 1]
    files = {environment.file: Path(environment.file).name for environment in environments}
    if len(set(files.values())) < len(files):
        files = {file: file for file in files}
    labels = {}
    for environment in environments:
        parts = [files[environment.file] if name == "file" else getattr(environment, name) for name in telling]
        labels[environment] = ", ".join(text for text in parts if text)
    return labels


def _panels(groups: Sequence[Group], axis: str, unit: str, labels: Mapping[Environment, str]) -> dict[str, _Lines]:
    panels: dict[str, _Lines] = {}
    for group in groups:
        key = group.key
        by = factor(key.environment, unit)
        size = f"{key.size_kind.replace('_', ' ')} {key.size}" if key.size_kind else ""
        label = ", ".join(filter(None, (size if axis == "threads" else _threads(key.threads), labels[key.environment])))
        name = key.directive if key.occurrence == 1 else f"{key.directive} (no. {key.occurrence})"
        assert group.overhead is not None
        x = key.threads if axis == "threads" else key.size
        point = _Point(x, group.overhead * by, (group.overhead_sd_runs or group.overhead_half_width or 0.0) * by)
        panels.setdefault(name, {}).setdefault(label, []).append(point)
    for lines in panels.values():
        for points in lines.values():
            points.sort(key=lambda point: point.x)
    return panels


def _threads(count: int) -> str:
    return f"{count} thread{'s' if count > 1 else ''}"


def _against(program: str, panels: dict[str, _Lines], axis: str, unit: str) -> tuple[str, Figure]:
    columns = min(COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    most_lines = max(len(lines) for lines in panels.values())
    has_legend = most_lines > 1
    looks = {label: at for at, label in enumerate(dict.fromkeys(label for lines in panels.values() for label in lines))}
    legend_in = 0.2 + 0.17 * len(looks) if has_legend else 0.0
    figure = style.new_figure(3.4 * columns + 0.4, 2.5 * rows + 1.0 + legend_in)
    grid = figure.subplots(rows, columns, squeeze=False)
    cells = [axes for line in grid for axes in line]
    for axes, (name, lines) in zip(cells, panels.items(), strict=False):
        axes.set_title(name, parse_math=False)
        for label, points in lines.items():
            _line(axes, points, label, looks[label])
        _scale(axes, lines, axis)
        axes.set_xlabel(AXES[axis])
        axes.set_ylabel(f"overhead [{UNIT_SIGNS[unit]}]")
        style.light_grid(axes)
    for axes in cells[len(panels) :]:
        axes.set_visible(False)
    if has_legend:
        style.legend_of_all(figure, cells[: len(panels)])
    against = AXES[axis].partition(" (")[0]
    title = f"overhead against {'number of threads' if axis == 'threads' else against}"
    style.heading(figure, f"{program}: {title}", EXPLANATION)
    return title, figure


def _line(axes: Axes, points: Sequence[_Point], label: str, index: int) -> None:
    bars, overheads = [point.spread for point in points], [point.overhead for point in points]
    marker = MARKERS[(index + index // len(COLOURS)) % len(MARKERS)]  # another pairing when the colours begin again
    look: dict[str, Any] = {"color": COLOURS[index % len(COLOURS)], "marker": marker, "markersize": 3.5}
    xs = [point.x for point in points]
    axes.errorbar(xs, overheads, yerr=bars if any(bars) else None, label=style.label(label), linewidth=1.2, capsize=2.0, **look)


def _scale(axes: Axes, lines: _Lines, axis: str) -> None:
    """Sizes double or triple from one to the next, so a logarithmic axis spaces them evenly."""
    from matplotlib.ticker import NullLocator

    xs = sorted({point.x for points in lines.values() for point in points})
    if axis != "threads" or xs[-1] > 16:
        axes.set_xscale("log", base=3 if axis == "array_size" else 2)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    else:
        axes.set_xticks(xs)
    ys = [point.overhead for points in lines.values() for point in points]
    if min(ys) > 0 and max(ys) > 100 * min(ys):
        axes.set_yscale("log")
    elif min(ys) < 0:
        axes.axhline(0.0, color="#8A8A8A", linewidth=0.8)


def _side_by_side(program: str, panels: dict[str, _Lines], axis: str, unit: str, x: int) -> tuple[str, Figure]:
    names = list(panels)
    labels = list(dict.fromkeys(label for lines in panels.values() for label in lines))
    figure = style.new_figure(7.2, 0.26 * len(names) * max(1.0, 0.6 * len(labels)) + 1.5 + 0.15 * len(labels))
    axes = figure.subplots()
    for index, label in enumerate(labels):
        shift = (index - (len(labels) - 1) / 2) * min(0.25, 0.8 / len(labels))
        rows = [(row + shift, panels[name][label][0]) for row, name in enumerate(names) if label in panels[name]]
        bars, overheads = [point.spread for _, point in rows], [point.overhead for _, point in rows]
        look: dict[str, Any] = {"color": COLOURS[index % len(COLOURS)], "fmt": MARKERS[index % len(MARKERS)]}
        look |= {"label": style.label(label), "markersize": 4.0, "capsize": 2.0}
        axes.errorbar(overheads, [row for row, _ in rows], xerr=bars if any(bars) else None, **look)
    style.name_places(axes, "y", range(len(names)), names)
    axes.invert_yaxis()
    _scale_side_by_side(axes, [point for lines in panels.values() for points in lines.values() for point in points])
    axes.set_xlabel(f"overhead [{UNIT_SIGNS[unit]}]")
    style.light_grid(axes, "x")
    if labels != [""]:
        style.legend_below(axes, fontsize=7)
    title = f"overhead, {_threads(x) if axis == 'threads' else AXES[axis].partition(' (')[0] + f' {x}'}"
    style.heading(figure, f"{program}: {title}", EXPLANATION)
    return title, figure


def _scale_side_by_side(axes: Axes, points: Sequence[_Point]) -> None:
    """Scales linearly around 0 and logarithmically beyond: some values are about zero or negative, others a thousand times as
    large."""
    lowest = min(point.overhead - point.spread for point in points)
    highest = max(point.overhead + point.spread for point in points)
    if lowest > 0:
        axes.set_xscale("log")
        axes.set_xlim(lowest / 1.5, highest * 1.5)
        return
    sizes = sorted(abs(point.overhead) for point in points)
    typical = sizes[len(sizes) // 4] or sizes[-1] or 1.0
    linear = 10.0 ** math.ceil(math.log10(typical))
    axes.set_xscale("symlog", linthresh=linear)
    axes.set_xlim(min(lowest * 1.5, -0.3 * linear), max(highest * 1.5, 1.2 * linear))
    axes.axvline(0.0, color=style.GREY, linewidth=0.8)
