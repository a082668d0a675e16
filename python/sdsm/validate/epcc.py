"""EPCC's table of an emulated cluster: predicted from microbench's measurements there, and printed by a real run of the
program."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sdsm.base import accounts, run_result
from sdsm.base.children import CommandRunner
from sdsm.base.output_file import aligned, write_output
from sdsm.readers import epcc
from sdsm.readers.text import Text
from sdsm.validate.measure import Cluster

#: Below so many microseconds a difference is given in microseconds, not in percent.
SHORT_US = 50.0
#: A row with a larger error also names the step whose cost differs most.
LARGE_PERCENT = 20.0
TIME_LIMIT_S = 900.0


@dataclass(frozen=True)
class Suite:
    """Options of the program epcc. delay: additions between directives."""

    repetitions: int
    samples: int
    delay: int

    def command(self, build: Path, nodes: int, directive: str = "") -> list[str]:
        """Returns the program and its arguments; the threads share the repetitions evenly."""
        repetitions = -(-self.repetitions // nodes) * nodes
        numbers = ("--repetitions", repetitions, "--samples", self.samples, "--delay", self.delay)
        only = ("--directive", directive.partition("/")[0].replace(" ", "-").lower()) if directive else ()
        return [str(build / "workloads" / "epcc"), *map(str, numbers), *only]


WHOLE = Suite(repetitions=48, samples=10, delay=50000)
QUICK = Suite(repetitions=8, samples=3, delay=50000)


@dataclass(frozen=True)
class Row:
    """Overhead of one directive, microseconds. measured_runs_us: of each run; step: of those that are far off."""

    directive: str
    nodes: int
    predicted_us: float
    measured_runs_us: tuple[float, ...]
    step: str = ""

    @property
    def measured_us(self) -> float:
        return statistics.median(self.measured_runs_us)

    @property
    def difference_us(self) -> float:
        return self.predicted_us - self.measured_us

    @property
    def is_short(self) -> bool:
        return self.measured_us < SHORT_US

    @property
    def difference_percent(self) -> float | None:
        """Difference in percent of the measured overhead; None for a short one."""
        return None if self.is_short else 100 * self.difference_us / self.measured_us

    @property
    def is_far_off(self) -> bool:
        return self.difference_percent is not None and abs(self.difference_percent) > LARGE_PERCENT


@dataclass(frozen=True)
class Agreement:
    """Statistics of absolute differences. rows: those in percent; short: those in microseconds."""

    rows: int
    median_percent: float | None
    worst_percent: float | None
    short: int
    worst_short_us: float | None


def agreement(rows: Sequence[Row]) -> Agreement | None:
    """None without rows."""
    if not rows:
        return None
    parts = [abs(row.difference_percent) for row in rows if row.difference_percent is not None]
    short = [abs(row.difference_us) for row in rows if row.is_short]
    median = statistics.median(parts) if parts else None
    return Agreement(len(parts), median, max(parts, default=None), len(short), max(short, default=None))


def overheads(output: str, name: str) -> list[dict[str, float]]:
    """Returns microseconds by directive, for each run in the output. Raises ReadError."""
    return [
        {block.name: block.overhead for block in run.blocks if not block.is_reference and block.overhead is not None}
        for run in epcc.runs(Text(name, output))
    ]


class Table:
    """Measures the rows for one number of nodes after another. cluster, platform: the emulated cluster, and microbench's
    measurements on it. Processors are as fast as those that made the trace."""

    def __init__(
        self, build: Path, folder: Path, cluster: Cluster, platform: Path, repeat: int, suite: Suite, runner: CommandRunner
    ) -> None:
        self._build, self._folder, self._cluster, self._platform = build, folder, cluster, platform
        self._repeat, self._suite, self._runner = repeat, suite, runner

    def rows(self, nodes: int) -> list[Row]:
        """Returns rows in the program's order. Leaves both tables as the program printed them. Raises CommandFailed,
        ReadError, OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        trace = self._folder / f"{nodes}.trace"
        program = self._suite.command(self._build, nodes)
        self._trace(trace, nodes, program)
        measured = self._run(trace, nodes, program)
        predicted = self._simulate(trace, nodes, "--output", "-")
        for name, output in (("measured", measured), ("predicted", predicted)):
            write_output(self._folder / f"{nodes}.{name}.txt", output)
        (expected,) = overheads(predicted, f"{nodes}.predicted.txt")
        runs = overheads(measured, f"{nodes}.measured.txt")
        found = [Row(name, nodes, value, tuple(run[name] for run in runs)) for name, value in expected.items()]
        return [replace(row, step=self._step(row)) if row.is_far_off else row for row in found]

    def _step(self, row: Row) -> str:
        """Returns the term that differs most where the directive runs alone, and more frequent events."""
        trace, result = self._folder / f"{row.nodes}.alone.trace", self._folder / f"{row.nodes}.alone.json"
        program = self._suite.command(self._build, row.nodes, row.directive)
        self._trace(trace, row.nodes, program)
        self._run(trace, row.nodes, program, "--json", str(result))
        simulated = Text("sdsm simulate's JSON", self._simulate(trace, row.nodes, "--json", "-"))
        measured = Text(str(result), result.read_text())
        return differing_step(run_result.read(simulated, run_result.Simulation), run_result.read(measured, run_result.Native))

    def _trace(self, trace: Path, nodes: int, program: Sequence[str]) -> None:
        command = [str(self._build / "sdsm"), "trace", "--quiet", "-n", str(nodes), "-o", str(trace), "--", *program]
        self._runner.run(command, TIME_LIMIT_S)

    def _run(self, trace: Path, nodes: int, program: Sequence[str], *options: str) -> str:
        command = [str(self._build / "sdsm"), "run", "--quiet", "-n", str(nodes), "--repeat", str(self._repeat)]
        emulation = ["--emulate", str(self._cluster.network), "--trace", str(trace), "--compute-factor", "1"]
        emulation += ["--protocol", self._cluster.protocol]
        return self._runner.run([*command, *emulation, *options, "--", *program], TIME_LIMIT_S)

    def _simulate(self, trace: Path, nodes: int, *options: str) -> str:
        command = [str(self._build / "sdsm"), "simulate", str(trace), "--platform", str(self._platform)]
        command += ["--protocol", self._cluster.protocol]
        return self._runner.run([*command, "--nodes", str(nodes), "--compute-factor", "1", *options], TIME_LIMIT_S)


def differing_step(predicted: run_result.Run, measured: run_result.Run) -> str:
    """Returns the term that differs most, in milliseconds of a thread. A compare-exchange (an atomic update of a double, say)
    is repeated if another thread's came first: then the run has more operations than the program."""
    predicted_s, measured_s = (accounts.mean_over_threads(run.threads) for run in (predicted, measured))
    terms = dict.fromkeys((*predicted_s, *measured_s))
    differing = max(terms, key=lambda term: abs(predicted_s.get(term, 0.0) - measured_s.get(term, 0.0)))
    times = f"{1e3 * predicted_s.get(differing, 0.0):.1f} of {1e3 * measured_s.get(differing, 0.0):.1f} ms a thread"
    once, done = (statistics.fmean(thread.atomics for thread in run.threads) for run in (predicted, measured))
    again = f"; {done:.0f} atomic operations for {once:.0f}" if done > once else ""
    return f"{differing}: {times}{again}"


HEADINGS = ("directive", "nodes", "predicted, us", "measured, us", "of the runs", "difference", "costs otherwise")


def text(rows: Sequence[Row]) -> str:
    """Returns a table; the last line sums up."""
    cells: list[tuple[str, ...]] = [HEADINGS]
    for row in rows:
        part = row.difference_percent
        difference = f"{row.difference_us:+.1f} us" if part is None else f"{part:+.1f} %"
        runs = f"{min(row.measured_runs_us):.1f} .. {max(row.measured_runs_us):.1f}"
        figures = (f"{row.predicted_us:.1f}", f"{row.measured_us:.1f}", runs)
        cells.append((row.directive, str(row.nodes), *figures, difference, row.step))
    lines = aligned(cells)
    total = agreement(rows)
    sums = []
    if total and total.median_percent is not None:
        sums.append(f"median {total.median_percent:.1f} %, worst {total.worst_percent:.1f} % over {total.rows} rows")
    if total and total.worst_short_us is not None:
        sums.append(f"{total.short} rows below {SHORT_US:g} us: at most {total.worst_short_us:.1f} us")
    return "\n".join([*lines, *([f"difference of the overhead: {'; '.join(sums)}"] if sums else [])])


def document(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Returns one object for each row."""
    more = ("measured_us", "difference_us", "difference_percent")
    return [
        asdict(row) | {"measured_runs_us": list(row.measured_runs_us)} | {name: getattr(row, name) for name in more}
        for row in rows
    ]


def draw(folder: Path, nodes: Sequence[int], to: Path) -> None:
    """Draws the overheads against the number of nodes, like `sdsm epcc --predicted`. Raises ReadError, OSError."""
    from sdsm.epcc import plots
    from sdsm.epcc.groups import collect
    from sdsm.plot.style import save
    from sdsm.readers.text import load

    measured = [str(folder / f"{count}.measured.txt") for count in nodes]
    predicted = [str(folder / f"{count}.predicted.txt") for count in nodes]
    files = {name: epcc.runs(load(name)) for name in (*measured, *predicted)}
    for plot in plots.draw(collect(files, {}, predicted=predicted), "us"):
        save(plot.figure, to, "epcc")
