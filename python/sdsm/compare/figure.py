"""Where the time goes, a bar for each result."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from sdsm.compare.comparison import Comparison
from sdsm.explain.alternatives import Layout
from sdsm.plot import style

COLOURS = (style.SKY, style.VERMILION, style.ORANGE, style.YELLOW, style.GREEN, style.PURPLE, style.BLUE, style.INK, style.GREY)


def draw(comparison: Comparison) -> Figure:
    """Draws bars of the table's terms and of all others together; whiskers run from the least to the greatest time."""
    results = comparison.results
    figure = style.new_figure(7.6, 1.9 + 0.55 * len(results))
    axes = figure.subplots()
    places = range(len(results), 0, -1)
    begun = [0.0] * len(results)
    terms = [(row.name, row.values) for row in comparison.largest_terms()]
    named = {name for name, _ in terms}
    others = [sum(row.values[i] for row in comparison.common_terms() if row.name not in named) for i in range(len(results))]
    for number, (name, values) in enumerate([*terms, ("all others", tuple(others))]):
        axes.barh(places, values, left=begun, height=0.6, color=COLOURS[number % len(COLOURS)], label=name)
        begun = [start + value for start, value in zip(begun, values, strict=True)]
    for at, one in zip(places, results, strict=True):
        axes.plot([one.time.low_s, one.time.high_s], [at, at], color=style.INK, marker="|", linewidth=1)
    names = (style.short(f"[{i}] {Path(one.result.file).name}") for i, one in enumerate(results, start=1))
    style.name_places(axes, "y", places, names)
    axes.set_xlabel("seconds")
    axes.set_xlim(left=0)
    style.light_grid(axes, "x")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
    compared = [one.result for one in results]
    title = style.about(
        (one.program for one in compared),
        (dict(one.settings).get("platform", "") for one in compared),
        (str(Layout(one.nodes, one.threads_per_node)) for one in compared),
    )
    style.heading(figure, f"{title or 'Several programs'}: where the time goes", "Mean over threads. Lines: from the least to the greatest time, or a prediction's band.")
    return figure
