"""Reader of LMbench's lat_mem_rd: the time of one load that depends on the one before, by size of the memory walked.

Recognised by its first line, `"stride=N` (LMbench leaves the quote open). Then a line `MEMORY LATENCY` for each size:
MiB (2^20 bytes, five decimals) and nanoseconds. Several strides follow each other, apart by an empty line.

Read from the description of the format alone.
"""

from __future__ import annotations

import re

from sdsm.readers.measurement import Measurement, Reading, untried
from sdsm.readers.text import COUNT, Text

NAME = "LMbench lat_mem_rd"
SEEN = False

_STRIDE = re.compile(rf'\s*"stride=({COUNT})"?\s*')
_POINT = re.compile(r"\s*([0-9]{1,9}\.[0-9]{1,6})\s+([0-9]{1,9}\.[0-9]{1,6})\s*")


def recognises(source: Text) -> bool:
    return not source.looks_like_json and any(_STRIDE.fullmatch(line) for line in source.plain_lines)


def read(source: Text) -> Reading:
    """Reads latencies in ns; keys memory_mib (as printed) and stride (bytes). Raises ReadError."""
    measurements: list[Measurement] = []
    stride: int | None = None
    stride_line = 0
    last_size = 0.0
    points = 0
    for number, line in enumerate(source.plain_lines, start=1):
        if not line:
            continue
        if match := _STRIDE.fullmatch(line):
            if stride is not None and not points:
                source.refuse(stride_line, f"no latency for stride {stride}. Give the benchmark's whole output")
            stride, stride_line, last_size, points = int(match[1]), number, 0.0, 0
        elif (match := _POINT.fullmatch(line)) and stride is not None:
            size, latency = float(match[1]), float(match[2])
            if size <= last_size:
                source.refuse(
                    number, f"{match[1]} MiB does not follow {last_size:g} (sizes grow). Correct or leave out the file"
                )
            if latency <= 0:
                source.refuse(number, f"a load of {match[2]} ns cannot be. Correct or leave out the file")
            last_size, points = size, points + 1
            keys = {"memory_mib": size, "stride": stride}
            measurements.append(
                Measurement("memory latency", (latency,), "ns", "minimum", source.at(number), None, keys=keys)
            )
        else:
            source.refuse(
                number,
                f"{line[:60]!r} is neither \"stride=N nor MiB and nanoseconds. Give lat_mem_rd's output alone",
            )
    if not points:
        source.refuse(stride_line, f"no latency for stride {stride}. Give the benchmark's whole output")
    return Reading(source.file, NAME, tuple(measurements), (), (untried(source.file, NAME),))
