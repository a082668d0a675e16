"""The figures: each a module with draw(), of lines or of another table's rows; None where there is nothing to draw."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from sdsm.report.main_job.directives import DirectiveRow
from sdsm.report.main_job.protocols import ProtocolRow
from sdsm.report.main_job.report import Line

OF_LINES = ("laplace_speedup", "laplace_time", "laplace_spread", "fft_speedup", "fft_time")


def draw_all(
    lines: Sequence[Line], by_protocol: Sequence[ProtocolRow], overheads: Sequence[DirectiveRow], folder: Path
) -> list[Path]:
    """Draws every figure with data. Returns the files written. Raises OSError."""
    from sdsm.plot.style import save

    of = dict.fromkeys(OF_LINES, lines) | {"protocols": by_protocol, "directives": overheads}  # type: ignore[dict-item]
    drawn = {name: importlib.import_module(f"{__name__}.{name}").draw(rows) for name, rows in of.items()}
    return [path for name, figure in drawn.items() if figure is not None for path in save(figure, folder, name)]
