"""Which pages of which arrays cost most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from sdsm_explain.memory import Array
from sdsm_report.figures import style

MOST_ARRAYS = 10
#: Parts that an array is shown in, from its first to its last page.
PARTS = 64


def cost_by_part(array: Array) -> np.ndarray:
    """(PARTS,), seconds a page costs there on average, all threads together; NaN where there is no page."""
    pages = max(array.pages, 1 + max(array.page_costs_s, default=0))
    costs = np.zeros(pages)
    for page, cost_s in array.page_costs_s.items():
        costs[page] = cost_s
    if pages >= PARTS:
        ends = np.linspace(0, pages, PARTS + 1).round().astype(int)
        return np.add.reduceat(costs, ends[:-1]) / np.diff(ends)
    return costs[np.arange(PARTS) * pages // PARTS]


def draw(arrays: Sequence[Array]) -> Figure | None:
    """A row for each array, the costliest first. None if nothing cost anything."""
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
    axes.set_yticks(np.arange(len(shown)) + 0.5, [style.short(one.title) + (f" ({one.pages} pages)" if one.pages else "") for one in shown])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.set_xticks([0, 1], ["first page", "last page"])
    figure.colorbar(drawn, ax=axes, label="seconds for each page")
    style.heading(figure, "Which pages cost most", "Faults and diffs of all threads, over each array. White: nothing.")
    return figure
