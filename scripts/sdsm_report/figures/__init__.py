"""The figures: each a module with NAME, draw(lines) and an entry point (python -m sdsm_report.figures.NAME RESULTS)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdsm_report.directives import DirectiveRow
from sdsm_report.protocols import ProtocolRow
from sdsm_report.report import Line


def draw_all(
    lines: Sequence[Line], rows: Sequence[ProtocolRow], overheads: Sequence[DirectiveRow], folder: Path
) -> list[Path]:
    """Draws every figure that there is data for. Returns the files written. Raises OSError."""
    from sdsm_report.figures import (
        directives,
        fft_speedup,
        fft_time,
        laplace_speedup,
        laplace_spread,
        laplace_time,
        protocols,
    )
    from sdsm_report.figures.style import save

    written: list[Path] = []
    for module in (laplace_speedup, laplace_time, laplace_spread, fft_speedup, fft_time):
        figure = module.draw(lines)
        if figure is not None:
            written += save(figure, folder, module.NAME)
    for name, figure in ((protocols.NAME, protocols.draw(rows)), (directives.NAME, directives.draw(overheads))):
        if figure is not None:
            written += save(figure, folder, name)
    return written
