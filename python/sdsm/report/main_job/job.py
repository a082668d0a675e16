"""The main job, in order: traces one at a time, simulations two at a time, tables, figures.

A failed run costs its own lines and no others. Whatever ended is on disk: each trace and each simulation's JSON as soon
as it is there, tables and figures also after a Ctrl-C, of what was done by then.
"""

from __future__ import annotations

import itertools
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from sdsm.base.children import CommandFailed, CommandRunner, Stopped
from sdsm.base.output_file import csv_text
from sdsm.base.progress import Progress
from sdsm.base.run_result import Simulation
from sdsm.base.tracing import Tracer
from sdsm.report.main_job import directives, plan, protocols, tables, v1280
from sdsm.report.main_job.plan import Configuration, SimulationRun, TraceRun
from sdsm.report.main_job.report import Line, laplace_accuracy, line, second_series, thread_rows
from sdsm.report.main_job.rows import write_rows
from sdsm.report.main_job.simulation import Simulator

One = TypeVar("One")
Row = TypeVar("Row")

NOT_RUN = "not run"
SIMULATIONS_AT_ONCE = 2


@dataclass(frozen=True)
class Settings:
    """What a user chooses. Paths need not exist yet but for build and platform."""

    build: Path
    platform: Path
    results: Path
    programs: tuple[str, ...]
    seeds: int
    retrace: bool
    figures: bool


@dataclass
class Outcome:
    """A job's results: for each configuration and seed, a result or the reason why there is none."""

    outcomes: dict[Configuration, dict[int, Simulation | str]] = field(default_factory=dict)
    by_protocol: list[protocols.ProtocolRow] = field(default_factory=list)
    overheads: list[directives.DirectiveRow] = field(default_factory=list)
    on_v1280: list[v1280.HardwareRow] = field(default_factory=list)
    interrupted: bool = False

    def set(self, run: SimulationRun, outcome: Simulation | str) -> None:
        self.outcomes.setdefault(run.configuration, {})[run.seed] = outcome

    @property
    def failed(self) -> bool:
        rows: list[Any] = [*self.by_protocol, *self.overheads, *self.on_v1280]
        has_failed_seed = any(isinstance(o, str) for seeds in self.outcomes.values() for o in seeds.values())
        return has_failed_seed or any(row.failed for row in rows)

    def first_results(self) -> dict[Configuration, Simulation]:
        """The first seed's result of each configuration that has one."""
        firsts = {configuration: seeds.get(plan.FIRST_SEED) for configuration, seeds in self.outcomes.items()}
        return {configuration: first for configuration, first in firsts.items() if isinstance(first, Simulation)}

    def lines(self) -> list[Line]:
        found = self.outcomes.items()
        return [line(configuration, [seeds[seed] for seed in sorted(seeds)]) for configuration, seeds in found]


def run(settings: Settings) -> int:
    """Does the job. Returns the exit status: 0, or 1 if any run failed or the job was interrupted.

    Raises PublishedDataError if the published tables cannot be used, OSError if results cannot be written.
    """
    configurations = plan.configurations(settings.programs)
    simulations = plan.simulation_runs(configurations, settings.seeds)
    outcome = Outcome({configuration: {} for configuration in configurations})
    for simulation in simulations:
        outcome.set(simulation, NOT_RUN)

    started = time.monotonic()
    under_protocols = protocols.configurations(settings.programs)
    of_epcc = directives.configurations() if "epcc" in settings.programs else []
    of_v1280 = v1280.configurations() if v1280.PROGRAM in settings.programs else []
    traces = plan.trace_runs([*configurations, *under_protocols, *of_epcc, *of_v1280])
    runner = CommandRunner()
    # A job that the system ends leaves its results like one ended by hand.
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with Progress(len(traces) + len(simulations)) as progress:
            tracer = Tracer(settings.build, settings.results / "traces", runner)
            untraced = _make_traces(traces, tracer, settings.retrace, progress)
            simulator = Simulator(settings.build, settings.platform, runner)
            campaign = _Campaign(untraced, tracer, simulator, settings.results, outcome, progress)
            _simulate_all(simulations, campaign)
            _simulate_protocols(under_protocols, campaign)
            progress.begin("simulate directives")
            for rows in campaign.two_at_once(campaign.overheads, of_epcc):
                outcome.overheads += rows
            progress.begin("simulate hardware shared memory")
            outcome.on_v1280 += campaign.two_at_once(campaign.on_v1280, campaign.traced(of_v1280))
    except KeyboardInterrupt:
        runner.stop()
        outcome.interrupted = True
        print("sdsm: interrupted; writing the tables of what is done", file=sys.stderr)
    finally:
        signal.signal(signal.SIGTERM, previous)

    lines = outcome.lines()
    text = _text(outcome, lines)
    _write_tables(settings, outcome, lines, text)
    print(text, flush=True)
    if settings.figures:
        from sdsm.report.main_job.figures import draw_all

        draw_all(lines, outcome.by_protocol, outcome.overheads, settings.results)
    print(f"sdsm: results are in {settings.results} ({time.monotonic() - started:.0f} s)", file=sys.stderr)
    return 1 if outcome.failed or outcome.interrupted else 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _make_traces(traces: Sequence[TraceRun], tracer: Tracer, retrace: bool, progress: Progress) -> dict[TraceRun, str]:
    """Makes the traces that are not kept. Returns those that failed, each with its reason."""
    failed: dict[TraceRun, str] = {}
    for trace in traces:
        progress.begin(f"trace {trace.program} {trace.implementation}, {trace.threads} threads")
        try:
            started = time.monotonic()
            if not retrace and tracer.is_kept(trace):
                progress.finish(f"trace {trace.name} kept: same program, tracer and arguments")
                continue
            tracer.trace(trace)
            progress.finish(f"trace {trace.name} ({time.monotonic() - started:.1f} s)")
        except CommandFailed as error:
            failed[trace] = f"no trace: {error}"
            progress.say(f"trace {trace.name} failed: {error}")
            progress.finish(f"trace {trace.name} failed")
    return failed


@dataclass(frozen=True)
class _Campaign:
    """State that all simulations share. untraced: traces that could not be made, and why."""

    untraced: dict[TraceRun, str]
    tracer: Tracer
    simulator: Simulator
    results: Path
    outcome: Outcome
    progress: Progress

    def traced(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """Those with a trace; the others' own lines say why they have none."""
        return [one for one in configurations if one.trace not in self.untraced]

    def overheads(self, one: Configuration) -> list[directives.DirectiveRow]:
        if reason := self.untraced.get(one.trace):
            return [directives.DirectiveRow("", one.layout.nodes, one.layout.threads_per_node, reason)]
        return directives.simulate(one.layout, self.simulator, self.tracer.path(one.trace), self.results / "directives")

    def on_v1280(self, one: Configuration) -> v1280.HardwareRow:
        return v1280.simulate(one, self.simulator, self.tracer.path(one.trace), self.results / "v1280")

    def two_at_once(self, work: Callable[[One], Row], items: Iterable[One]) -> Iterator[Row]:
        """Yields what `work` returns of each item, in their order. After an interruption none goes on."""
        pool = ThreadPoolExecutor(SIMULATIONS_AT_ONCE)
        try:
            for future in [pool.submit(work, one) for one in items]:
                yield future.result()
        except BaseException:
            self.simulator.runner.stop()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _simulate_all(simulations: Sequence[SimulationRun], campaign: _Campaign) -> None:
    def work(simulation: SimulationRun) -> Simulation:
        path = campaign.results / "simulations" / f"{simulation.name}.json"
        return campaign.simulator.kept(simulation, campaign.tracer.path(simulation.configuration.trace), path)

    def collect(future: Future[Simulation], simulation: SimulationRun) -> None:
        try:
            campaign.outcome.set(simulation, future.result())
        except (CommandFailed, OSError) as error:
            campaign.outcome.set(simulation, f"simulation: {error}")
            campaign.progress.say(f"simulate {simulation.name} failed: {error}")
        except Stopped:
            pass
        campaign.progress.finish(f"simulate {simulation.name}", quiet=simulation.seed > plan.FIRST_SEED)

    pool = ThreadPoolExecutor(SIMULATIONS_AT_ONCE)
    pending: dict[Future[Simulation], SimulationRun] = {}
    try:
        for simulation in simulations:
            reason = campaign.untraced.get(simulation.configuration.trace)
            if reason is not None:
                campaign.outcome.set(simulation, reason)
                campaign.progress.finish(f"simulate {simulation.name}: {reason}", quiet=True)
            else:
                pending[pool.submit(work, simulation)] = simulation
        campaign.progress.begin("simulate")
        while pending:
            # A bounded wait lets a Ctrl-C through at once on every platform.
            done, _ = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                collect(future, pending.pop(future))
    finally:
        # Something is left only after an interruption: what ended meanwhile still counts.
        if pending:
            campaign.simulator.runner.stop()
        pool.shutdown(wait=True, cancel_futures=True)
        for future, simulation in pending.items():
            if not future.cancelled():
                collect(future, simulation)


def _simulate_protocols(chosen: Sequence[Configuration], campaign: _Campaign) -> None:
    campaign.progress.begin("simulate each protocol")
    simulator, folder = campaign.simulator, campaign.results / "protocols"
    try:
        known = protocols.known_protocols(simulator.build / "sdsm", simulator.runner)
    except CommandFailed as error:
        campaign.progress.say(f"protocols: {error}")
        return

    def row_of(one: tuple[str, Configuration]) -> protocols.ProtocolRow:
        return protocols.simulate(one[1], one[0], simulator, campaign.tracer.path(one[1].trace), folder)

    campaign.outcome.by_protocol += campaign.two_at_once(row_of, itertools.product(known, campaign.traced(chosen)))


def _settings_document(settings: Settings) -> dict[str, Any]:
    return {
        "platform": settings.platform.name,
        "network": plan.NETWORK,
        "jitter": plan.JITTER,
        "first_seed": plan.FIRST_SEED,
        "seeds": settings.seeds,
        "laplace": {"points_per_side": plan.LAPLACE_POINTS_PER_SIDE, "iterations": plan.LAPLACE_ITERATIONS},
        "fft": {"points": plan.FFT_POINTS},
        "accuracy": None,
    }


def _write_tables(settings: Settings, outcome: Outcome, lines: Sequence[Line], text: str) -> None:
    results = settings.results
    accuracy = laplace_accuracy(lines)
    tables.write_summary(results, lines, _settings_document(settings) | {"accuracy": accuracy and vars(accuracy)})
    tables.write_text(results / "times.csv", csv_text([tables.line_row(line) for line in lines]))
    tables.write_text(results / "threads.csv", csv_text(thread_rows(outcome.first_results())))
    tables.write_text(results / "seeds.csv", csv_text(tables.seed_rows(lines, plan.FIRST_SEED)))
    write_rows(results / protocols.TABLE, outcome.by_protocol)
    write_rows(results / directives.TABLE, outcome.overheads)
    write_rows(results / v1280.TABLE, outcome.on_v1280)
    tables.write_text(results / "tables.txt", text + "\n")


def _text(outcome: Outcome, lines: Sequence[Line]) -> str:
    parts = []
    laplace = [line for line in lines if line.program == "laplace"]
    fft = [line for line in lines if line.program == "fft"]
    spread = [line for line in laplace if line.is_distribution]
    against = "predicted against published [WR-opt]; speedup over implementation 0"
    if laplace:
        size = f"{plan.LAPLACE_POINTS_PER_SIDE} x {plan.LAPLACE_POINTS_PER_SIDE}, {plan.LAPLACE_ITERATIONS} iterations"
        marked = "rows that a published time went into are marked, the rest predicted"
        parts += [f"Laplace, {size}: {against}", f"(layout: nodes x threads per node; {marked})"]
        parts.append(tables.times_table(laplace))
        if (accuracy := laplace_accuracy(laplace)) is not None:
            parts.append(tables.accuracy_sentence(accuracy))
        parts.append(second_series())
    if spread:
        jitter = f"jitter of remote faults: {plan.JITTER * 100:g} %"
        parts += ["", f"Laplace 1 and 2 over seeds ({jitter}), seconds", tables.spread_table(spread)]
    if fft:
        parts += ["", f"FFT, {plan.FFT_POINTS} points: {against}", tables.times_table(fft)]
        rows = [row for row in thread_rows(outcome.first_results()) if row["program"] == "fft"]
        if rows:
            parts += ["", "FFT, events per thread (mean over threads; each thread is in threads.csv)"]
            parts.append(tables.counts_table(rows))
    if outcome.by_protocol:
        nodes = ", ".join(map(str, protocols.NODES))
        parts += ["", f"Under each protocol on {nodes} nodes, one thread each: predicted seconds"]
        parts += protocols.sentences(outcome.by_protocol)
    if outcome.on_v1280:
        parts += ["", f"FFT {v1280.IMPLEMENTATION} on the V1280 (hardware shared memory): predicted seconds"]
        parts.append(v1280.text(outcome.on_v1280))
    if outcome.overheads:
        heading = "EPCC's directives: overhead in microseconds, printed by the program on the simulated cluster (given [WR-env])"
        parts += ["", heading, directives.text(outcome.overheads)]
    missing = [line for line in lines if not line.done]
    if missing:
        failures = [line for line in missing if line.status != NOT_RUN]
        parts += ["", f"{len(missing)} of {len(lines)} lines are incomplete ({len(failures)} failed):"]
        parts.append(tables.incomplete_list(missing))
    return "\n".join(parts)
