"""Parameters of a platform from benchmark outputs: what `sdsm calibrate FILES...` computes.

Each quantity has one estimate per batch, which is one file and layout: the median of its samples. Quantities that do not
depend on the layout (faults, messages, dirty pages, the home's share) are pooled over files and layouts, the memory bus over
files and layouts with as many threads per node, barriers and locks over files. What batches differ by beyond their own errors
goes into the standard error (estimates.pooled): a machine that was slower an hour later is less well known than any one run
of it says.

A release with the diff of b bytes in k messages takes, beyond one without a diff, k message.fixed + b message.per-byte. The
line is fitted to the sizes of one message alone if these have the lower Bayesian information criterion (chi^2 + p ln n; a
larger size left out counts as a parameter of its own). The larger sizes are then reported as not explained.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import numpy as np

from sdsm.base import costs
from sdsm.base.command_line import BadInput
from sdsm.base.costs import Fault, fault_names, faults
from sdsm.calibrate import barrier_shape
from sdsm.calibrate import network as networks
from sdsm.calibrate.doubts import doubts
from sdsm.calibrate.estimates import Estimate, Line, growth_of_few, line, median, pooled, runs_of_equal_length
from sdsm.calibrate.network import TIMES_US, Network, quantity
from sdsm.calibrate.noise import noise
from sdsm.calibrate.parameters import Parameter
from sdsm.calibrate.pooling import RunSummary, pool
from sdsm.microbench import command as microbench
from sdsm.microbench.command import Layout
from sdsm.microbench.command import layout as layout_of
from sdsm.readers.measurement import Measurement, Reading
from sdsm.readers.microbench import (
    COLD,
    FIRST_COPY,
    FIRST_WRITE,
    HOME,
    OLD_BURST,
    PACE,
    PACE_EVERY,
    SINGLE,
    TRAP,
    WAITING,
)

MESSAGE_COSTS = ("message.fixed", "message.per-byte")
PER_BYTE = {f"{unit}/B": TIMES_US[unit] for unit in ("us", "ns", "ps")}
#: Number of home pages that the last thread to arrive at a barrier wrote before.
DIRTY = re.compile(r"barrier\.dirty([1-9][0-9]{0,6})")
#: Number of separate such pages.
APART = re.compile(r"barrier\.apart([1-9][0-9]{0,6})")
#: Number of runs from which the scatter of lines is known.
LEAST_LINES = 3
#: Largest number of runs of a cost in a platform file; only the first are kept.
LEAST_RUNS, MOST_RUNS = 3, 100
#: Smaller differences come from the simulator's picoseconds and the digits of a file.
LEAST_MOVE_US = 1e-3
#: Quantities with a parameter for each layout.
BY_LAYOUT = ("barrier", "lock")
#: EPCC's names of their kernels; the last is 4.0's for LOCK/UNLOCK.
CONSTRUCTS = {"BARRIER": "barrier", "LOCK/UNLOCK": "lock", "LOCK_CONTENDED": "lock"}
#: Largest number of quantities that a note names.
MOST_NAMED = 4
#: Largest value of `sdsm simulate --jitter`.
MOST_JITTER = 2.0
#: Home's share where no home was timed. Assumed.
HOME_SHARE = 0.5
#: Memory-bound computing of each thread in `sdsm replay`.
MEMORY_BOUND_US = 1000.0


#: Words of a release, its time beyond an empty one, and the place of that number.
Point = tuple[int, Estimate, tuple[str, ...]]


class CalibrationError(BadInput):
    """Files that give no platform. The text is one line: what, why, what next."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples of one quantity from one file and layout, in microseconds; or a summary, for files that print no more. rounds:
    number of equally long runs of these samples. burst: successive faults whose mean is a sample."""

    quantity: str
    layout: Layout
    samples: tuple[float, ...]
    source: str
    summary: Estimate | None = None
    rounds: int = 1
    burst: int = OLD_BURST

    @property
    def estimate(self) -> Estimate:
        """Median; for several runs that of runs_of_equal_length."""
        if self.summary or self.rounds == 1:
            return self.summary or median(self.samples)
        return runs_of_equal_length([one.estimate for one in self.each_round()])

    def each_round(self) -> list[Batch]:
        """Batches of one run each."""
        if self.rounds == 1:
            return [self]
        each = len(self.samples) // self.rounds
        parts = [self.samples[i * each : (i + 1) * each] for i in range(self.rounds)]
        return [replace(self, samples=part, rounds=1) for part in parts]

    @property
    def file(self) -> str:
        return self.source.rpartition(":")[0]

    @property
    def medians(self) -> list[float]:
        """Each run's median; empty where the file has a summary."""
        return [] if self.summary else [statistics.median(one.samples) for one in self.each_round()]


@dataclass(frozen=True, slots=True)
class Service:
    """Service times of pages at the homes of one file and layout."""

    layout: Layout
    pages: int
    seconds: float
    source: str


@dataclass(frozen=True)
class Data:
    """The input, sorted by use. unused: readings that say nothing about a platform. left_out: misleading ones, and why.
    supposed: assumptions about what files lack."""

    batches: tuple[Batch, ...]
    services: tuple[Service, ...]
    readings: tuple[Reading, ...]
    system: tuple[Batch, ...] = ()
    unused: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    supposed: tuple[str, ...] = ()

    def runs(self, found: Iterable[tuple[Batch, Sequence[float]]]) -> tuple[float, ...] | None:
        """Returns a cost's value in each run of all files, in one order for all costs. A run's value is the mean over its
        layouts, as costs are pooled over these. found: each file and layout that gave the cost, with values by run. None if
        some run of a file of samples lacks it."""
        rounds: dict[str, int] = {}
        for batch in self.batches:
            if not batch.summary and rounds.setdefault(batch.file, batch.rounds) != batch.rounds:
                return None
        of_files: dict[str, list[Sequence[float]]] = {file: [] for file in rounds}
        for batch, values in found:
            of_files.setdefault(batch.file, []).append(values)
        if any(not layouts or {len(values) for values in layouts} != {rounds.get(file)} for file, layouts in of_files.items()):
            return None
        runs = tuple(statistics.fmean(at) for layouts in of_files.values() for at in zip(*layouts, strict=True))
        return runs[:MOST_RUNS] if len(runs) >= LEAST_RUNS else None

    def medians(self, batches: Iterable[Batch]) -> tuple[float, ...] | None:
        """runs() for a cost that the batches themselves measured."""
        return self.runs((b, b.medians) for b in batches)


@dataclass(frozen=True, slots=True)
class Check:
    """A measured quantity that `sdsm replay` re-runs as `row`. parameters: those calibrated from it."""

    row: str
    layout: Layout | None
    measured: Estimate
    parameters: tuple[str, ...]
    sources: tuple[str, ...]


UNMEASURED_SHAPE = barrier_shape.Choice("flat", "assumed", "no barrier was measured")


@dataclass(frozen=True)
class Fit:
    """Parameters in the order of a platform file; times in us. covariance: of pairs of parameters that were fitted together.
    notes: sentences for the user, with those of left_out (Data). layouts: all that were measured."""

    parameters: tuple[Parameter, ...]
    checks: tuple[Check, ...]
    covariance: dict[tuple[str, str], float]
    notes: tuple[str, ...]
    network: Network  # with its measured values
    extras: dict[str, Parameter] = field(default_factory=dict)
    barrier_shape: barrier_shape.Choice = UNMEASURED_SHAPE
    curves: tuple[networks.Piece, ...] = ()  # of times over sizes, from which the network was fitted
    network_owner: str = "reference"  # prefix of the fitted network's properties: of this, or of the "link"
    layouts: tuple[Layout, ...] = ()
    left_out: tuple[str, ...] = ()

    def value(self, name: str) -> float:
        return next(p.value for p in self.parameters if p.name == name)


# Reading


def collect(readings: Sequence[Reading], layouts: Sequence[Layout] = (), oversubscribed: bool = False) -> Data:
    """`layouts`: for files without one; an EPCC run of P threads gets the one with P threads, else Px1. oversubscribed: whether layouts of
    more threads than the machine has processors count for costs that do not depend on the layout. Raises
    CalibrationError."""
    batches: list[Batch] = []
    services: list[Service] = []
    system: list[Batch] = []
    unused: list[str] = []
    left_out: list[str] = []
    supposed: list[str] = []
    for reading in readings:
        used = False
        batches_before, services_before = len(batches), len(services)
        served: dict[Layout, dict[str, Measurement]] = {}
        for m in reading.measurements:
            if m.statistic == "samples" and m.unit == "ns":
                used = True
                if m.quantity.startswith("system."):
                    system.append(Batch(m.quantity, Layout(1, 1), m.in_unit("us"), str(m.place)))
                    continue
                layout, rounds, burst = _layout(m, layouts, reading.file), int(m.keys.get("rounds", 1)), int(m.keys.get("burst", OLD_BURST))
                batches.append(Batch(m.quantity, layout, m.in_unit("us"), str(m.place), None, rounds, burst))
            elif m.quantity in ("pages served", "page service"):
                served.setdefault(_layout(m, layouts, reading.file), {})[m.quantity] = m
        for layout, parts in served.items():
            if len(parts) == 2 and parts["pages served"].values[0] > 0:
                service, pages = parts["page service"], int(parts["pages served"].values[0])
                services.append(Service(layout, pages, service.in_unit("s")[0], str(service.place)))
        if not oversubscribed and (why := _oversubscribed(reading, batches[batches_before:])):
            count = _processors(reading)
            left_out.append(why)
            batches[batches_before:] = [b for b in batches[batches_before:] if b.layout.threads <= count or b.quantity in BY_LAYOUT]
            services[services_before:] = [one for one in services[services_before:] if one.layout.threads <= count]
        overheads, below_0 = _epcc(reading, layouts)
        batches += overheads
        if below_0:
            unused.append(f"{reading.file}: overheads below 0 are no cost of a platform, and are left out: {', '.join(below_0)}")
        mpi_barrier = [m.in_unit("us")[0] for m in reading.measurements if m.quantity.endswith("Barrier latency")]
        if mpi_barrier:
            bound = f"MPI's barrier of {min(mpi_barrier):g} us is a lower bound of barrier.NxT, and is not taken for it"
            unused.append(f"{reading.file}: {bound}. A DSM's barrier also sends what was written: EPCC's syncbench measures it there")
        supposed += [
            f"{reading.file}: EPCC's runs of {one.nodes} threads count as {one}, a thread on each node. If all ran on one node, "
            f"give --layout 1x{one.nodes}"
            for one in sorted({b.layout for b in overheads} - set(layouts))
            if one.nodes > 1
        ]
        of_network = ("message time, one way", "latency, one way", "bandwidth", "round-trip")
        on_network = any(
            m.quantity in of_network[:3] or m.quantity.startswith("round-trip") for m in reading.measurements
        )
        if not (used or overheads or on_network or below_0 or mpi_barrier):
            quantities = sorted({m.quantity for m in reading.measurements})
            few = f" ({', '.join(quantities)})" if len(quantities) <= MOST_NAMED else ""
            unused.append(f"{reading.file}: {reading.format}{few} measures nothing that a platform file holds")
    unmet = sorted(set(layouts) - {b.layout for b in batches} - {one.layout for one in services})
    if unmet and not unused:
        threads = sorted({b.layout.threads for b in batches if b.summary})
        has = f": EPCC's runs are of {', '.join(map(str, threads))} threads" if threads else ""
        raise CalibrationError(f"--layout {unmet[0]} is of {unmet[0].threads} threads, and no file's run is{has}. Leave it out, or give the layout of the runs")
    return Data(tuple(batches), tuple(services), tuple(readings), tuple(system), tuple(unused), tuple(left_out), tuple(supposed))


def _processors(reading: Reading) -> float:
    """Number of the machine's processors; infinite if unknown, or if an emulated network lay between, for which processors
    wait."""
    if any("emulated" in m.keys for m in reading.measurements):
        return math.inf
    counts = (setting.value for setting in reading.settings if setting.name == "processors")
    return next((float(value) for value in counts if isinstance(value, (int, float))), math.inf)


def _oversubscribed(reading: Reading, batches: Sequence[Batch]) -> str:
    """Describes which layouts must not count for the others, and why; empty for none. Raises CalibrationError if no other is
    left."""
    count = _processors(reading)
    layouts = sorted({b.layout for b in batches})
    if not any(layout.threads > count for layout in layouts):
        return ""
    if all(layout.threads > count for layout in layouts):
        raise CalibrationError(
            f"{reading.file}: every layout has more threads than the machine's {count:g} processor{'s' * (count > 1)}, so its times "
            "are too long. Measure a smaller layout, or take them by --oversubscribed"
        )
    many = microbench.oversubscribed(layouts, int(count), "the machine's")
    return f"{reading.file}: {many}, so only barriers and locks of these count"


def _layout(m: Measurement, layouts: Sequence[Layout], file: str) -> Layout:
    if "nodes" in m.keys:
        return Layout(int(m.keys["nodes"]), int(m.keys["threads_per_node"]))
    if len(layouts) != 1:
        raise CalibrationError(
            f"{file}: does not say on which layout it ran. Give --layout NODESxTHREADS, or the file that `sdsm microbench -o` wrote"
        )
    return layouts[0]


def _epcc(reading: Reading, layouts: Sequence[Layout]) -> tuple[list[Batch], list[str]]:
    """Returns overheads of barriers and locks, one batch for each number of threads, all runs of the file pooled; and those
    below 0, named."""
    batches: list[Batch] = []
    below_0: list[str] = []
    for construct, kind in CONSTRUCTS.items():
        groups: dict[int, list[tuple[Measurement, Measurement | None]]] = {}
        times = {(m.run, m.quantity): m for m in reading.measurements if m.quantity.endswith(" time")}
        for m in reading.measurements:
            # Only the mean, where a run prints a median, too: they are not two runs.
            if m.quantity == f"{construct} overhead" and m.statistic == "mean" and "threads" in m.keys:
                groups.setdefault(int(m.keys["threads"]), []).append((m, times.get((m.run, f"{construct} time"))))
        for threads, found in groups.items():
            layout = next((given for given in layouts if given.threads == threads), Layout(threads, 1))
            values = [m.in_unit("us")[0] for m, _ in found]
            if min(values) < 0:
                below_0.append(f"{construct} on {threads} threads ({min(values):g} us)")
                continue
            batches.append(Batch(kind, layout, tuple(values), str(found[0][0].place), _overhead(found, values)))
    return batches, below_0


def _overhead(found: Sequence[tuple[Measurement, Measurement | None]], values: Sequence[float]) -> Estimate:
    """Mean over runs. Its error: the spread over runs; of a single run, the deviation of its samples by their root."""
    mean = math.fsum(values) / len(values)
    if len(values) > 1:
        error = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))
        return Estimate(mean, error, sum(m.samples or 1 for m, _ in found), 1)
    time = found[0][1]
    if time is None or time.samples is None or time.samples < 2 or time.spread.standard_deviation is None:
        return Estimate(mean, None, found[0][0].samples)
    deviation = time.spread.standard_deviation * time.in_unit("us")[0] / time.values[0] if time.values[0] else 0.0
    level = time.in_unit("us")[0]
    run = pool([RunSummary(time.samples, level, deviation, level, level)])
    return Estimate(mean, (run.sd_samples or 0.0) / math.sqrt(time.samples), time.samples)


# Fitting


class Base:
    """The base file's values for costs that no file measured."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given

    def add(self, names: Iterable[str], parameters: list[Parameter]) -> bool:
        """Adds all of `names` as assumed, or none if one is missing. Raises CalibrationError for what is no quantity."""
        chosen = list(names)
        if not chosen or not all(name in self._given for name in chosen):
            return False
        for name in chosen:
            unit, units = ("us/B", PER_BYTE) if name == "message.per-byte" else ("us", TIMES_US)
            if name in ("local-part.home-share", "local-part.waiting-share", "noise.deviation") or name.startswith("memory-bus."):
                unit, units = "1", {"": 1.0}
            try:
                value = quantity(self._given[name], units)
            except ValueError as error:
                raise CalibrationError(f"the base file's {name}: {error}. Correct it") from None
            parameters.append(_assumed(name, value, unit, "not measured: as the base file says"))
        return True

    def names(self, pattern: str) -> list[str]:
        return [name for name in self._given if re.fullmatch(pattern, name)]


def fit(
    data: Data, base: Network, given: Mapping[str, str] = MappingProxyType({}), links: Network | None = None
) -> Fit:
    """Fits every parameter that the data give, and adds the assumed ones that a platform file must have.

    base, given: reference network and properties of the base file. links: what its links are, where all are alike.
    Groups that no file measures (all faults, the message, all barriers, all locks) are the base's; of a group that was
    measured in part nothing is taken from there, as another machine's costs do not mix with these. A measured network
    becomes the reference if the data hold faults or releases, which were then measured on it; else the base's costs keep
    theirs, and only links change: EPCC's barriers and locks were measured on these (as_on_reference).

    Raises CalibrationError if a group is neither measured nor in the base file.
    """
    fallback = Base(given)
    notes: list[str] = [*(f"{why}. --oversubscribed takes all" for why in data.left_out), *data.unused, *data.supposed]
    rate, latency = networks.fit(data.readings, base)
    notes += networks.contradictions(data.readings, base)
    is_reference = any(b.quantity in fault_names() or b.quantity.startswith("release.") for b in data.batches)
    unmeasured = base if is_reference or links is None else links
    bandwidth = rate.estimate.value / 8e6 if rate else unmeasured.bandwidth
    network = Network(bandwidth, latency.estimate.value if latency else unmeasured.latency_us, base.links, base.frame)
    parameters: list[Parameter] = []
    checks: list[Check] = []
    covariance: dict[tuple[str, str], float] = {}

    _faults(data, parameters, checks, fallback)
    _parts_of_faults(data, parameters, notes, fallback)
    extras = _messages(data, parameters, checks, covariance, notes, fallback)
    _by_layout(data, parameters, checks, notes, fallback)
    _dirty_pages(data, parameters, checks, notes, fallback)
    _further_runs(data, parameters, checks, notes, fallback)
    _atomics(data, parameters, fallback)
    _memory_bus(data, parameters, checks, notes, fallback)
    of_fetch = (network, _fetch_error(network, rate, latency)) if is_reference else (base, 0.0)
    _home_share(data, *of_fetch, parameters, fallback)
    # If only a network was measured, the processors are the base's; another machine's must not replace them.
    for name in () if is_reference else ("noise.deviation", "noise.duration"):
        fallback.add([name], parameters)
    _noise(data, parameters)
    for name, found, of_base, unit, scale in (
        ("bandwidth", rate, base.bandwidth_bits / 1e6, "Mbps", 1e-6),
        ("latency", latency, base.latency_us, "us", 1.0),
    ):
        if found is None or not is_reference:
            parameters.append(_assumed(f"reference.{name}", of_base, unit, "as the base file says"))
        if found is not None:
            link = _found(f"link.{name}", found.estimate.times(scale), unit, "fitted", found.how, found.sources)
            extras[link.name] = link
            if is_reference:
                parameters.append(replace(link, name=f"reference.{name}"))
    parameters.append(_assumed("reference.links", base.links, "1", "as the base file says"))
    for name, value in msgspec.structs.asdict(base.frame).items():
        parameters.append(_assumed(f"frame.{name}", value, "B", "as the base file says"))
    extras |= _extras(data, parameters)
    shape = _barrier_shape(parameters, network, network if is_reference else base, given)
    curves = tuple(networks.pieces(data.readings, base))
    owner = "reference" if is_reference else "link"
    layouts = tuple(sorted({b.layout for b in data.batches}))
    notes += doubts(parameters)
    made = (tuple(parameters), tuple(checks), covariance, tuple(notes))
    return Fit(*made, network, extras, shape, curves, owner, layouts, data.left_out)


def as_on_reference(found: Fit, trial: Fit, simulated: Mapping[str, float]) -> Fit:
    """Converts barriers and locks that were measured on the links to the reference network, for which a platform file
    gives them. simulated: the simulator's times for `trial` on these links, us.

    Raises CalibrationError for one that is shorter than its messages.
    """
    moved = []
    for parameter in found.parameters:
        longer = simulated.get(parameter.name, math.nan) - trial.value(parameter.name)
        if parameter.kind != "measured" or parameter.name.split(".")[0] not in BY_LAYOUT or not abs(longer) > LEAST_MOVE_US:
            moved.append(parameter)
            continue
        if parameter.value <= longer:
            nodes = parameter.name.partition(".")[2].partition("x")[0]
            latency = found.extras.get("link.latency")
            cause = f", whose latency of {latency.value:.4g} us is {latency.how} ({', '.join(latency.sources)})" if latency else ""
            raise CalibrationError(
                f"{parameter.sources[0]}: {parameter.name} took {parameter.value:.4g} us, but its messages take {longer:.4g} us longer on "
                f"these links{cause}, than on the reference network. Give another measurement of the links: a round trip beside other "
                f"traffic is too long. If all of its threads ran on one node, give --layout 1x{nodes} instead"
            )
        how = f"{parameter.how}, less the {longer:.6g} us that messages take longer on these links than on the reference network"
        moved.append(replace(parameter, value=parameter.value - longer, kind="fitted", how=how))
    return replace(found, parameters=tuple(moved))


def without_round_trips(data: Data) -> Data:
    """Returns the data without the round trips of bandwidth tests, which other traffic lengthens."""
    readings = (replace(r, measurements=tuple(m for m in r.measurements if not m.quantity.startswith(networks.ROUND_TRIP))) for r in data.readings)
    return replace(data, readings=tuple(readings))


def trial_of(found: Fit, value_us: float) -> Fit:
    """Returns the fit with another value for all measured barriers and locks."""
    is_meant = {p.name for p in found.parameters if p.kind == "measured" and p.name.split(".")[0] in BY_LAYOUT}
    changed = (replace(p, value=value_us) if p.name in is_meant else p for p in found.parameters)
    return replace(found, parameters=tuple(changed))


def _remote(data: Data, quantity: str) -> list[Batch]:
    """Returns the batches on several nodes."""
    return [b for b in data.batches if b.quantity == quantity and b.layout.nodes > 1]


def _files(batches: Iterable[Batch]) -> set[str]:
    return {b.source.rsplit(":", 1)[0] for b in batches}


def _found(
    name: str, estimate: Estimate, unit: str, kind: str, how: str, sources: Sequence[str], runs: tuple[float, ...] | None = None
) -> Parameter:
    how = how if estimate.batches == 1 else f"{how}, {estimate.batches} batches"
    return Parameter(name, estimate.value, unit, estimate.standard_error, estimate.samples, kind, how, tuple(sources), runs)


def _assumed(name: str, value: float, unit: str, how: str, sources: Sequence[str] = ()) -> Parameter:
    return Parameter(name, value, unit, None, None, "assumed", how, tuple(sources))


def _sources(batches: Iterable[Batch]) -> tuple[str, ...]:
    return tuple(b.source for b in batches)


def _like(fault: Fault) -> str:
    """The kind whose cost stands for one without measurement: it does the same work, but for a process on the same node. Empty
    where there is none."""
    if fault.fetches_page:
        return next(one.name for one in faults("scash") if one.fetches_page and one != fault)
    return {"WROH": "", "WROR": "", "WROL": "WROR"}.get(fault.name, "WROH")


def _faults(data: Data, parameters: list[Parameter], checks: list[Check], base: Base) -> None:
    found = {kind: [b for b in data.batches if b.quantity == kind] for kind in fault_names()}
    if not any(found.values()):
        if base.add((f"fault.{kind}" for kind in found), parameters):
            return
        raise CalibrationError("no page fault was measured in any file. Give the output of `sdsm microbench -o`")
    for fault in faults("scash"):
        kind = fault.name
        batches = found[kind]
        if not batches:
            batches = found.get(_like(fault), [])
            if not batches:
                why = f"fault {kind} was not measured, nor one that is like it"
                raise CalibrationError(f"{why}. Measure a layout of several nodes")
            like = pooled([b.estimate for b in batches])
            how = f"as {batches[0].quantity}: not measured (measure a layout of several nodes with two threads each)"
            assumed = _assumed(f"fault.{kind}", like.value, "us", how, _sources(batches))
            parameters.append(replace(assumed, runs=data.medians(batches)))
            continue
        _add_measured(f"fault.{kind}", None, batches, "median", data, parameters, checks)


def _add_measured(
    name: str, layout: Layout | None, batches: Sequence[Batch], how: str, data: Data, parameters: list[Parameter],
    checks: list[Check],
) -> None:  # fmt: skip
    """Adds a parameter, in us, that the batches themselves measured, and the check that the simulator reproduces it."""
    estimate, sources = pooled([b.estimate for b in batches]), _sources(batches)
    parameters.append(_found(name, estimate, "us", "measured", how, sources, data.medians(batches)))
    checks.append(Check(name, layout, estimate, (name,), sources))


def _bic(fitted: Line, points: int, parameters: int) -> float:
    return fitted.chi2 + parameters * math.log(points)


def _release_points(data: Data) -> list[Point]:
    """Returns each diff size with its release's time beyond an empty one."""
    empty = {_key(b): b for b in _remote(data, "release.0")}
    names = {b.quantity for b in data.batches if b.quantity.startswith("release.") and b.quantity != "release.0"}
    sizes = sorted(int(name.partition(".")[2]) for name in names)
    points: list[Point] = []
    for words in sizes:
        parts = [(b, empty[_key(b)]) for b in _remote(data, f"release.{words}") if _key(b) in empty]
        if parts:
            each = [b.estimate.minus(none.estimate) for b, none in parts]
            points.append((words, pooled(each), tuple(b.source for b, _ in parts)))
    return points


def _messages(
    data: Data, parameters: list[Parameter], checks: list[Check], covariance: dict[tuple[str, str], float],
    notes: list[str], base: Base,
) -> dict[str, Parameter]:  # fmt: skip
    if not any(b.quantity.startswith("release.") for b in data.batches) and base.add(MESSAGE_COSTS, parameters):
        return {}
    points = _release_points(data)
    single = [point for point in points if costs.diff(point[0]).messages == 1]
    if len(single) < 2:
        raise CalibrationError(
            "too few sizes of diffs (release.N on several nodes) for the cost of a message. Give the output of `sdsm microbench -o`"
        )

    def fitted(chosen: Sequence[Point]) -> Line:
        counts = [costs.diff(words).messages for words, _, _ in chosen]
        # A point without an error of its own weighs like one known to a twentieth.
        errors = [e.standard_error or max(abs(e.value), 1e-3) / 20 for _, e, _ in chosen]
        try:
            return line(counts, [costs.diff(w).bytes for w, _, _ in chosen], [e.value for _, e, _ in chosen], errors)
        except ValueError as error:
            raise CalibrationError(f"the cost of a message: {error}. Measure again") from None

    chosen, how = points, "least squares over releases, one line"
    best = fitted(points)
    extras: dict[str, Parameter] = {}
    if len(points) > len(single):
        alone = fitted(single)
        if _bic(alone, len(points), 2 + len(points) - len(single)) < _bic(best, len(points), 2):
            chosen, best = single, alone
            how = "least squares over releases of one message"
            for words, estimate, sources in points:
                diff = costs.diff(words)
                if diff.messages == 1:
                    continue
                fitted_us = best.at(diff.messages, diff.bytes)
                notes.append(
                    f"a release of {diff.bytes} bytes takes {estimate.value:.4g} us, but the line through the smaller ones gives "
                    f"{fitted_us:.4g} us: a platform file has one straight line for all sizes, so long diffs will be off by that"
                )
                name = f"release.{words}"
                beyond = "median beyond that of an empty release; not in the platform file"
                extras[name] = _found(name, estimate, "us", "measured", beyond, sources)
    sources = tuple(place for _, _, places in chosen for place in places)
    counts = [e.samples for _, e, _ in chosen if e.samples is not None]
    shape = f"{how}, {len(chosen)} sizes"
    if best.misfit is not None and best.misfit > 1:
        times = f"errors times {math.sqrt(best.misfit):.3g}"
        shape += f", {times}, as the points lie that much further off than their own errors say"
    by_layout = _lines_by_run(data, chosen, fitted)
    lines = [one for empty_one, of_layout in by_layout if empty_one.rounds > 1 for one in of_layout]
    if len(lines) >= LEAST_LINES:
        scatter = np.cov([(one.fixed, one.per_unit) for one in lines], rowvar=False) / len(lines)
        scatter *= growth_of_few(len(lines)) ** 2
        if scatter[0, 0] > best.fixed_error**2:
            # A run's luck moves all of its sizes together, so the line's points are not independent.
            fixed, per_unit = map(float, np.sqrt(np.diag(scatter)))
            best = replace(best, fixed_error=fixed, per_unit_error=per_unit, covariance=float(scatter[0, 1]))
            shape = f"{how}, {len(chosen)} sizes, errors from the lines of {len(lines)} runs"
    known = all(e.standard_error is not None for _, e, _ in chosen)
    samples = sum(counts) or None
    for name, unit, coefficient in zip(MESSAGE_COSTS, ("us", "us/B"), ("fixed", "per_unit"), strict=True):
        error = getattr(best, f"{coefficient}_error") if known else None
        runs = data.runs((b, [getattr(one, coefficient) for one in of_layout]) for b, of_layout in by_layout)
        parameters.append(Parameter(name, getattr(best, coefficient), unit, error, samples, "fitted", shape, sources, runs))
    covariance[MESSAGE_COSTS] = best.covariance
    for words, estimate, places in chosen:
        checks.append(Check(f"release.{words}", None, estimate, MESSAGE_COSTS, places))
    return extras


def _lines_by_run(
    data: Data, chosen: Sequence[Point], fitted: Callable[[Sequence[Point]], Line]
) -> list[tuple[Batch, list[Line]]]:
    """Returns for each file and layout the empty releases, and each run's line through the releases of the chosen sizes."""
    found = {(_key(b), b.quantity): b for b in data.batches if b.quantity.startswith("release.") and b.layout.nodes > 1}
    by_layout = []
    for (key, name), empty in found.items():
        of_sizes = [found.get((key, f"release.{words}")) for words, _, _ in chosen]
        if name != "release.0" or any(b is None or b.rounds != empty.rounds for b in of_sizes):
            continue
        lines = []
        for none, *values in zip(*(b.medians for b in (empty, *of_sizes) if b is not None), strict=True):
            # Weights as in the fit of all runs: one run's few samples would make them random.
            own = [(w, replace(e, value=value - none), at) for (w, e, at), value in zip(chosen, values, strict=True)]
            lines.append(fitted(own))
        by_layout.append((empty, lines))
    return by_layout


def _key(batch: Batch) -> tuple[str, Layout]:
    return batch.file, batch.layout


def _by_layout(data: Data, parameters: list[Parameter], checks: list[Check], notes: list[str], base: Base) -> None:
    """Adds barriers and locks. Samples of the DSM's own benchmark take precedence over EPCC's overheads of the same layout."""
    for kind in BY_LAYOUT:
        layouts = sorted({b.layout for b in data.batches if b.quantity == kind})
        if not layouts:
            if base.add(base.names(rf"{kind}\.[0-9]+x[0-9]+"), parameters):
                continue
            advice = "Give the output of `sdsm microbench -o`, or of EPCC's syncbench"
            raise CalibrationError(f"no {kind} was measured. {advice}")
        for layout in layouts:
            batches = [b for b in data.batches if b.quantity == kind and b.layout == layout]
            own = [b for b in batches if b.summary is None]
            if own and len(own) < len(batches):
                others = ", ".join(b.source for b in batches if b.summary is not None)
                notes.append(f"{kind}.{layout}: sdsm microbench's samples are used, EPCC's ({others}) are not")
            how = "median" if own else "mean of EPCC's overhead"
            _add_measured(f"{kind}.{layout}", layout, own or batches, how, data, parameters, checks)


def _barrier_shape(
    parameters: Sequence[Parameter], network: Network, reference: Network, given: Mapping[str, str]
) -> barrier_shape.Choice:
    """Adds the shape of barriers that were measured on `network`; the base's keep the base file's. reference: of message.*."""
    found = {p.name: p for p in parameters}
    barriers = {
        layout_of(name.partition(".")[2]): Estimate(p.value, p.standard_error, p.samples)
        for name, p in found.items()
        if re.fullmatch(r"barrier\.[0-9]+x[0-9]+", name) and p.kind == "measured"
    }
    if not barriers:
        given_shape = given.get(barrier_shape.PROPERTY, "flat")
        if given_shape not in barrier_shape.SHAPES:
            raise CalibrationError(
                f"the base file's {barrier_shape.PROPERTY}: '{given_shape}' is neither 'flat' nor 'tree'. Correct it"
            )
        return barrier_shape.Choice(given_shape, "assumed", "no barrier was measured: as the base file says")
    control = costs.sizes().control_bytes
    wire = network.idle_us(control)
    whole = found["message.fixed"].value + control * found["message.per-byte"].value
    link = network.wire_bytes(control) / network.bandwidth
    return barrier_shape.choose(barriers, barrier_shape.Message(wire, link, whole - reference.idle_us(control)))


def _dirty_pages(data: Data, parameters: list[Parameter], checks: list[Check], notes: list[str], base: Base) -> None:
    name = "barrier.dirty-home-page"
    clean = {_key(b): b for b in _remote(data, "barrier.dirty0")}
    parts = [
        (b, clean[_key(b)], int(found[1]))
        for b in data.batches
        if (found := DIRTY.fullmatch(b.quantity)) and b.layout.nodes > 1 and _key(b) in clean
    ]
    if not parts:
        if not base.add([name], parameters):
            parameters.append(_assumed(name, 0.0, "us", "not measured: nothing is charged"))
        return
    estimate = pooled([b.estimate.minus(none.estimate).times(1 / pages) for b, none, pages in parts])
    sources = _sources(b for b, _, _ in parts)
    how = f"barrier with {', '.join(map(str, sorted({pages for _, _, pages in parts})))} such pages less one without, by page"
    if estimate.value < 0:
        notes.append(f"{name} came out as {estimate.value:.3g} us, below zero: 0 is taken")
    runs = data.runs(
        (b, [max(wrote - not_, 0.0) / pages for wrote, not_ in zip(b.medians, none.medians, strict=False)]) for b, none, pages in parts
    )
    parameters.append(_found(name, replace(estimate, value=max(estimate.value, 0.0)), "us", "fitted", how, sources, runs))
    checks.append(Check(name, None, estimate, (name,), sources))


def _further_runs(data: Data, parameters: list[Parameter], checks: list[Check], notes: list[str], base: Base) -> None:
    """Adds an optional cost: without a measurement the base file's, if it has one. N separate pages have N - 1 further runs;
    adjacent pages tell what pages cost by themselves."""
    name = "barrier.further-run"
    none_by_key = {_key(b): b for b in _remote(data, "barrier.dirty0")}
    adjacent = {_key(b): (b, int(found[1])) for b in data.batches if (found := DIRTY.fullmatch(b.quantity))}
    parts: list[tuple[Batch, Batch, Batch, int, float]] = []
    for b in data.batches:
        found = APART.fullmatch(b.quantity)
        if found and int(found[1]) > 1 and _key(b) in none_by_key and _key(b) in adjacent:
            row, pages = adjacent[_key(b)]
            parts.append((b, row, none_by_key[_key(b)], int(found[1]) - 1, int(found[1]) / pages))
    if not parts:
        base.add([name], parameters)
        return
    each = [
        b.estimate.minus(row.estimate.times(part)).minus(none.estimate.times(1 - part)).times(1 / runs)
        for b, row, none, runs, part in parts
    ]
    estimate, sources = pooled(each), _sources(b for b, *_ in parts)
    if estimate.value <= 0:
        notes.append(f"{name} came out as {estimate.value:.3g} us: nothing is charged")
        return

    def by_run(b: Batch, row: Batch, none: Batch, count: int, part: float) -> list[float]:
        medians = zip(b.medians, row.medians, none.medians, strict=False)
        return [max(one - part * many - (1 - part) * no, 0.0) / count for one, many, no in medians]

    runs = data.runs((one[0], by_run(*one)) for one in parts)
    how = "barrier with pages apart less one with as many adjacent ones, by run"
    parameters.append(_found(name, estimate, "us", "fitted", how, sources, runs))
    checks.append(Check(name, None, estimate, (name,), sources))


def _memory_bus(data: Data, parameters: list[Parameter], checks: list[Check], notes: list[str], base: Base) -> None:
    """Adds, by threads of a node, the time of the memory-bound loop on all of them over that on one, at least 1. It is
    optional: without a measurement the base file's, if it has one."""
    alone = {_key(b): b for b in data.batches if b.quantity == "stream.alone" and b.estimate.value > 0}
    together = [b for b in data.batches if b.quantity == "stream.together" and _key(b) in alone]
    if not together:
        base.add(base.names(r"memory-bus\.[0-9]+"), parameters)
    for threads in sorted({b.layout.threads_per_node for b in together}):
        batches = [b for b in together if b.layout.threads_per_node == threads]
        estimate = pooled([b.estimate.over(alone[_key(b)].estimate) for b in batches])
        name = f"memory-bus.{threads}"
        if estimate.value < 1:
            notes.append(f"{name} came out as {estimate.value:.3g}: threads do not make each other faster, so 1 is taken")
        sources, how = _sources(batches), "stream.together by stream.alone, medians"
        medians = ((b, zip(b.medians, alone[_key(b)].medians, strict=False)) for b in batches)
        runs = data.runs((b, [both / one for both, one in by_run if one > 0]) for b, by_run in medians)
        parameters.append(_found(name, replace(estimate, value=max(estimate.value, 1.0)), "1", "fitted", how, sources, runs))
        checks.append(Check(name, Layout(1, threads), estimate.times(MEMORY_BOUND_US), (name,), sources))


#: Parts of faults, and the extra time of a first fetch: each one's quantity, and how it is measured.
_PARTS_OF_FAULTS = {
    "fault.cold": (COLD, "own write by the program's clock less by the run's account"),
    "fault.trap": (TRAP, "by the run itself: a write that traps less one that does not and the handler"),
    "fault.first-copy": (FIRST_COPY, "a node's first fetch of a page less later ones"),
    "fault.first-write": (FIRST_WRITE, "a first write of an own page less a later one"),
}


def _parts_of_faults(data: Data, parameters: list[Parameter], notes: list[str], base: Base) -> None:
    """Adds optional costs: without a measurement of any fault the base file's, if it has them."""
    with_new_twins = sorted(_files(_remote(data, "WUMR")) - _files(_remote(data, FIRST_WRITE)))
    if with_new_twins and _remote(data, FIRST_WRITE):
        notes.append(
            f"{', '.join(with_new_twins)}: no {FIRST_WRITE}, so WUMR counts the memory of new twins there, and not in the other outputs. "
            "Give outputs of one kind: of this version, with a processor for each thread"
        )
    for name, (measured_as, how) in _PARTS_OF_FAULTS.items():
        batches = _remote(data, measured_as)
        if batches:
            estimate, sources = pooled([b.estimate for b in batches]), _sources(batches)
            estimate = replace(estimate, value=max(estimate.value, 0.0))
            runs = data.medians(batches)
            runs = None if runs is None else tuple(max(run, 0.0) for run in runs)
            parameters.append(_found(name, estimate, "us", "measured", how, sources, runs))
        elif not any(b.quantity in fault_names() for b in data.batches):
            base.add([name], parameters)


def _atomics(data: Data, parameters: list[Parameter], base: Base) -> None:
    """Adds atomic operations on a page of the own node. They are optional: a fault on an own page replaces them."""
    name = "atomic.own"
    batches = _remote(data, name)
    if batches:
        estimate, sources = pooled([b.estimate for b in batches]), _sources(batches)
        parameters.append(_found(name, estimate, "us", "measured", "median", sources, data.medians(batches)))
    else:
        base.add([name], parameters)


def _fetch_error(network: Network, rate: networks.Fitted | None, latency: networks.Fitted | None) -> float:
    """Standard error of the wire time of a fetch, us, from those of bandwidth and latency."""
    faster = (rate.estimate.standard_error or 0.0) / 8e6 if rate else 0.0
    later = (latency.estimate.standard_error or 0.0) if latency else 0.0
    by_rate = network.fetch_us - replace(network, bandwidth=network.bandwidth + faster).fetch_us
    by_latency = replace(network, latency_us=network.latency_us + later).fetch_us - network.fetch_us
    return math.hypot(by_rate, by_latency)


#: Waking a processor may take longer than the rest of the fetch.
MOST_WAITING_SHARE = 10.0


def _home_share(data: Data, network: Network, fetch_error: float, parameters: list[Parameter], base: Base) -> None:
    """Adds the time that a home's computing thread loses by giving a page away, if it was measured: waking the serving
    thread, and the system's part, often take longer than the service itself. Otherwise uses the service time."""
    name = "local-part.home-share"
    measured = list(_beside_fetches(data, network, HOME, lambda lost, fetch: lost))
    how = "what a fetch takes from a home that computes"
    if not measured:
        measured = list(_shares_served(data, network))
        how = "homes' time for a page"
    if not measured:
        if not base.add([name], parameters):
            parameters.append(_assumed(name, HOME_SHARE, "1", "no home was timed"))
        else:
            base.add(["local-part.waiting-share"], parameters)
        return
    estimate = pooled([share.estimate for share in measured])
    how += " by the processor time of a fetch; the error is the fetch's and its wire's"
    # The wire's time is the same in all batches, so its error does not average out.
    wire = estimate.value * fetch_error / statistics.fmean(share.local_us for share in measured)
    error = None if estimate.standard_error is None else math.hypot(estimate.standard_error, wire)
    found = replace(estimate, value=min(estimate.value, 1.0), standard_error=None if error is None else min(error, 1.0))
    parameters.append(_found(name, found, "1", "fitted", how, [share.source for share in measured]))
    # Extra time of a fetch from a waiting home over one from a computing home, negative if shorter.
    if waiting := list(_beside_fetches(data, network, WAITING, lambda waits, fetch: waits.minus(fetch))):
        longer = pooled([share.estimate for share in waiting])
        wire = longer.value * fetch_error / statistics.fmean(share.local_us for share in waiting)
        error = None if longer.standard_error is None or found.standard_error is None else math.hypot(longer.standard_error, wire, found.standard_error)
        value = min(max(found.value + longer.value, 0.0), MOST_WAITING_SHARE)
        how = "the home's share, and what a fetch takes longer (shorter: less) where the home's thread waits, by its processor time"
        estimate = replace(longer, value=value, standard_error=error)
        parameters.append(_found("local-part.waiting-share", estimate, "1", "fitted", how, [share.source for share in waiting]))


class _Share(NamedTuple):
    """A home's share of the processor time of a fetch, `local_us`."""

    estimate: Estimate
    local_us: float
    source: str


def _beside_fetches(
    data: Data, network: Network, quantity: str, part: Callable[[Estimate, Estimate], Estimate]
) -> Iterable[_Share]:
    """part(of the quantity, of a fetch) over a fetch's processor time, run by run, as a slow run is slow in both."""
    wire = Estimate(network.fetch_us, 0.0, None)
    fetches = {_key(batch): batch for batch in _remote(data, "RUMR")}
    for batch in _remote(data, quantity):
        fetch = fetches.get(_key(batch))
        if fetch is None or fetch.estimate.value <= network.fetch_us:
            continue
        each = [
            Estimate(part(one.estimate, of.estimate).value / (of.estimate.value - network.fetch_us), None, len(one.samples))
            for one, of in zip(batch.each_round(), fetch.each_round(), strict=True)
            if of.estimate.value > network.fetch_us
        ]
        local = fetch.estimate.minus(wire)
        whole = part(batch.estimate, fetch.estimate).over(local)
        yield _Share(runs_of_equal_length(each) if len(each) > 1 else whole, local.value, batch.source)


def _shares_served(data: Data, network: Network) -> Iterable[_Share]:
    fetches = {_key(batch): batch for batch in _remote(data, "RUMR")}
    for service in data.services:
        if service.layout.nodes < 2 or service.layout.threads_per_node > 1:
            continue
        fetch = fetches.get((service.source.rpartition(":")[0], service.layout))
        if fetch is None or fetch.estimate.value <= network.fetch_us:
            continue
        local = fetch.estimate.value - network.fetch_us
        share = service.seconds / service.pages * 1e6 / local
        if share <= 1:
            error = fetch.estimate.standard_error
            yield _Share(Estimate(share, None if error is None else share * error / local, service.pages), local, service.source)


def _noise(data: Data, parameters: list[Parameter]) -> None:
    spacings = {_key(batch): batch for batch in data.batches if batch.quantity == PACE_EVERY}
    found = []
    sources = []
    for batch in data.batches:
        if batch.quantity != PACE or (every := spacings.get(_key(batch))) is None:
            continue
        runs = [np.asarray(one.samples).reshape(-1, batch.layout.threads) for one in batch.each_round() if len(one.samples) % batch.layout.threads == 0]
        if len(runs) == batch.rounds and (one := noise(runs, every.samples)) is not None:
            found.append(one)
            sources.append(batch.source)
    if not found:
        return
    how = "one piece of work on all processors at once, again and again: "
    deviation = pooled([one.deviation for one in found])
    parameters.append(_found("noise.deviation", deviation, "1", "fitted", how + "how far their times are apart", sources))
    duration = Estimate(statistics.fmean(one.duration_us for one in found), None, deviation.samples)
    parameters.append(_found("noise.duration", duration, "us", "fitted", how + "how long they stay so", sources))


def _extras(data: Data, parameters: Sequence[Parameter]) -> dict[str, Parameter]:
    """Returns quantities without a property in a platform file: they are parts of others, and appear only in the report."""
    extras = {}
    for batch in data.system:
        how = "median; of the bare system, part of faults and messages"
        extras[batch.quantity] = _found(batch.quantity, batch.estimate, "us", "measured", how, [batch.source])
    by_name = {p.name: p for p in parameters}
    write, read = by_name["fault.WUMR"], by_name["fault.RUMR"]
    if write.kind == read.kind == "measured":
        of_write, of_read = (Estimate(one.value, one.standard_error, one.samples) for one in (write, read))
        difference = of_write.minus(of_read)
        how = "fault.WUMR less fault.RUMR: twin and opening for writing, part of fault.WUMR and fault.WROR"
        extras["twin"] = _found("twin", difference, "us", "fitted", how, write.sources)
    return extras


def jitter(data: Data, network: Network, share: float) -> float | None:
    """Coefficient of variation of each processor part of a remote fault, for `sdsm simulate --jitter`; None if unknown.

    From the first file's first layout of several nodes. Half of the range between the 16th and the 84th percentile stands
    for the standard deviation, as single outliers (the machine's other work) are no jitter. Of faults that were timed one
    by one (`RUMR.single`): by how much each is off the median of its burst, as what moves a whole burst (a clock rate,
    other work) is no fault's own. Of bursts' means alone: a fault scatters by sqrt(burst) times as much, if faults are
    independent. Two parts, drawn independently, with the shares h and 1 - h, scatter together by sqrt(h^2 + (1 - h)^2) of
    each.
    """
    fetches = _remote(data, "RUMR")
    if not fetches or len(fetches[0].samples) < 2:
        return None
    length = fetches[0].burst
    singles = next((b.samples for b in _remote(data, SINGLE) if _key(b) == _key(fetches[0])), ())
    if singles:
        bursts = [singles[first : first + length] for first in range(0, len(singles), length)]
        deviation = _half_range([time - statistics.median(burst) for burst in bursts for time in burst])
    else:
        deviation = _half_range(fetches[0].samples) * math.sqrt(length)
    local = fetches[0].estimate.value - network.fetch_us
    return min(deviation / local / math.hypot(share, 1 - share), MOST_JITTER) if local > 0 else None


def _half_range(samples: Sequence[float]) -> float:
    """Half of the range between the 16th and the 84th percentile: a normal distribution's standard deviation."""
    low, high = np.quantile(samples, (0.16, 0.84))
    return float(high - low) / 2
