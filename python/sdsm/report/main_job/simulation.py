"""Results of `sdsm simulate`: run, checked, kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sdsm.base import run_result
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.output_file import write_output
from sdsm.base.run_result import Simulation
from sdsm.report.main_job.plan import Layout, SimulationRun

TIME_LIMIT_S = 300.0


def parse_result(text: str, layout: Layout) -> Simulation:
    """Raises CommandFailed if it is no result of a simulation on this layout, or if its account does not add up."""
    run = run_result.printed(text, Simulation)
    if (run.nodes, run.threads_per_node) != (layout.nodes, layout.threads_per_node):
        raise CommandFailed(f"sdsm simulate's JSON: the result is of another layout than {layout}")
    if not run.makespan_s > 0:
        raise CommandFailed(f"sdsm simulate's JSON: the result has a makespan of {run.makespan_s:g} s")
    return run


@dataclass(frozen=True)
class Simulator:
    """`sdsm simulate` of a build, on a platform unless another is named."""

    build: Path
    platform: Path
    runner: CommandRunner

    def kept(
        self, run: SimulationRun, trace: Path, path: Path, platform: Path | None = None, protocol: str | None = None
    ) -> Simulation:
        """Runs one simulation and leaves its JSON at `path`. Raises CommandFailed or Stopped; then no JSON is left."""
        path.unlink(missing_ok=True)
        command = run.command(self.build / "sdsm", trace, platform or self.platform, protocol)
        text = self.runner.run(command, TIME_LIMIT_S)
        result = parse_result(text, run.configuration.layout)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_output(path, text)
        return result
