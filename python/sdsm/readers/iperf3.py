"""Reader of iperf3's JSON (`iperf3 -J`) of a run over TCP: bandwidth by interval and in all, round-trip times.

Recognised by its members start, intervals and end, and a version that begins with iperf. Bits per second must be the
bytes by the seconds, and a sum the sum of its streams; what disagrees is refused. A receiver's `seconds` may be the
sender's (seen in 3.12), so its bits may go by end - start instead.

Seen: one stream, of 3.12. Several streams are read from the description.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from sdsm.readers.measurement import Key, Measurement, Reading, Setting, Spread, untried
from sdsm.readers.text import Text

NAME = "iperf3 JSON"
SEEN = True

#: Relative tolerance of numbers that must agree: they have at least six digits.
TOLERANCE = 2e-6

Amount = Annotated[int, msgspec.Meta(ge=0, lt=10**18)] | Annotated[float, msgspec.Meta(ge=0, lt=1e18)]


class _Part(msgspec.Struct):
    """What one stream, or all of them, sent in a time; rtt in us."""

    start: Amount
    end: Amount
    seconds: Amount
    bytes: Amount
    bits_per_second: Amount
    omitted: bool = False
    rtt: Amount | None = None
    mean_rtt: Amount | None = None
    min_rtt: Amount | None = None
    max_rtt: Amount | None = None


class _Interval(msgspec.Struct):
    streams: list[_Part]
    sum: _Part


class _Stream(msgspec.Struct):
    sender: _Part | None = None
    receiver: _Part | None = None


class _End(msgspec.Struct):
    streams: list[_Stream]
    sum_sent: _Part | None = None
    sum_received: _Part | None = None


class _Test(msgspec.Struct):
    protocol: str
    num_streams: Amount = 1
    blksize: Amount | None = None
    omit: Amount | None = None
    duration: Amount | None = None
    reverse: Amount | None = None
    bidirectional: int = 0


class _Start(msgspec.Struct):
    version: str
    test_start: _Test


class _Document(msgspec.Struct):
    start: _Start
    intervals: list[_Interval]
    end: _End


def recognises(source: Text) -> bool:
    document = source.json if source.looks_like_json else None
    if not isinstance(document, dict) or not {"start", "end"} <= document.keys():
        return False
    start = document["start"]
    return isinstance(start, dict) and str(start.get("version", "")).startswith("iperf")


def read(source: Text) -> Reading:
    """Raises ReadError."""
    if "error" in source.json:
        failed = f"iperf3 failed: {str(source.json['error'])[:80]!r}. Give the output of a run that succeeded"
        source.refuse_at(failed, "error")
    found = source.typed(_Document)
    test, in_test = found.start.test_start, ("start", "test_start")
    if test.protocol != "TCP":
        why = f"protocol {test.protocol!r}, whose rate is the one asked for. Run iperf3 over TCP"
        source.refuse_at(why, *in_test, "protocol")
    if test.bidirectional:
        both = "a run in both directions at once, whose sums are two. Run iperf3 without --bidir"
        source.refuse_at(both, *in_test, "bidirectional")
    given = [
        ("version", found.start.version, "1", ("start", "version")),
        ("protocol", test.protocol, "1", (*in_test, "protocol")),
    ]
    for name, unit in (("num_streams", "1"), ("blksize", "B"), ("omit", "s"), ("duration", "s"), ("reverse", "1")):
        if name in source.json["start"]["test_start"]:
            given.append((name, getattr(test, name), unit, (*in_test, name)))
    settings = [Setting(name, value, unit, source.at(source.json_line(*path))) for name, value, unit, path in given]
    keys: dict[str, Key] = {"streams": test.num_streams, "protocol": test.protocol}
    measurements = _intervals(source, found.intervals, keys) + _whole(source, found.end, keys)
    if not measurements:
        source.refuse_at("no result. Was the benchmark stopped?", "end")
    warnings = () if test.num_streams == 1 else (untried(source.file, f"{NAME} of TCP, {test.num_streams} streams"),)
    return Reading(source.file, NAME, tuple(measurements), tuple(settings), warnings)


def _intervals(source: Text, intervals: list[_Interval], keys: dict[str, Key]) -> list[Measurement]:
    found = []
    for index, interval in enumerate(intervals):
        path = ("intervals", index)
        own, streams = keys | {"interval": index}, interval.streams
        if len(streams) != keys["streams"]:
            source.refuse_at(
                f"{len(streams)} streams of {keys['streams']}. Give iperf3's whole output", *path, "streams"
            )
        total_bits = 0.0
        for number, stream in enumerate(streams):
            here = (*path, "streams", number)
            total_bits += _rate(source, stream, *here)
            if stream.rtt is not None:
                place = source.at(source.json_line(*here, "rtt"))
                found.append(
                    Measurement("round-trip time", (stream.rtt,), "us", "last", place, keys=own | {"stream": number})
                )
        bits = _rate(source, interval.sum, *path, "sum")
        _must_be_sum(source, bits, total_bits, 1e-3, *path, "sum", "bits_per_second")
        _must_be_sum(source, interval.sum.bytes, sum(one.bytes for one in streams), 0.0, *path, "sum", "bytes")
        if not interval.sum.omitted:
            place = source.at(source.json_line(*path, "sum", "bits_per_second"))
            found.append(Measurement("bandwidth", (bits,), "bit/s", "mean", place, keys=own))
    return found


def _whole(source: Text, end: _End, keys: dict[str, Key]) -> list[Measurement]:
    found = []
    for name, role, sums in (("sum_sent", "sender", end.sum_sent), ("sum_received", "receiver", end.sum_received)):
        if sums is None:
            continue
        bits = _rate(source, sums, "end", name)
        parts = [getattr(stream, role) for stream in end.streams]
        rates = [
            _rate(source, one, "end", "streams", number, role) for number, one in enumerate(parts) if one is not None
        ]
        if len(rates) == len(parts):
            _must_be_sum(source, bits, sum(rates), 1e-3, "end", name, "bits_per_second")
        place = source.at(source.json_line("end", name, "bits_per_second"))
        found.append(Measurement("bandwidth, whole run", (bits,), "bit/s", "mean", place, keys=keys | {"side": role}))
    for number, stream in enumerate(end.streams):
        one, path = stream.sender, ("end", "streams", number, "sender", "mean_rtt")
        if one is None or one.mean_rtt is None or one.min_rtt is None or one.max_rtt is None:
            continue
        if not one.min_rtt <= one.mean_rtt <= one.max_rtt:
            source.damaged_at("mean_rtt is outside min_rtt and max_rtt", *path)
        spread, place = Spread(minimum=one.min_rtt, maximum=one.max_rtt), source.at(source.json_line(*path))
        of_stream = keys | {"stream": number}
        found.append(
            Measurement("round-trip time, whole run", (one.mean_rtt,), "us", "mean", place, None, spread, of_stream)
        )
    return found


def _rate(source: Text, part: _Part, *path: str | int) -> float:
    """Returns bits_per_second, which must be bytes x 8 by the seconds."""
    bits, amount = part.bits_per_second, part.bytes
    spans = (part.seconds, part.end - part.start)
    # Times are rounded to microseconds.
    if not any(abs(bits * span - amount * 8) <= max(TOLERANCE * amount * 8, 1e-6 * bits) for span in spans):
        expected = amount * 8 / spans[0] if spans[0] else math.inf
        what = f"{amount:.0f} bytes in {spans[0]:g} s are {expected:g} bit/s, not {bits:g}"
        source.damaged_at(f"{what} (contradictory units, or a damaged number)", *path, "bits_per_second")
    return bits


def _must_be_sum(source: Text, value: float, total: float, tolerance: float, *path: str | int) -> None:
    """tolerance: in parts. Streams end microseconds apart, so rates add up less exactly than bytes."""
    if abs(value - total) > tolerance * abs(total):
        source.damaged_at(f"{path[-1]} is {value:g}, but {total:g} over the streams", *path)
