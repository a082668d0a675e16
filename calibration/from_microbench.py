"""A platform file from what `sdsm microbench` measured: each cost is a median of samples.

    python -m calibration.from_microbench --base BASE.xml -o PLATFORM.xml MEASURED.json

The network (reference.*, frame.*, hosts, links, routes) is BASE's: the one on which was measured. Faults that happen between
companions only are taken from a layout with two threads per node; without one, the nearest kind that was measured stands
for them, and the file says so.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calibration.microbench import FORMAT, VERSION

#: What a fault kind without measurement is taken for (the same work but for the companion's part).
NEAREST = {"WROL": "WROR", "WRWH": "WROH", "WRWL": "WROH", "WRWR": "WROH", "RROR": "WROH", "RRWR": "WROH"}
FAULTS = ("WROH", "WROL", "WROR", "WRWH", "WRWL", "WRWR", "WUMR", "RRWR", "RROR", "RUMR")

#: Bytes of a diff of one run of words (spec, "Diffs"), and what one message holds.
DIFF_HEADER, RUN_HEADER, WORD, MESSAGE = 8, 4, 4, 1460
#: Payloads of a page request and of a page (models/messages.hpp).
CONTROL, PAGE = 32, 4096
#: Faults in a row that native/bench/microbench.c takes the mean of.
BURST = 16
#: What `sdsm simulate --jitter` takes.
MOST_JITTER = 2.0

Samples = Mapping[str, list[float]]


class MicrobenchError(ValueError):
    """A file that is no output of microbench, or too little to make a platform of."""


def read(path: Path) -> dict[str, Any]:
    """The document that `sdsm microbench` wrote. Raises MicrobenchError, OSError."""
    try:
        document = json.loads(path.read_text())
    except ValueError as error:
        raise MicrobenchError(f"{path}: not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise MicrobenchError(f"{path}: not what `sdsm microbench -o FILE` writes")
    if document.get("version") != VERSION:
        raise MicrobenchError(f"{path}: version {document.get('version')!r}, where {VERSION} is known. Measure again")
    layouts = document.get("layouts")
    if not isinstance(layouts, dict) or not layouts:
        raise MicrobenchError(f"{path}: no layout was measured")
    for layout, part in layouts.items():
        samples = part.get("samples_ns") if isinstance(part, dict) else None
        if not isinstance(samples, dict) or not all(_is_samples(values) for values in samples.values()):
            raise MicrobenchError(f"{path}: layout {layout} has no lists of samples by quantity")
    return document


def _is_samples(values: Any) -> bool:
    return (
        isinstance(values, list)
        and len(values) > 0
        and all(isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) and v >= 0 for v in values)
    )


def median_us(samples: Samples, quantity: str) -> float:
    return statistics.median(samples[quantity]) / 1000


def message_cost(samples: Samples) -> tuple[float, float]:
    """Microseconds of an empty diff message, and per byte of payload: least squares over releases whose diff is one message.

    A release without changes sends no diff; what the others take longer is their message.
    """
    empty = median_us(samples, "release.0")
    points = []
    for quantity in samples:
        name, _, words = quantity.partition(".")
        if name != "release" or words == "0":
            continue
        size = DIFF_HEADER + RUN_HEADER + WORD * int(words)
        if size <= MESSAGE:
            points.append((size, median_us(samples, quantity) - empty))
    if len(points) < 2:
        raise MicrobenchError("too few sizes of diffs (release.N) for the cost of a message")
    fit = statistics.linear_regression([size for size, _ in points], [time for _, time in points])
    return max(fit.intercept, 0.0), max(fit.slope, 0.0)


def costs(document: Mapping[str, Any], wire_us: float) -> dict[str, tuple[str, str]]:
    """Property id -> value with unit, and where it comes from.

    wire_us: what of a page fetch the network takes (its two messages, on the network on which was measured).
    Raises MicrobenchError if a needed layout or quantity is missing.
    """
    layouts: dict[str, Samples] = {layout: part["samples_ns"] for layout, part in document["layouts"].items()}
    remote = [samples for layout, samples in layouts.items() if not layout.startswith("1x")]
    if not remote:
        raise MicrobenchError("no layout of several nodes: measure at least 2x1")
    properties: dict[str, tuple[str, str]] = {}
    for kind in FAULTS:
        measured = next((s for s in layouts.values() if kind in s), None)
        source = kind if measured else NEAREST[kind]
        samples = measured or next(s for s in layouts.values() if source in s)
        origin = "measured" if measured else f"assumed: as {source}"
        properties[f"fault.{kind}"] = (f"{median_us(samples, source):.3f}us", origin)
    fixed, per_byte = message_cost(remote[0])
    properties["message.fixed"] = (f"{fixed:.3f}us", "measured, least squares over sizes")
    properties["message.per-byte"] = (f"{per_byte:.6f}us/B", "measured, least squares over sizes")
    for layout, samples in layouts.items():
        properties[f"barrier.{layout}"] = (f"{median_us(samples, 'barrier'):.3f}us", "measured")
        properties[f"lock.{layout}"] = (f"{median_us(samples, 'lock'):.3f}us", "measured")
    dirty = (median_us(remote[0], "barrier.dirty64") - median_us(remote[0], "barrier.dirty0")) / 64
    properties["barrier.dirty-home-page"] = (f"{max(dirty, 0.0):.3f}us", "measured")
    share = home_share(document, wire_us)
    if share is not None:
        properties["local-part.home-share"] = (f"{share:.3f}", "measured: what the home took to serve a page")
    return properties


def home_share(document: Mapping[str, Any], wire_us: float) -> float | None:
    """The home's share of a fetch's processor time, from the first layout of several nodes with one thread each; None if
    homes were not timed."""
    for layout, part in document["layouts"].items():
        if layout.startswith("1x") or not layout.endswith("x1") or not part.get("pages_served"):
            continue
        local_us = median_us(part["samples_ns"], "RUMR") - wire_us
        service_us = part["page_service_s"] / part["pages_served"] * 1e6
        return min(max(service_us / local_us, 0.0), 1.0) if local_us > 0 else None
    return None


def jitter(document: Mapping[str, Any], wire_us: float) -> float:
    """Coefficient of variation of each processor part of a remote fault, for `sdsm simulate --jitter`.

    The samples are means over `BURST` faults, so a single fault scatters by sqrt(BURST) times as much; half of the range
    between the 16th and the 84th percentile stands for the standard deviation, as single outliers (the machine's other
    work) are no jitter. Two parts, drawn independently, with the shares h and 1 - h, scatter together by sqrt(h^2 +
    (1 - h)^2) of each.
    """
    part = next(p for layout, p in document["layouts"].items() if not layout.startswith("1x"))
    samples = part["samples_ns"]["RUMR"]
    if len(samples) < 2:
        return 0.0
    percentiles = statistics.quantiles(samples, n=100, method="inclusive")
    deviation_us = (percentiles[83] - percentiles[15]) / 2 / 1000 * math.sqrt(BURST)
    local_us = statistics.median(samples) / 1000 - wire_us
    share = home_share(document, wire_us)
    share = 0.5 if share is None else share
    return min(deviation_us / local_us / math.hypot(share, 1 - share), MOST_JITTER) if local_us > 0 else 0.0


def fetch_wire_us(base: Path) -> float:
    """Microseconds of a page request and its page on the idle network of a platform file (models/wire.hpp: store and forward).

    Raises MicrobenchError, OSError.
    """
    properties = {p.get("id", ""): p.get("value", "") for p in _root(base).iter("prop")}
    try:
        bytes_per_s = _number(properties["reference.bandwidth"], {"Gbps": 1e9 / 8, "Mbps": 1e6 / 8, "kbps": 1e3 / 8})
        latency_us = _number(properties["reference.latency"], {"us": 1, "ms": 1e3, "ns": 1e-3, "s": 1e6})
        links = int(properties["reference.links"])
        payload, overhead, minimum = (
            int(_number(properties.get(f"frame.{name}", default), {"B": 1}))
            for name, default in (("payload", "1460B"), ("overhead", "78B"), ("minimum", "84B"))
        )
    except (KeyError, ValueError) as error:
        raise MicrobenchError(f"{base}: reference network: {error}") from None

    def idle_us(size: int) -> float:
        def wire(size: int) -> int:
            return max(size + max(1, -(-size // payload)) * overhead, minimum)

        return (wire(size) + (links - 1) * wire(min(size, payload))) / bytes_per_s * 1e6 + links * latency_us

    return idle_us(CONTROL) + idle_us(PAGE)


def _number(text: str, units: Mapping[str, float]) -> float:
    for unit in sorted(units, key=len, reverse=True):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * units[unit]
    raise ValueError(f"'{text}' has none of the units {', '.join(units)}")


def _root(base: Path) -> ElementTree.Element:
    try:
        return ElementTree.parse(base).getroot()
    except ElementTree.ParseError as error:
        raise MicrobenchError(f"{base}: not XML ({error})") from None


def platform(base: Path, properties: Mapping[str, tuple[str, str]]) -> str:
    """BASE's network with the costs given. Raises MicrobenchError, OSError."""
    root = _root(base)
    zone = root.find("zone")
    if zone is None:
        raise MicrobenchError(f"{base}: no zone")
    for prop in list(zone.findall("prop")):
        if prop.get("id", "").split(".")[0] in ("fault", "message", "barrier", "lock") or prop.get("id") in properties:
            zone.remove(prop)
    for index, (name, (value, origin)) in enumerate(properties.items()):
        zone.insert(2 * index, ElementTree.Comment(f" {origin} "))
        zone.insert(2 * index + 1, ElementTree.Element("prop", {"id": name, "value": value}))
    ElementTree.indent(root)
    doctype = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
    return f'<?xml version="1.0"?>\n{doctype}\n{ElementTree.tostring(root, encoding="unicode")}\n'


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m calibration.from_microbench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", type=Path, required=True, help="platform file whose network was measured on")
    parser.add_argument("-o", "--output", type=Path, required=True, help="platform file to write")
    parser.add_argument("measured", type=Path, metavar="MEASURED.json", help="what `sdsm microbench -o` wrote")
    options = parser.parse_args(arguments)
    try:
        document = read(options.measured)
        wire_us = fetch_wire_us(options.base)
        options.output.write_text(platform(options.base, costs(document, wire_us)))
        print(f"sdsm: simulate it with --jitter {jitter(document, wire_us):.2f}, as remote faults scattered", file=sys.stderr)
    except KeyError as error:
        print(f"sdsm: {options.measured}: {error} was not measured", file=sys.stderr)
        return 2
    except (MicrobenchError, OSError) as error:
        print(f"sdsm: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
