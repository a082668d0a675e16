"""Reader of the OSU micro-benchmarks' point-to-point output: osu_latency, osu_bw, osu_bibw.

Recognised by `# OSU MPI... Latency Test v5.6.2` (or Bandwidth, Bi-Directional Bandwidth). The header of the table
names its columns and their units: `Size` with `Latency (us)`, `Avg Latency(us)`, `Min Latency(us)`, `Max
Latency(us)`, `Iterations` or `Bandwidth (MB/s)`. MB are 10^6 bytes. Latencies are one way: half of a round trip.

Read from the description of the format alone.
"""

from __future__ import annotations

import re

from sdsm.readers.measurement import Measurement, Reading, Setting, Spread, untried
from sdsm.readers.text import COUNT, NUMBER, Text

NAME = "OSU micro-benchmarks"
SEEN = False

_TITLE = re.compile(r"\s*#\s*OSU (\S+) (Latency|Bandwidth|Bi-Directional Bandwidth) Test(?: v([0-9.]+[a-z0-9]*))?\s*")
_DATATYPE = re.compile(r"\s*#\s*Datatype:\s*(\S+?)\.?\s*")
_COLUMNS = re.compile(r"\s*#\s*Size\s+(\S.*?)\s*")
_COLUMN = re.compile(r"(Avg Latency|Min Latency|Max Latency|Latency|Bandwidth)\s?\(([^)]*)\)|Iterations")
_ROW = re.compile(rf"\s*({COUNT})((?:\s+{NUMBER})+)\s*")
_UNITS = {"Latency": "us", "Bandwidth": "MB/s"}


def recognises(source: Text) -> bool:
    return not source.looks_like_json and any(_TITLE.fullmatch(line) for line in source.plain_lines)


def read(source: Text) -> Reading:
    """Reads latency (us) or bandwidth (MB/s) by message_bytes. Raises ReadError."""
    measurements: list[Measurement] = []
    settings: list[Setting] = []
    title: re.Match[str] | None = None
    title_line = 0
    columns: list[str] = []
    last_size = -1
    run = -1
    for number, line in enumerate(source.plain_lines, start=1):
        if not line:
            continue
        place = source.at(number)
        if match := _TITLE.fullmatch(line):
            _must_have_results(source, title, title_line, last_size)
            title, title_line, columns, last_size, run = match, number, [], -1, run + 1
            settings.append(Setting("test", f"{match[1]} {match[2]}", "1", place, run))
            if match[3]:
                settings.append(Setting("version", match[3], "1", place, run))
        elif title is None:
            source.refuse(number, f"{line[:60]!r} stands before the test's title. Give OSU's output alone")
        elif (match := _DATATYPE.fullmatch(line)) and not columns:
            settings.append(Setting("datatype", match[1], "1", place, run))
        elif (match := _COLUMNS.fullmatch(line)) and not columns:
            columns = _columns(source, number, match[1], title[2])
        elif (match := _ROW.fullmatch(line)) and columns:
            size, fields = int(match[1]), match[2].split()
            if len(fields) != len(columns):
                source.damaged(number, f"{len(fields) + 1} numbers for {len(columns) + 1} columns")
            if size <= last_size:
                source.damaged(number, f"{size} bytes do not follow {last_size} (sizes grow)")
            last_size = size
            values = dict(zip(columns, fields, strict=True))
            measurements.append(_measurement(source, number, run, title[2], size, values))
        else:
            source.refuse(number, f"{line[:60]!r} is no line of OSU's at its place. Give its output alone")
    _must_have_results(source, title, title_line, last_size)
    return Reading(source.file, NAME, tuple(measurements), tuple(settings), (untried(source.file, NAME),))


def _must_have_results(source: Text, title: re.Match[str] | None, line: int, last_size: int) -> None:
    if title is not None and last_size < 0:
        source.refuse(line, "a test without results. Give the benchmark's whole output")


def _columns(source: Text, line: int, text: str, test: str) -> list[str]:
    """Returns names of the columns after the size. The test's own quantity must be among them, in its unit."""
    names = []
    position = 0
    wanted = "Latency" if test == "Latency" else "Bandwidth"
    while position < len(text):
        match = _COLUMN.match(text, position)
        if match is None:
            source.refuse(line, f"column {text[position:][:40]!r} is not known. Run the benchmark without what adds it")
        name = match[1] or "Iterations"
        if match[1] and wanted not in name:
            source.damaged(line, f"a {test} test with a column of {name}")
        if match[1] and match[2].strip() != _UNITS[wanted]:
            source.damaged(line, f"{name} in {match[2]!r}, where OSU prints {_UNITS[wanted]}")
        if name in names:
            source.damaged(line, f"column {name} is there twice")
        names.append(name)
        position = match.end()
        while position < len(text) and text[position].isspace():
            position += 1
    if not {wanted, f"Avg {wanted}"} & set(names):
        source.damaged(line, f"no column of {wanted}")
    return names


def _measurement(source: Text, line: int, run: int, test: str, size: int, values: dict[str, str]) -> Measurement:
    numbers = {name: float(text) for name, text in values.items()}
    if any(not 0 <= number < float("inf") for number in numbers.values()):
        source.damaged(line, "a negative or unbounded number")
    keys, place, samples = {"message_bytes": size}, source.at(line), None
    if "Iterations" in values:
        if not re.fullmatch(COUNT, values["Iterations"]) or int(values["Iterations"]) < 1:
            source.damaged(line, f"{values['Iterations']} iterations cannot be")
        samples = int(values["Iterations"])
    if test != "Latency":
        name = "bandwidth" if test == "Bandwidth" else "bandwidth, both ways"
        return Measurement(name, (numbers["Bandwidth"],), "MB/s", "mean", place, samples, keys=keys, run=run)
    mean = numbers["Latency"] if "Latency" in numbers else numbers["Avg Latency"]
    low, high = numbers.get("Min Latency"), numbers.get("Max Latency")
    if (low is not None and low > mean) or (high is not None and high < mean):
        source.damaged(line, "the mean is outside minimum and maximum")
    spread = Spread(minimum=low, maximum=high)
    return Measurement("latency, one way", (mean,), "us", "mean", place, samples, spread, keys, run)
