"""Measured and simulated microbenchmarks and messages, overlaid."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from sdsm.calibrate.gate import Row
from sdsm.calibrate.network_gate import Held
from sdsm.plot import style
from sdsm.plot.style import GREEN, GREY, ORANGE, PREDICTED, PUBLISHED

#: The differences' panel reaches at least so far, in per cent.
LEAST_EDGE = 25.0


def draw(rows: Sequence[Row], title: str) -> Figure:
    """Draws costs: times, and differences."""
    figure = style.new_figure(8.5, 2.0 + 0.26 * len(rows))
    style.heading(
        figure,
        title,
        "Left: time, with two standard errors of the measurement; a bar that reaches 0 ends at the left edge. Right: simulated less\n"
        "measured; the bar is what is allowed, the larger of 2 % and two standard errors, up to the panel's edges.",
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
            label = "simulated" if place == 0 else None
            times.plot([row.simulated], [place], "x", color=PREDICTED, markersize=6, label=label)
            ok = PREDICTED if row.passes else PUBLISHED
            differences.plot([(row.simulated - value) * scale], [place], "o", color=ok, markersize=4)
    values = [abs(value) for row in rows for value in (row.measured.value, row.simulated or 0.0) if value]
    # No time is less than 0; of differences that come out below it, such as a dirty page's, the value itself is shown.
    times.set_xscale("symlog", linthresh=min(values, default=1.0))
    times.set_xlim(left=min([0.0, *(1.5 * row.measured.value for row in rows)]))
    times.set_xlabel("microseconds")
    times.set_yticks(list(places), [row.name for row in rows])
    times.invert_yaxis()
    style.legend_below(times)
    differences.axvline(0, color=GREY, linewidth=0.8)
    off = [abs(row.simulated - row.measured.value) / abs(row.measured.value) for row in rows if row.simulated is not None and row.measured.value]
    edge = max(LEAST_EDGE, 120 * max(off, default=0.0))
    differences.set_xlim(-edge, edge)
    differences.set_xlabel("per cent of the measurement")
    for axes in (times, differences):
        style.light_grid(axes, "x")
    return figure


def draw_network(held: Sequence[Held], title: str) -> Figure:
    """Draws times over sizes, and differences."""
    measured_in = {"bandwidth": PUBLISHED, "latency": GREEN, None: GREY}

    figure = style.new_figure(8.5, 6.5)
    style.heading(
        figure,
        title,
        "Above: time of a message by size (squares: of each of many sent at once), simulated with either network. Below: queue\n"
        "less measured. Full: the points that a parameter was fitted from, with what is allowed (bars); less the offset of their\n"
        "piece where it has one. Hollow: points that gave no parameter; they are not held.",
    )
    times, differences = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    labelled: set[str] = set()

    def label(text: str) -> str | None:
        if text in labelled:
            return None
        labelled.add(text)
        return text

    for one in held:
        shape = "o" if one.piece.is_one_way else "s"
        sizes = [p.size for p in one.points]
        filled = "full" if one.parameter else "none"
        what = f"measured, proves {one.parameter}" if one.parameter else "measured, not held"
        times.plot(
            sizes, [p.measured for p in one.points], shape, color=measured_in[one.piece.gives], fillstyle=filled,
            markersize=4, label=label(what),
        )  # fmt: skip
        known = [(p.size, p.simulated) for p in one.points if p.simulated is not None]
        flow = [(p.size, value) for p, value in zip(one.points, one.flow, strict=True) if value is not None]
        line = "-" if one.piece.is_one_way and len(known) > 1 else "x"
        for values, colour, text in ((known, PREDICTED, "simulated, queue"), (flow, ORANGE, "simulated, simgrid")):
            times.plot(
                [s for s, _ in values], [t for _, t in values], line, color=colour, linewidth=1.0, markersize=5,
                label=label(text),
            )  # fmt: skip
        for p in one.points:
            if p.simulated is None:
                continue
            part = 100 * (p.simulated + p.off - p.measured) / p.measured
            bar = 100 * p.allowed / p.measured
            if one.parameter:
                differences.plot([p.size, p.size], [-bar, bar], "-", color="#DDDDDD", linewidth=2.5, zorder=1)
            colour = (PREDICTED if p.passes else PUBLISHED) if one.parameter else GREY
            differences.plot([p.size], [part], shape, color=colour, fillstyle=filled, markersize=3.5, zorder=2)
    times.set_xscale("symlog", linthresh=1)
    times.set_yscale("log")
    times.set_ylabel("microseconds")
    differences.axhline(0, color=GREY, linewidth=0.8)
    differences.set_yscale("symlog", linthresh=10)
    differences.set_ylabel("per cent of the measurement")
    differences.margins(y=0.15)
    differences.set_xlabel("bytes")
    style.legend_below(differences, of=times)
    for axes in (times, differences):
        style.light_grid(axes)
    return figure
