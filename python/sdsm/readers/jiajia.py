"""Reader of a JIAJIA program's output: the statistics of its hosts, and the settings before them.

Recognised by the line `########  JIAJIA STATISTICS  #########`. Counts of each host and their total, then times of each
host in ms, are taken as printed, under JIAJIA's names; key host. Between the settings and the statistics, and around
them, stand lines of the program itself, which are passed over.

Seen: outputs of M-JIAJIA (branch reports2), six programs on two pairs of machines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdsm.readers.measurement import Measurement, Reading, Setting
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

#: Times that must be zero if their event never happened.
_TIME_OF = {
    "Barrier time": "Barriers",
    "Lock time": "Locks",
    "SEGV time (local)": "SEGVs (local)",
    "SEGV time (remote)": "SEGVs (remote)",
    "Decode diff time": "MWdiffs",
}

_TITLE = "######## JIAJIA STATISTICS #########"
_END = re.compile("#{30,}")
_RULE = re.compile(r"-{30,}( \(ms\))?")
_HOSTS = re.compile(rf"hosts --> ((?:{COUNT} )+)total")
_MS = r"[0-9]{1,12}\.[0-9]{2}"

_HOST_COUNT = re.compile(rf"hostc \(total host count\): ({COUNT})")
_OPTION = re.compile(rf"option ({COUNT}): (\w+) = (\S{{1,80}})")
_SIZES = re.compile(rf"\*\*\*Cachepages = ({COUNT}) Pagesize=({COUNT})\*\*\*")
_SHARED = re.compile(rf"Shared Memory \(({COUNT})-byte pages\) : ({COUNT}) \(total\) ({COUNT}) \(used\)")
_PROGRAM = re.compile(r"Starting CMD \S+ \S+ '\S*/(\w+) -P [0-9]+ &' on host \S+")


def recognises(source: Text) -> bool:
    return not source.looks_like_json and _TITLE in source.plain_lines


def read(source: Text) -> Reading:
    """Reads counts (1) and times (ms) of each host. Raises ReadError."""
    titles = [number for number, line in enumerate(source.plain_lines, start=1) if line == _TITLE]
    if len(titles) > 1:
        source.refuse(titles[1], "statistics are there twice. Give each run's output in a file of its own")
    hosts, rows = _rows(source, titles[0])
    _agree_among_themselves(source, rows)
    measurements = tuple(
        Measurement(name, (float(value),), unit, "sum", source.at(line), keys={"host": host, "hosts": hosts})
        for name, (line, values, unit) in rows.items()
        for host, value in enumerate(values[:hosts])
    )
    return Reading(source.file, NAME, measurements, tuple(_settings(source, hosts, titles[0])))


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
    for names, unit, cell, columns in (
        (COUNTS, "1", COUNT, hosts + 1),
        (TIMES, "ms", _MS, hosts),
        (SUMS, "ms", _MS, hosts),
    ):
        number, text = line("the table's rule")
        rule = _RULE.fullmatch(text)
        if not rule or bool(rule[1]) != (names is TIMES):
            source.refuse(number, f"{text[:60]!r} where a rule of dashes stands. Give JIAJIA's own output")
        for name in names:
            number, text = line(repr(name))
            head, equals, tail = text.partition(" = ")
            values = tail.split()
            if head != name or not equals or len(values) != columns or not all(re.fullmatch(cell, v) for v in values):
                source.refuse(number, f"{text[:60]!r} is not {name!r} with {columns} numbers. Give JIAJIA's own output")
            rows[name] = (number, values, unit)
    number, text = line("the end of the statistics")
    if not _END.fullmatch(text):
        source.refuse(number, f"{text[:60]!r} where the statistics end. Give JIAJIA's own output")
    return hosts, rows


def _agree_among_themselves(source: Text, rows: Rows) -> None:
    for name in COUNTS:
        line, values, _ = rows[name]
        *own, total = map(int, values)
        # All hosts pass the same barriers.
        if sum(own) != total if name != "Barriers" else set(own) != {total}:
            source.damaged(line, f"{name}: {total} is not the total of {' and '.join(values[:-1])}")
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
