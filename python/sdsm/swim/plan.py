"""The runs of Swim that are traced and simulated, and their computing times. Reads calibration rows alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sdsm.base.published import FOLDER, calibration_value

PROGRAM = "swim"
#: Sums without a lock, at which JIAJIA would end an interval: [HY]'s eight regions a step have none.
IMPLEMENTATION = 2
THREADS = (2, 4, 8)
CALIBRATED_THREADS = 2
"""Whose published time the platform is fitted to, before the optimisations."""

#: Quirks of the real system: its departures from its own rules were measured, too.
QUIRKS = (
    "reads-of-invalid-copies-write,writes-of-unmapped-pages-trap-twice,empty-diffs-travel,unread-homes-keep-silent,"
    "lock-notices-outlive-barriers,first-page-stays,barrier-is-lock-64"
)
BASE = ("--protocol", "jiajia", "--fork", "broadcast", "--adaptive-write-detection", "--quirks", QUIRKS)
PLACED = (*BASE, "--first-touch-migration", "1")
"""[HY] names a threshold for further moves, not its value: one is assumed."""


@dataclass(frozen=True)
class Variant:
    """A step of [HY]'s optimisations. name: in the published table."""

    name: str
    options: tuple[str, ...]


VARIANTS = (
    Variant("none", (*BASE, "--home-migration")),
    Variant("page placement", PLACED),
    # The regions' arguments: the only other shared data, read and never written.
    Variant("page placement and privatization", (*PLACED, "--privatize", "initial stack")),
)


@dataclass(frozen=True)
class SwimTrace:
    """One trace; sdsm.base.tracing makes it."""

    size: int
    iterations: int
    threads: int
    program: str = PROGRAM

    @property
    def name(self) -> str:
        return f"swim-{self.size}-{self.iterations}i-{self.threads}t"

    @property
    def arguments(self) -> tuple[str, ...]:
        size = ("--size", str(self.size), "--iterations", str(self.iterations))
        return ("--impl", str(IMPLEMENTATION), *size, "--steps", "--no-check")


@dataclass(frozen=True)
class Swim:
    """The published program. one_thread_s: by variant."""

    size: int
    iterations: int
    parallel_share: float
    one_thread_s: dict[str, float]

    def iteration_s(self, variant: str, size: int) -> float:
        """Computing time of all threads in one iteration. Another size's grows with its points."""
        parallel_s = self.parallel_share * self.one_thread_s[variant]
        return parallel_s / self.iterations * (size / self.size) ** 2

    def sequential_s(self, variant: str, size: int) -> float:
        """Computing time of the initial thread alone, in the whole run."""
        return (1 - self.parallel_share) * self.one_thread_s[variant] * (size / self.size) ** 2


def published_swim(folder: Path = FOLDER) -> Swim:
    """Raises PublishedDataError."""

    whats = ("rows and columns of an array", "iterations", "share of the one-thread time in parallel loops")
    size, iterations, share = (
        calibration_value("swim_program", "value", folder, source="HY", what=what) for what in whats
    )
    return Swim(int(size), int(iterations), share, {one.name: _published_s(folder, one.name, 1) for one in VARIANTS})


def calibrated_s(folder: Path = FOLDER) -> float:
    """The time that the platform is fitted to. Raises PublishedDataError."""
    return _published_s(folder, VARIANTS[0].name, CALIBRATED_THREADS)


def _published_s(folder: Path, variant: str, threads: int) -> float:
    return calibration_value("swim_times", "wall_s", folder, source="HY", optimisations=variant, threads=threads)
