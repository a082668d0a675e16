"""Readers of benchmark outputs. `read` recognises a file's format by its content.

A new format is one module here with NAME, SEEN, `recognises(text)` and `read(text)`, and a line in FORMATS. Times and rates
must be above 0 (bounds.py, which lists exemptions).
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Protocol, cast

from sdsm.readers.bounds import possible
from sdsm.readers.documents import lines_before_document, one_document
from sdsm.readers.measurement import Measurement, Place, ReadError, Reading, Setting, Spread
from sdsm.readers.text import Text, decimal_commas, load

__all__ = [
    "FORMATS",
    "Format",
    "Measurement",
    "Place",
    "ReadError",
    "Reading",
    "Setting",
    "Spread",
    "formats",
    "read",
    "read_text",
]


class Format(Protocol):
    """What a reader module offers."""

    NAME: str
    SEEN: bool  # was it tried on real outputs, or is it read from a description alone?

    def recognises(self, source: Text) -> bool: ...

    def read(self, source: Text) -> Reading: ...


#: Reader modules in this folder.
FORMATS = ("epcc", "lat_mem_rd", "iperf3", "netpipe", "osu", "jiajia", "microbench", "run_result")


def formats() -> tuple[Format, ...]:
    """Returns formats, imported at their first use: most commands read none of them, and start faster."""
    return tuple(cast(Format, importlib.import_module(f"{__name__}.{name}")) for name in FORMATS)


def read(path: Path | str) -> Reading:
    """Reads everything in a file ("-": standard input). Raises ReadError with file and line, or OSError."""
    return read_text(load(path))


def read_text(source: Text) -> Reading:
    """Reads everything in a text. Raises ReadError."""
    try:
        return _read_text(source)
    except ReadError:
        if line := decimal_commas(source):
            shown = source.plain_lines[line - 1][:60]
            source.refuse(line, f"{shown!r} has decimal commas. Run the benchmark with LC_ALL=C, or write points for them")
        raise


def _read_text(source: Text) -> Reading:
    known = formats()
    split = lines_before_document(source)
    if split and not any(module.recognises(split[0]) for module in known):
        source = split[1]
    left_out = source.warnings
    source = one_document(source)
    candidates = [module for module in known if module.recognises(source)]
    if len(candidates) == 1:
        reading = candidates[0].read(source)
        measurements, nothing = possible(reading.format, reading.measurements, source.damaged)
        return replace(reading, measurements=measurements, warnings=(*left_out, *reading.warnings, *nothing))
    if candidates:
        claimed = " and ".join(module.NAME for module in candidates)
        source.refuse(1, f"looks like {claimed} at once. Give each benchmark's output in a file of its own")
    first = next((number for number, line in enumerate(source.text.split("\n"), start=1) if line.strip()), 1)
    begin = " ".join(source.text.split("\n")[first - 1].split())[:60]
    source.refuse(first, f"a text that begins with {begin!r} is the output of no benchmark that is known here ({'; '.join(module.NAME for module in known)}). Give such an output as it was printed")
