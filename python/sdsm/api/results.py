"""The functions' return types. Tables are data frames; times are in seconds, and their columns end in _s."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from sdsm.base import run_result
from sdsm.base.output_file import write_output
from sdsm.compare import comparison, table
from sdsm.explain import explanation, words
from sdsm.explain.memory import FIGURES
from sdsm.readers.text import Text


@dataclass(frozen=True)
class Trace:
    """A file of `sdsm trace`; it goes wherever its name would. info: the output of `sdsm trace info --json`."""

    path: Path
    info: Mapping[str, Any] = field(repr=False)

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__

    @property
    def threads(self) -> int:
        return int(self.info["header"]["threads"])

    @cached_property
    def regions(self) -> pd.DataFrame:
        """The memory that threads share: a row for each array, heap block and stack, and for the globals."""
        return _frame(self.info["regions"], "id")


@dataclass(frozen=True)
class Result:
    """A prediction of `sdsm simulate` or a measurement of `sdsm run`. name: of its file, or of the program; text: the JSON;
    printed: by the program; notes: the command's messages about it."""

    name: str
    text: str = field(repr=False)
    printed: str = field(default="", repr=False)
    notes: tuple[str, ...] = ()
    pages: pd.DataFrame | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.values  # noqa: B018  a text that is no result is refused at once

    @cached_property
    def values(self) -> run_result.Run:
        """The typed result, as the commands themselves read it: a Simulation or a Native."""
        found: run_result.Run = run_result.read(Text(self.name, self.text), run_result.Simulation, run_result.Native)
        return found

    @cached_property
    def document(self) -> dict[str, Any]:
        """The whole JSON document (docs/result-format.md)."""
        found: dict[str, Any] = Text(self.name, self.text).json
        return found

    @property
    def makespan_s(self) -> float:
        """Time of the measured region; the median of several runs."""
        return self.values.makespan_s

    @cached_property
    def threads(self) -> pd.DataFrame:
        """A row for each thread: node, terms of its time (which sum to the makespan of a prediction), faults, counts."""
        return _frame([_row(thread) for thread in self.values.threads], "thread")

    @property
    def account_s(self) -> pd.Series:
        """Where the time goes: mean over threads, by term."""
        own = pd.DataFrame([thread.account_s() for thread in self.values.threads])
        return own.fillna(0.0).mean().rename("account_s")

    @property
    def times_s(self) -> pd.Series:
        """The makespan of each run; a prediction has one."""
        values = self.values
        times = [one.makespan_s for one in values.runs] if isinstance(values, run_result.Native) else [values.makespan_s]
        return pd.Series(times, name="makespan_s")

    def save(self, path: str | Path) -> None:
        """Writes the JSON, as --json does. Raises OSError."""
        write_output(Path(path), self.text)


def _row(thread: run_result.Thread) -> dict[str, Any]:
    times = {f"{term.replace(' ', '_')}_s": value for term, value in thread.account_s().items()}
    faults = {f"faults_{kind}": count for kind, count in thread.faults.items()}
    return {"thread": thread.id, "node": thread.node} | times | faults | thread.counts()


@dataclass(frozen=True)
class Sweep:
    """points: a row for each, as in points.csv; answers: a sentence for each of the sweep's questions."""

    points: pd.DataFrame
    answers: tuple[str, ...]
    folder: Path


@dataclass(frozen=True)
class Explanation:
    """An explanation of a prediction, as by `sdsm explain`: its time by term, its causes, and what would help."""

    found: explanation.Explanation = field(repr=False)

    @property
    def verdict(self) -> str:
        return words.verdict(self.found)

    @property
    def findings(self) -> tuple[str, ...]:
        """Sentences, the costliest first."""
        return self.found.findings

    @property
    def account_s(self) -> pd.Series:
        """Where the time goes: mean over threads, in words, the longest first."""
        return pd.Series(dict(self.found.terms), name="account_s")

    @cached_property
    def causes(self) -> pd.DataFrame:
        """Constructs and arrays in the order in which to look at them; gain is missing where none was simulated."""
        columns = ["what", "place", "cost_s", "gain", "advice"]
        return pd.DataFrame([[getattr(one, name) for name in columns] for one in self.found.causes], columns=columns)

    @cached_property
    def constructs(self) -> pd.DataFrame:
        """A row for each construct and thread: seconds by term of the account, which sum to the thread's."""
        rows = [
            {"construct": one.title, "line": one.place, "times": one.times, "thread": thread} | {f"{term}_s": seconds for term, seconds in terms.items()}
            for one in self.found.constructs
            for thread, terms in one.by_thread.items()
        ]
        return pd.DataFrame(rows).fillna(0.0)

    @cached_property
    def memory(self) -> pd.DataFrame:
        """A row for each array, the costliest first; `line` is where it was allocated."""
        rows = [
            (one.title, str(one.line or ""), *(getattr(one, name) for name in FIGURES)) for one in self.found.arrays
        ]
        return pd.DataFrame(rows, columns=["array", "line", *FIGURES])

    @cached_property
    def alternatives(self) -> pd.DataFrame:
        """The other points that were simulated; time_s is missing where that failed."""
        columns = ["what", "is_choice", "time_s", "gain", "extrapolated", "why_not"]
        ways = ((one.alternative, one) for one in self.found.outcomes)
        rows = [(way.what, way.is_choice, one.time_s, one.gain, one.is_doubtful, one.why) for way, one in ways]
        return pd.DataFrame(rows, columns=columns)

    def __str__(self) -> str:
        return words.text(self.found)


@dataclass(frozen=True)
class Comparison:
    """Results beside each other, the first as the reference, as by `sdsm compare`."""

    found: comparison.Comparison = field(repr=False)

    @property
    def verdict(self) -> str:
        return table.verdict(self.found)

    @cached_property
    def times(self) -> pd.DataFrame:
        """A row for each result: time_s, its range, difference to the first (0.05 is 5 % longer)."""
        rows = [
            {"file": one.result.file, "what": one.result.kind, "nodes": one.time.nodes, "threads_per_node": one.time.threads_per_node}
            | {"time_s": one.time.time_s, "low_s": one.time.low_s, "high_s": one.time.high_s}
            | {"difference": one.difference, "is_beyond": one.is_beyond}
            for one in self.found.results
        ]
        return pd.DataFrame(rows)

    @cached_property
    def account_s(self) -> pd.DataFrame:
        """Where the time goes: a row for each term, a column for each result, from 0."""
        return _columns(self.found.accounts)

    @cached_property
    def counts(self) -> pd.DataFrame:
        """Counts over all threads: a row for each count, a column for each result, from 0."""
        return _columns(self.found.counts)

    def __str__(self) -> str:
        return table.text(self.found)


def _columns(rows: Sequence[comparison.Row]) -> pd.DataFrame:
    return pd.DataFrame({row.name: row.values for row in rows}).T


def _frame(rows: Sequence[Mapping[str, Any]], index: str) -> pd.DataFrame:
    return pd.DataFrame(list(rows)).set_index(index) if rows else pd.DataFrame()
