"""Renders pages that need no other file: HTML with inputs escaped and drawings embedded."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib.figure import Figure

from sdsm.base.output_file import utf8
from sdsm.plot.results import printable
from sdsm.plot.style import drawing

#: Characters that XML forbids; a name may have them.
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(template: str, folder: Path, **values: Any) -> str:
    """Returns the page's text, the same from the same values. folder: the template's; base.html.jinja is here."""
    templates = Environment(
        loader=FileSystemLoader([folder, Path(__file__).parent]), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=_plain,
    )  # fmt: skip
    return templates.get_template(template).render(**values)


def _plain(value: Any) -> Any:
    return printable(utf8(value)) if isinstance(value, str) else value


def uri(svg: bytes) -> str:
    # Inside <img> each drawing has its own names, and no script of it runs; inlined, one's clip paths would be another's.
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")


def figure_uri(figure: Figure) -> str:
    return uri(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", drawing(figure, "svg").decode()).encode())
