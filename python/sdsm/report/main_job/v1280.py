"""FFT 2 on the Sun Fire V1280, whose hardware shares memory: one node of several threads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sdsm.base.children import CommandFailed
from sdsm.base.places import PLATFORMS
from sdsm.base.published import calibration_value
from sdsm.microbench.command import Layout
from sdsm.report.main_job.plan import FFT_POINTS, FIRST_SEED, Configuration, SimulationRun
from sdsm.report.main_job.simulation import Simulator

TABLE = "v1280.csv"
PROGRAM, IMPLEMENTATION = "fft", 2
LAYOUTS = (Layout(1, 2), Layout(1, 4))


@dataclass(frozen=True)
class HardwareRow:
    """A prediction. status: "done", or what failed. one_thread_s: published, from which the compute time comes."""

    program: str
    implementation: int
    threads: int
    one_thread_s: float
    status: str
    predicted_s: float | None = None

    @property
    def failed(self) -> bool:
        return self.status != "done"


def configurations() -> list[Configuration]:
    return [Configuration(PROGRAM, IMPLEMENTATION, layout) for layout in LAYOUTS]


def simulate(configuration: Configuration, simulator: Simulator, trace: Path, folder: Path) -> HardwareRow:
    """Leaves the result's JSON in `folder`. Raises Stopped, PublishedDataError."""
    of = {"implementation": IMPLEMENTATION, "points": FFT_POINTS, "threads": 1}
    one_thread_s = calibration_value("v1280_fft_times", "time_s", **of)  # type: ignore[arg-type]
    row = (PROGRAM, IMPLEMENTATION, configuration.layout.threads, one_thread_s)
    run = SimulationRun(configuration, FIRST_SEED, one_thread_s)
    try:
        result = simulator.kept(run, trace, folder / f"{configuration.name}.json", PLATFORMS / "v1280.xml", "hardware")
    except CommandFailed as error:
        return HardwareRow(*row, str(error))
    return HardwareRow(*row, "done", result.makespan_s)


def text(rows: list[HardwareRow]) -> str:
    """A line for each number of threads."""
    given = f"1 thread: {rows[0].one_thread_s:g} (given [WR-opt])"
    lines = [f"{r.threads} threads: {r.status if r.predicted_s is None else f'{r.predicted_s:.3f}'}" for r in rows]
    return "\n".join([given, *lines])
