"""The programs that are run and predicted, and their numbers of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Size:
    """The amount of work. Sequential times are those of the emulated processors for all of it, seconds."""

    laplace_iterations: int
    fft_points: int
    laplace_sequential_s: float
    fft_sequential_s: float


#: The whole campaign takes about 25 minutes, the quick one a tenth of that.
WHOLE = Size(laplace_iterations=20, fft_points=2**15, laplace_sequential_s=8.0, fft_sequential_s=0.8)
QUICK = Size(laplace_iterations=4, fft_points=2**13, laplace_sequential_s=1.6, fft_sequential_s=0.2)

PROGRAMS = (("laplace", 3), ("laplace", 4), ("laplace", 6), ("fft", 2), ("fft", 4), ("fft", 5), ("fft", 6))


@dataclass(frozen=True)
class Case:
    """One program on one number of nodes, a thread on each: a line of the tables."""

    program: str
    implementation: int
    nodes: int

    @property
    def name(self) -> str:
        return f"{self.program}-{self.implementation}-{self.nodes}x1"

    @property
    def label(self) -> str:
        return f"{self.program} {self.implementation}"

    def command(self, build: Path, size: Size) -> list[str]:
        """The program and its arguments; its own check of the result takes longer than the work."""
        is_laplace = self.program == "laplace"
        work = ("--iterations", str(size.laplace_iterations)) if is_laplace else ("--points", str(size.fft_points))
        return [str(build / "workloads" / self.program), "--impl", str(self.implementation), *work, "--no-check"]

    def sequential_s(self, size: Size) -> float:
        """Seconds of the program on one thread of the emulated processors."""
        return size.laplace_sequential_s if self.program == "laplace" else size.fft_sequential_s


def cases(nodes: Sequence[int]) -> list[Case]:
    """Returns cases in the order of the tables."""
    return [Case(program, implementation, count) for program, implementation in PROGRAMS for count in nodes]
