"""Reads a sweep's file: TOML, a value or a list of values for each option of `sdsm simulate`."""

from __future__ import annotations

import argparse
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from sdsm.base import places
from sdsm.base.children import CommandRunner
from sdsm.base.command_line import BadInput, nearest, platform_name
from sdsm.readers.text import load, unreadable

TIME_LIMIT_S = 24 * 3600.0
OTHERS = ("traces", "program", "find", "x", "panels", "set")
_OPTION = re.compile(r"\s+(?:-\w,?\s*)?--([a-z][a-z-]*)(?: (\S+))?(?=\s|$)")
#: Options that are no axes, beside those that name a file to write.
_NO_AXES = ("help", "version", "set", "quiet")
_FILES = ("PLATFORM", "TRACE", "FILE")
_FIND = re.compile(r"(\S+) at which (time|speedup) is (least|greatest)")


@cache
def options() -> dict[str, str]:
    """Returns axes: options of `sdsm simulate` under their own names, with _ for -, and their value's name in --help; empty
    for those without one. Raises CommandFailed."""
    help_text = CommandRunner().run([str(places.PROGRAMS / "sdsm"), "simulate", "--help"], TIME_LIMIT_S)
    found = [match for line in help_text.splitlines() if (match := _OPTION.match(line))]
    return {
        match[1].replace("-", "_"): match[2] or ""
        for match in found
        if match[1] not in _NO_AXES and not match[1].startswith("timeline") and not (match[2] or "").endswith("|-")
    }


def is_file(axis: str) -> bool:
    """Whether its values name files, relative to the sweep's own."""
    return options().get(axis) in _FILES


@dataclass(frozen=True)
class Question:
    """Asks for the value of `axis` with the least or greatest time or speedup."""

    axis: str
    what: str
    end: str


@dataclass(frozen=True)
class Spec:
    """file:    where it is from.
    axes:    values by axis, in the file's order; a property of the platform as "set NAME".
    traces:  files; program: command line of which traces are made. One of both is empty.
    x:       axis to draw over; None: the first that has several numbers.
    panels:  axis of which each value gets a panel; None: one panel for all, or if there are many lines the first that varies.
    """

    file: Path
    axes: dict[str, tuple[str, ...]]
    traces: tuple[Path, ...]
    program: tuple[str, ...]
    questions: tuple[Question, ...]
    x: str | None
    panels: str | None = None

    def varied(self) -> list[str]:
        return [axis for axis, values in self.axes.items() if len(values) > 1]


NAME_A_SPEC = "Name a file that says what to sweep over"


def read_spec(path: Path) -> Spec:
    """Raises BadInput, which names the file and what is wrong in it."""
    try:
        document = tomllib.loads(load(path, NAME_A_SPEC).text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {unreadable(error, NAME_A_SPEC)}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: is not TOML: {error}. `sdsm sweep --help` shows one") from None
    return spec_of(path, document)


def spec_of(path: Path, document: dict[str, Any]) -> Spec:
    """path: names of files are relative to its folder, and errors name it. Raises BadInput."""
    return _Reader(path).spec(document)


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path

    def spec(self, document: dict[str, Any]) -> Spec:
        for name in document:
            if name not in options() and name not in OTHERS:
                near = nearest(name, [*options(), *OTHERS])
                meant = f"Did you mean {near[0]}?" if near else f"There are {', '.join((*options(), *OTHERS))}"
                self._refuse(name, f"is nothing to sweep over. {meant}")
        axes = {name: self._values(name, value) for name, value in document.items() if name in options()}
        changes = document.get("set", {})
        if not isinstance(changes, dict):
            self._refuse("set", "is a table: [set], then lines such as \"network.bandwidth\" = ['100Mbps', '1Gbps']")
        axes |= {f"set {name}": self._values(f"set {name}", value) for name, value in changes.items()}
        for needed in ("platform", "nodes"):
            if needed not in axes:
                self._refuse(needed, "is missing. Give a value, or a list of them")
        traces = tuple(self._file(name) for name in self._texts("traces", document.get("traces", [])))
        program = self._texts("program", document.get("program", []))
        if bool(traces) == bool(program):
            self._refuse("traces", "or program: give one of both, files or a command line to trace")
        if program:
            program = (str(self._file(program[0]).absolute()), *program[1:])
        questions = self._questions(document.get("find", []), axes)
        found = Spec(self._path, axes, traces, program, questions, document.get("x"), document.get("panels"))
        for name, axis in (("x", found.x), ("panels", found.panels)):
            if axis is not None and axis not in found.varied():
                self._refuse(name, f"{axis!r} does not vary. What does: {', '.join(found.varied()) or 'nothing'}")
        if found.x is not None and found.x == found.panels:
            self._refuse("panels", f"{found.x!r} is x already. Name another axis")
        return found

    def _values(self, name: str, value: Any) -> tuple[str, ...]:
        values = value if isinstance(value, list) else [value]
        if options().get(name) == "":
            if not values or any(not isinstance(one, bool) for one in values):
                self._refuse(name, "is true, false or a list of both")
        elif not values or any(isinstance(one, bool) or not isinstance(one, str | int | float) for one in values):
            self._refuse(name, "is a value or a list of values: texts or numbers")
        texts = tuple(str(one).lower() if isinstance(one, bool) else str(one) for one in values)
        if is_file(name):
            texts = tuple(str(self._platform(text) if name == "platform" else self._file(text)) for text in texts)
        if "" in texts:
            self._refuse(name, "has an empty value")
        if len(set(texts)) < len(texts):
            self._refuse(name, "has a value twice")
        return texts

    def _texts(self, name: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            self._refuse(name, "is a list of texts")
        return tuple(value)

    def _file(self, name: str) -> Path:
        """Returns a file relative to the sweep's file."""
        beside = self._path.parent / name
        return beside if beside.exists() else Path(name)

    def _platform(self, name: str) -> Path:
        """Returns such a file, or one of sdsm's own platforms by its name."""
        file = self._file(name)
        try:
            return file if file.exists() else platform_name(name)
        except argparse.ArgumentTypeError as error:
            raise BadInput(f"{self._path}: {error}. A file's name is relative to {self._path.name}'s folder") from None

    def _questions(self, value: Any, axes: dict[str, tuple[str, ...]]) -> tuple[Question, ...]:
        if not isinstance(value, str | list):
            self._refuse("find", "is a text or a list of texts, such as 'nodes at which time is least'")
        questions = []
        for text in self._texts("find", [value] if isinstance(value, str) else value):
            match = _FIND.fullmatch(text)
            if match is None:
                self._refuse("find", f"{text!r}: write it as 'nodes at which time is least' (time or speedup, least or greatest)")
            question = Question(match[1] if match[1] in axes else f"set {match[1]}", match[2], match[3])
            if len(axes.get(question.axis, ())) < 2:
                self._refuse("find", f"{match[1]!r} does not vary. Give it several values")
            questions.append(question)
        return tuple(questions)

    def _refuse(self, name: str, what: str) -> NoReturn:
        raise BadInput(f"{self._path}: {name} {what}")
