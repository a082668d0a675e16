"""Results of `sdsm simulate`: run, checked, kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdsm.base import run_result
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.output_file import write_output
from sdsm.readers import ReadError
from sdsm.readers.text import Text
from sdsm.report.main_job.plan import Layout, SimulationRun

TIME_LIMIT_S = 300.0


@dataclass(frozen=True)
class ThreadAccount:
    """One thread's times and counts. Keys of time_s: the terms of the result JSON, with the faults flattened to "fault WROH"
    and so on; their values sum to the makespan."""

    thread: int
    node: int
    time_s: dict[str, float]
    faults: dict[str, int]
    counts: dict[str, int]


@dataclass(frozen=True)
class Result:
    makespan_s: float
    threads: tuple[ThreadAccount, ...]
    extrapolated: tuple[str, ...]

    def mean_account_s(self) -> dict[str, float]:
        """Mean over the threads of each term, seconds, in order of first appearance; sums to the makespan."""
        terms = dict.fromkeys(term for thread in self.threads for term in thread.time_s)
        return {
            term: sum(thread.time_s.get(term, 0.0) for thread in self.threads) / len(self.threads) for term in terms
        }


def parse_result(text: str, layout: Layout, file: str = "sdsm simulate's JSON") -> Result:
    """Raises CommandFailed if it is no result of a simulation on this layout, or if its account does not add up."""
    try:
        run = run_result.read(Text(file, text), run_result.Simulation)
    except ReadError as error:
        raise CommandFailed(str(error)) from error
    if (run.nodes, run.threads_per_node) != (layout.nodes, layout.threads_per_node):
        raise CommandFailed(f"{file}: the result is of another layout than {layout}")
    if not run.makespan_s > 0:
        raise CommandFailed(f"{file}: the result has a makespan of {run.makespan_s:g} s")
    threads = tuple(
        ThreadAccount(thread.id, thread.node, thread.account_s(), dict(thread.faults), thread.counts())
        for thread in run.threads
    )
    return Result(run.makespan_s, threads, run.extrapolated)


def simulate(
    run: SimulationRun, build: Path, trace: Path, platform: Path, folder: Path, runner: CommandRunner
) -> Result:
    """Runs one simulation and leaves its JSON in `folder`. Raises CommandFailed or Stopped; then no JSON is left."""
    return kept(run.command(build / "sdsm", trace, platform), run.configuration.layout, folder / f"{run.name}.json", runner)


def kept(command: Sequence[str], layout: Layout, path: Path, runner: CommandRunner) -> Result:
    """Runs the command of a simulation on that layout and leaves its JSON at `path`. Raises as simulate() does."""
    path.unlink(missing_ok=True)
    text = runner.run(command, TIME_LIMIT_S)
    result = parse_result(text, layout)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, text)
    return result
