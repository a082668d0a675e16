"""The runs of the main job. Only calibration rows of the published tables are read here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdsm.base.published import FOLDER, calibration_value
from sdsm.microbench.command import Layout

LAPLACE_POINTS_PER_SIDE = 1024
LAPLACE_ITERATIONS = 100
FFT_POINTS = 2**19
EPCC_REPETITIONS = 400
EPCC_SAMPLES = 3

JITTER = 0.05
"""Coefficient of variation of the lognormal factor on the local part of a remote fault; the same for every run, fitted
to nothing."""

NETWORK = "queue"
FIRST_SEED = 1


LAPLACE_LAYOUTS = (Layout(1, 1), Layout(2, 1), Layout(4, 1))
FFT_LAYOUTS = (Layout(1, 1), Layout(1, 2), Layout(2, 1), Layout(4, 1), Layout(4, 2))
SEQUENTIAL = Layout(1, 1)
SPREAD_IMPLEMENTATIONS = (1, 2)
"""Laplace implementations whose competing page requests make a prediction a distribution."""


@dataclass(frozen=True, order=True)
class TraceRun:
    """One program traced for one number of threads; serves every layout with that number."""

    program: str
    implementation: int
    threads: int

    @property
    def name(self) -> str:
        return f"{self.program}-{self.implementation}-{self.threads}t"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The program's options. The run-time's own check of the result is left to the tests: it takes longer than
        the work."""
        if self.program == "epcc":
            return ("--repetitions", str(EPCC_REPETITIONS), "--samples", str(EPCC_SAMPLES))
        if self.program == "laplace":
            size = ["--size", str(LAPLACE_POINTS_PER_SIDE), "--iterations", str(LAPLACE_ITERATIONS)]
        else:
            size = ["--points", str(FFT_POINTS)]
        return ("--impl", str(self.implementation), *size, "--no-check")


@dataclass(frozen=True, order=True)
class Configuration:
    """One program on one layout: a line of the result tables."""

    program: str
    implementation: int
    layout: Layout

    @property
    def name(self) -> str:
        return f"{self.program}-{self.implementation}-{self.layout}"

    @property
    def trace(self) -> TraceRun:
        return TraceRun(self.program, self.implementation, self.layout.threads)


@dataclass(frozen=True, order=True)
class SimulationRun:
    """One simulation of a configuration."""

    configuration: Configuration
    seed: int
    sequential_time_s: float

    @property
    def name(self) -> str:
        return f"{self.configuration.name}-seed{self.seed}"

    def command(self, sdsm: Path, trace: Path, platform: Path, protocol: str | None = None) -> list[str]:
        """Returns the command line; its result JSON comes on stdout. `protocol`: None for the default."""
        layout = self.configuration.layout
        # Hardware shared memory has no remote pages.
        jitter = () if protocol == "hardware" else ("--jitter", str(JITTER), "--draws", "1")
        where = ("--nodes", str(layout.nodes), "--threads-per-node", str(layout.threads_per_node))
        scale = ("--sequential-time", f"{self.sequential_time_s!r}s")
        how = (*scale, "--network", NETWORK, "--seed", str(self.seed), *jitter)
        under = ("--protocol", protocol) if protocol else ()
        return [str(sdsm), "simulate", str(trace), "--platform", str(platform), *where, *how, "--json", "-", *under]


def configurations(programs: Sequence[str] = ("laplace", "fft")) -> list[Configuration]:
    """Every line of the result tables, in their order. Implementation 0 is sequential: one thread only."""
    chosen = []
    for program, count, layouts in (("laplace", 7, LAPLACE_LAYOUTS), ("fft", 5, FFT_LAYOUTS)):
        if program in programs:
            for implementation in range(count):
                for layout in layouts if implementation else (SEQUENTIAL,):
                    chosen.append(Configuration(program, implementation, layout))
    return chosen


def trace_runs(chosen: Sequence[Configuration]) -> list[TraceRun]:
    """The traces that `chosen` needs, each once, in order."""
    return list(dict.fromkeys(configuration.trace for configuration in chosen))


def sequential_time_s(program: str, implementation: int, folder: Path = FOLDER) -> float:
    """Published one-thread time that the compute of a trace is scaled to: implementation 0's for every Laplace, each
    implementation's own for FFT. Reads calibration rows only; raises PublishedDataError."""
    number = 0 if program == "laplace" else implementation
    wanted = {"source": "WR-opt", "implementation": number, "nodes": 1, "threads_per_node": 1}
    return calibration_value(f"{program}_times", "time_s", folder, **wanted)


def simulation_runs(chosen: Sequence[Configuration], seeds: int, folder: Path = FOLDER) -> list[SimulationRun]:
    """The simulations, first seeds first, so that an interrupted job has a value for as many lines as it can.

    seeds: how many seeds (from FIRST_SEED) the configurations that have a distribution get; the others get one.
    Raises PublishedDataError if a sequential time is missing.
    """
    runs = []
    for configuration in chosen:
        sequential = sequential_time_s(configuration.program, configuration.implementation, folder)
        for seed in range(FIRST_SEED, FIRST_SEED + (seeds if is_distribution(configuration) else 1)):
            runs.append(SimulationRun(configuration, seed, sequential))
    return sorted(runs, key=lambda run: run.seed)


def is_distribution(configuration: Configuration) -> bool:
    """Whether the prediction depends on the order of competing page requests enough to be shown as a distribution."""
    is_spread = configuration.program == "laplace" and configuration.implementation in SPREAD_IMPLEMENTATIONS
    return is_spread and configuration.layout.nodes > 1


def calibrated_by(configuration: Configuration) -> str:
    """Returns the published time behind this configuration's own prediction; empty if it is a prediction proper."""
    if configuration.layout == SEQUENTIAL:
        return "sequential time"
    if configuration.program == "laplace" and configuration.implementation == 4:
        return "dirty-page cost"
    return ""
