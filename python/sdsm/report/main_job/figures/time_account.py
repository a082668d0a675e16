"""Stacked bars of where a run's time goes; the two figures that use them share terms and colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sdsm.plot import style
from sdsm.report.main_job.report import Line

# Term of the account -> (label, colour). Warm: faults; cool: work; the rest: waiting for others.
TERMS = {
    "compute": ("compute", style.BLUE),
    "fault RUMR": ("fault: fetch to read (RUMR)", style.VERMILION),
    "fault WUMR": ("fault: fetch to write (WUMR)", style.ORANGE),
    "fault WROR": ("fault: write a fetched page (WROR)", "#F5C76A"),
    "fault WROH": ("fault: first write of a home page (WROH)", style.YELLOW),
    "fault other": ("faults of other kinds", "#FAF3B5"),
    "diff": ("diffs", style.GREEN),
    "protect": ("dirty home pages at barriers", "#7CCBB1"),
    "barrier": ("barrier", style.PURPLE),
    "lock": ("lock", "#7A3E63"),
    "stolen": ("serving others", style.INK),
    "idle": ("idle", style.PALE),
    "other": ("other", style.GREY),
}


def grouped(account_s: Mapping[str, float]) -> dict[str, float]:
    """The account's terms gathered under TERMS, seconds, in their order; every second of the account is in it."""
    sums = dict.fromkeys(TERMS, 0.0)
    for term, seconds in account_s.items():
        if term in sums:
            sums[term] += seconds
        elif term.startswith("fault "):
            sums["fault other"] += seconds
        else:
            sums["other"] += seconds
    return sums


def used_terms(lines: Sequence[Line]) -> list[str]:
    """Terms that take at least a thousandth of any of the runs, in the order of TERMS."""
    shares = [(grouped(line.mean_account_s), sum(line.mean_account_s.values())) for line in lines]
    return [term for term in TERMS if any(sums[term] > 1e-3 * total for sums, total in shares)]


def bars(axes: Axes, lines: Sequence[Line], labels: Sequence[str], places: Sequence[float]) -> None:
    """One horizontal bar per line, seconds, with its total at its end.

    lines, labels, places: (bars,); places are heights on the y axis, which is turned over (0 on top).
    """
    longest_s = max(sum(line.mean_account_s.values()) for line in lines)
    for line, place in zip(lines, places, strict=True):
        left = 0.0
        for term, seconds in grouped(line.mean_account_s).items():
            if seconds > 0:
                colour = TERMS[term][1]
                axes.barh(place, seconds, left=left, height=0.78, color=colour, edgecolor="white", linewidth=0.4)
            left += seconds
        total = f"{left:.2f} s" if left < 20 else f"{left:.1f} s"
        axes.annotate(total, (left, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(list(places), list(labels), fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(places) + 0.6, min(places) - 0.6)
    axes.set_xlim(0, 1.12 * longest_s)
    axes.set_xlabel("seconds, mean over threads")
    style.light_grid(axes, "x")


def legend(figure: Figure, lines: Sequence[Line]) -> None:
    """The terms that occur in any of the bars, below the panels."""
    handles = [Patch(color=TERMS[term][1], label=TERMS[term][0]) for term in used_terms(lines)]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=8.5, handlelength=1.2)
