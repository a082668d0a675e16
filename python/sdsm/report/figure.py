"""Draws the costs of arrays by page, and threads' states over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from sdsm.explain.memory import Array
from sdsm.plot import style
from sdsm.report.excerpt import Excerpt

MOST_ARRAYS = 10
#: Colours of a thread's states; the last one is for the protocol's faults.
STATES = {
    "compute": style.SKY, "barrier": style.PALE, "diff": style.ORANGE, "protect": style.YELLOW, "lock": style.PURPLE,
    "stolen": style.GREEN, "idle": "#F4F4F4", "faults": style.VERMILION,
}  # fmt: skip
#: Parts of an array in the drawing, from its first to its last page.
PARTS = 64


def cost_by_part(array: Array) -> np.ndarray:
    """Returns (PARTS,): mean seconds per page there, all threads together; NaN where there is no page."""
    pages = max(array.pages, 1 + max(array.page_costs_s, default=0))
    costs = np.zeros(pages)
    for page, cost_s in array.page_costs_s.items():
        costs[page] = cost_s
    if pages >= PARTS:
        ends = np.linspace(0, pages, PARTS + 1).round().astype(int)
        return np.add.reduceat(costs, ends[:-1]) / np.diff(ends)
    return costs[np.arange(PARTS) * pages // PARTS]


def draw(arrays: Sequence[Array]) -> Figure | None:
    """Draws a row for each array, the costliest first. None if nothing cost anything."""
    shown = [one for one in arrays if any(one.page_costs_s.values())][:MOST_ARRAYS]
    if not shown:
        return None
    costs = np.array([cost_by_part(one) for one in shown])
    figure = style.new_figure(7.6, 1.5 + 0.3 * len(shown))
    axes = figure.subplots()
    least, most = costs[costs > 0].min(), costs.max()
    drawn = axes.pcolormesh(
        np.linspace(0, 1, PARTS + 1), np.arange(len(shown) + 1), np.ma.masked_less_equal(costs, 0), cmap="viridis_r",
        norm=LogNorm(max(least, most * 1e-4), max(most, least * 1.001)),
    )  # fmt: skip
    axes.invert_yaxis()
    names = (style.short(one.title) + (f" ({one.pages} pages)" if one.pages else "") for one in shown)
    style.name_places(axes, "y", np.arange(len(shown)) + 0.5, names)
    axes.set_xticks([0, 1], ["first page", "last page"])
    style.logarithmic_bar(figure.colorbar(drawn, ax=axes, label="seconds for each page"))
    style.heading(figure, "Which pages cost most", "Faults and diffs of all threads, over each array. Dark: long. White: nothing.")
    return figure


def draw_timeline(excerpt: Excerpt) -> Figure:
    """Draws a row for each thread, time from left to right; messages as thin lines."""
    length_s = excerpt.end_s - excerpt.begin_s
    unit, factor = ("s", 1.0) if length_s >= 1 else ("ms", 1e3) if length_s >= 1e-3 else ("us", 1e6)
    rows = {thread: row for row, thread in enumerate(excerpt.threads)}
    figure = style.new_figure(7.6, 1.75 + 0.26 * len(rows))
    axes = figure.subplots()
    bars: dict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    for one in excerpt.slices:
        begin_s, end_s = max(one.begin_s, excerpt.begin_s), min(one.end_s, excerpt.end_s)
        state = one.state if one.state in STATES else "faults"
        bars[rows[one.thread], state].append((begin_s * factor, (end_s - begin_s) * factor))
    for (row, state), parts in sorted(bars.items()):
        axes.broken_barh(parts, (row + 0.1, 0.8), facecolors=STATES[state], linewidth=0)
    for arrow in excerpt.arrows:
        times = (arrow.sent_s * factor, arrow.arrived_s * factor)
        axes.plot(times, (rows[arrow.sender] + 0.5, rows[arrow.receiver] + 0.5), color=style.INK, linewidth=0.5, alpha=0.6)
    axes.set_xlim(excerpt.begin_s * factor, excerpt.end_s * factor)
    axes.set_ylim(len(rows), 0)
    axes.set_yticks([row + 0.5 for row in rows.values()], [f"thread {thread}" for thread in rows])
    axes.set_xlabel(f"time since the run's begin, {unit}")
    axes.ticklabel_format(axis="x", useOffset=False)
    shown = [state for state in STATES if any(state == one for _, one in bars)]
    for state in shown:
        axes.broken_barh([], (0, 0), facecolors=STATES[state], label=state)
    style.legend_below(axes, columns=len(shown))
    style.heading(figure, "What threads do when", "A row for each thread. Thin lines: messages." if excerpt.arrows else "A row for each thread.")
    return figure
