"""The tables of `scripts/swim`, as text and CSV. Published times are read here, after all predictions are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from calibration.published import FOLDER, all_rows, number
from sdsm_swim.job import Simulated
from sdsm_swim.plan import CALIBRATED_THREADS, VARIANTS, Variant


@dataclass(frozen=True)
class Line:
    """One variant on so many threads. whole: extrapolated; None for one thread, whose time is the calibration itself.
    straight: the third run's time, simulated, and as the first two extrapolate to it."""

    variant: Variant
    threads: int
    time_s: float
    whole: Simulated | None = None
    straight: tuple[float, float] | None = None

    @property
    def use(self) -> str:
        is_fitted = self.threads == CALIBRATED_THREADS and self.variant == VARIANTS[0]
        return "calibration" if self.threads == 1 or is_fitted else "predicted"


def published_s(line: Line, folder: Path = FOLDER) -> float | None:
    """None where no time is known."""
    rows = all_rows("swim_times", folder, source="HY", optimisations=line.variant.name, threads=line.threads)
    return number(rows[0], "wall_s") if rows else None


def error(line: Line, published: float) -> float:
    return line.time_s / published - 1


def text(lines: Sequence[Line], has_published: bool, folder: Path = FOLDER) -> str:
    """`has_published`: the lines are of the published program, not of another size."""
    out = [f"{'optimisations':34} {'threads':>7} {'time s':>9} {'published':>9} {'error':>7}  {'':11}  straight"]
    for line in lines:
        published = published_s(line, folder) if has_published else None
        told = f"{published:9.2f} {100 * error(line, published):+6.1f}%" if published is not None else f"{'':9} {'':7}"
        straight = f"{100 * (line.straight[1] / line.straight[0] - 1):+.2f}%" if line.straight else ""
        out.append(f"{line.variant.name:34} {line.threads:7} {line.time_s:9.2f} {told}  {line.use:11}  {straight}".rstrip())
    out += ["", f"{'optimisations':34} {'threads':>7} {'faults':>9} {'requests':>9} {'diffs':>9} {'messages':>9} {'MB':>8}"]
    for line in lines:
        if line.whole:
            w = line.whole
            out.append(
                f"{line.variant.name:34} {line.threads:7} {w.faults:9.0f} {w.page_requests:9.0f} {w.diffs:9.0f} "
                f"{w.messages:9.0f} {w.message_bytes / 1e6:8.0f}"
            )
    return "\n".join(out)


def rows(lines: Sequence[Line], has_published: bool, folder: Path = FOLDER) -> list[dict[str, object]]:
    """For the CSV."""
    return [
        {
            "optimisations": line.variant.name,
            "threads": line.threads,
            "use": line.use,
            "time_s": round(line.time_s, 3),
            "published_s": published_s(line, folder) if has_published else None,
            "check_simulated_s": line.straight[0] if line.straight else None,
            "check_extrapolated_s": line.straight[1] if line.straight else None,
            "faults": round(line.whole.faults) if line.whole else None,
            "page_requests": round(line.whole.page_requests) if line.whole else None,
            "diffs": round(line.whole.diffs) if line.whole else None,
            "messages": round(line.whole.messages) if line.whole else None,
            "message_bytes": round(line.whole.message_bytes) if line.whole else None,
        }
        for line in lines
    ]
