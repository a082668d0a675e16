"""Reader of the EPCC OpenMP microbenchmarks' output: versions 2.0, 3.1 (whose banner says 3.0) and 4.0, C and Fortran.

Recognised by its banner, its table header or a `Computing ... time` line. A file holds one or more runs, each a
banner and one block per directive. What is printed twice must agree: the mean in the table and in the `time` line,
the half-width and 1.96 standard deviations, the overhead and the time less the reference. Lines `# platform: ...`
(also os, compiler, clock) may be added by hand before a banner; they hold until changed. Lines of launchers before a run, or
after its last block, are left out.

Seen: C outputs of 3.1 and 4.0. Versions 2.0 and the Fortran suite are read from their description. This project's own
suite (workloads/epcc.c) prints version 2.0's format and says in its banner whose it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from sdsm.readers.measurement import Key, Measurement, Place, Reading, Setting, Spread, untried
from sdsm.readers.text import COUNT, NUMBER, Around, Text, agree, half_digit

NAME = "EPCC OpenMP microbenchmarks"
SEEN = True  # 3.1 and 4.0 in C; the others print a warning

#: The suites' factor on a standard deviation: the half-width of 95 % of a normal distribution.
HALF_WIDTH_SDS = 1.96

ENVIRONMENT = ("platform", "os", "compiler", "clock")

#: A trailing number is a chunk size, an array size, or else part of the name (MASTER TASK 2).
CHUNKED = re.compile(r"(STATIC|DYNAMIC|GUIDED|TASKLOOP|AUTO|RUNTIME)(_[A-Z]+)*")
ARRAYS = {"PRIVATE", "FIRSTPRIVATE", "LASTPRIVATE", "COPYPRIVATE", "COPYIN", "THREADPRIVATE", "REDUCTION", "FLUSH"}

_FIELD = rf"(?:{NUMBER}|[+-]?nan|\*+)"
# Patterns for lines with single blanks (Text.plain_lines).
_BANNER = re.compile(rf"Running OpenMP benchmark version ({NUMBER})")
_BANNER_2 = re.compile(rf"Running OpenMP benchmark on ({COUNT}) thread\(s\)")
_OWN_SUITE = re.compile(r"Suite: sdsm's epcc")
_SEPARATOR = re.compile(r"-{56}")
_COMPUTING = re.compile(rf"Computing (\S.*?) time(?: using ({COUNT}) reps)?")
_COMPUTING_REFERENCE_2 = re.compile(rf"Computing (reference time(?: (?:red )?{COUNT})?)")
_REFERENCE_DELAYS = re.compile(rf"ref time delays = ({COUNT})")
_HEADER_AVERAGE = re.compile(r"Sample_size Average Min Max S\.D\. Outliers")
_HEADER_MEDIAN = re.compile(r"Sample_size Mean Median Min Max StdDev Outliers")
_ROW = re.compile(rf"({COUNT}) ((?:{_FIELD} ){{4,5}})({COUNT})")
_RESULT = re.compile(
    rf"(\S.*?) (mean time|median time|time|overhead|median_ovrhd) ?= ?({_FIELD}) (\S+)(?: \+/- ({_FIELD})(?: (\S+))?)?"
)
_REFERENCE_RESULT_2 = re.compile(rf"Reference_time(?:_(?:[0-9]+|red))? ?= ?({_FIELD}) (\S+) \+/- ({_FIELD})(?: (\S+))?")
#: Lines of a block.
_WITHIN = (_HEADER_AVERAGE, _HEADER_MEDIAN, _ROW, _RESULT, _REFERENCE_RESULT_2)
_COMMENT = re.compile(r"# ?([A-Za-z]+) ?[:=] ?(\S.*)")

_SETTINGS = [
    (name, unit, re.compile(pattern))
    for name, unit, pattern in (
        ("threads", "1", rf"({COUNT}) thread\(s\)"),
        ("outer repetitions", "1", rf"({COUNT}) outer repetitions"),
        ("test time", "us", rf"({NUMBER}) test time \(microseconds\)"),
        ("delay length", "1", rf"({COUNT}) delay length \(iterations\)"),
        ("delay time", "us", rf"({NUMBER}) delay time \(microseconds\)"),
        ("iterations per thread", "1", rf"({COUNT}) iterations per thread"),
        ("assumed clock", "MHz", rf"Assumed clock rate = ({NUMBER}) MHz"),
        ("delay length", "1", rf"Delay length = ({COUNT})"),
        ("delay time", "cycles", rf"Delay time = ({NUMBER}) cycles"),
    )
]


@dataclass
class Block:
    """One directive (or reference) of one run. Times in microseconds, as printed."""

    name: str  # as printed, runs of blanks made one
    line: int
    is_reference: bool
    repetitions: int | None
    row_line: int = 0
    samples: int = 0
    mean: float = 0.0
    median: float | None = None
    minimum: float = 0.0
    maximum: float = 0.0
    standard_deviation: float | None = None  # None for one sample, where there is none
    outliers: int = 0
    time_half_width: float | None = None
    overhead: float | None = None
    overhead_line: int = 0
    overhead_half_width: float | None = None
    median_overhead: float | None = None
    median_overhead_line: int = 0
    reference: Block | None = None  # what the overhead was taken against, if the run holds it
    occurrence: int = 1  # the suites run some directives twice under one name
    printed: dict[str, str] = field(default_factory=dict)  # numbers as printed, for what rounding may have done

    @property
    def directive(self) -> str:
        """The name without chunk or array size."""
        return self._split[0]

    @property
    def size(self) -> tuple[str, int] | None:
        """("chunk", 8) or ("array_size", 59049), or None."""
        return self._split[1]

    @property
    def _split(self) -> tuple[str, tuple[str, int] | None]:
        head, _, tail = self.name.rpartition(" ")
        if head and re.fullmatch(COUNT, tail):
            if CHUNKED.fullmatch(head):
                return head, ("chunk", int(tail))
            if head in ARRAYS:
                return head, ("array_size", int(tail))
        return self.name, None


@dataclass
class Run:
    """One run of one of the suite's programs: its banner's contents, and its blocks."""

    line: int
    version: str | None = None  # by the banner: version "2.0" names none, "3.0" is 3.1
    threads: int | None = None
    is_fortran: bool = False
    is_own: bool = False  # of this project's suite, not EPCC's
    settings: list[Setting] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    first_settings: dict[str, Key] = field(default_factory=dict)
    occurrences: Counter[str] = field(default_factory=Counter)  # of names of blocks

    def setting(self, name: str) -> Key | None:
        """Returns the value of the first setting of that name."""
        return self.first_settings.get(name)

    @property
    def program(self) -> str:
        """Returns the suite's program, by the directives that only that one has."""
        kinds = {block.size[0] for block in self.blocks if block.size}
        if "array_size" in kinds:
            return "arraybench"
        if "chunk" in kinds or any(CHUNKED.fullmatch(block.name) for block in self.blocks):
            return "schedbench"
        return "taskbench" if any("TASK" in block.name.split() for block in self.blocks) else "syncbench"

    @property
    def suite(self) -> str:
        """The suite's version as its authors call it."""
        if self.is_own:
            return f"{self.version} as sdsm's epcc has it"
        return {None: "of unknown version", "3.0": "3.1"}.get(self.version, self.version or "")


def recognises(source: Text) -> bool:
    own = (_BANNER, _BANNER_2, _HEADER_AVERAGE, _HEADER_MEDIAN, _COMPUTING)
    return not source.looks_like_json and any(one.fullmatch(line) for line in source.plain_lines for one in own)


def read(source: Text) -> Reading:
    """Reads the output. Raises ReadError at the first line that is not the format's, or contradicts another."""
    all_runs, all_warnings = runs_and_warnings(source)
    settings: list[Setting] = []
    measurements: list[Measurement] = []
    for number, run in enumerate(all_runs):
        settings += [Setting(s.name, s.value, s.unit, s.place, number) for s in run.settings]
        for block in run.blocks:
            measurements += _measurements(source.file, number, run, block)
    return Reading(source.file, NAME, tuple(measurements), tuple(settings), tuple(all_warnings))


def runs(source: Text) -> list[Run]:
    """Returns the runs in a file, in order. Raises ReadError."""
    return _Parser(source).parse()


def runs_and_warnings(source: Text) -> tuple[list[Run], list[str]]:
    """Returns runs() and warnings about how far they can be trusted. Raises ReadError."""
    parser = _Parser(source)
    all_runs = parser.parse()
    file = source.file
    found = []
    nameless = next((run for run in all_runs if run.threads is None), None)
    if nameless is not None:
        found.append(f"{file}:{nameless.line}: a run without banner. Its number of threads is not known")
    if any(run.version == "2.0" and not run.is_own for run in all_runs):
        found.append(untried(file, f"{NAME} 2.0"))
    if any(run.is_fortran for run in all_runs):
        found.append(untried(file, f"the Fortran suite of {NAME}"))
    return all_runs, found + parser.around.warnings("EPCC")


def _measurements(file: str, number: int, run: Run, block: Block) -> Iterator[Measurement]:
    keys: dict[str, Key] = {}
    if run.threads is not None:
        keys["threads"] = run.threads
    if block.size:
        keys[block.size[0]] = block.size[1]
    if block.repetitions is not None:
        keys["repetitions"] = block.repetitions
    if block.occurrence > 1:
        keys["occurrence"] = block.occurrence
    name = block.name if block.is_reference else block.directive
    deviation, half_width = block.standard_deviation, block.time_half_width
    spread = Spread(deviation, half_width, block.minimum, block.median, block.maximum, block.outliers)
    overhead, of_overhead = f"{name} overhead", Spread(half_width_95=block.overhead_half_width)
    for quantity, value, statistic, line, about in (
        (name if block.is_reference else f"{name} time", block.mean, "mean", block.row_line, spread),
        (overhead, block.overhead, "mean", block.overhead_line, of_overhead),
        (overhead, block.median_overhead, "median", block.median_overhead_line, Spread()),
    ):
        if value is not None:
            place = Place(file, line)
            yield Measurement(quantity, (value,), "us", statistic, place, block.samples, about, keys, number)


class _Parser:
    """Parses line by line; `self.step` is what the current block waits for: delays, header, row, results or nothing."""

    def __init__(self, source: Text) -> None:
        self.source = source
        self.around = Around(source)
        self.line = 0
        self.runs: list[Run] = []
        self.environment: dict[str, str] = {}
        self.in_banner = False
        self.step = "nothing"
        self.awaited: list[str] = []  # kinds of result lines still to come
        self.blank_before = False
        self.separator_line = 0  # of one that no block has followed yet
        self.block: Block | None = None
        self.reference: Block | None = None
        self.header_has_median = False

    def parse(self) -> list[Run]:
        for number, line in enumerate(self.source.plain_lines, start=1):
            self.line = number
            if not line:
                self.blank_before = True
                continue
            steps = {"row": self.row, "results": self.result, "header": self.header, "nothing": self.between_blocks}
            steps[self.step](line)
            self.blank_before = False
        self.end_block("the file ends")
        self.end_separator("the file ends")
        self.end_banner()
        if not self.runs:
            self.refuse("no line of EPCC's. Give the benchmark's whole output", 1)
        if not any(run.blocks for run in self.runs):
            self.refuse("no result (a banner and nothing after it). Was the benchmark stopped?")
        return self.runs

    def refuse(self, what: str, line: int | None = None) -> NoReturn:
        self.source.refuse(line or self.line, what)

    def damaged(self, what: str) -> NoReturn:
        self.source.damaged(self.line, what)

    def unexpected(self, line: str, expected: str) -> NoReturn:
        shown = line if len(line) <= 60 else line[:57] + "..."
        self.refuse(f"{shown!r} is not {expected}. Give the benchmark's output alone and whole")

    # Between the blocks

    def between_blocks(self, line: str) -> None:
        if match := _BANNER.fullmatch(line) or _BANNER_2.fullmatch(line):
            self.end_separator("another run begins")
            self.begin_run(match)
        elif match := _COMMENT.fullmatch(line):
            self.comment(match[1].lower(), match[2])
        elif _SEPARATOR.fullmatch(line):
            self.end_banner()
            self.end_separator("another follows")
            self.separator_line = self.line
        elif match := _COMPUTING_REFERENCE_2.fullmatch(line) or _COMPUTING.fullmatch(line):
            self.begin_block(match)
        elif match := _REFERENCE_DELAYS.fullmatch(line):
            self.delays(match)
        elif self.in_banner:
            self.banner_line(line)
        elif self.separator_line or any(one.fullmatch(line) for one in _WITHIN):
            self.unexpected(line, "a line of EPCC's between two results")
        else:
            self.around.add(self.line, bool(self.runs))

    def begin_run(self, match: re.Match[str]) -> None:
        self.end_banner()
        self.around.begin_table()
        run = Run(self.line, environment=dict(self.environment))
        if match.re is _BANNER_2:
            run.version = "2.0"
            run.threads = self.count(match[1], "threads")
            self.set(run, "threads", run.threads, "1")
            # A list-directed write pads the number; C's printf does not.
            run.is_fortran = "  " in self.source.lines[self.line - 1].strip()
        else:
            if match[1] not in ("3.0", "3.1", "4.0"):
                self.refuse(f"version {match[1]} is not one of 2.0, 3.0, 3.1, 4.0 (nothing is known of its format)")
            run.version = match[1]
            self.set(run, "version", match[1], "1")
        self.runs.append(run)
        self.reference = None
        self.in_banner = True

    def end_banner(self) -> None:
        if self.in_banner and self.runs[-1].threads is None:
            self.refuse("the banner does not say the number of threads. Give the benchmark's whole output")
        self.in_banner = False

    def banner_line(self, line: str) -> None:
        run = self.runs[-1]
        if run.version == "2.0" and not run.is_fortran and not run.is_own and _OWN_SUITE.fullmatch(line):
            run.is_own = True
            return
        for name, unit, pattern in _SETTINGS:
            if match := pattern.fullmatch(line):
                if run.setting(name) is not None:
                    self.damaged(f"{name} stands twice in one banner")
                whole = re.fullmatch(COUNT, match[1]) is not None and unit == "1"
                self.set(run, name, int(match[1]) if whole else float(match[1]), unit)
                if name == "threads":
                    run.threads = self.count(match[1], name)
                return
        self.unexpected(line, "a line of EPCC's banner")

    def set(self, run: Run, name: str, value: Key, unit: str) -> None:
        run.settings.append(Setting(name, value, unit, self.source.at(self.line), len(self.runs) - 1))
        run.first_settings.setdefault(name, value)

    def comment(self, name: str, text: str) -> None:
        if name not in ENVIRONMENT:
            self.refuse(f"'# {name}:' is not one of # {': # '.join(ENVIRONMENT)}:. Correct or take out the line")
        self.environment[name] = text

    def delays(self, match: re.Match[str]) -> None:
        if not self.runs:
            self.unexpected(match[0], "at its place, which is within a run")
        self.set(self.runs[-1], "reference delays", int(match[1]), "1")

    # Within a block

    def end_separator(self, why: str) -> None:
        if self.separator_line:
            self.refuse(f"{why} after a separator and no result. Was the benchmark stopped?", self.separator_line)

    def begin_block(self, match: re.Match[str]) -> None:
        self.end_banner()
        self.around.row()
        self.separator_line = 0
        if not self.runs:
            self.runs.append(Run(self.line, environment=dict(self.environment)))
        name = match[1]
        is_reference = name.startswith("reference time")
        has_repetitions = match.re is _COMPUTING and match[2] is not None
        repetitions = self.count(match[2], "repetitions") if has_repetitions else None
        run = self.runs[-1]
        self.block = Block(name, self.line, is_reference, repetitions)
        if self.block.size is not None:
            self.count(str(self.block.size[1]), self.block.size[0].replace("_", " "))
        run.occurrences[name] += 1
        self.block.occurrence = run.occurrences[name]
        run.blocks.append(self.block)
        self.step = "header"

    def header(self, line: str) -> None:
        if match := _REFERENCE_DELAYS.fullmatch(line):
            self.delays(match)
            return
        self.header_has_median = _HEADER_MEDIAN.fullmatch(line) is not None
        if not self.header_has_median and not _HEADER_AVERAGE.fullmatch(line):
            self.unexpected(line, f"the table header of {self.now().name}")
        version = self.runs[-1].version
        if version is not None and self.header_has_median != (version == "4.0"):
            self.damaged(f"the table is not that of version {version}, as which the run began")
        self.step = "row"

    def row(self, line: str) -> None:
        block = self.now()
        match = _ROW.fullmatch(line)
        fields = match[2].split() if match else []
        if match is None or len(fields) != 4 + self.header_has_median:
            self.unexpected(line, f"the row of numbers of {block.name}")
        names = ("mean", *["median"] * self.header_has_median, "minimum", "maximum", "sd")
        block.printed = dict(zip(names, fields, strict=True))
        block.row_line = self.line
        block.samples = self.count(match[1], "samples")
        block.outliers = int(match[3])
        for name in names[:-1]:
            setattr(block, name, self.number(block.printed[name]))
        block.standard_deviation = self.number_or_none(block.printed["sd"])
        self.check_row(block)
        if not block.is_reference:
            self.awaited = ["time", "overhead"] + ["median_ovrhd"] * self.header_has_median
        else:
            self.awaited = ["mean time", "median time"] if self.header_has_median else ["time"]
        self.step = "results"

    def check_row(self, block: Block) -> None:
        halves = {name: half_digit(text) for name, text in block.printed.items()}
        lowest, highest = block.minimum - 2 * halves["minimum"], block.maximum + 2 * halves["maximum"]
        for name, value in (("mean", block.mean), ("median", block.median)):
            if value is not None and not lowest <= value <= highest:
                self.damaged(f"the {name} {value} is outside minimum and maximum")
        outer = self.runs[-1].setting("outer repetitions")
        if outer is not None and outer != block.samples:
            self.damaged(f"{block.samples} samples, but the banner says {outer} outer repetitions")
        if block.outliers > block.samples:
            self.damaged(f"{block.outliers} outliers of {block.samples} samples")
        sd, n = block.standard_deviation, block.samples
        if sd is None:
            return
        # At most when half of the samples lie at either end.
        largest = (highest - lowest) / 2 * (n / (n - 1)) ** 0.5 if n > 1 else 0.0
        if not 0 <= sd <= largest * 1.01 + 2 * halves["sd"]:
            self.refuse(f"a standard deviation of {sd} cannot be within that minimum and maximum. Leave out the file")

    def result(self, line: str) -> None:
        block = self.now()
        kind, unit, value, half_width, second_unit = self.result_line(line, block)
        if unit != "microseconds" or second_unit not in (None, "microseconds"):
            other = unit if unit != "microseconds" else second_unit
            self.refuse(
                f"{other!r} where EPCC prints microseconds. Nothing is converted: correct or leave out the file"
            )
        if (half_width is None) != (kind in ("median time", "median_ovrhd")):
            self.unexpected(line, f"the {kind} line of {block.name}")
        del self.awaited[0]
        if kind in ("time", "mean time"):
            self.time(block, value, half_width or "")
        elif kind == "overhead":
            self.overhead(block, value, half_width or "")
        elif kind == "median time":
            self.must_agree("the median", value, block.median or 0.0, half_digit(block.printed["median"]))
            block.printed["median time"] = value
        else:
            self.median_overhead(block, value)
        if not self.awaited:
            if block.is_reference:
                self.reference = block
            self.block, self.step = None, "nothing"

    def result_line(self, line: str, block: Block) -> tuple[str, str, str, str | None, str | None]:
        """Returns kind, unit, value, half-width, unit of the half-width. The line is the one awaited, of this block."""
        if block.is_reference and (match := _REFERENCE_RESULT_2.fullmatch(line)):
            self.check_kind("time", line)
            return "time", match[2], match[1], match[3], match[4]
        match = _RESULT.fullmatch(line)
        if match is None:
            self.unexpected(line, f"the {self.awaited[0]} line of {block.name}")
        self.check_kind(match[2], line)
        name = match[1]
        # Version 2 leaves the size out of the result lines of array clauses.
        if name != block.name and not (name == block.directive and self.runs[-1].version in (None, "2.0")):
            self.damaged(f"a result of {name} in the block of {block.name} (line {block.line})")
        return match[2], match[4], match[3], match[5], match[6]

    def check_kind(self, kind: str, line: str) -> None:
        if kind != self.awaited[0]:
            self.unexpected(line, f"the {self.awaited[0]} line of {self.now().name}")

    def time(self, block: Block, value: str, half_width: str) -> None:
        self.must_agree("the time", value, block.mean, half_digit(block.printed["mean"]))
        block.printed["time"], block.printed["time half-width"] = value, half_width
        block.time_half_width = self.check_half_width(half_width, [block])

    def overhead(self, block: Block, value: str, half_width: str) -> None:
        if self.blank_before:
            self.runs[-1].is_fortran = True
        block.overhead, block.overhead_line = self.number(value), self.line
        block.printed["overhead"], block.printed["overhead half-width"] = value, half_width
        block.reference = self.reference
        if block.reference is None:
            block.overhead_half_width = self.number_or_none(half_width)
            return
        rounding = half_digit(block.printed["mean"]) + half_digit(block.reference.printed["mean"])
        self.must_agree("the overhead (time less reference)", value, block.mean - block.reference.mean, rounding)
        block.overhead_half_width = self.check_half_width(half_width, [block, block.reference])

    def median_overhead(self, block: Block, value: str) -> None:
        block.median_overhead, block.median_overhead_line = self.number(value), self.line
        block.printed["median overhead"] = value
        if self.reference is None or self.reference.median is None or block.median is None:
            return
        rounding = half_digit(block.printed["median"]) + half_digit(self.reference.printed["median"])
        self.must_agree("the median overhead", value, block.median - self.reference.median, rounding)

    def must_agree(self, what: str, printed: str, expected: float, rounding: float) -> None:
        value = self.number(printed)
        if not agree(value, expected, rounding + half_digit(printed)):
            self.damaged(f"{what} is {printed}, but {expected:.6f} by the lines before")

    def check_half_width(self, printed: str, blocks: list[Block]) -> float | None:
        """Returns the printed half-width, which must be 1.96 times the sum of the blocks' standard deviations."""
        value = self.number_or_none(printed)
        deviations = [block.standard_deviation for block in blocks]
        if value is None or None in deviations:
            if value is not None or None not in deviations:
                self.damaged(f"+/- {printed} contradicts the standard deviation")
            return value
        expected = HALF_WIDTH_SDS * sum(sd for sd in deviations if sd is not None)
        rounding = HALF_WIDTH_SDS * sum(half_digit(block.printed["sd"]) for block in blocks)
        if not agree(value, expected, rounding + half_digit(printed)):
            self.damaged(f"+/- {printed}, but 1.96 standard deviations are {expected:.6f}")
        return value

    def end_block(self, why: str) -> None:
        if self.block is not None:
            missing = {"header": "its table", "row": "its numbers"}.get(self.step) or f"its {self.awaited[0]} line"
            self.refuse(
                f"{why} before {self.block.name} (line {self.block.line}) has {missing}. Was the benchmark stopped?"
            )

    def now(self) -> Block:
        assert self.block is not None
        return self.block

    # Numbers

    def count(self, text: str, what: str) -> int:
        if int(text) < 1:
            self.damaged(f"{text} {what}, where 1 is the least")
        return int(text)

    def number(self, text: str) -> float:
        value = self.number_or_none(text, may_be_missing=False)
        assert value is not None
        return value

    def number_or_none(self, text: str, may_be_missing: bool = True) -> float | None:
        """Returns None for the nan that one sample has in place of a standard deviation."""
        if text.startswith("*"):
            self.refuse("Fortran prints stars where its field is too narrow: the value is lost. Leave out the file")
        if text.endswith("nan"):
            if not may_be_missing or self.now().samples > 1:
                self.refuse(f"{text} is no measured value. Leave out the file")
            return None
        return float(text)
