"""Reader of the OSU micro-benchmarks' output, versions 3 to 7: latency and bandwidth of messages, and latencies of collectives.

Recognised by a title such as `# OSU MPI Latency Test v5.6.2`. The header of the table names its columns and their units:
`Size` with `Latency (us)`, `Avg Latency(us)`, `Min Latency(us)`, `Max Latency(us)`, `Iterations`, `P99 Tail Lat(us)`,
`Bandwidth (MB/s)` or `Bi-Bandwidth (MB/s)`, and `Validation`. MB are 10^6 bytes. osu_latency's latencies are one way: half of
a round trip. Those of other tests (`Barrier latency`, `Multi latency`, `MPI_Put latency`) are quantities of their own.

Read from the description of the format alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from sdsm.readers.measurement import Key, Measurement, Reading, Setting, Spread, untried
from sdsm.readers.text import COUNT, NUMBER, Around, Text

NAME = "OSU micro-benchmarks"
SEEN = False

_TITLE = re.compile(r"# ?OSU (\S.*?) Test(?: (?:v|\(Version )([0-9.]+[a-z0-9]*)\)?)?")
#: Of messages between two processes. What follows MPI is the kind of the buffers.
_MESSAGES = re.compile(r"MPI(?:-\S+| MANAGED)* (Latency|Bandwidth|Bi-?[Dd]irectional Bandwidth)")
_UNREAD = re.compile(r"Non-?[Bb]locking|Message Rate|Hello|Init\b")
_DATATYPE = re.compile(r"# ?Datatype: ?(\S+?)\.?")
_ON_DEVICE = re.compile(r"#.*\b(DEVICE|MANAGED)\b.*")
_COLUMNS = re.compile(r"# ?(?:Size (\S.*)|((?:Avg )?(?:Latency|Bandwidth) ?\(.*))")
_COLUMN = re.compile(
    r"((?:Avg |Min |Max )?Latency|(?:Bi-)?Bandwidth|P[0-9]{1,2} Tail (?:Lat|BW)) ?\(([^)]*)\) ?|(Iterations|Validation|Transmit Size) ?"
)
_FIELDS = re.compile(rf"(?:{NUMBER}|Pass|Fail|NA)(?: (?:{NUMBER}|Pass|Fail|NA))*")
_UNITS = {"Latency": "us", "Bandwidth": "MB/s"}


@dataclass
class _Test:
    title: str
    line: int
    run: int
    columns: list[str] = field(default_factory=list)
    has_size: bool = True
    last_size: int = -1
    has_rows: bool = False

    @property
    def wanted(self) -> str:
        return "Bandwidth" if "Bandwidth" in self.title else "Latency"

    @property
    def quantity(self) -> str:
        if match := _MESSAGES.fullmatch(self.title):
            of_messages = {"Latency": "latency, one way", "Bandwidth": "bandwidth"}
            return of_messages.get(match[1], "bandwidth, both ways")
        name = self.title.removeprefix("MPI ")
        return f"{name.removesuffix(f' {self.wanted}')} {self.wanted.lower()}"


def recognises(source: Text) -> bool:
    return not source.looks_like_json and any(_TITLE.fullmatch(line) for line in source.plain_lines)


def read(source: Text) -> Reading:
    """Reads latency (us) or bandwidth (MB/s) by message_bytes. Raises ReadError."""
    measurements: list[Measurement] = []
    settings: list[Setting] = []
    warnings = [untried(source.file, NAME)]
    around = Around(source)
    test: _Test | None = None
    for number, line in enumerate(source.plain_lines, start=1):
        if not line:
            continue
        place = source.at(number)
        if match := _TITLE.fullmatch(line):
            _must_have_results(source, test)
            test = _Test(match[1], number, 0 if test is None else test.run + 1)
            around.begin_table()
            if _UNREAD.search(test.title):
                source.refuse(number, f"{test.title} is a test of OSU's that is not read. Leave out the file")
            settings.append(Setting("test", test.title, "1", place, test.run))
            if match[2]:
                settings.append(Setting("version", match[2], "1", place, test.run))
        elif test is None:
            around.add(number, is_after_row=False)
        elif line.startswith("#") and (not test.has_rows or _DATATYPE.fullmatch(line)):
            if test.has_rows:  # a table for each datatype, with a header of its own or the first one's
                around.row()
                test = replace(test, line=number, run=test.run + 1, last_size=-1, has_rows=False)
            if match := _COLUMNS.fullmatch(line):
                test.has_size = match[1] is not None
                test.columns = _columns(source, number, match[1] or match[2], test)
            elif match := _DATATYPE.fullmatch(line):
                settings.append(Setting("datatype", match[1], "1", place, test.run))
            elif match := _ON_DEVICE.fullmatch(line):
                what = "messages lie in a device's memory (GPU), so times are not those of messages in the hosts' memory"
                warnings.append(f"{source.file}:{number}: {what}")
        elif test.columns and _FIELDS.fullmatch(line) and (test.has_size or not test.has_rows):
            around.row()
            measurements.append(_measurement(source, number, test, line.split()))
            warnings += _falls(measurements[-2:])
        else:
            around.add(number, is_after_row=bool(test.columns), may_be_row=test.has_size)
    _must_have_results(source, test)
    return Reading(source.file, NAME, tuple(measurements), tuple(settings), (*warnings, *around.warnings("OSU")))


def _falls(pair: list[Measurement]) -> list[str]:
    """Names a time that is less than half of that of fewer bytes: the number may be damaged, or one of the two an outlier."""
    if len(pair) < 2 or pair[0].run != pair[1].run or pair[1].unit != "us" or 2 * pair[1].values[0] >= pair[0].values[0]:
        return []
    (less, m), (few, many) = (one.values[0] for one in pair), (one.keys["message_bytes"] for one in pair)
    return [f"{pair[1].place}: {many} B take {m:g} us, less than half of the {less:g} us of {few} B. Is one of the rows damaged?"]


def _must_have_results(source: Text, test: _Test | None) -> None:
    if test is not None and not test.columns:
        source.refuse(test.line, f"{test.title}: a test of OSU's that is not read, or one that was stopped. Leave out the file")
    if test is not None and not test.has_rows:
        source.refuse(test.line, "a test without results. Give the benchmark's whole output")


def _columns(source: Text, line: int, text: str, test: _Test) -> list[str]:
    """Returns names of the columns after the size. The test's own quantity must be among them, in its unit."""
    names: list[str] = []
    position = 0
    while position < len(text):
        match = _COLUMN.match(text, position)
        if match is None:
            source.refuse(line, f"column {text[position:][:40]!r} is not known. Run the benchmark without what adds it")
        name = match[1] or match[3]
        kind = "Latency" if "Lat" in name else "Bandwidth"
        if match[1] and kind != test.wanted:
            source.damaged(line, f"a {test.wanted} test with a column of {name}")
        if match[1] and match[2].strip() != _UNITS[kind]:
            source.damaged(line, f"{name} in {match[2]!r}, where OSU prints {_UNITS[kind]}")
        if name in names:
            source.damaged(line, f"column {name} is there twice")
        names.append(name)
        position = match.end()
    if not test.has_size and _MESSAGES.fullmatch(test.title):
        source.damaged(line, f"{test.title} without sizes of messages")
    if _value_column(names, test) is None:
        source.damaged(line, f"no column of {test.wanted}")
    return names


def _value_column(names: list[str], test: _Test) -> str | None:
    return next((name for name in (test.wanted, f"Avg {test.wanted}", f"Bi-{test.wanted}") if name in names), None)


def _measurement(source: Text, line: int, test: _Test, fields: list[str]) -> Measurement:
    test.has_rows = True
    columns = ["Size"] * test.has_size + test.columns
    if len(fields) != len(columns):
        source.damaged(line, f"{len(fields)} numbers for {len(columns)} columns")
    values = dict(zip(columns, fields, strict=True))
    if values.pop("Validation", "Pass") == "Fail":
        source.refuse(line, "these messages arrived changed: OSU's own validation failed. Leave out the file")
    for name, text in values.items():
        if not re.fullmatch(COUNT if name in ("Size", "Iterations", "Transmit Size") else NUMBER, text) or float(text) < 0:
            source.damaged(line, f"{name} is {text}")
    keys: dict[str, Key] = {}
    if test.has_size:
        size = int(values["Size"])
        if size <= test.last_size:
            source.damaged(line, f"{size} bytes do not follow {test.last_size} (sizes grow)")
        test.last_size = keys["message_bytes"] = size
    samples = int(values["Iterations"]) if "Iterations" in values else None
    if samples == 0:
        source.damaged(line, "0 iterations cannot be")
    numbers = {name: float(text) for name, text in values.items()}
    of_value = _value_column(test.columns, test)
    assert of_value is not None
    mean, low, high = numbers[of_value], numbers.get("Min Latency"), numbers.get("Max Latency")
    if (low is not None and low > mean) or (high is not None and high < mean):
        source.damaged(line, "the mean is outside minimum and maximum")
    spread = Spread(minimum=low, median=numbers.get("P50 Tail Lat"), maximum=high)
    unit = _UNITS[test.wanted]
    return Measurement(test.quantity, (mean,), unit, "mean", source.at(line), samples, spread, keys, test.run)
