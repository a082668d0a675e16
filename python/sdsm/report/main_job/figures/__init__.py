"""The figures: each a module with NAME and draw(), of lines or of another table's rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdsm.report.main_job.directives import DirectiveRow
from sdsm.report.main_job.protocols import ProtocolRow
from sdsm.report.main_job.report import Line


def draw_all(
    lines: Sequence[Line], rows: Sequence[ProtocolRow], overheads: Sequence[DirectiveRow], folder: Path
) -> list[Path]:
    """Draws every figure with data. Returns the files written. Raises OSError."""
    from sdsm.plot.style import save
    from sdsm.report.main_job.figures import (
        directives,
        fft_speedup,
        fft_time,
        laplace_speedup,
        laplace_spread,
        laplace_time,
        protocols,
    )

    drawn = [(one.NAME, one.draw(lines)) for one in (laplace_speedup, laplace_time, laplace_spread, fft_speedup, fft_time)]
    drawn += [(protocols.NAME, protocols.draw(rows)), (directives.NAME, directives.draw(overheads))]
    return [path for name, figure in drawn if figure is not None for path in save(figure, folder, name)]
