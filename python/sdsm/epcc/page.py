"""The results as one HTML page that needs no other file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdsm.epcc.groups import Collection
from sdsm.epcc.plots import Plot
from sdsm.epcc.tables import COUNTS, TIMES, UNIT_SIGNS, Table, describe, shown
from sdsm.report.template import render, uri


def page(collection: Collection, tables: Sequence[Table], plots: Sequence[Plot], unit: str) -> str:
    """Returns the page's text, the same from the same data. Everything from the inputs is escaped."""
    return render(
        "page.html.jinja",
        Path(__file__).parent,
        collection=collection,
        tables=tables,
        plots=[(plot.title, uri(plot.svg)) for plot in plots],
        times=TIMES,
        counts=COUNTS,
        sign=UNIT_SIGNS[unit],
        describe=describe,
        shown=lambda value: shown(value, unit),
    )
