"""Names on a page: the real ones, or numbers with --anonymous."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sdsm.base.output_file import utf8
from sdsm.explain.causes import Cause
from sdsm.explain.constructs import Construct
from sdsm.explain.memory import Array
from sdsm.plot.results import Result, printable


class Naming:
    """Gives the same name the same number everywhere."""

    def __init__(self, is_anonymous: bool) -> None:
        self.is_anonymous = is_anonymous
        self._given: dict[str, list[str]] = {}

    def name(self, kind: str, name: str) -> str:
        """kind: "trace", "array", ..., the word before the number."""
        if not self.is_anonymous:
            return printable(utf8(name))
        known = self._given.setdefault(kind, [])
        if name not in known:
            known.append(name)
        return f"{kind} {known.index(name) + 1}"

    def command(self, words: Sequence[str]) -> str:
        """Returns a program's command line without its folder."""
        return self.name("program", " ".join([Path(words[0]).name, *words[1:]]))

    def array(self, one: Array) -> Array:
        if not self.is_anonymous:
            return replace(one, name=self.name("array", one.name))
        return replace(one, name=self.name("array", one.name), line=None, touches=(), variables={})

    def construct(self, one: Construct) -> Construct:
        if not self.is_anonymous:
            return one
        return replace(one, title=self.name(one.title.partition(" at ")[0], one.title), place="", line=None, callers=())

    def cause(self, one: Cause, titles: Mapping[str, str]) -> Cause:
        """titles: new ones of constructs and arrays, by the old."""
        return replace(one, what=titles.get(one.what, "array"), place="") if self.is_anonymous else one

    def result(self, one: Result) -> Result:
        """Returns the result with numbers for names of files, programs and machines."""
        if not self.is_anonymous:
            return one
        kinds = {"platform": "platform", "hash": "platform", "trace": "trace"}
        kinds |= {name: "input" for name, _ in one.variant if name.startswith("input ")}

        def called(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
            return tuple((name, self.name(kinds[name], value) if name in kinds else value) for name, value in pairs)

        settings = tuple(pair for pair in one.settings if pair[0] != "hash")
        return replace(
            one, file=self.name("result", one.file), program=self.name("program", one.program),
            settings=called(settings), variant=called(one.variant),
        )  # fmt: skip
