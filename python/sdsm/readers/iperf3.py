"""Reader of iperf3's JSON (`iperf3 -J`, `--json-stream`): bandwidth by interval and in all, round-trip times, UDP's losses.

Recognised by its members start, intervals and end, and a version that begins with iperf. Bits per second must be the
bytes by the seconds, and a sum the sum of its streams; what disagrees is refused. A receiver's `seconds` may be the
sender's (seen in 3.12), so its bits may go by end - start instead. 3.0 prints six digits. A 0 stands for a round trip that was
not measured (the receiver of --reverse prints it), and for the rate of a side that reported none: both are left out.

A rate that was asked for (--bitrate, --fq-rate; 1 Mbit/s for UDP unless given) is an `asked bandwidth`, and what UDP sent is a
`sent bandwidth`: neither is a link's. Of UDP without such a limit the receiver's rate is the bandwidth, and of TCP where much
less arrived than was sent. Intervals must hold the bytes of their side's end; without any, the whole run's rate is the bandwidth.

Seen: TCP, one stream, of 3.12. UDP and several streams are read from the description.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from sdsm.readers.measurement import Measurement, Reading, Setting, Spread, untried
from sdsm.readers.text import Text

NAME = "iperf3 JSON"
SEEN = True

#: Relative tolerance of numbers that must agree, and what one of six digits adds.
TOLERANCE = 2e-6
OF_SIX_DIGITS = 5e-6
#: The same of a sum of streams' rates, of which 3.17 was seen to print one of 1.0255 s in an interval of 1.0002 s.
OF_STREAMS = 5e-2

_PathItem = str | int


#: What iperf3 and iperf print without -J.
_FOR_PEOPLE = re.compile(r"^\[ *ID\](?:\[Role\])? +Interval +Transfer +(?:Bitrate|Bandwidth)", re.MULTILINE)


def recognises(source: Text) -> bool:
    if _FOR_PEOPLE.search(source.text):
        return True
    if not source.looks_like_json:
        return False
    document = source.json
    if not isinstance(document, dict) or not {"start", "end"} <= document.keys():
        return False
    start = document["start"]
    return isinstance(start, dict) and str(start.get("version", "")).startswith("iperf")


def read(source: Text) -> Reading:
    """Raises ReadError."""
    if match := _FOR_PEOPLE.search(source.text):
        line = source.text.count("\n", 0, match.start()) + 1
        source.refuse(line, "iperf's table for people, whose numbers are rounded. Run iperf3 with -J, and give what that prints")
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: Text) -> None:
        self.source = source
        self.measurements: list[Measurement] = []
        self.warnings: list[str] = []
        self.is_udp = self.is_asked = self.sends = False
        self.bytes_by_side: dict[str, float] = {}  # of intervals that count
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
        end = self.object(document["end"], "end")
        if test.get("bidir") or any(name.endswith("_bidir_reverse") for name in end):
            what = "a run in both directions at once (--bidir): each slows the other, and their sum is no link's bandwidth"
            self.refuse(f"{what}. Run iperf3 without --bidir", "start", "test_start", "bidir")
        streams = test.get("num_streams", 1)
        self.keys = {"streams": streams, "protocol": protocol}
        self.is_udp = protocol == "UDP"
        self.is_asked = self.asked(test)
        self.sends = not test.get("reverse")
        for index, interval in enumerate(self.array(document.get("intervals"), "intervals")):
            self.interval(self.object(interval, "intervals", index), streams, index)
        self.end(end)
        if not self.measurements:
            self.refuse("no result. Was the benchmark stopped?", "end")
        if protocol != "TCP" or streams != 1:
            self.warnings.insert(0, untried(self.source.file, f"{NAME} of {protocol}, {streams} streams"))
        return Reading(self.source.file, NAME, tuple(self.measurements), tuple(settings), tuple(self.warnings))

    def asked(self, test: Mapping[str, Any]) -> bool:
        """Whether the rate was asked for. UDP's is, unless iperf3 (from 3.10) says that it was not."""
        here = ("start", "test_start")
        left_out = "so the measured one is no link's bandwidth, and is left out"
        for name, option in (("target_bitrate", "--bitrate"), ("fqrate", "--fq-rate")):
            if name in test and (rate := self.number(test, name, *here)) > 0:
                self.warn(f"a rate of {rate:.10g} bit/s was asked for, {left_out}. Run iperf3 without {option}", *here, name)
                return True
        if self.is_udp and "target_bitrate" not in test:
            default = "UDP sends at the rate asked for (1 Mbit/s unless given)"
            self.warn(f"{default}, {left_out}. Run iperf3 without --udp", *here, "protocol")
            return True
        return False

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
            if "rtt" in stream and (trip := self.number(stream, "rtt", *here)) > 0:
                keys = self.keys | {"interval": index, "stream": number}
                self.add("round-trip time", trip, "us", "last", keys, Spread(), *here, "rtt")
        sums = self.object(interval.get("sum"), *path, "sum")
        bits = self.rate(sums, *path, "sum")
        self.must_be_sum(bits, total_bits, "bits_per_second", *path, "sum")
        amount = self.number(sums, "bytes", *path, "sum")
        self.must_be_sum(amount, total_bytes, "bytes", *path, "sum")
        if not sums.get("omitted", False):
            side = "sum_sent" if sums.get("sender", self.sends) else "sum_received"
            self.bytes_by_side[side] = self.bytes_by_side.get(side, 0.0) + amount
            quantity = "sent bandwidth" if self.is_udp and sums.get("sender", True) else "bandwidth"
            self.bandwidth(quantity, bits, {"interval": index}, *path, "sum")

    def end(self, end: Mapping[str, Any]) -> None:
        parts = self.array(end.get("streams"), "end", "streams")
        rates: dict[str, float] = {}
        for name, role in (("sum_sent", "sender"), ("sum_received", "receiver")):
            if name not in end:
                continue
            sums = self.object(end[name], "end", name)
            bits = rates[role] = self.rate(sums, "end", name)
            total = 0.0
            for number, part in enumerate(parts):
                here = ("end", "streams", number)
                stream = self.object(part, *here)
                if role not in stream:
                    break
                total += self.rate(self.object(stream[role], *here, role), *here, role)
            else:
                self.must_be_sum(bits, total, "bits_per_second", "end", name)
            if bits > 0:
                self.bandwidth("bandwidth, whole run", bits, {"side": role}, "end", name)
                self.must_hold(sums["bytes"], name)
        again = end.get("sum_sent", {}).get("retransmits")
        if type(again) is int and again > 0:  # -1 where the system does not tell
            what = f"{again} segment{'s were' if again > 1 else ' was'} sent again: the network lost packets"
            self.warn(f"{what}. The bandwidth is what it carries with such losses", "end", "sum_sent", "retransmits")
        self.round_trips(parts)
        if not self.is_udp and not self.is_asked:
            self.of_tcp(end, rates.get("sender", 0.0), rates.get("receiver", 0.0))
        if "sum" in end:
            self.of_datagrams(self.object(end["sum"], "end", "sum"), parts, rates)

    def must_hold(self, whole: float, name: str) -> None:
        """Refuses intervals that together hold other bytes than their side's whole run."""
        amount = self.bytes_by_side.get(name, whole)
        if abs(amount - whole) > OF_STREAMS * whole:
            what = f"the intervals hold {amount:.0f} bytes, but {name} says {whole:.0f}"
            self.refuse(f"{what}. Correct or leave out the file", "end", name, "bytes")

    def of_tcp(self, end: Mapping[str, Any], sent: float, received: float) -> None:
        """Makes what arrived the bandwidth where intervals tell none, or tell what was sent and much of it did not arrive."""
        found = [m for m in self.measurements if m.quantity == "bandwidth"]
        received_here = ("end", "sum_received")
        if sent and received and end["sum_received"]["bytes"] > (1 + OF_STREAMS) * end["sum_sent"]["bytes"]:
            self.refuse("more bytes arrived than were sent. Correct or leave out the file", *received_here, "bytes")
        if found and "sum_sent" in self.bytes_by_side and 0 < received < (1 - OF_STREAMS) * sent:
            what = f"only {received:.4g} bit/s arrived of {sent:.4g} that were sent (the rest lay in buffers, or was lost)"
            self.warn(f"{what}: the bandwidth is what arrived", *received_here, "bits_per_second")
            self.measurements = [replace(m, quantity=f"sent {m.quantity}") if m in found else m for m in self.measurements]
            self.bandwidth("bandwidth", received, {}, *received_here)
        elif not found and (sent or received):
            here = received_here if received else ("end", "sum_sent")
            self.warn("there are no intervals, so the bandwidth is that of the whole run", *here, "bits_per_second")
            self.bandwidth("bandwidth", received or sent, {}, *here)
        elif found and statistics.median(m.values[0] for m in found) == 0:
            self.warn("nothing passed in most intervals, so they tell no bandwidth. Measure again", "intervals")

    def of_datagrams(self, sums: Mapping[str, Any], parts: list[Any], rates: Mapping[str, float]) -> None:
        here = ("end", "sum")
        if "sender" not in rates:
            # Up to 3.9 the seconds are the receiver's, bytes and rate the sender's.
            bits = self.number(sums, "bits_per_second", *here)
            of_streams = [self.object(self.object(part, "end", "streams").get("udp"), "end", "streams") for part in parts]
            total = sum(self.rate(stream, "end", "streams", i, "udp") for i, stream in enumerate(of_streams))
            self.must_be_sum(bits, total, "bits_per_second", *here)
            self.bandwidth("bandwidth, whole run", bits, {"side": "sender"}, *here)
        counts: dict[str, float] = {}
        for name, unit in (("jitter_ms", "ms"), ("lost_packets", "1"), ("packets", "1")):
            given = sums.get(name, -1)
            if (isinstance(given, int) and given < 0) or (name, given) == ("jitter_ms", 0):
                continue  # not measured; iperf3 also counts less than 0 lost where some came late
            counts[name] = self.number(sums, name, *here)
            statistic = "mean" if unit == "ms" else "count"
            self.add(name.removesuffix("_ms").replace("_", " "), counts[name], unit, statistic, self.keys, Spread(), *here, name)
        has_bandwidth = any(m.quantity == "bandwidth" for m in self.measurements)
        if self.is_udp and not self.is_asked and not has_bandwidth and rates.get("receiver"):
            self.bandwidth("bandwidth", rates["receiver"], {}, "end", "sum_received")
        elif self.is_udp and not self.is_asked and not has_bandwidth:
            self.warn("only the sender's rate is known, which no link need carry: it is left out. Run iperf3 without --udp", *here)
        if lost := counts.get("lost_packets"):
            self.warn(f"{lost:.0f} of {counts.get('packets', 0):.0f} datagrams were lost on their way", *here, "lost_packets")

    def round_trips(self, parts: list[Any]) -> None:
        for number, part in enumerate(parts):
            here = ("end", "streams", number, "sender")
            sender = part.get("sender", {}) if isinstance(part, dict) else {}
            if not isinstance(sender, dict) or not {"mean_rtt", "min_rtt", "max_rtt"} <= sender.keys():
                continue
            mean, low, high = (self.number(sender, name, *here) for name in ("mean_rtt", "min_rtt", "max_rtt"))
            if mean == 0:
                continue
            if not low <= mean <= high:
                self.refuse("mean_rtt is outside min_rtt and max_rtt. Correct or leave out the file", *here, "mean_rtt")
            spread = Spread(minimum=low or None, maximum=high)
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
        tolerance = TOLERANCE + sum(map(_rounding, (bits, amount, spans[0])))
        # Times are rounded to microseconds.
        if not any(abs(bits * span - amount * 8) <= max(tolerance * amount * 8, 1e-6 * bits) for span in spans):
            expected = amount * 8 / spans[0] if spans[0] else math.inf
            self.refuse(
                f"{amount:.0f} bytes in {spans[0]:g} s are {expected:g} bit/s, not "
                f"{bits:g} (contradictory units, or a damaged number). Correct or leave out the file",
                *path,
                "bits_per_second",
            )
        return bits

    def must_be_sum(self, value: float, total: float, name: str, *path: _PathItem) -> None:
        # Streams end at times of their own, so rates add up less exactly than bytes.
        tolerance = OF_STREAMS if name == "bits_per_second" else 2 * _rounding(value)
        if abs(value - total) > tolerance * abs(total):
            self.refuse(
                f"{name} is {value:g}, but {total:g} over the streams. Correct or leave out the file", *path, name
            )

    def bandwidth(self, quantity: str, bits: float, keys: dict[str, int | float | str], *path: _PathItem) -> None:
        name = f"asked {quantity}" if self.is_asked else quantity
        self.add(name, bits, "bit/s", "mean", self.keys | keys, Spread(), *path, "bits_per_second")

    def warn(self, what: str, *path: _PathItem) -> None:
        self.warnings.append(f"{self.source.file}:{self.source.json_line(*path)}: {what}")

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


def _rounding(number: float) -> float:
    """Returns the part of a number by which rounding may have changed it, where it has no more than six digits."""
    return OF_SIX_DIGITS if float(f"{number:.6g}") == number else 0.0
