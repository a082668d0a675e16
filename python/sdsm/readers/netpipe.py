"""Reader of NetPIPE 3: its output file (np.out) and its print-out.

The output file is three columns, bytes, Mbps and seconds; the print-out has a line `0: 1 bytes 9900 times --> 0.73
Mbps in 10.48 usec` for each size. The time is one way: half of a round trip. Mbps are 2^20 bits per second, as the
two columns show; a line where bits by time and Mbps disagree by more than their rounding is refused.

Seen: both, of 3.7.2. Recognised by the `-->` lines, or by a first line of three such columns that agree.
"""

from __future__ import annotations

import re

from sdsm.readers.measurement import Measurement, Reading, Setting
from sdsm.readers.text import COUNT, Text, half_digit

NAME = "NetPIPE"
SEEN = True

MIBIT = 1 << 20

_DECIMAL = r"[0-9]{1,20}\.[0-9]{1,20}"
_COLUMNS = re.compile(rf"\s*({COUNT})\s+({_DECIMAL})\s+({_DECIMAL})\s*")
_PRINTED = re.compile(
    rf"\s*({COUNT}):\s+({COUNT}) bytes\s+({COUNT}) times -->\s+({_DECIMAL}) Mbps in\s+({_DECIMAL}) usec\s*"
)
_BUFFERS = re.compile(rf"Send and receive buffers are ({COUNT}) and ({COUNT}) bytes\s*")
_CHATTER = re.compile(
    r"Sending output to .*|\(A bug in Linux doubles the requested buffer sizes\)\s*|Now starting the main loop\s*"
)


def recognises(source: Text) -> bool:
    if source.looks_like_json:
        return False
    first = next((line for line in source.plain_lines if line), "")
    match = _COLUMNS.fullmatch(first)
    if match and _agree(int(match[1]), match[2], match[3], 1.0):
        return True
    return any(_PRINTED.fullmatch(line) for line in source.plain_lines)


def read(source: Text) -> Reading:
    """Reads for each size the time of a message, one way, and the bandwidth (Mibit/s); key message_bytes. Raises ReadError."""
    measurements: list[Measurement] = []
    settings: list[Setting] = []
    last_index = -1
    last_size = 0
    was_printed: bool | None = None
    for number, line in enumerate(source.plain_lines, start=1):
        if not line:
            continue
        place = source.at(number)
        if match := _PRINTED.fullmatch(line):
            index, size, times = int(match[1]), int(match[2]), int(match[3])
            rate, time, unit, scale = match[4], match[5], "us", 1e-6
            if index != last_index + 1:
                what = f"line {index} of NetPIPE's follows line {last_index}: one is missing"
                source.refuse(number, f"{what}. Give its whole output")
            if times < 1:
                source.damaged(number, "0 times is no measurement")
            last_index, samples, printed = index, times, True
        elif match := _COLUMNS.fullmatch(line):
            size, rate, time, unit, scale = int(match[1]), match[2], match[3], "s", 1.0
            samples, printed = None, False
        elif match := _BUFFERS.fullmatch(line):
            for name, size_text in zip(("send buffer", "receive buffer"), match.groups(), strict=True):
                settings.append(Setting(name, int(size_text), "B", place))
            continue
        elif _CHATTER.fullmatch(line):
            continue
        else:
            source.refuse(number, f"{line[:60]!r} is no line of NetPIPE's. Give its output alone")
        if was_printed not in (None, printed):
            source.refuse(number, "NetPIPE's output file and its print-out in one. Give one of them")
        if size <= last_size:
            source.damaged(number, f"{size} bytes do not follow {last_size} (sizes grow)")
        if not _agree(size, rate, time, scale):
            what = f"{size} bytes in {time} {unit} are not {rate} Mbps of 2^20 bits"
            source.damaged(number, f"{what} (contradictory units, or damage)")
        was_printed, last_size = printed, size
        for name, value, of in (("message time, one way", time, unit), ("bandwidth", rate, "Mibit/s")):
            keys = {"message_bytes": size}
            measurements.append(Measurement(name, (float(value),), of, "best", place, samples, keys=keys))
    return Reading(source.file, NAME, tuple(measurements), tuple(settings))


def _agree(size: int, rate: str, time: str, scale: float) -> bool:
    """Whether `size` bytes in `time` x `scale` seconds make `rate`, within the rounding of both numbers."""
    half = half_digit(time)
    shortest, longest = (float(time) - half) * scale, (float(time) + half) * scale
    if shortest <= 0 or size < 1:
        return False
    mibits = size * 8 / MIBIT
    half = half_digit(rate) * 1.01
    return mibits / longest * (1 - 1e-9) - half <= float(rate) <= mibits / shortest * (1 + 1e-9) + half
