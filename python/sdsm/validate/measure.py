"""Measures one cluster: traces programs, then measures costs and runs programs in turn, then simulates them."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sdsm import readers
from sdsm.base import accounts, run_result
from sdsm.base.children import CommandFailed, CommandRunner
from sdsm.base.command_line import BadInput
from sdsm.base.output_file import json_text, write_output
from sdsm.calibrate import fit
from sdsm.calibrate.measured_platform import platform as platform_of
from sdsm.calibrate.network import network_of
from sdsm.microbench import command as microbench
from sdsm.platform import platform_check
from sdsm.platform.platform_file import parse
from sdsm.readers.text import Text
from sdsm.validate.outcome import Line
from sdsm.validate.plan import Case, Size

TIME_LIMIT_S = 900.0
#: Sets of costs for a prediction's band.
DRAWS = 40


@dataclass(frozen=True)
class Cluster:
    """The cluster to validate. network: the network's platform file; emulated: whether that network lies between the
    processes, and computing takes as long as on emulated processors; else each process is bound to a processor. protocol: one
    with SCASH's costs, as microbench measures no others."""

    name: str
    network: Path
    emulated: bool
    protocol: str = "scash"


@dataclass(frozen=True)
class Effort:
    size: Size
    nodes: tuple[int, ...]
    repeat: int
    seeds: int
    samples: int
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Calibration:
    """A platform file made from microbench's measurements on the cluster, with its jitter. has_errors: whether it gives
    standard errors, from which a band can be made. left_out: impossible measured costs, and why."""

    platform: Path
    jitter: float
    has_errors: bool = True
    left_out: tuple[str, ...] = ()


def steps(effort: Effort, emulated: bool) -> int:
    """Returns the number of steps that a Measurer reports."""
    rounds = microbench.rounds_of(effort.samples)
    return rounds * (len(effort.nodes) + 1) + 2 * len(effort.cases)


def runs_in(turn: int, rounds: int, repeat: int) -> int:
    """Returns how many of `repeat` runs belong to round `turn` of `rounds`, as evenly as possible."""
    return repeat * (turn + 1) // rounds - repeat * turn // rounds


class Measurer:
    """Runs one thing at a time, so that nothing disturbs the timing. say: called for each finished step."""

    def __init__(
        self, build: Path, folder: Path, cluster: Cluster, effort: Effort, runner: CommandRunner, say: Callable[[str], None]
    ) -> None:
        self._build = build
        self._folder = folder
        self._cluster = cluster
        self._effort = effort
        self._runner = runner
        self._say = say
        self._runs: dict[Case, list[run_result.Native]] = {}
        self._failures: dict[Case, str] = {}
        for name in ("traces", "runs"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        # A longer campaign before this one has left more of them.
        for old in (folder / "runs").glob("*.json"):
            old.unlink()

    def measure(self) -> Calibration:
        """Traces the programs, measures costs and runs the programs in turn, so that both meet the same state of the
        machine, and writes the platform file. `line` reports programs that failed.

        Raises BadInput, CommandFailed, OSError.
        """
        for case in self._effort.cases:
            self._attempt(case, self._trace)
            self._say(f"{case.name}: traced")
        options: list[str | Path] = ["--emulate", self._cluster.network] if self._cluster.emulated else ["--bind"]
        layouts = [microbench.Layout(nodes, 1) for nodes in self._effort.nodes]
        parts = microbench.measure_layouts(self._build, layouts, self._effort.samples, options, self._say, self._run_all)
        document: dict[str, Any] = {"format": microbench.FORMAT, "version": microbench.VERSION, "unit": "ns", "layouts": parts}
        measured = self._folder / "microbench.json"
        write_output(measured, json_text(document))
        return self._calibrate(measured)

    def line(self, case: Case, calibration: Calibration) -> Line | str:
        """Simulates one case. Returns why there is no line if the case failed, now or before."""
        lines: list[Line] = []
        self._attempt(case, lambda case: lines.append(self._simulate(case, calibration)))
        self._say(f"{case.name}: " + (f"simulated with {self._effort.seeds} seeds" if lines else "failed"))
        return lines[0] if lines else self._failures[case]

    def _attempt(self, case: Case, do: Callable[[Case], None]) -> None:
        """Does a step unless the case has failed before."""
        if case in self._failures:
            return
        try:
            do(case)
        except (CommandFailed, OSError, ValueError) as error:
            self._failures[case] = str(error)

    def _calibrate(self, measured: Path) -> Calibration:
        root = parse(self._cluster.network)
        network = network_of(root, str(self._cluster.network))
        data = fit.collect([readers.read(measured)])
        # Only the network is the other machine's: its costs replace nothing that was not measured here.
        platform = self._folder / "platform.xml"
        left_out: list[str] = []
        while True:
            fitted = fit.fit(data, network)
            text, _ = platform_of(root, self._cluster.network.name, fitted, network, [measured.name])
            write_output(platform, text)
            try:
                platform_check.check(self._build, platform, self._runner)
                break
            except BadInput as error:
                # One cost does not end a campaign: others replace it, as if it had not been measured.
                data, before = _without(data, str(error)), data
                if len(data.batches) == len(before.batches):
                    raise
                left_out.append(str(error))
        scatter = fit.jitter(data, network, fitted.value("local-part.home-share"))
        has_errors = any(p.standard_error is not None for p in fitted.parameters)
        return Calibration(platform, scatter or 0.0, has_errors, tuple(left_out))

    def _trace_of(self, case: Case) -> str:
        return str(self._folder / "traces" / f"{case.name}.trace")

    def _scale_of(self, case: Case) -> list[str]:
        return ["--sequential-time", f"{case.sequential_s(self._effort.size)!r}s"] if self._cluster.emulated else []

    def _trace(self, case: Case) -> None:
        program = case.command(self._build, self._effort.size)
        command = [str(self._build / "sdsm"), "trace", "--quiet", "-n", str(case.nodes), "-o", self._trace_of(case)]
        self._runner.run([*command, "--", *program], TIME_LIMIT_S)

    def _run_all(self, turn: int) -> None:
        """Runs the programs of this round; without emulation each on one node, too."""
        rounds = microbench.rounds_of(self._effort.samples)
        for _ in range(runs_in(turn, rounds, self._effort.repeat)):
            for case in self._effort.cases:
                self._attempt(case, self._run)
            if not self._cluster.emulated:
                for case in {_alone(case): None for case in self._effort.cases}:
                    self._attempt(case, self._run)
        self._say(f"programs run, round {turn + 1} of {rounds}")

    def _run(self, case: Case) -> None:
        runs = self._runs.setdefault(case, [])
        result = self._folder / "runs" / f"{case.name}.{len(runs) + 1}.json"
        how = ["--bind"]
        if self._cluster.emulated:
            how = ["--emulate", str(self._cluster.network), "--trace", self._trace_of(case), *self._scale_of(case)]
        self._runner.run(
            [
                *(str(self._build / "sdsm"), "run", "--quiet", "-n", str(case.nodes), "--protocol", self._cluster.protocol),
                *(*how, "--json", str(result), "--", *case.command(self._build, self._effort.size)),
            ],
            TIME_LIMIT_S,
        )
        runs.append(run_result.read(Text(str(result), result.read_text()), run_result.Native))

    def _simulate(self, case: Case, calibration: Calibration) -> Line:
        native = self._runs[case]
        sequential_s = self._sequential_s(case)
        predicted = []
        band = None
        of_simulations = []
        for seed in range(1, self._effort.seeds + 1):
            # One band is enough: its draws have seeds of their own.
            draws = ("--uncertainty", str(DRAWS)) if seed == 1 and calibration.has_errors else ()
            text = self._runner.run(
                [
                    *(str(self._build / "sdsm"), "simulate", self._trace_of(case), "--platform", str(calibration.platform)),
                    *("--nodes", str(case.nodes), "--protocol", self._cluster.protocol, *self._scale_of(case)),
                    *("--jitter", f"{calibration.jitter:.4f}", "--seed", str(seed), "--draws", "1", *draws, "--json", "-"),
                ],
                TIME_LIMIT_S,
            )
            result = run_result.read(Text("sdsm simulate's JSON", text), run_result.Simulation)
            predicted.append(result.makespan_s)
            of_simulations.append(accounts.mean_over_threads(result.threads))
            if result.uncertainty:
                band = (result.uncertainty.low_5_percent_s, result.uncertainty.high_95_percent_s)
        of_runs = [accounts.mean_over_threads(run.threads) for run in native]
        terms = accounts.side_by_side(accounts.medians(of_runs), accounts.medians(of_simulations), statistics.median(_times(native)))
        return Line(case, tuple(predicted), _times(native), sequential_s, band, terms)

    def _sequential_s(self, case: Case) -> float:
        """Returns the reference of speedups: an emulated cluster's setting, else the median time of the program on one node."""
        if self._cluster.emulated:
            return case.sequential_s(self._effort.size)
        alone = _alone(case)
        if alone in self._failures:
            raise CommandFailed(f"{alone.name}: {self._failures[alone]}")
        return statistics.median(_times(self._runs[alone]))


def _alone(case: Case) -> Case:
    return replace(case, nodes=1)


def _times(runs: Sequence[run_result.Native]) -> tuple[float, ...]:
    """Seconds of each run."""
    return tuple(run.makespan_s for run in runs)


def _without(data: fit.Data, finding: str) -> fit.Data:
    """Returns data without the samples of the barrier, lock or fault that `sdsm check` finds shorter than its messages."""
    named = re.match(r"(?:(barrier|lock)\.(\S+)|fault\.(\S+)) is .* its messages alone take", finding)
    if named is None:
        return data
    kind, layout, fault = named.groups()
    kept = [b for b in data.batches if b.quantity != (kind or fault) or (layout and str(b.layout) != layout)]
    return replace(data, batches=tuple(kept))
