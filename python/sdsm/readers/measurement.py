"""The readers' result: measurements with their unit, their spread and their line.

Values stay as printed, in the unit printed; `Measurement.in_unit` converts. Nothing is filled in: what a file does not
tell is None, or missing from the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sdsm.base.command_line import BadInput

Key = int | float | str

#: Unit as a reader names it -> (dimension, how many of its base unit). Mibit/s is what NetPIPE 3 calls Mbps.
UNITS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        "s": ("time", 1.0),
        "ms": ("time", 1e-3),
        "us": ("time", 1e-6),
        "ns": ("time", 1e-9),
        "bit/s": ("rate", 1.0),
        "kbit/s": ("rate", 1e3),
        "Mbit/s": ("rate", 1e6),
        "Gbit/s": ("rate", 1e9),
        "Mibit/s": ("rate", 2.0**20),
        "MB/s": ("rate", 8e6),
        "cycles": ("cycles", 1.0),
        "MHz": ("frequency", 1e6),
        "B": ("size", 1.0),
        "1": ("number", 1.0),
    }
)


class ReadError(BadInput):
    """A file that cannot be read. The text is FILE:LINE: what (why). What next."""

    def __init__(self, file: str, line: int, what: str) -> None:
        super().__init__(f"{file}:{line}: {what}")
        self.file = file
        self.line = line


@dataclass(frozen=True, slots=True)
class Place:
    """A value's place; lines count from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Spread:
    """The spread of the samples behind a value, in the value's unit; None if the file lacks it."""

    standard_deviation: float | None = None
    half_width_95: float | None = None  # the +/- printed beside the value
    minimum: float | None = None
    median: float | None = None
    maximum: float | None = None
    outliers: int | None = None  # samples that the benchmark counts as outliers; they are part of the value


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured quantity under one set of circumstances.

    quantity: what was measured, such as "PARALLEL overhead", "latency", "fault.WROH".
    values:   one number if the file gives a summary (a mean, say: `statistic`), else every sample, in `unit`.
    samples:  how many samples the values rest on, None if the file does not tell.
    keys:     circumstances: threads, nodes, threads_per_node, chunk, array_size, message_bytes, memory_mib, stride.
    run:      which of the runs in the file, from 0.
    """

    quantity: str
    values: tuple[float, ...]
    unit: str
    statistic: str
    place: Place
    samples: int | None = None
    spread: Spread = Spread()
    keys: Mapping[str, Key] = field(default_factory=dict)
    run: int = 0

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ValueError(f"{self.unit!r} is not one of the units known: {', '.join(UNITS)}")

    def in_unit(self, unit: str) -> tuple[float, ...]:
        """Returns the values in another unit of the same dimension. Raises ValueError if it is of another one, or unknown."""
        if unit not in UNITS or UNITS[unit][0] != UNITS[self.unit][0]:
            raise ValueError(f"{self.quantity} is in {self.unit}, which cannot be converted to {unit}")
        factor = UNITS[self.unit][1] / UNITS[unit][1]
        return tuple(value * factor for value in self.values)


@dataclass(frozen=True, slots=True)
class Setting:
    """A fact in a file about its runs that was set or found out rather than measured."""

    name: str
    value: Key
    unit: str
    place: Place
    run: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """All of one file. `warnings` are sentences for the user, without the file's name where none is due."""

    file: str
    format: str
    measurements: tuple[Measurement, ...]
    settings: tuple[Setting, ...] = ()
    warnings: tuple[str, ...] = ()


def untried(file: str, format_name: str) -> str:
    """The warning of a reader that has never met a real output of its format."""
    return f"{file}: {format_name} is read from a description of the format, untried on a real output. Check the values"
