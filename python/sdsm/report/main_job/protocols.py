"""Laplace 4 and FFT 4 on 1 to 8 nodes, under each protocol that `sdsm simulate` knows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.report.main_job.plan import FIRST_SEED, Configuration, Layout, SimulationRun, sequential_time_s
from sdsm.report.main_job.simulation import TIME_LIMIT_S, Simulator

TABLE = "protocols.csv"
IMPLEMENTATION = 4
NODES = (1, 2, 4, 8)


@dataclass(frozen=True)
class ProtocolRow:
    """A prediction. `status`: "done", "refused: " and why (no platform file of the machine gives the protocol's costs, the
    protocol has one node), or what failed."""

    program: str
    implementation: int
    nodes: int
    protocol: str
    platform: str
    """Name of its file."""
    status: str
    predicted_s: float | None = None
    speedup: float | None = None
    """Over the sequential program."""

    @property
    def failed(self) -> bool:
        return self.status != "done" and not self.status.startswith("refused: ")


def known_protocols(sdsm: Path, runner: CommandRunner) -> tuple[str, ...]:
    """Returns protocols as `sdsm simulate --help` names them. Raises CommandFailed or Stopped."""
    found = re.search(r"--protocol ([a-z|-]+)", runner.run([str(sdsm), "simulate", "--help"], TIME_LIMIT_S))
    return tuple(found[1].split("|")) if found else ()


def configurations(programs: Sequence[str]) -> list[Configuration]:
    chosen = [program for program in ("laplace", "fft") if program in programs]
    return [Configuration(program, IMPLEMENTATION, Layout(nodes, 1)) for program in chosen for nodes in NODES]


def platform_of(protocol: str, platform: Path) -> Path:
    """The machine's file with that protocol's costs (p3-jiajia.xml beside p3-score.xml), else the machine's own."""
    beside = platform.with_name(f"{platform.stem.partition('-')[0]}-{protocol}.xml")
    return beside if beside.is_file() else platform


def simulate(one: Configuration, protocol: str, simulator: Simulator, trace: Path, folder: Path) -> ProtocolRow:
    """Leaves the result's JSON in `folder`. Raises Stopped."""
    own = platform_of(protocol, simulator.platform)
    run = SimulationRun(one, FIRST_SEED, sequential_time_s(one.program, IMPLEMENTATION))
    key = (one.program, IMPLEMENTATION, one.layout.nodes, protocol, own.name)
    try:
        result = simulator.kept(run, trace, folder / f"{one.name}-{protocol}.json", own, protocol)
    except CommandFailed as error:
        return ProtocolRow(*key, f"refused: {error}" if error.status == 2 else str(error))
    return ProtocolRow(*key, "done", result.makespan_s, sequential_time_s(one.program, 0) / result.makespan_s)


def sentences(rows: Sequence[ProtocolRow]) -> list[str]:
    """Returns a line for each program and protocol: its predicted times, or why there are none."""
    lines = []
    for program, protocol in dict.fromkeys((row.program, row.protocol) for row in rows):
        of = [row for row in rows if (row.program, row.protocol) == (program, protocol)]
        times = ", ".join(f"{row.predicted_s:.3f}" if row.predicted_s else "none" for row in of)
        if not any(row.predicted_s for row in of):
            times = of[0].status
        lines.append(f"{program} {IMPLEMENTATION}, {protocol} ({of[0].platform}): {times}")
    return lines
