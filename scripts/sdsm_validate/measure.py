"""The measurements of one cluster, in their order: costs first, then each program traced, run and simulated."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calibration import accounts, fit, microbench, readers, run_result
from calibration.children import CommandFailed, CommandRunner
from calibration.command_line import BadInput
from calibration.measured_platform import platform as platform_of
from calibration.network import network_of
from calibration.output_file import json_text, write_output
from calibration.platform_file import parse
from calibration.readers.text import Text
from sdsm_calibrate import gate
from sdsm_validate.outcome import Line
from sdsm_validate.plan import Case, Size

TIME_LIMIT_S = 900.0
#: Sets of costs for the band of a prediction.
DRAWS = 40


@dataclass(frozen=True)
class Cluster:
    """What is validated. network: the platform file of the network; emulated: whether that network lies between the
    processes, and computing takes as long as on emulated processors; else each process is bound to a processor. protocol: one whose costs are SCASH's, as
    microbench measures no others."""

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
    """A platform file made of what microbench measured on the cluster, and the jitter that goes with it. has_errors:
    whether it gives standard errors, of which a band can be made. left_out: measured costs that cannot be, and why."""

    platform: Path
    jitter: float
    has_errors: bool = True
    left_out: tuple[str, ...] = ()


def steps(effort: Effort, emulated: bool) -> int:
    """How many things `calibrate` and `line` will say that they do."""
    sequential = 0 if emulated else len({(case.program, case.implementation) for case in effort.cases})
    return len(effort.nodes) * microbench.rounds_of(effort.samples) + sequential + 3 * len(effort.cases)


class Measurer:
    """Runs one thing at a time, so that nothing disturbs what is timed. say: told of each step that is done."""

    def __init__(
        self, build: Path, folder: Path, cluster: Cluster, effort: Effort, runner: CommandRunner, say: Callable[[str], None]
    ) -> None:
        self._build = build
        self._folder = folder
        self._cluster = cluster
        self._effort = effort
        self._runner = runner
        self._say = say
        self._sequential: dict[tuple[str, int], float] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def calibrate(self) -> Calibration:
        """Measures costs and writes the platform file.

        Raises BadInput, CommandFailed, OSError.
        """
        options: list[str | Path] = ["--emulate", self._cluster.network] if self._cluster.emulated else ["--bind"]
        layouts = [microbench.Layout(nodes, 1) for nodes in self._effort.nodes]
        parts = microbench.measure_layouts(self._build, layouts, self._effort.samples, options, self._say)
        document: dict[str, Any] = {"format": microbench.FORMAT, "version": microbench.VERSION, "unit": "ns", "layouts": parts}
        measured = self._folder / "microbench.json"
        write_output(measured, json_text(document))
        root = parse(self._cluster.network)
        network = network_of(root, str(self._cluster.network))
        data = fit.collect([readers.read(measured)])
        # Only the network is the other machine's: its costs stand in for nothing that was not measured here.
        platform = self._folder / "platform.xml"
        left_out: list[str] = []
        while True:
            fitted = fit.fit(data, network)
            text, _ = platform_of(root, self._cluster.network.name, fitted, network, [measured.name])
            write_output(platform, text)
            try:
                gate.check(self._build, platform, self._runner)
                break
            except BadInput as error:
                # A campaign does not end for one cost: others stand in for it, as for one that was not measured.
                data, before = _without(data, str(error)), data
                if len(data.batches) == len(before.batches):
                    raise
                left_out.append(str(error))
        scatter = fit.jitter(data, network, fitted.value("local-part.home-share"))
        has_errors = any(p.standard_error is not None for p in fitted.parameters)
        return Calibration(platform, scatter or 0.0, has_errors, tuple(left_out))

    def line(self, case: Case, calibration: Calibration) -> Line:
        """Traces, runs and simulates one case. Raises CommandFailed."""
        trace = self._folder / "traces" / f"{case.name}.trace"
        trace.parent.mkdir(exist_ok=True)
        program = case.command(self._build, self._effort.size)
        sdsm = str(self._build / "sdsm")
        count = ("-n", str(case.nodes))
        self._runner.run([sdsm, "trace", "--quiet", *count, "-o", str(trace), "--", *program], TIME_LIMIT_S)
        self._say(f"{case.name}: traced")
        scale: list[str] = []
        if self._cluster.emulated:
            sequential_s = case.sequential_s(self._effort.size)
            scale = ["--sequential-time", f"{sequential_s!r}s"]
        else:
            sequential_s = self._measured_sequential(case)
        emulation = (
            ["--emulate", str(self._cluster.network), "--trace", str(trace), *scale] if self._cluster.emulated else ["--bind"]
        )
        native = self._run(case, count, ["--protocol", self._cluster.protocol, *emulation])
        self._say(f"{case.name}: run {self._effort.repeat} times")
        predicted = []
        band = None
        terms: tuple[accounts.Term, ...] = ()
        for seed in range(1, self._effort.seeds + 1):
            # One band is enough: its draws have seeds of their own.
            draws = ("--uncertainty", str(DRAWS)) if seed == 1 and calibration.has_errors else ()
            text = self._runner.run(
                [
                    *(sdsm, "simulate", str(trace), "--platform", str(calibration.platform), "--nodes", str(case.nodes)),
                    *("--protocol", self._cluster.protocol),
                    *(*scale, "--jitter", f"{calibration.jitter:.4f}", "--seed", str(seed), *draws, "--json", "-"),
                ],
                TIME_LIMIT_S,
            )
            result = run_result.read(Text("sdsm simulate's JSON", text), run_result.Simulation)
            predicted.append(result.makespan_s)
            if seed == 1:
                of_run, of_simulation = map(accounts.mean_over_threads, (native.threads, result.threads))
                terms = accounts.side_by_side(of_run, of_simulation, native.makespan_s)
            if result.uncertainty:
                band = (result.uncertainty.low_5_percent_s, result.uncertainty.high_95_percent_s)
        self._say(f"{case.name}: simulated with {self._effort.seeds} seeds")
        return Line(case, tuple(predicted), _times(native), sequential_s, band, terms)

    def _run(self, case: Case, count: Sequence[str], options: Sequence[str]) -> run_result.Native:
        result = self._folder / "runs" / f"{case.name}.json"
        result.parent.mkdir(exist_ok=True)
        self._runner.run(
            [
                *(str(self._build / "sdsm"), "run", "--quiet", *count, *options),
                *("--repeat", str(self._effort.repeat), "--json", str(result)),
                *("--", *case.command(self._build, self._effort.size)),
            ],
            TIME_LIMIT_S,
        )
        return run_result.read(Text(str(result), result.read_text()), run_result.Native)

    def _measured_sequential(self, case: Case) -> float:
        """The median time of the same program on one node."""
        key = (case.program, case.implementation)
        if key not in self._sequential:
            alone = Case(case.program, case.implementation, 1)
            self._sequential[key] = statistics.median(_times(self._run(alone, ("-n", "1", "--protocol", self._cluster.protocol), ("--bind",))))
            self._say(f"{alone.name}: run {self._effort.repeat} times")
        return self._sequential[key]


def _times(native: run_result.Native) -> tuple[float, ...]:
    """Seconds of each run."""
    return tuple(run.makespan_s for run in native.runs)


def _without(data: fit.Data, finding: str) -> fit.Data:
    """Without the samples of the barrier, lock or fault that `sdsm check` finds shorter than its messages."""
    named = re.match(r"(?:(barrier|lock)\.(\S+)|fault\.(\S+)) is .* its messages alone take", finding)
    if named is None:
        return data
    kind, layout, fault = named.groups()
    kept = [b for b in data.batches if b.quantity != (kind or fault) or (layout and str(b.layout) != layout)]
    return replace(data, batches=tuple(kept))


def attempt(measurer: Measurer, case: Case, calibration: Calibration) -> Line | str:
    """The line, or why there is none."""
    try:
        return measurer.line(case, calibration)
    except (CommandFailed, OSError, ValueError) as error:
        return str(error)
