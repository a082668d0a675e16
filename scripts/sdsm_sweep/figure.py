"""Predicted time over one axis, a line for each combination of the others."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from sdsm_report.figures import style
from sdsm_sweep.answer import median, shown, varied_values
from sdsm_sweep.results import Done
from sdsm_sweep.spec import Spec

COLOURS = (style.BLUE, style.VERMILION, style.GREEN, style.ORANGE, style.PURPLE, style.SKY, style.INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Above this ratio an axis is logarithmic.
DECADE = 5


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def axis_to_draw(spec: Spec) -> str | None:
    """The one asked for; else the first that has several numbers; else the first that varies. Seeds are samples."""
    varied = [axis for axis in spec.varied() if axis != "seed"]
    numeric = [axis for axis in varied if all(_number(value) is not None for value in spec.axes[axis])]
    return spec.x or next(iter([*numeric, *varied]), None)


def pictures(spec: Spec, done: Sequence[Done]) -> list[Figure]:
    """All that can be drawn of it."""
    drawn = draw(spec, done)
    return [drawn] if drawn is not None else []


def draw(spec: Spec, done: Sequence[Done]) -> Figure | None:
    """None if nothing varies, or all points failed."""
    x = axis_to_draw(spec)
    lines: dict[str, dict[str, list[float]]] = {}
    for one in done:
        if x is not None and one.result is not None:
            label = shown(varied_values(spec, one, (x, "seed")))
            lines.setdefault(label, {}).setdefault(one.point.values[x], []).append(one.value("time"))
    if x is None or not lines:
        return None
    values = spec.axes[x]
    numbers = [_number(value) for value in values]
    is_numeric = all(number is not None and number > 0 for number in numbers)
    figure = style.new_figure(7.6, 4.2 + 0.16 * len(lines))
    axes = figure.subplots()
    for at, (label, places) in enumerate(lines.items()):
        drawn = [value for value in values if value in places]
        xs = [float(value) if is_numeric else values.index(value) for value in drawn]
        ys = [median(places[value]) for value in drawn]
        bars = [[y - min(places[v]) for v, y in zip(drawn, ys, strict=True)], [max(places[v]) - y for v, y in zip(drawn, ys, strict=True)]]
        colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at // len(COLOURS) % len(MARKERS)]
        axes.errorbar(xs, ys, yerr=bars, color=colour, marker=marker, markersize=4.5, capsize=2, label=label or "time")
    if is_numeric:
        axes.set_xticks([float(value) for value in values], values)
        axes.minorticks_off()
        if max(map(float, values)) > DECADE * min(map(float, values)):
            axes.set_xscale("log")
            axes.set_xticks([float(value) for value in values], values)
            axes.minorticks_off()
    else:
        axes.set_xticks(range(len(values)), [value.rsplit("/", 1)[-1] for value in values])
    times = [time for places in lines.values() for found in places.values() for time in found]
    if max(times) > DECADE * min(times):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(x.removeprefix("set "), parse_math=False)
    axes.set_ylabel("predicted time, seconds")
    style.light_grid(axes, "both")
    legend = axes.legend(loc="upper left", bbox_to_anchor=(0, -0.14), fontsize=8)
    for text in legend.get_texts():
        text.set_parse_math(False)
    style.heading(figure, "Predicted time", "Median over seeds; bars from the least to the greatest." if "seed" in spec.varied() else "")
    return figure
