"""The self-consistency gate: microbenchmarks that a platform was calibrated from, re-run in the simulator, beside the
measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdsm.base import run_result
from sdsm.base.children import CommandRunner
from sdsm.calibrate.estimates import Estimate
from sdsm.calibrate.fit import Check
from sdsm.calibrate.network import Piece

TIME_LIMIT_S = 300.0
#: Largest difference of simulated from measured, as a part of the latter; two standard errors if that is more.
TOLERANCE = 0.02
STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Row:
    """One quantity, microseconds. simulated: None if the platform is too small to re-run it."""

    name: str
    parameters: tuple[str, ...]
    measured: Estimate
    simulated: float | None
    sources: tuple[str, ...]

    @property
    def allowed(self) -> float:
        error = self.measured.standard_error or 0.0
        return max(TOLERANCE * abs(self.measured.value), STANDARD_ERRORS * error)

    @property
    def difference(self) -> float | None:
        return None if self.simulated is None else self.simulated - self.measured.value

    @property
    def passes(self) -> bool:
        return self.simulated is not None and abs(self.simulated - self.measured.value) <= self.allowed


def replay(
    build: Path, platform: Path, runner: CommandRunner, pieces: Sequence[Piece] = (), arguments: Sequence[str] = ()
) -> dict[str, float]:
    """Returns microseconds of each microbenchmark, by name. pieces: their sizes are re-run. arguments: more for `sdsm
    replay`. Raises CommandFailed."""
    command = [str(build / "sdsm"), "replay", str(platform), *arguments]
    for option, is_one_way in (("--messages", True), ("--streams", False)):
        sizes = {size for piece in pieces if piece.is_one_way == is_one_way for size in piece.sizes}
        if sizes:
            command += [option, ",".join(str(size) for size in sorted(sizes))]
    found = run_result.printed(runner.run([*command, "--json", "-"], TIME_LIMIT_S), run_result.Replay, "sdsm replay")
    return {row.what: row.simulated_s * 1e6 for row in found.rows}


def rows(checks: Sequence[Check], simulated: dict[str, float]) -> list[Row]:
    return [Row(one.row, one.parameters, one.measured, simulated.get(one.row), one.sources) for one in checks]


def failure(row: Row) -> str:
    """Returns one line for a row that does not pass."""
    about = " and ".join(row.parameters)
    if row.simulated is None:
        return f"{row.name}: the base file's cluster has no room to re-run it, so {about} stays unproved. Give one with more nodes"
    unit = f"{row.measured.value:.4g} us measured, {row.simulated:.4g} us simulated, {row.allowed:.3g} us allowed"
    return f"{row.name}: {about} does not give back what was measured ({unit})"
