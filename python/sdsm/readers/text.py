"""A file for its readers: text within bounds, lines, numbers and JSON with the line of each value."""

from __future__ import annotations

import codecs
import errno
import json
import math
import os
import re
import stat
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeVar

import msgspec

from sdsm.base.command_line import BadInput
from sdsm.readers.measurement import Place, ReadError

#: No benchmark prints more, and a wrong file (a disk image, a log without line ends) is refused at once.
LIMIT_BYTES = 64 << 20
#: How files that are no text begin.
PACKED = {b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
#: The beginning of a trace of sdsm's.
TRACE_BEGINS = b"\x89SDSM\r\n\x1a"
NAME_AN_OUTPUT = "Name a benchmark's output"
LIMIT_LINE = 2_000
LIMIT_VALUES = 2_000_000  # of a JSON document
LIMIT_NESTED = 64  # objects and lists around one of its values; what reads them calls itself

#: A decimal number as C's %f and Fortran's F print it, short enough to be finite. ASCII digits only: \d would take
#: those of any script.
NUMBER = r"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})"
COUNT = r"[0-9]{1,15}"

#: iperf3 before 3.14 prints these once for each stream, in one object. No reader uses them.
REPEATED = frozenset({"sock_bufsize", "sndbuf_actual", "rcvbuf_actual"})

#: Colours, and the names of processes before each line (mpirun --tag-output).
_DECORATION = re.compile(r"\x1b\[[0-9;]*m|^\[[^]\n]{1,99},[0-9]{1,9}\]<std(?:out|err)>: ?", re.MULTILINE)
#: The number of the process that srun -l puts before each line.
_RANK = re.compile(r" *([0-9]{1,9}):(?: |$)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+|\n')

Path_in_document = tuple[str | int, ...]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Text:
    """The text of a file and the name that errors give it."""

    file: str
    text: str
    warnings: tuple[str, ...] = ()  # what was left out, for people

    @cached_property
    def lines(self) -> list[str]:
        """Lines without their ends. Raises ReadError at one that is longer than any benchmark prints."""
        lines = self.text.split("\n")
        for number, line in enumerate(lines, start=1):
            if len(line) > LIMIT_LINE:
                most = f"a line of {len(line)} characters (no benchmark prints more than {LIMIT_LINE})"
                self.refuse(number, f"{most}. Give the benchmark's own output")
        return lines

    @cached_property
    def plain_lines(self) -> list[str]:
        """Returns lines with single blanks between words and none around them, for quick matching."""
        return [" ".join(line.split()) for line in self.lines]

    def at(self, line: int) -> Place:
        return Place(self.file, line)

    def refuse(self, line: int, what: str) -> NoReturn:
        raise ReadError(self.file, line, what)

    def refuse_at(self, what: str, *path: str | int) -> NoReturn:
        """Refuses a value of the JSON document, by its path of member names and positions."""
        self.refuse(self.json_line(*path), what)

    def typed(self, kind: type[Value]) -> Value:
        """Returns the JSON document as a structure. Raises ReadError at what does not fit."""
        try:
            return msgspec.convert(self.json, kind)
        except msgspec.ValidationError as error:
            # Such as "Expected `int`, got `str` - at `$.threads[1].barriers`".
            what, _, where = str(error).partition(" - at `$")
            path = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", where)]
            name = ".".join(map(str, path))
            self.refuse_at(f"{name}{': ' if name else ''}{what}. Give the file as it was written", *path)

    def damaged(self, line: int, what: str) -> NoReturn:
        """Refuses values that no benchmark prints, or that contradict each other."""
        self.refuse(line, f"{what}. Correct or leave out the file")

    def damaged_at(self, what: str, *path: str | int) -> NoReturn:
        """damaged() for a value of the JSON document."""
        self.damaged(self.json_line(*path), what)

    @cached_property
    def looks_like_json(self) -> bool:
        """No benchmark writes a list, and lines of Open MPI and LMbench begin with a bracket."""
        return self.text.lstrip()[:1] == "{"

    @cached_property
    def json(self) -> Any:
        """Returns the document. Raises ReadError if it is no JSON, names a member twice, or holds a number out of range."""

        def unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
            document = dict(members)
            if len(document) != len(members):
                names = [name for name, _ in members]
                twice = next((name for name in names if names.count(name) > 1 and name not in REPEATED), None)
                if twice is not None:
                    raise _Refused(f"{twice!r} is there twice in one object (which of them holds?)", twice)
            return document

        def refused_constant(name: str) -> NoReturn:
            raise _Refused(f"{name} is no JSON number (and no measured value)", name)

        too_deep = "nested too deeply"
        if self.text.count(",") > LIMIT_VALUES:
            self.refuse(1, f"more than {LIMIT_VALUES} values, which no benchmark writes. Name its output")
        try:
            document = json.loads(self.text, object_pairs_hook=unique, parse_constant=refused_constant, parse_float=_finite)
            if "\\u" in self.text:
                json.dumps(document, ensure_ascii=False).encode()
        except json.JSONDecodeError as error:
            found = "another text after the document" if error.msg == "Extra data" else error.msg
            self.refuse(error.lineno, f"not JSON ({found}, column {error.colno}). Give the file as it was written")
        except _Refused as error:
            self.damaged(self._line_of(error.needle), str(error))
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x}"
            line = self.text.count("\n", 0, max(self.text.lower().rfind(half), 0)) + 1
            self.refuse(line, f"{half} is half of a character. Give the file as it was written")
        except (RecursionError, ValueError):
            self.refuse(1, f"{too_deep}, or a number too long for any benchmark. Give the file as it was written")
        level = [document]
        for _ in range(LIMIT_NESTED):
            around = (value for value in level if isinstance(value, (dict, list)))
            level = [below for one in around for below in (one.values() if isinstance(one, dict) else one)]
            if not level:
                return document
        self.refuse(1, f"{too_deep}. Give the file as it was written")

    def _line_of(self, needle: str) -> int:
        position = self.text.rfind(needle)
        return self.text.count("\n", 0, max(position, 0)) + 1

    @cached_property
    def json_lines(self) -> dict[Path_in_document, int]:
        """Line of each value of the JSON document, by its path of member names and positions."""
        assert self.json is not None
        lines: dict[Path_in_document, int] = {}
        path: list[str | int] = []
        line = 1
        expects_name = [False]  # one entry per open bracket, the document itself first
        for match in _TOKEN.finditer(self.text):
            token = match[0]
            if token == "\n":
                line += 1
            elif token in "}]":
                expects_name.pop()
                path.pop()
            elif token == ",":
                if isinstance(path[-1], int):
                    path[-1] += 1
                else:
                    expects_name[-1] = True
            elif token == ":":
                continue
            elif expects_name[-1]:
                path[-1] = json.loads(token)
                expects_name[-1] = False
            else:
                lines[tuple(path)] = line
                if token == "{":
                    expects_name.append(True)
                    path.append("")
                elif token == "[":
                    expects_name.append(False)
                    path.append(0)
        return lines

    def json_line(self, *path: str | int) -> int:
        """Returns the line of the value at `path`, or of the nearest enclosing value."""
        while path and path not in self.json_lines:
            path = path[:-1]
        return self.json_lines.get(path, 1)


class _Refused(ValueError):
    def __init__(self, what: str, needle: str) -> None:
        super().__init__(what)
        self.needle = needle


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Refused(f"{text} is beyond what a number can hold", text)
    return value


class Around:
    """Lines of launchers, schedulers and shells around a benchmark's tables. They are left out; within a table none may be."""

    def __init__(self, source: Text) -> None:
        self._source = source
        self._lines: list[int] = []
        self._after_row = 0  # first line since the last row of the table
        self._is_like_row = False  # that line

    def add(self, line: int, is_after_row: bool, may_be_row: bool = True) -> None:
        self._lines.append(line)
        if is_after_row and not self._after_row:
            self._after_row = line
            self._is_like_row = may_be_row and all(re.match(r"[-+.]?[0-9]|[-+]?(?:nan|inf)", word, re.IGNORECASE) for word in self._source.plain_lines[line - 1].split())

    def begin_table(self) -> None:
        self._after_row = 0

    def row(self) -> None:
        """A row of the table. Raises ReadError if other lines stand between it and the row before."""
        self._refuse_damaged_row()
        if self._after_row:
            shown = self._source.plain_lines[self._after_row - 1][:60]
            self._source.refuse(self._after_row, f"{shown!r} stands within a table of the benchmark's. Take out the line")

    def _refuse_damaged_row(self) -> None:
        if self._after_row and self._is_like_row:
            shown = self._source.plain_lines[self._after_row - 1][:60]
            self._source.refuse(self._after_row, f"{shown!r} looks like a damaged row of the table. Correct it, or take it out")

    def warnings(self, name: str) -> list[str]:
        if not self._lines:
            return []
        self._refuse_damaged_row()
        first, count = self._lines[0], len(self._lines)
        many = f"{count} lines around the tables are not {name}'s. They are left out; the first:"
        one = f"a line around the tables is not {name}'s. It is left out:"
        return [f"{self._source.file}:{first}: {many if count > 1 else one} {self._source.plain_lines[first - 1][:60]!r}"]


def decimal_commas(source: Text) -> int:
    """Returns the first line of at least two that hold nothing but numbers, some with decimal commas; 0 if there are none."""
    number = re.compile(r"(?=.*,)(?:[0-9]+(?:,[0-9]+)? )*[0-9]+(?:,[0-9]+)?")
    found = [i for i, line in enumerate(source.text.split("\n"), start=1) if number.fullmatch(" ".join(line[:LIMIT_LINE].split()))]
    return found[0] if len(found) > 1 else 0


def half_digit(number: str) -> float:
    """Returns half of the last digit of a number printed without exponent: its rounding error."""
    _, dot, decimals = number.partition(".")
    return 0.5 * 10.0 ** -len(decimals) if dot else 0.5


def agree(first: float, second: float, tolerance: float) -> bool:
    """Whether two printed values can be the same but for rounding; a hair is left for binary arithmetic."""
    return abs(first - second) <= 1.01 * tolerance + 1e-9 * max(abs(first), abs(second))


class NoInput(OSError):
    """Neither a file nor a pipe. Its strerror says what to name instead."""


def unreadable(error: OSError, advice: str) -> str:
    """Describes why load() failed, and what to do: `advice`, unless the error itself says."""
    reason = error.strerror or str(error)
    return reason if isinstance(error, NoInput) else f"{reason}. {advice}"


def open_input(path: Path | str, advice: str) -> BinaryIO:
    """advice: what to do if this is neither a file nor a pipe, which raises NoInput. Raises OSError."""
    # O_NONBLOCK: opening a pipe without a writer must not wait for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        os.close(descriptor)
        what = "a folder. Name the files in it" if stat.S_ISDIR(mode) else f"neither a file nor a pipe. {advice}"
        raise NoInput(errno.EINVAL, what, str(path))
    os.set_blocking(descriptor, True)
    return open(descriptor, "rb")


def load_input(path: Path | str, advice: str = NAME_AN_OUTPUT) -> Text:
    """load() of a file that a user named. Raises BadInput."""
    try:
        return load(path, advice)
    except OSError as error:
        raise BadInput(f"{path}: {unreadable(error, advice)}") from None


def load(path: Path | str, advice: str = NAME_AN_OUTPUT) -> Text:
    """Returns the text of a file, or of standard input for "-". advice: what to do about another kind of file.

    Raises ReadError if it is empty, larger than LIMIT_BYTES or no UTF-8 text, OSError if it cannot be opened, and NoInput if
    it is neither a file nor a pipe (a device might never end).
    """
    name = str(path)
    if name == "-":
        name = "standard input"
        content = sys.stdin.buffer.read(LIMIT_BYTES + 1)
    else:
        with open_input(path, advice) as file:
            content = file.read(LIMIT_BYTES + 1)
    if len(content) > LIMIT_BYTES:
        raise ReadError(name, 1, f"more than {LIMIT_BYTES >> 20} MiB, which is the most that is read. {advice}")
    if content.startswith(TRACE_BEGINS):
        raise ReadError(name, 1, f"a trace. {advice}")
    for begin, by in PACKED.items():
        if content.startswith(begin):
            raise ReadError(name, 1, f"compressed by {by}. Unpack it, and give what is in it")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ReadError(name, 1, "text of UTF-16, as some shells and editors write. Convert it: iconv -f UTF-16 -t UTF-8")
    text = _decoded(content, name, advice)
    text = _DECORATION.sub("", text.removeprefix("\ufeff").replace("\r\n", "\n"))
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        raise ReadError(name, line, f"not text (character 0x{ord(control[0]):02x}). {advice}")
    if not text.strip():
        raise ReadError(name, 1, f"empty, as if what writes it had been stopped. {advice}")
    return without_ranks(Text(name, text))


def _decoded(content: bytes, name: str, advice: str) -> str:
    """Raises ReadError for a line that is no UTF-8; but a comment may hold names of Latin-1."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        lines = content.split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            if not line.startswith(b"#"):
                what = f"not text (byte 0x{line[error.start]:02x}), unless of Latin-1: then convert it (iconv -f LATIN1 -t UTF-8)"
                raise ReadError(name, number, f"{what}. {advice}") from None
            lines[number - 1] = line.decode("latin-1").encode("utf-8")
    return b"\n".join(lines).decode("utf-8")


def without_ranks(source: Text) -> Text:
    """Returns the text without the number that srun -l puts before each line, if that is one and the same in all."""
    lines = [line for line in source.text.split("\n") if line.strip()]
    ranks = {match[1] if (match := _RANK.match(line)) else "" for line in lines}
    if len(lines) < 2 or len(ranks) != 1 or "" in ranks:
        return source
    text = re.sub(f"^{_RANK.pattern}", "", source.text, flags=re.MULTILINE)
    return Text(source.file, text, (f"{source.file}:1: each line begins with a process's number ({ranks.pop()}:, as of srun -l), which is left out",))
