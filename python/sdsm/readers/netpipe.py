"""Reader of NetPIPE 3 to 5: its output file (np.out) and its print-out.

The output file is three columns, bytes, Mbps and seconds, of NetPIPE 3; five of NetPIPE 4 (bytes; least time's, mean and most
time's Mbps; least seconds) and of NetPIPE 5 (bytes; mean, least and most Gbps; mean microseconds). The print-out has a line
for each size, `0: 1 bytes 9900 times --> 0.73 Mbps in 10.48 usec`, or `1: 1 B 9900 times --> 763.359 Kbps in 10.480 usecs` of
NetPIPE 5, which rounds sizes above 1 MB to a kilobyte. The time is one way: half of a round trip. Mbps are 2^20 bits per
second in NetPIPE 3 and 10^6 later, as the columns show; a line where bits by time and rate disagree by more than their
rounding is refused. Of a stream the time is no message's own, and rates of both directions at once are their sum.

Seen: both, of 3.7.2. Recognised by the `-->` lines, or by a first line of such columns that agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sdsm.readers.measurement import UNITS, Measurement, Reading, Setting, untried
from sdsm.readers.text import COUNT, Around, Text, half_digit

NAME = "NetPIPE"
SEEN = True

_DECIMAL = r"[0-9]{1,20}\.[0-9]{1,20}"
_COLUMNS_3 = re.compile(rf"({COUNT}) ({_DECIMAL}) ({_DECIMAL})")
_COLUMNS_5 = re.compile(rf"({COUNT}) ({_DECIMAL}) ({_DECIMAL}) ({_DECIMAL}) ({_DECIMAL})")
_PRINTED = re.compile(rf"({COUNT}): ({COUNT}) bytes ({COUNT}) times --> ({_DECIMAL}) Mbps in ({_DECIMAL}) usec")
_PRINTED_5 = re.compile(
    rf"({COUNT}): ({COUNT}|{_DECIMAL}) ([KMGT]?B) ({COUNT}) times --> ({_DECIMAL}) ([KMG]?bps) in ({_DECIMAL}) ([num]?sec)s"
)
_BUFFERS = re.compile(rf"Send and receive buffers are ({COUNT}) and ({COUNT}) bytes")
_STREAM = re.compile(r"Streaming (?:data )?in one direction.*")
_BOTH_WAYS = re.compile(r"Bi-?directional mode .*|Passing data in both directions.*")
#: Lines of NetPIPE's own, by their beginnings, with hosts of processes.
_CHATTER = re.compile(
    r"Sending output|Saving output|\(A bug in Linux|Now starting|Start testing|Using |Performance measured|Preposting"
    r"|Some would|but it is needed|Streaming does not|(?:measurement )?of the latency since|messages may get|Sockets are reset"
    r"|degradation from|The output shows|Output is for|The socket buffer|The upper limit|due to socket|Transmit buffer|Receive buffer|Receive using|Resetting connection"
    r"|Pass data from|The data will|Test using|Offsetting|Only testing|NOTE: Be leary|Clock resolution|Completed with"
    rf"|The run has completed|Running on {COUNT}|Proc {COUNT} is on host|{COUNT}: \S+$"
)
_SIZES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_RATES = {"bps": "bit/s", "Kbps": "kbit/s", "Mbps": "Mbit/s", "Gbps": "Gbit/s"}
_TIMES = {"nsec": "ns", "usec": "us", "msec": "ms", "sec": "s"}


@dataclass(frozen=True, slots=True)
class _Row:
    """units: those of the rate in which the row agrees, none if it contradicts itself."""

    form: str
    size: int
    rate: str
    units: tuple[str, ...]
    time: str
    time_unit: str
    index: int | None = None
    samples: int | None = None


def recognises(source: Text) -> bool:
    if source.looks_like_json:
        return False
    first = next((line for line in source.plain_lines if line), "")
    row = _row(first)
    return (row is not None and bool(row.units)) or any(map(_is_printed, source.plain_lines))


def _is_printed(line: str) -> bool:
    return bool(_PRINTED.fullmatch(line) or _PRINTED_5.fullmatch(line))


def read(source: Text) -> Reading:
    """Reads for each size the time of a message, one way, and the bandwidth; key message_bytes. Raises ReadError."""
    rows: list[tuple[int, _Row]] = []
    settings: list[Setting] = []
    around = Around(source)
    is_stream = is_both_ways = False
    for number, line in enumerate(source.plain_lines, start=1):
        if row := _row(line, 2 if is_both_ways else 1):
            around.row()
            _check(source, number, row, rows[-1][1] if rows else None)
            rows.append((number, row))
        elif match := _BUFFERS.fullmatch(line):
            for name, size_text in zip(("send buffer", "receive buffer"), match.groups(), strict=True):
                settings.append(Setting(name, int(size_text), "B", source.at(number)))
        elif _STREAM.fullmatch(line):
            is_stream = True
        elif _BOTH_WAYS.fullmatch(line):
            is_both_ways = True
        elif "times -->" in line:
            source.refuse(number, f"{line[:60]!r} is no line of NetPIPE's that is read. Give its output without options")
        elif line and not _CHATTER.match(line):
            around.add(number, bool(rows))
    unit = _unit(source, rows)
    file = source.file
    warnings = [] if rows[0][1].form.startswith("3") else [untried(file, f"{NAME} {rows[0][1].form[0]}")]
    if is_both_ways:
        warnings.append(f"{file}: a run in both directions at once: its rates are two directions' sum, and no link's bandwidth")
    measurements: list[Measurement] = []
    for number, row in rows:
        place, keys = source.at(number), {"message_bytes": row.size}
        statistic = "mean" if row.form.startswith("5") else "best"
        ways = ", both ways" if is_both_ways else ""
        values = [(f"message time{ways or ', one way'}", row.time, row.time_unit)] * (not is_stream)
        for name, value, of in (*values, (f"bandwidth{ways}", row.rate, unit or row.units[0])):
            measurements.append(Measurement(name, (float(value),), of, statistic, place, row.samples, keys=keys))
    return Reading(file, NAME, tuple(measurements), tuple(settings), (*warnings, *around.warnings(NAME)))


def _row(line: str, directions: int = 1) -> _Row | None:
    """directions: a print-out's rate is of so many, or of one, and its size of one."""
    if match := _PRINTED.fullmatch(line):
        size, rate, time = int(match[2]), match[4], match[5]
        both = ("Mibit/s", "Mbit/s")
        units = _agreeing(directions * size, rate, both, time, "us") or _agreeing(size, rate, both, time, "us")
        return _Row("3 print-out", size, rate, units, time, "us", int(match[1]), int(match[3]))
    if match := _PRINTED_5.fullmatch(line):
        size, time_unit = round(float(match[2]) * _SIZES[match[3]]), _TIMES[match[8]]
        rounding = 0.5e-3 * _SIZES[match[3]] if "." in match[2] else 0.0
        units = _agreeing(directions * size, match[5], (_RATES[match[6]],), match[7], time_unit, directions * rounding)
        return _Row("5 print-out", size, match[5], units, match[7], time_unit, int(match[1]), int(match[4]))
    if match := _COLUMNS_3.fullmatch(line):
        size = int(match[1])
        return _Row("3 output file", size, match[2], _agreeing(size, match[2], ("Mibit/s",), match[3], "s"), match[3], "s")
    if match := _COLUMNS_5.fullmatch(line):
        size = int(match[1])
        if units := _agreeing(size, match[2], ("Mbit/s",), match[5], "s"):
            return _Row("4 output file", size, match[2], units, match[5], "s")
        return _Row("5 output file", size, match[2], _agreeing(size, match[2], ("Gbit/s",), match[5], "us"), match[5], "us")
    return None


def _check(source: Text, number: int, row: _Row, before: _Row | None) -> None:
    if before is not None and before.form != row.form:
        source.refuse(number, "NetPIPE's output file and its print-out in one, or of two versions. Give one of them")
    first = int(row.form[0] == "5")
    if row.index is not None and row.index != (first if before is None or before.index is None else before.index + 1):
        what = f"line {row.index} of NetPIPE's follows {'none' if before is None else f'line {before.index}'}: one is missing"
        source.refuse(number, f"{what}. Give its whole output")
    if row.samples == 0:
        source.damaged(number, "0 times is no measurement")
    if before is not None and row.size <= before.size:
        source.damaged(number, f"{row.size} bytes do not follow {before.size} (sizes grow)")
    if not row.units:
        of = " of 2^20 bits" if row.form == "3 output file" else ""
        what = f"{row.size} bytes in {row.time} {row.time_unit} are not {row.rate} {'Gbps' if row.form[0] == '5' else 'Mbps'}{of}"
        source.damaged(number, f"{what} (contradictory units, or damage)")


def _unit(source: Text, rows: list[tuple[int, _Row]]) -> str | None:
    """Returns the unit that all rows of a print-out of NetPIPE 3 or 4 agree in; None for those that name theirs."""
    if rows[0][1].form != "3 print-out":
        return None
    units = ["Mibit/s", "Mbit/s"]
    for number, row in rows:
        units = [unit for unit in units if unit in row.units]
        if not units:
            source.damaged(number, f"{row.rate} Mbps are of 2^20 bits here and of 10^6 elsewhere")
    return units[0]


def _agreeing(size: int, rate: str, units: tuple[str, ...], time: str, time_unit: str, rounding: float = 0.0) -> tuple[str, ...]:
    """Returns those units in which `size` bytes (known but for `rounding`) in `time` make `rate`, within their rounding."""
    scale = UNITS[time_unit][1]
    half = half_digit(time)
    shortest, longest = (float(time) - half) * scale, (float(time) + half) * scale
    if shortest <= 0 or size < 1:
        return ()
    half = half_digit(rate) * 1.01

    def agrees(unit: str) -> bool:
        least, most = (8 * (size + way * rounding) / UNITS[unit][1] for way in (-1, 1))
        return least / longest * (1 - 1e-9) - half <= float(rate) <= most / shortest * (1 + 1e-9) + half

    return tuple(unit for unit in units if agrees(unit))
