"""The results as one HTML page that needs no other file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment as Templates
from jinja2 import FileSystemLoader, StrictUndefined

from sdsm_epcc.groups import Collection
from sdsm_epcc.plots import Plot
from sdsm_epcc.tables import COUNTS, TIMES, UNIT_SIGNS, Table, describe, shown


def page(collection: Collection, tables: Sequence[Table], plots: Sequence[Plot], unit: str) -> str:
    """The page's text, the same from the same data. Nothing of the inputs reaches it unescaped."""
    templates = Templates(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template("page.html.jinja").render(
        collection=collection,
        tables=tables,
        plots=[(plot.title, _as_uri(plot)) for plot in plots],
        times=TIMES,
        counts=COUNTS,
        sign=UNIT_SIGNS[unit],
        describe=describe,
        shown=lambda value: shown(value, unit),
    )


def _as_uri(plot: Plot) -> str:
    # Inside <img> each drawing has its own names; inlined, the clip paths of one would be taken for those of another.
    return "data:image/svg+xml;base64," + base64.b64encode(plot.svg).decode("ascii")
