"""Reader of LMbench's lat_mem_rd: the time of one load that depends on the one before, by size of the memory walked.

Recognised by its first line, `"stride=N` (LMbench leaves the quote open). Then a line `MEMORY LATENCY` for each size:
MiB (2^20 bytes, five decimals) and nanoseconds. Several strides follow each other, apart by an empty line. In a whole result
of LMbench, other tables have other titles with a quote, and are left out; loads in random order follow `Random load latency`.

Read from the description of the format alone.
"""

from __future__ import annotations

import re

from sdsm.readers.measurement import Measurement, Reading, untried
from sdsm.readers.text import COUNT, Around, Text

NAME = "LMbench lat_mem_rd"
SEEN = False

_STRIDE = re.compile(rf'\s*"stride=({COUNT})"?\s*')
_OTHER_TITLE = re.compile(r'".*')
_RANDOM = "Random load latency"
_POINT = re.compile(r"\s*([0-9]{1,9}\.[0-9]{1,6})\s+([0-9]{1,9}\.[0-9]{1,6})\s*")


def recognises(source: Text) -> bool:
    return not source.looks_like_json and any(_STRIDE.fullmatch(line) for line in source.plain_lines)


def read(source: Text) -> Reading:
    """Reads latencies in ns; keys memory_mib (as printed) and stride (bytes). Raises ReadError."""
    measurements: list[Measurement] = []
    around = Around(source)
    quantity = "memory latency"
    stride: int | None = None  # of the table, none outside
    stride_line = points = 0
    last_size = 0.0
    for number, line in enumerate(source.plain_lines, start=1):
        if not line:
            continue
        if match := _STRIDE.fullmatch(line):
            _must_have_points(source, stride, stride_line, points)
            around.begin_table()
            stride, stride_line, last_size, points = int(match[1]), number, 0.0, 0
        elif (match := _POINT.fullmatch(line)) and stride is not None:
            around.row()
            size, latency = float(match[1]), float(match[2])
            if size <= last_size:
                source.refuse(
                    number, f"{match[1]} MiB does not follow {last_size:g} (sizes grow). Correct or leave out the file"
                )
            if latency <= 0:
                source.refuse(number, f"a load of {match[2]} ns cannot be. Correct or leave out the file")
            last_size, points = size, points + 1
            keys = {"memory_mib": size, "stride": stride}
            measurements.append(Measurement(quantity, (latency,), "ns", "minimum", source.at(number), None, keys=keys))
        else:
            around.add(number, stride is not None)
            if _OTHER_TITLE.fullmatch(line):
                _must_have_points(source, stride, stride_line, points)
                stride = None
            elif line == _RANDOM:
                quantity = "memory latency, random order"
    _must_have_points(source, stride, stride_line, points)
    return Reading(source.file, NAME, tuple(measurements), (), (untried(source.file, NAME), *around.warnings("lat_mem_rd")))


def _must_have_points(source: Text, stride: int | None, line: int, points: int) -> None:
    if stride is not None and not points:
        source.refuse(line, f"no latency for stride {stride}. Give the benchmark's whole output")
