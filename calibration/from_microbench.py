"""A platform file from what `sdsm run` measures with build/microbench: each cost is a median of samples.

    python -m calibration.from_microbench --base BASE.xml -o PLATFORM.xml LAYOUT=FILE.json ...

LAYOUT is nodes x threads per node (2x1, 4x1, 2x2 ...), FILE.json what microbench printed on it. The network (reference.*,
frame.*, hosts, links, routes) is BASE's: the one on which was measured. Faults that happen between companions only are
taken from a layout with two threads per node; without one, the nearest kind that was measured stands for them, and the file
says so.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

#: What a fault kind without measurement is taken for (the same work but for the companion's part).
NEAREST = {"WROL": "WROR", "WRWH": "WROH", "WRWL": "WROH", "WRWR": "WROH", "RROR": "WROH", "RRWR": "WROH"}
FAULTS = ("WROH", "WROL", "WROR", "WRWH", "WRWL", "WRWR", "WUMR", "RRWR", "RROR", "RUMR")

#: Bytes of a diff of one run of words (spec, "Diffs"), and what one message holds.
DIFF_HEADER, RUN_HEADER, WORD, MESSAGE = 8, 4, 4, 1460

Samples = Mapping[str, list[float]]


class MicrobenchError(ValueError):
    """A file that is no output of microbench, or too little to make a platform of."""


def read(path: Path) -> dict[str, list[float]]:
    """Quantity -> samples in nanoseconds. Raises MicrobenchError, OSError."""
    try:
        document = json.loads(path.read_text())
    except ValueError as error:
        raise MicrobenchError(f"{path}: not JSON ({error})") from None
    if not isinstance(document, dict) or not all(
        isinstance(samples, list) and samples and all(isinstance(s, (int, float)) for s in samples)
        for samples in document.values()
    ):
        raise MicrobenchError(f"{path}: not what microbench prints (lists of samples by quantity)")
    return document


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


def costs(layouts: Mapping[str, Samples]) -> dict[str, tuple[str, str]]:
    """Property id -> value with unit, and where it comes from. Raises MicrobenchError if a needed layout is missing."""
    remote = [samples for layout, samples in layouts.items() if not layout.startswith("1x")]
    if not remote:
        raise MicrobenchError("no layout of several nodes: give at least 2x1=FILE")
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
    return properties


def platform(base: Path, properties: Mapping[str, tuple[str, str]]) -> str:
    """BASE's network with the costs given. Raises MicrobenchError, OSError."""
    try:
        root = ElementTree.parse(base).getroot()
    except ElementTree.ParseError as error:
        raise MicrobenchError(f"{base}: not XML ({error})") from None
    zone = root.find("zone")
    if zone is None:
        raise MicrobenchError(f"{base}: no zone")
    for prop in list(zone.findall("prop")):
        if prop.get("id", "").split(".")[0] in ("fault", "message", "barrier", "lock"):
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
    parser.add_argument("measured", nargs="+", metavar="LAYOUT=FILE", help="such as 4x1=four.json")
    options = parser.parse_args(arguments)
    try:
        layouts = {}
        for argument in options.measured:
            layout, separator, file = argument.partition("=")
            if not separator:
                raise MicrobenchError(f"{argument}: write LAYOUT=FILE, such as 4x1=four.json")
            layouts[layout] = read(Path(file))
        options.output.write_text(platform(options.base, costs(layouts)))
    except (MicrobenchError, OSError, KeyError) as error:
        print(f"sdsm: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
