"""The idle network of a platform file, and latency and bandwidth of one from benchmark outputs."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from sdsm.base import costs
from sdsm.calibrate.estimates import LEAST_POINTS, MOST_POINTS, Estimate, Segment, median, pooled, segments
from sdsm.platform.platform_file import PlatformFileError, properties
from sdsm.readers.measurement import Measurement, Reading

BANDWIDTHS: Mapping[str, float] = {
    **{f"{prefix}bps": factor / 8 for prefix, factor in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))},
    **{f"{prefix}Bps": factor for prefix, factor in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))},
}
#: Limits of the commands in C++ (parse_seconds() of models/units.cpp).
TIMES_US: Mapping[str, float] = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3, "ps": 1e-6, "min": 6e7, "h": 3.6e9}
MOST_LINKS = 16
MOST_FRAME_BYTES = 1 << 40  # limit of `sdsm costs`
SIZES: Mapping[str, float] = {"B": 1.0, "kB": 1e3, "MB": 1e6, "KiB": 1024.0, "MiB": 1048576.0}


@dataclass(frozen=True, slots=True)
class Network:
    """bandwidth in bytes/us, latency of a link in us. The simulator computes messages: sdsm.base.costs."""

    bandwidth: float
    latency_us: float
    links: int
    frame: costs.Frame = field(default_factory=costs.default_frame)

    def wire_bytes(self, size: int) -> int:
        return costs.message(size, self.frame, self.links).wire_bytes

    def idle_us(self, size: int) -> float:
        passing = costs.message(size, self.frame, self.links).idle_bytes
        return passing / self.bandwidth + self.links * self.latency_us

    @property
    def least_unpadded(self) -> int:
        """Returns the smallest payload, in bytes, whose frame needs no padding."""
        return max(self.frame.minimum - self.frame.overhead, 1)

    @property
    def fetch_us(self) -> float:
        """Time of a page request and its page."""
        sizes = costs.sizes()
        return self.idle_us(sizes.control_bytes) + self.idle_us(sizes.page_bytes)

    @property
    def bandwidth_bits(self) -> float:
        """bit/s."""
        return self.bandwidth * 8e6


def quantity(text: str, units: Mapping[str, float]) -> float:
    """Returns "8us" in the base of `units`. Raises ValueError."""
    for unit in sorted(units, key=len, reverse=True):
        if text.endswith(unit):
            value = _number(text.removesuffix(unit)) * units[unit]
            if not math.isfinite(value) or value < 0:
                break
            return value
    number = _number(text)
    has_no_unit = math.isfinite(number) and number >= 0
    raise ValueError(f"'{text}' {'has no unit' if has_no_unit else 'is no quantity'}. Write a number and one of {', '.join(units)}")


def _number(text: str) -> float:
    """Returns NaN for text that is no number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def network_of(root: ElementTree.Element, file: str) -> Network:
    """Returns the reference network of a platform file. Raises PlatformFileError."""
    given = properties(root)
    try:
        bandwidth = quantity(given["reference.bandwidth"], BANDWIDTHS) / 1e6
        if bandwidth <= 0:
            raise ValueError("reference.bandwidth is 0")
        defaults = msgspec.structs.asdict(costs.default_frame())
        sizes = {name: given.get(f"frame.{name}", f"{default}B") for name, default in defaults.items()}
        for name, text in sizes.items():
            if not (name == "payload") <= quantity(text, SIZES) <= MOST_FRAME_BYTES:
                raise ValueError(f"frame.{name} '{text}' is no size of a frame")
        frame = costs.Frame(*(int(quantity(text, SIZES)) for text in sizes.values()))
        links = int(given["reference.links"])
        if not 1 <= links <= MOST_LINKS:
            raise ValueError(f"reference.links must be 1 to {MOST_LINKS}")
        return Network(bandwidth, quantity(given["reference.latency"], TIMES_US), links, frame)
    except KeyError as error:
        raise PlatformFileError(f"{file}: no property {error}. `sdsm check` says what a platform file needs") from None
    except ValueError as error:
        raise PlatformFileError(f"{file}: reference network: {error}. Correct the file") from None


@dataclass(frozen=True, slots=True)
class Fitted:
    """An estimate with its method and source."""

    estimate: Estimate
    how: str
    sources: tuple[str, ...]


def _by_size(measurements: Sequence[Measurement]) -> tuple[list[float], list[float]]:
    """Returns sizes above 0 and the time of one message (us), one way."""
    sizes, times = [], []
    for m in measurements:
        size = float(m.keys["message_bytes"])
        if m.quantity.startswith("bandwidth"):
            rate = m.in_unit("bit/s")[0]
            if rate <= 0:
                continue
            times.append(size * 8e6 / rate)
        else:
            times.append(m.in_unit("us")[0])
        sizes.append(size)
    kept = [(s, t) for s, t in zip(sizes, times, strict=True) if t > 0]
    return [s for s, _ in kept], [t for _, t in kept]


def _described(found: Sequence[Segment]) -> str:
    parts = "; ".join(f"{s.low:.0f} to {s.high:.0f} B: {s.intercept:.4g} us + {s.slope:.4g} us/B" for s in found)
    return f"{len(found)} straight piece{'s' if len(found) > 1 else ''} by BIC ({parts})"


@dataclass(frozen=True)
class _Curve:
    """Times of messages (us) over their sizes, from one file. found: the broken line through all; gives_bandwidth: the piece
    for the bandwidth, chosen: which that is. small: the line through the messages of one frame, whose first piece gives the latency; may be
    empty."""

    source: str
    is_one_way: bool  # else the time of each of many that were sent at once
    sizes: Sequence[float]
    times: Sequence[float]
    found: Sequence[Segment] = ()
    gives_bandwidth: int | None = None
    chosen: str = "the piece with the most sizes above one frame"
    small: Sequence[Segment] = ()


def _curves_of(reading: Reading, network: Network) -> list[_Curve]:
    """Returns that of latencies and that of bandwidth tests: a file may hold both."""
    one_way = [m for m in reading.measurements if m.quantity in ("message time, one way", "latency, one way")]
    runs = {m.run for m in one_way}  # whose bandwidths are these latencies once more
    windowed = [m for m in reading.measurements if m.quantity == "bandwidth" and "message_bytes" in m.keys and m.run not in runs]
    curves = [_curve(reading, group, group is one_way, network) for group in (one_way, windowed)]
    return [curve for curve in curves if curve is not None]


def _curve(reading: Reading, group: Sequence[Measurement], is_one_way: bool, network: Network) -> _Curve | None:
    sizes, times = _by_size(group)
    if not sizes:
        return None
    curve = _Curve(f"{reading.file}:{group[0].place.line}", is_one_way, sizes, times)
    if len(set(sizes)) < LEAST_POINTS:
        return curve
    found = segments(sizes, times)
    above = [sum(s.low <= size <= s.high and size > network.frame.payload for size in set(sizes)) for s in found]
    large = max(range(len(found)), key=lambda i: (above[i], i))
    gives = large if above[large] >= LEAST_POINTS and found[large].slope > 0 else None
    # Smaller ones are padded to the least frame, larger ones go in several.
    alone = [(s, t) for s, t in zip(sizes, times, strict=True) if network.least_unpadded <= s <= network.frame.payload]
    small: Sequence[Segment] = ()
    if is_one_way and len({s for s, _ in alone}) >= LEAST_POINTS:
        small = segments([s for s, _ in alone], [t for _, t in alone])
    return replace(curve, found=found, gives_bandwidth=gives, small=small)


#: Bandwidths that differ by less agree: so much a network's gate allows, in parts and in standard errors.
AGREES, AGREES_ERRORS = 0.02, 2.8


def _curves(readings: Sequence[Reading], network: Network) -> tuple[list[_Curve], list[str]]:
    """Returns the readings' curves, and what was left out, in sentences.

    MPI sends short messages at once (eager) and asks for room for long ones (rendezvous), so a latency test and a bandwidth test
    of one network may give two bandwidths, each right for its messages. A platform has one: where they contradict each other,
    it is the plateau of the bandwidth tests, the last piece of their curves.
    """
    curves = [curve for reading in readings for curve in _curves_of(reading, network)]
    found = {kind: [_bandwidth(c, network) for c in curves if c.is_one_way is kind and c.gives_bandwidth is not None] for kind in (True, False)}
    if not all(found.values()) or _agree(pooled(found[True]), pooled(found[False])):
        return curves, []
    notes = []
    for i, curve in enumerate(curves):
        if curve.gives_bandwidth is None:
            continue
        if curve.is_one_way:
            piece = curve.found[curve.gives_bandwidth]
            what = f"its messages of {piece.low:.0f} to {piece.high:.0f} B give {_bandwidth(curve, network).value / 1e6:.4g} Mbps"
            why = f"a bandwidth test {pooled(found[False]).value / 1e6:.4g} Mbps, as MPI sends short and long messages otherwise"
            notes.append(f"{curve.source}: {what}, {why}. The latter's longest messages give the bandwidth, and these are left out")
            curves[i] = replace(curve, gives_bandwidth=None)
        elif curve.found[-1].slope > 0:
            curves[i] = replace(curve, gives_bandwidth=len(curve.found) - 1, chosen="the piece of the longest messages")
    return curves, notes


def _agree(first: Estimate, second: Estimate) -> bool:
    errors = math.hypot(first.standard_error or 0.0, second.standard_error or 0.0)
    return abs(first.value - second.value) <= max(AGREES * first.value, AGREES_ERRORS * errors)


def _bandwidth(curve: _Curve, network: Network) -> Estimate:
    """bit/s on the wire, of the curve's piece for it."""
    assert curve.gives_bandwidth is not None
    found = curve.found[curve.gives_bandwidth]
    of_slope = 8e6 * (network.frame.payload + network.frame.overhead) / network.frame.payload / found.slope
    return Estimate(of_slope, of_slope * found.slope_error / found.slope, found.points)


def contradictions(readings: Sequence[Reading], network: Network) -> list[str]:
    """Returns sentences about what fit() leaves out, as tests of one network contradict each other."""
    notes = _curves(readings, network)[1]
    trips = [trip for reading in readings if (trip := _least_round_trip(reading))]
    if trips and fit(readings, network)[1] is None:
        value, _, place = min(trips)
        what = f"the least round trip, {value:g} us, is shorter than its frames take at that bandwidth"
        notes.append(f"{place}: {what}, so it tells no latency. A latency test (osu_latency, NetPIPE) would tell it")
    return notes


def _intervals(reading: Reading) -> list[Measurement]:
    return [m for m in reading.measurements if m.quantity == "bandwidth" and "message_bytes" not in m.keys]


#: Prefixes of quantities of bandwidth tests for a round trip beside their own traffic.
ROUND_TRIP = "round-trip time"


def _least_round_trip(reading: Reading) -> tuple[float, int, str] | None:
    """Returns us, number of samples, and place."""
    trips = [m for m in reading.measurements if m.quantity.startswith(ROUND_TRIP)]
    values = [t for m in trips for t in m.in_unit("us")]
    return (min(values), len(trips), f"{reading.file}:{trips[0].place.line}") if values else None


@dataclass(frozen=True, slots=True)
class Piece:
    """Measured points that `sdsm replay` re-runs, of one straight piece of one file's curve.

    sizes in bytes, times and errors (standard errors; None where nothing tells) in us. is_one_way: else the time of each of
    many messages sent at once. gives: the parameter that was fitted from them, bandwidth or latency, or None, as a platform
    file has one straight line for all sizes; about: where the errors are from, or why nothing was fitted.
    """

    source: str
    is_one_way: bool
    sizes: tuple[int, ...]
    times: tuple[float, ...]
    errors: tuple[float | None, ...]
    gives: str | None
    about: str


#: Default size for a file: iperf3's blocks if it does not name theirs.
BLOCK_BYTES = 131072


def pieces(readings: Sequence[Reading], network: Network) -> list[Piece]:
    """Returns the points from which `fit` fits the same files.

    No file tells the spread of a single size, so the standard error of a point is the scatter of its piece: the root of the
    sum of squares of the points about the piece's line, in parts of their times, over n - 2. iperf3's is that of the median
    over its intervals.
    """
    found: list[Piece] = []
    for curve in _curves(readings, network)[0]:
        found += _pieces(curve, network)
    for reading in readings:
        intervals = _intervals(reading)
        rates = [m.in_unit("bit/s")[0] for m in intervals]
        if rates and min(rates) > 0:
            block = next((int(s.value) for s in reading.settings if s.name == "blksize"), BLOCK_BYTES)
            e = median([block * 8e6 / rate for rate in rates])
            about = f"errors: of the median over {len(intervals)} intervals"
            place = f"{reading.file}:{intervals[0].place.line}"
            found.append(Piece(place, False, (block,), (e.value,), (e.standard_error,), "bandwidth", about))
        trip = _least_round_trip(reading)
        if trip is not None:
            about = "half of the least round trip, taken under load: no message on an idle network"
            found.append(Piece(trip[2], True, (network.least_unpadded,), (trip[0] / 2,), (None,), None, about))
    return found


def _pieces(curve: _Curve, network: Network) -> list[Piece]:
    step = -(-len(curve.sizes) // MOST_POINTS)
    order = sorted(range(len(curve.sizes)), key=lambda i: curve.sizes[i])[::step]
    taken: set[int] = set()
    found: list[Piece] = []

    def add(segment: Segment | None, chosen: Sequence[int], gives: str | None, about: str) -> None:
        sizes = tuple(int(curve.sizes[i]) for i in chosen)
        times = tuple(curve.times[i] for i in chosen)
        scatter = None if segment is None else _scatter(segment, sizes, times)
        errors = tuple(None if scatter is None else scatter * t for t in times)
        origin = about if scatter is None else f"{about}; errors: {scatter:.2%}, the scatter of the points about their piece"
        found.append(Piece(curve.source, curve.is_one_way, sizes, times, errors, gives, origin))
        taken.update(chosen)

    def within(segment: Segment, low: int = 0, high: float = math.inf) -> list[int]:
        return [i for i in order if max(segment.low, low) <= curve.sizes[i] <= min(segment.high, high)]

    if curve.small:
        first = curve.small[0]
        chosen = within(first, network.least_unpadded, network.frame.payload)
        add(first, chosen, "latency", "messages of one frame")
    if curve.gives_bandwidth is not None:
        segment = curve.found[curve.gives_bandwidth]
        # Nothing passes on a message of one frame before it is whole, so the line of longer ones does not give its time back.
        least = network.frame.payload + 1 if curve.is_one_way else 0
        add(segment, within(segment, least), "bandwidth", curve.chosen)
    for segment in curve.found:
        rest = [i for i in within(segment) if i not in taken]
        if rest:
            add(segment, rest, None, "gave no parameter: a platform file has one straight line for all sizes")
    if not curve.found:
        add(None, order, None, f"gave no parameter: a line needs {LEAST_POINTS} sizes")
    return found


def _scatter(segment: Segment, sizes: Sequence[int], times: Sequence[float]) -> float | None:
    if len(sizes) <= 2:
        return None
    line = ((segment.intercept + segment.slope * s, t) for s, t in zip(sizes, times, strict=True))
    squares = math.fsum((fitted / t - 1) ** 2 for fitted, t in line)
    return math.sqrt(squares / (len(sizes) - 2))


def fit(readings: Sequence[Reading], network: Network) -> tuple[Fitted | None, Fitted | None]:
    """Bandwidth on the wire (bit/s) and latency of one link (us), each None where no file tells it.

    `network` gives links and frames, and the bandwidth where only latencies were measured. Of the broken line through times
    over sizes (estimates.segments), the piece with the most sizes above one frame gives the time of a byte of payload in
    its slope, and the wire carries (payload + overhead) / payload bytes for it. Of the broken line through the sizes that
    need no padding and no second frame, the first piece's intercept is what a frame without payload takes: the latencies of
    all links and the time of its overhead on each. A windowed bandwidth test gives bandwidth alone, and so do iperf3's
    intervals; its least round trip, halved, gives the latency only where no other file does, as it was taken under load.
    """
    rates, whole_ways = _parts(readings, network)
    rate = _together(rates)
    whole_way = _together(whole_ways)
    latency = None
    if whole_way is not None:
        bandwidth = network.bandwidth if rate is None else rate.estimate.value / 8e6
        whole = whole_way.estimate
        each = whole.value / network.links - network.frame.overhead / bandwidth
        error = None if whole.standard_error is None else whole.standard_error / network.links
        if each > 0 or whole_way.how != UNDER_LOAD:  # the gate refuses a latency of 0 that does not give curves back
            latency = Fitted(Estimate(max(each, 0.0), error, whole.samples, whole.batches), whole_way.how, whole_way.sources)
    return rate, latency


UNDER_LOAD = "half of the least round trip, under load"
#: An estimate, how it was had, and its place.
_Part = tuple[Estimate, str, str]


def _parts(readings: Sequence[Reading], network: Network) -> tuple[list[_Part], list[_Part]]:
    """Returns each file's bandwidths on the wire (bit/s), and its times of a frame without payload on all links (us)."""
    rates: list[_Part] = []
    empty: list[_Part] = []
    round_trips: list[_Part] = []
    framing = (network.frame.payload + network.frame.overhead) / network.frame.payload
    for curve in _curves(readings, network)[0]:
        if curve.gives_bandwidth is not None:
            how = f"slope of piece {curve.gives_bandwidth + 1} of {_described(curve.found)}"
            rates.append((_bandwidth(curve, network), how, curve.source))
        if curve.small:
            first = curve.small[0]
            how = f"intercept of the messages of one frame, piece 1 of {_described(curve.small)}"
            empty.append((Estimate(first.intercept, first.intercept_error, first.points), how, curve.source))
    for reading in readings:
        intervals = _intervals(reading)
        samples = [m.in_unit("bit/s")[0] * framing for m in intervals]
        if samples and (middle := median(samples)).value > 0:
            how = "median of intervals" if len(intervals) > 1 else "rate of the whole run"
            rates.append((middle, how, f"{reading.file}:{intervals[0].place.line}"))
        trip = _least_round_trip(reading)
        if trip is not None:
            value, count, place = trip
            round_trips.append((Estimate(value / 2, None, count), UNDER_LOAD, place))
    return rates, empty or round_trips


def contradiction_of_files(readings: Sequence[Reading], network: Network, name: str) -> str | None:
    """Describes files whose bandwidths or latencies (`name`) cannot be one network's."""
    parts = sorted(_parts(readings, network)[name == "latency"], key=lambda part: part[0].value)
    if len(parts) < 2 or _agree(parts[-1][0], parts[0][0]):
        return None
    scale, unit = (1e-6, "Mbps") if name == "bandwidth" else (1.0, "us on all links")
    (least, _, first), (most, _, last) = parts[0], parts[-1]
    what = f"{first} gives {least.value * scale:.4g} {unit}, and {last} {most.value * scale:.4g}"
    return f"the files contradict each other: {what}. A mean of them is neither's: give outputs of one network"


def _together(parts: Sequence[_Part]) -> Fitted | None:
    if not parts:
        return None
    how = " and ".join(dict.fromkeys(how for _, how, _ in parts))
    return Fitted(pooled([e for e, _, _ in parts]), how, tuple(place for _, _, place in parts))
