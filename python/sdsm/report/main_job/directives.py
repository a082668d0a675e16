"""[WR-env]'s table: costs of ten directives on five layouts, as EPCC's program prints them on the simulated cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdsm.base.children import CommandFailed
from sdsm.base.output_file import write_output
from sdsm.base.published import all_rows, number
from sdsm.microbench.command import Layout
from sdsm.readers import ReadError, epcc
from sdsm.readers.text import Text
from sdsm.report.main_job.plan import Configuration
from sdsm.report.main_job.simulation import TIME_LIMIT_S, Simulator
from sdsm.report.main_job.tables import text_table

TABLE = "directives.csv"
LAYOUTS = (Layout(1, 1), Layout(2, 1), Layout(1, 2), Layout(4, 1), Layout(4, 2))
COMPUTE_FACTOR = 5
"""How much longer a 550 MHz Pentium III takes than today's processors, assumed. Only the work between directives depends on it,
and an overhead is without that work."""


@dataclass(frozen=True)
class DirectiveRow:
    """Overhead of a directive, microseconds. given_us: [WR-env]'s, for barriers and locks, from which the platform was
    calibrated. status: "done", or what failed."""

    directive: str
    nodes: int
    threads_per_node: int
    status: str
    predicted_us: float | None = None
    given_us: float | None = None

    @property
    def failed(self) -> bool:
        return self.status != "done"

    @property
    def layout(self) -> str:
        return f"{self.nodes}x{self.threads_per_node}"


def configurations() -> list[Configuration]:
    return [Configuration("epcc", 0, layout) for layout in LAYOUTS]


def simulate(layout: Layout, simulator: Simulator, trace: Path, folder: Path) -> list[DirectiveRow]:
    """Returns a row for each directive; leaves the program's output in `folder`. One row without a directive if that failed.
    Raises Stopped."""
    path = folder / f"{layout}.txt"
    path.unlink(missing_ok=True)
    where = (layout.nodes, layout.threads_per_node)
    command = [str(simulator.build / "sdsm"), "simulate", str(trace), "--platform", str(simulator.platform)]
    command += ["--nodes", str(layout.nodes), "--threads-per-node", str(layout.threads_per_node)]
    command += ["--compute-factor", str(COMPUTE_FACTOR), "--output", "-"]
    try:
        text = simulator.runner.run(command, TIME_LIMIT_S)
        (run,) = epcc.runs(Text(path.name, text))
    except (CommandFailed, ReadError, ValueError) as error:
        return [DirectiveRow("", *where, str(error))]
    folder.mkdir(parents=True, exist_ok=True)
    write_output(path, text)
    published = all_rows("scash_synchronisation", nodes=layout.nodes, threads_per_node=layout.threads_per_node)
    given = {row["construct"]: number(row, "overhead_us") for row in published}
    blocks = [block for block in run.blocks if not block.is_reference]
    return [DirectiveRow(block.name, *where, "done", block.overhead, given.get(block.name)) for block in blocks]


def text(rows: Sequence[DirectiveRow]) -> str:
    """Returns a line for each directive, a column for each layout; given values stand in brackets."""
    done = [row for row in rows if row.predicted_us is not None]
    layouts = list(dict.fromkeys(row.layout for row in done))
    cells = {(row.directive, row.layout): _cell(row) for row in done}
    names = dict.fromkeys(row.directive for row in done)
    lines = [[name, *(cells.get((name, layout), "") for layout in layouts)] for name in names]
    failed = [f"{row.layout}: {row.status}" for row in rows if row.predicted_us is None]
    return "\n".join([*([text_table(["directive", *layouts], lines)] if lines else []), *failed])


def _cell(row: DirectiveRow) -> str:
    return f"{row.predicted_us:.1f}" + (f" ({row.given_us:g})" if row.given_us is not None else "")
