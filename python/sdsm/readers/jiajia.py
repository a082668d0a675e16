"""Reader of a JIAJIA program's output: the statistics of its hosts, and the settings before them.

Recognised by the line `########  JIAJIA STATISTICS  #########`, whose signs grow with the hosts. Counts of each host and their
total, then times of each host, are taken as printed, under JIAJIA's names; key host. Times are in ms if the rule before them
says so, and in seconds in the original release, which prints no such word. Rows are read by name, as versions differ in some.
Between the settings and the statistics, and around them, stand lines of the program itself, which are passed over.

Seen: outputs of M-JIAJIA (branch reports2), six programs on two pairs of machines. The original release and the fork
Youpen-y/jiajia are read from their sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdsm.readers.measurement import Measurement, Reading, Setting, untried
from sdsm.readers.text import COUNT, Text, agree

NAME = "JIAJIA statistics"
SEEN = True

#: Rows in the order in which they stand; a rule of dashes follows COUNTS, TIMES and SUMS begin behind one.
COUNTS = (
    *("Msgs Sent", "Msgs Received", "Bytes Sent", "Bytes Received", "SEGVs (local)", "SEGVs (remote)"),
    *("SIGIOs (total)", "SIGIOs (user)", "SIGIOs (Syn.)", "SIGIOs (SEGV)", "Barriers", "Locks", "Getp Reqs"),
    *("Prefetch Pages", "Diff Msgs.", "MWdiffs", "Invalidate", "Replaced RO pages", "Replaced RW pages"),
    *("Mig in pages", "Mig out pages", "Resent Msgs", "Large message", "Small message"),
)
TIMES = (
    *("Barrier time", "Lock time", "Unlock time", "SEGV time (local)", "SEGV time (remote)", "SIGIO time (user)"),
    *("SIGIO time (Syn.)", "SIGIO time (SEGV)", "Encode diff time", "Decode diff time", "Wait time"),
)
SUMS = ("SEGV time", "Syn. time", "Server time")

#: Rows of other releases: times of the fork's start, of which some are host 0's alone, and of the original.
_STARTING = ("|--|--creatdir", "|--|--copyfiles", "|--|--startprocs")
_FORKS = (
    *("Init time", "|- setting", "|- creat proc", *_STARTING, "|- mem", "|- sync", "|- msg", "|- comm"),
    *("|--|-- context", "|--|-- connect", "|--|-- resource", "Alloc time"),
)
_ORIGINALS = ("SIGIO time (Over)", "Asendmsg time", "comm soft time", "comm hard time")
_ALL_TIMES = (*_FORKS, *TIMES[:8], _ORIGINALS[0], *TIMES[8:10], *_ORIGINALS[1:], TIMES[10])
#: Not in all releases; _MISSING is in M-JIAJIA's, and no other has all of it.
_MISSING = {"Prefetch Pages", "Wait time", "Server time"}
_OPTIONAL = {*_MISSING, *_FORKS, *_ORIGINALS}

#: Times that must be zero if their event never happened.
_TIME_OF = {
    "Barrier time": "Barriers",
    "Lock time": "Locks",
    "SEGV time (local)": "SEGVs (local)",
    "SEGV time (remote)": "SEGVs (remote)",
    "Decode diff time": "MWdiffs",
}

_TITLE = re.compile(r"#+ JIAJIA STATISTICS #+")
_HOSTS = re.compile(rf"hosts --> ((?:{COUNT} )+)total")
_TIME = r"-?[0-9]{1,12}\.[0-9]{2}"

_HOST_COUNT = re.compile(rf"hostc \(total host count\): ({COUNT})")
_OPTION = re.compile(rf"option ({COUNT}): (\w+) = (\S{{1,80}})")
_SIZES = re.compile(rf"\*\*\*Cachepages = ({COUNT}) Pagesize=({COUNT})\*\*\*")
_SHARED = re.compile(rf"Shared Memory \(({COUNT})-byte pages\) : ({COUNT}) \(total\) ({COUNT}) \(used\)")
_PROGRAM = re.compile(r"Starting CMD \S+ \S+ '\S*/(\w+) -P [0-9]+ &' on host \S+")


def recognises(source: Text) -> bool:
    return not source.looks_like_json and any(map(_TITLE.fullmatch, source.plain_lines))


def read(source: Text) -> Reading:
    """Reads counts (1) and times (ms or s) of each host. Raises ReadError."""
    titles = [number for number, line in enumerate(source.plain_lines, start=1) if _TITLE.fullmatch(line)]
    if len(titles) > 1:
        source.refuse(titles[1], "statistics are there twice. Give each run's output in a file of its own")
    hosts, rows = _rows(source, titles[0])
    is_seen = rows.keys() >= _MISSING and not rows.keys() & {*_FORKS, *_ORIGINALS}
    _agree_among_themselves(source, rows, is_seen)
    measurements = tuple(
        Measurement(name, (float(value),), unit, "sum", source.at(line), keys={"host": host, "hosts": hosts})
        for name, (line, values, unit) in rows.items()
        for host, value in enumerate(values[:hosts])
    )
    warnings = () if is_seen else (untried(source.file, f"{NAME} of another release than M-JIAJIA"),)
    return Reading(source.file, NAME, measurements, tuple(_settings(source, hosts, titles[0])), warnings)


Rows = dict[str, tuple[int, list[str], str]]  # name: line, values as printed, unit


def _rows(source: Text, title: int) -> tuple[int, Rows]:
    """Returns the number of hosts, and the table: for COUNTS each host and the total, for the others each host."""
    lines = iter(enumerate(source.plain_lines[title:], start=title + 1))

    def line(what: str) -> tuple[int, str]:
        for number, text in lines:
            return number, text
        source.refuse(len(source.plain_lines), f"the output ends before {what}. Give the program's whole output")

    number, text = line("the hosts' numbers")
    match = _HOSTS.fullmatch(text)
    if not match or [int(host) for host in match[1].split()] != list(range(len(match[1].split()))):
        source.refuse(number, f"{text[:60]!r} does not number the hosts 0, 1, ... Give JIAJIA's own output")
    hosts = len(match[1].split())
    rows: Rows = {}
    number, text = line("the table's rule")
    rule = "-" * (20 + 9 * hosts)
    for names, cell in ((COUNTS, COUNT), (_ALL_TIMES, _TIME), (SUMS, _TIME)):
        if text != rule and not (text == f"{rule} (ms)" and names is _ALL_TIMES):
            source.refuse(number, f"{text[:60]!r} where a rule of {len(rule)} dashes stands. Give JIAJIA's own output")
        if names is _ALL_TIMES:
            of_time = "s" if text == rule else "ms"
        unit = "1" if names is COUNTS else of_time
        number, text = line(repr(names[0]))
        for name in names:
            columns = 1 if name in _STARTING else hosts + (names is COUNTS)
            head, equals, tail = text.partition(" = ")
            values = tail.split()
            if head != name and name in _OPTIONAL:
                continue
            if head != name or not equals or len(values) != columns or not all(re.fullmatch(cell, v) for v in values):
                source.refuse(number, f"{text[:60]!r} is not {name!r} with {columns} numbers. Give JIAJIA's own output")
            rows[name] = (number, values, unit)
            number, text = line("the end of the statistics")
    if text != "#" * len(rule):
        source.refuse(number, f"{text[:60]!r} where the statistics end. Give JIAJIA's own output")
    return hosts, rows


def _agree_among_themselves(source: Text, rows: Rows, is_seen: bool) -> None:
    """is_seen: of the release of which outputs were seen. What others' times contain is not known so well."""
    for name in COUNTS:
        if name not in rows:
            continue
        line, values, _ = rows[name]
        *own, total = map(int, values)
        # All hosts pass the same barriers.
        if sum(own) != total if name != "Barriers" else set(own) != {total}:
            source.damaged(line, f"{name}: {total} is not the total of {' and '.join(values[:-1])}")
    if not is_seen:
        return
    for time, count in _TIME_OF.items():
        line, values, _ = rows[time]
        for host, value in enumerate(values):
            if float(value) > 0 and rows[count][1][host] == "0":
                source.damaged(line, f"host {host} spends {value} ms, but {count} is 0")
    line, values, _ = rows["Syn. time"]
    for host, value in enumerate(values):
        parts = sum(float(rows[name][1][host]) for name in ("Barrier time", "Lock time", "Unlock time", "Wait time"))
        if not agree(float(value), parts, 5 * 0.005):
            source.damaged(line, f"{value} ms are not the sum of host {host}'s barriers, locks and unlocks")


def _settings(source: Text, hosts: int, title: int) -> Iterator[Setting]:
    """Yields the settings before the statistics. Raises ReadError if they contradict these, or themselves."""
    seen: set[str] = set()
    sizes: dict[str, int] = {}

    def setting(number: int, name: str, value: int | str, unit: str = "1") -> Setting:
        if name in seen:
            source.refuse(number, f"{name} is there twice. Give each run's output in a file of its own")
        seen.add(name)
        return Setting(name, value, unit, source.at(number))

    for number, line in enumerate(source.plain_lines[: title - 1], start=1):
        if match := _HOST_COUNT.fullmatch(line):
            if int(match[1]) != hosts:
                source.damaged(number, f"{match[1]} hosts, where {hosts} have statistics")
            yield setting(number, "hosts", hosts)
        elif match := _OPTION.fullmatch(line):
            yield setting(number, match[2], match[3])
        elif match := _SIZES.fullmatch(line):
            yield setting(number, "cache_pages", int(match[1]))
            yield setting(number, "page_bytes", sizes.setdefault("page", int(match[2])), "B")
        elif match := _SHARED.fullmatch(line):
            if sizes.setdefault("page", int(match[1])) != int(match[1]):
                source.damaged(number, f"pages of {match[1]} bytes, and of {sizes['page']}")
            if int(match[3]) > int(match[2]):
                source.damaged(number, f"{match[3]} of {match[2]} pages are used")
            yield setting(number, "shared_pages", int(match[3]))
        elif (match := _PROGRAM.fullmatch(line)) and "program" not in seen:  # one line for each slave
            yield setting(number, "program", match[1])
