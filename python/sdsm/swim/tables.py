"""The tables of `sdsm swim`, as text and CSV. Published times are read here, after all predictions are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdsm.base.published import FOLDER, all_rows, number
from sdsm.swim.job import Simulated
from sdsm.swim.plan import CALIBRATED_THREADS, VARIANTS, Variant


@dataclass(frozen=True)
class Line:
    """One variant on so many threads. few: the simulation; None for one thread, whose time is the calibration itself.
    unevenness: of the steps extrapolated from."""

    variant: Variant
    threads: int
    time_s: float
    few: Simulated | None = None
    unevenness: float = 0.0

    @property
    def use(self) -> str:
        is_fitted = self.threads == CALIBRATED_THREADS and self.variant == VARIANTS[0]
        return "calibration" if self.threads == 1 or is_fitted else "predicted"


def published_s(line: Line, folder: Path = FOLDER) -> float | None:
    """Returns None if no time is known."""
    rows = all_rows("swim_times", folder, source="HY", optimisations=line.variant.name, threads=line.threads)
    return number(rows[0], "wall_s") if rows else None


def error(line: Line, published: float) -> float:
    return line.time_s / published - 1


def text(lines: Sequence[Line], has_published: bool, folder: Path = FOLDER) -> str:
    """`has_published`: the lines are of the published program, not of another size."""
    out = [f"{'optimisations':34} {'threads':>7} {'time s':>9} {'published':>9} {'error':>7}  {'':11}  steps differ by"]
    for line in lines:
        published = published_s(line, folder) if has_published else None
        compared = f"{published:9.2f} {100 * error(line, published):+6.1f}%" if published is not None else f"{'':9} {'':7}"
        differ = f"{100 * line.unevenness:.2f}%" if line.few else ""
        out.append(f"{line.variant.name:34} {line.threads:7} {line.time_s:9.2f} {compared}  {line.use:11}  {differ}".rstrip())
    iterations = max((len(line.few.ends_s) - 1 for line in lines if line.few), default=0)
    out += ["", f"In the first {iterations} iterations, all threads:", f"{'optimisations':34} {'threads':>7} {'faults':>9} {'requests':>9} {'diffs':>9} {'messages':>9} {'MB':>8}"]
    for line in lines:
        if few := line.few:
            out.append(
                f"{line.variant.name:34} {line.threads:7} {few.faults:9} {few.page_requests:9} {few.diffs:9} "
                f"{few.messages:9} {few.message_bytes / 1e6:8.0f}"
            )
    return "\n".join(out)


def rows(lines: Sequence[Line], has_published: bool, folder: Path = FOLDER) -> list[dict[str, object]]:
    """Returns rows for the CSV."""
    found = []
    for line in lines:
        few, published = line.few, published_s(line, folder) if has_published else None
        row: dict[str, object] = {"optimisations": line.variant.name, "threads": line.threads, "use": line.use}
        row |= {"time_s": round(line.time_s, 3), "published_s": published}
        row["steps_differ_by"] = round(line.unevenness, 5) if few else None
        row["step_ends_s"] = " ".join(f"{end_s:.4f}" for end_s in few.ends_s) if few else None
        counts = ("faults", "page_requests", "diffs", "messages", "message_bytes")
        found.append(row | {name: getattr(few, name) if few else None for name in counts})
    return found
