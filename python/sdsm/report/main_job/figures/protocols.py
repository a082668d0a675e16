"""Predicted speedup of Laplace 4 and FFT 4 under each protocol."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from sdsm.plot import style
from sdsm.report.main_job.protocols import ProtocolRow

TITLES = {"laplace": "Laplace 4", "fft": "FFT 4"}
COLOURS = (style.BLUE, style.GREEN, style.VERMILION, style.PURPLE, style.ORANGE, style.SKY)
MARKERS = "osD^vP"


def draw(rows: Sequence[ProtocolRow]) -> Figure | None:
    """A panel for each program, a line for each protocol; None if nothing was predicted."""
    done = [row for row in rows if row.speedup is not None]
    if not done:
        return None
    programs = list(dict.fromkeys(row.program for row in done))
    protocols = list(dict.fromkeys(row.protocol for row in rows))
    figure = style.new_figure(1.0 + 4.0 * len(programs), 4.4)
    panels = figure.subplots(1, len(programs), squeeze=False)[0]
    for axes, program in zip(panels, programs, strict=True):
        axes.set_title(TITLES[program])
        nodes = sorted({row.nodes for row in done})
        axes.plot(nodes, nodes, color=style.PALE, linewidth=1, label="ideal")
        for place, protocol in enumerate(protocols):
            of = [row for row in done if (row.program, row.protocol) == (program, protocol)]
            if not of:
                continue
            look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
            name = f"{protocol} ({of[0].platform})"
            axes.plot([row.nodes for row in of], [row.speedup for row in of], **look, markersize=5, label=name)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:g}")
        axes.set_xticks(nodes)
        axes.set_xlabel("nodes, one thread each")
        style.light_grid(axes)
    panels[0].set_ylabel("speedup over the sequential program")
    handles = {label: line for axes in panels for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=len(handles), fontsize=8)
    style.heading(
        figure,
        "One trace under each protocol: predicted speedup",
        "The same machine's network. Costs of jiajia are assumed (platforms/p3-jiajia.xml); nobody measured it there.",
    )
    return figure
