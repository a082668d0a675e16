"""Reader of iperf3's JSON (`iperf3 -J`): bandwidth by interval and in all, round-trip times, UDP's jitter and losses.

Recognised by its members start, intervals and end, and a version that begins with iperf. Bits per second must be the
bytes by the seconds, and a sum the sum of its streams; what disagrees is refused. A receiver's `seconds` may be the
sender's (seen in 3.12), so its bits may go by end - start instead.

Seen: TCP, one stream, of 3.12. UDP and several streams are read from the description.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NoReturn

from sdsm.readers.measurement import Measurement, Reading, Setting, Spread, untried
from sdsm.readers.text import Text

NAME = "iperf3 JSON"
SEEN = True

#: Relative tolerance of numbers that must agree: they have at least six digits.
TOLERANCE = 2e-6

_PathItem = str | int


def recognises(source: Text) -> bool:
    if not source.looks_like_json:
        return False
    document = source.json
    if not isinstance(document, dict) or not {"start", "end"} <= document.keys():
        return False
    start = document["start"]
    return isinstance(start, dict) and str(start.get("version", "")).startswith("iperf")


def read(source: Text) -> Reading:
    """Raises ReadError."""
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: Text) -> None:
        self.source = source
        self.measurements: list[Measurement] = []
        self.keys: dict[str, int | float | str] = {}

    def read(self) -> Reading:
        document = self.source.json
        if "error" in document:
            self.refuse(
                f"iperf3 failed: {str(document['error'])[:80]!r}. Give the output of a run that succeeded", "error"
            )
        test = self.object(document["start"].get("test_start"), "start", "test_start")
        settings = [self.setting("version", document["start"]["version"], "1", "start", "version")]
        protocol = test.get("protocol")
        if protocol not in ("TCP", "UDP"):
            self.refuse(
                f"protocol {protocol!r} is neither TCP nor UDP. Leave out the file", "start", "test_start", "protocol"
            )
        settings.append(self.setting("protocol", protocol, "1", "start", "test_start", "protocol"))
        for name, unit in (("num_streams", "1"), ("blksize", "B"), ("omit", "s"), ("duration", "s"), ("reverse", "1")):
            if name in test:
                value = self.number(test, name, "start", "test_start")
                settings.append(self.setting(name, value, unit, "start", "test_start", name))
        if test.get("bidirectional"):
            self.refuse(
                "a run in both directions at once, whose sums are two. Run iperf3 without --bidir",
                "start",
                "test_start",
                "bidirectional",
            )
        streams = test.get("num_streams", 1)
        self.keys = {"streams": streams, "protocol": protocol}
        intervals = self.array(document.get("intervals"), "intervals")
        for index, interval in enumerate(intervals):
            self.interval(self.object(interval, "intervals", index), streams, index)
        self.end(self.object(document["end"], "end"))
        if not self.measurements:
            self.refuse("no result. Was the benchmark stopped?", "end")
        warnings = (
            []
            if protocol == "TCP" and streams == 1
            else [untried(self.source.file, f"{NAME} of {protocol}, {streams} streams")]
        )
        return Reading(self.source.file, NAME, tuple(self.measurements), tuple(settings), tuple(warnings))

    def interval(self, interval: Mapping[str, Any], streams: int, index: int) -> None:
        path: tuple[_PathItem, ...] = ("intervals", index)
        parts = self.array(interval.get("streams"), *path, "streams")
        if len(parts) != streams:
            self.refuse(f"{len(parts)} streams of {streams}. Give iperf3's whole output", *path, "streams")
        total_bits = total_bytes = 0.0
        for number, part in enumerate(parts):
            here = (*path, "streams", number)
            stream = self.object(part, *here)
            total_bits += self.rate(stream, *here)
            total_bytes += self.number(stream, "bytes", *here)
            if "rtt" in stream:
                keys = self.keys | {"interval": index, "stream": number}
                self.add(
                    "round-trip time", self.number(stream, "rtt", *here), "us", "last", keys, Spread(), *here, "rtt"
                )
        sums = self.object(interval.get("sum"), *path, "sum")
        bits = self.rate(sums, *path, "sum")
        self.must_be_sum(bits, total_bits, "bits_per_second", *path, "sum")
        self.must_be_sum(self.number(sums, "bytes", *path, "sum"), total_bytes, "bytes", *path, "sum")
        if not sums.get("omitted", False):
            keys = self.keys | {"interval": index}
            self.add("bandwidth", bits, "bit/s", "mean", keys, Spread(), *path, "sum", "bits_per_second")

    def end(self, end: Mapping[str, Any]) -> None:
        parts = self.array(end.get("streams"), "end", "streams")
        for side in ("sent", "received"):
            name = f"sum_{side}"
            if name not in end:
                continue
            sums = self.object(end[name], "end", name)
            bits = self.rate(sums, "end", name)
            total = 0.0
            role = "sender" if side == "sent" else "receiver"
            for number, part in enumerate(parts):
                here = ("end", "streams", number)
                stream = self.object(part, *here)
                if role not in stream:
                    break
                total += self.rate(self.object(stream[role], *here, role), *here, role)
            else:
                self.must_be_sum(bits, total, "bits_per_second", "end", name)
            keys = self.keys | {"side": role}
            self.add("bandwidth, whole run", bits, "bit/s", "mean", keys, Spread(), "end", name, "bits_per_second")
        self.round_trips(parts)
        if "sum" in end:
            sums = self.object(end["sum"], "end", "sum")
            if "sum_sent" not in end:
                bits = self.rate(sums, "end", "sum")
                self.add(
                    "bandwidth, whole run", bits, "bit/s", "mean", self.keys, Spread(), "end", "sum", "bits_per_second"
                )
            for name, unit in (("jitter_ms", "ms"), ("lost_packets", "1"), ("packets", "1")):
                if name in sums:
                    value = self.number(sums, name, "end", "sum")
                    self.add(
                        name.removesuffix("_ms").replace("_", " "),
                        value,
                        unit,
                        "mean" if unit == "ms" else "count",
                        self.keys,
                        Spread(),
                        "end",
                        "sum",
                        name,
                    )

    def round_trips(self, parts: list[Any]) -> None:
        for number, part in enumerate(parts):
            here = ("end", "streams", number, "sender")
            sender = part.get("sender", {}) if isinstance(part, dict) else {}
            if not isinstance(sender, dict) or not {"mean_rtt", "min_rtt", "max_rtt"} <= sender.keys():
                continue
            mean, low, high = (self.number(sender, name, *here) for name in ("mean_rtt", "min_rtt", "max_rtt"))
            if not low <= mean <= high:
                self.refuse("mean_rtt is outside min_rtt and max_rtt. Correct or leave out the file", *here, "mean_rtt")
            spread = Spread(minimum=low, maximum=high)
            self.add(
                "round-trip time, whole run",
                mean,
                "us",
                "mean",
                self.keys | {"stream": number},
                spread,
                *here,
                "mean_rtt",
            )

    # Checks

    def rate(self, part: Mapping[str, Any], *path: _PathItem) -> float:
        """Returns bits_per_second, which must be bytes x 8 by the seconds."""
        bits = self.number(part, "bits_per_second", *path)
        amount = self.number(part, "bytes", *path)
        spans = [
            self.number(part, "seconds", *path),
            self.number(part, "end", *path) - self.number(part, "start", *path),
        ]
        # Times are rounded to microseconds.
        if not any(abs(bits * span - amount * 8) <= max(TOLERANCE * amount * 8, 1e-6 * bits) for span in spans):
            expected = amount * 8 / spans[0] if spans[0] else math.inf
            self.refuse(
                f"{amount:.0f} bytes in {spans[0]:g} s are {expected:g} bit/s, not "
                f"{bits:g} (contradictory units, or a damaged number). Correct or leave out the file",
                *path,
                "bits_per_second",
            )
        return bits

    def must_be_sum(self, value: float, total: float, name: str, *path: _PathItem) -> None:
        # Streams end microseconds apart, so rates add up less exactly than bytes.
        tolerance = 1e-3 if name == "bits_per_second" else 0.0
        if abs(value - total) > tolerance * abs(total):
            self.refuse(
                f"{name} is {value:g}, but {total:g} over the streams. Correct or leave out the file", *path, name
            )

    def add(
        self,
        quantity: str,
        value: float,
        unit: str,
        statistic: str,
        keys: Mapping[str, Any],
        spread: Spread,
        *path: _PathItem,
    ) -> None:
        place = self.source.at(self.source.json_line(*path))
        self.measurements.append(Measurement(quantity, (value,), unit, statistic, place, None, spread, keys))

    def setting(self, name: str, value: int | float | str, unit: str, *path: _PathItem) -> Setting:
        return Setting(name, value, unit, self.source.at(self.source.json_line(*path)))

    def number(self, part: Mapping[str, Any], name: str, *path: _PathItem) -> float:
        value = part.get(name)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < 1e18:
            self.refuse(
                f"{name} is {str(value)[:40]!r}, which is no such number. Correct or leave out the file", *path, name
            )
        return value

    def object(self, value: Any, *path: _PathItem) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self.refuse(f"{path[-1]} is no object. Give iperf3's whole output", *path)
        return value

    def array(self, value: Any, *path: _PathItem) -> list[Any]:
        if not isinstance(value, list):
            self.refuse(f"{path[-1]} is no list. Give iperf3's whole output", *path)
        return value

    def refuse(self, what: str, *path: _PathItem) -> NoReturn:
        self.source.refuse(self.source.json_line(*path), what)
