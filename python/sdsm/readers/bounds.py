"""Which measured numbers can be: what took place took time, or had a rate. Exemptions are listed, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from sdsm.readers.measurement import UNITS, Measurement

#: Numbers of these dimensions are counts, and may be 0.
COUNTED = ("number", "size")


class Exemption(NamedTuple):
    """Quantities of a format (NAME of its reader) that may be 0, or below it too; or whose 0 says that nothing was measured."""

    format: str
    quantities: str  # a pattern
    may_be: Literal["0", "below 0", "0, and is left out"]
    why: str


EXEMPTIONS = (
    Exemption("EPCC OpenMP microbenchmarks", r".* overhead", "below 0", "a difference of two times"),
    Exemption("EPCC OpenMP microbenchmarks", r".* time", "0", "a short time, in the digits printed"),
    Exemption("sdsm microbench", r"WROH\.cold|RUMR\.first-copy|WROH\.first-write", "below 0", "a difference of two measurements"),
    Exemption("sdsm microbench", r"WROH\.trap", "0", "a run that did not measure its traps"),
    Exemption("sdsm microbench", r"RUMR\.home", "0", "a home that lost nothing"),
    Exemption("sdsm microbench", r"release\.0", "0", "nothing to send, in whole ns"),
    Exemption("sdsm microbench", r"page service", "0", "no page was served"),
    Exemption("iperf3 JSON", r"(asked )?(sent )?bandwidth(, whole run)?", "0", "a time in which nothing arrived"),
    Exemption("NetPIPE", r"bandwidth.*", "0, and is left out", "slower than its digits tell"),
    Exemption("OSU micro-benchmarks", r".*bandwidth.*", "0, and is left out", "slower than its digits tell"),
    Exemption("JIAJIA statistics", r"(SEGV|Syn\.) time", "below 0", "what handlers took is estimated there and taken off"),
    Exemption("JIAJIA statistics", r".*", "0", "a host that never did it, or shorter than is printed"),
    Exemption("sdsm run JSON", r".*", "0", "a thread that never did it"),
)


def exemption(format_name: str, quantity: str) -> Exemption | None:
    return next((row for row in EXEMPTIONS if row.format == format_name and re.fullmatch(row.quantities, quantity)), None)


def wrong(row: Exemption | None, unit: str, value: float) -> str | None:
    """Returns what is wrong with a value, in words that follow "is VALUE"; None for one that can be."""
    dimension = UNITS[unit][0]
    may_be_0 = row is not None or dimension in COUNTED
    if value > 0 or (value == 0 and may_be_0) or (row and row.may_be == "below 0"):
        return None
    return f"where a {dimension} is {'at least' if may_be_0 else 'above'} 0"


def possible(
    format_name: str, measurements: Sequence[Measurement], damaged: Callable[[int, str], object]
) -> tuple[tuple[Measurement, ...], tuple[str, ...]]:
    """Returns the measurements less those to leave out, and a sentence about these. Calls damaged(line, what) at a value
    that cannot be."""
    rows = {name: exemption(format_name, name) for name in {m.quantity for m in measurements}}
    kept: list[Measurement] = []
    left_out: list[Measurement] = []
    for m in measurements:
        row = rows[m.quantity]
        for value in m.values:
            if what := wrong(row, m.unit, value):
                damaged(m.place.line, f"{m.quantity} is {value:g}{'' if m.unit == '1' else f' {m.unit}'}, {what}")
        is_nothing = row is not None and row.may_be == "0, and is left out" and 0 in m.values
        (left_out if is_nothing else kept).append(m)
    if not left_out:
        return tuple(kept), ()
    first, more = left_out[0], f" (and {len(left_out) - 1} later ones)" if len(left_out) > 1 else ""
    row = rows[first.quantity]
    return tuple(kept), (f"{first.place}: {first.quantity} is 0 {first.unit}{more}: {row.why if row else ''}. It is left out",)
