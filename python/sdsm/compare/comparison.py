"""Compares results with one of them: in time, by term of the account, and in counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sdsm.base.accounts import Term
from sdsm.base.run_result import apart
from sdsm.plot.results import Result
from sdsm.plot.series import Point, point

FORMAT = 1
#: Terms of the account below this part of the longest time are not printed: files hold all of them.
SHOWN = 0.01


@dataclass(frozen=True)
class Compared:
    """One result beside the reference. Seconds.

    time:       median, least and greatest of its runs, or a prediction and the ends of its band.
    difference: of the times, in parts of the reference's: 0.05 is 5 % longer.
    is_beyond:  whether their ranges, from least to greatest, have no time in common: more than what scatters.
    """

    result: Result
    time: Point
    difference: float
    is_beyond: bool


@dataclass(frozen=True)
class Row:
    """A term of the account (mean over threads, s) or a count (over all threads), for each result in turn."""

    name: str
    values: tuple[float, ...]

    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class Comparison:
    """results: the reference first. accounts, counts: in the order of a result's own."""

    results: tuple[Compared, ...]
    accounts: tuple[Row, ...]
    counts: tuple[Row, ...]

    @property
    def is_of_runs_and_simulations(self) -> bool:
        return len({one.result.kind for one in self.results}) > 1

    def common_terms(self) -> tuple[Row, ...]:
        """Terms that all results have: where runs stand beside simulations, stolen time is where runs have it."""
        if self.is_of_runs_and_simulations:
            return _rows([one.result.run_account_s for one in self.results])
        return self.accounts

    def largest_terms(self) -> list[Row]:
        longest_s = max(one.time.time_s for one in self.results)
        return [row for row in self.common_terms() if max(row.values) >= SHOWN * longest_s]

    def is_off(self, row: Row, number: int) -> bool:
        """Whether a term is at least a tenth of the reference's time, and differs from the reference's by more than a quarter."""
        return Term(row.name, row.values[0], row.values[number], self.results[0].time.time_s).is_off

    def worst(self) -> float:
        """The largest difference of a time, whatever its sign."""
        return max(abs(one.difference) for one in self.results)


def compare(results: Sequence[Result]) -> Comparison:
    """Compares results with the first."""
    times = [point([result]) for result in results]
    first = times[0]
    compared = tuple(
        Compared(result, time, time.time_s / first.time_s - 1, time.low_s > first.high_s or time.high_s < first.low_s)
        for result, time in zip(results, times, strict=True)
    )
    return Comparison(compared, _rows([one.account_s for one in results]), _rows([one.counts for one in results]))


def _rows(of_results: Sequence[tuple[tuple[str, float], ...]]) -> tuple[Row, ...]:
    """Returns rows with 0 for what a result lacks: a kind of fault that its protocol does not have."""
    tables = [dict(values) for values in of_results]
    names = dict.fromkeys(name for table in tables for name in table)
    return tuple(Row(name, tuple(table.get(name, 0) for table in tables)) for name in names)


def document(comparison: Comparison) -> dict[str, object]:
    """Returns the document of `sdsm compare --json`."""
    results = []
    for number, one in enumerate(comparison.results):
        found: dict[str, object] = {"file": one.result.file, "what": one.result.kind}
        found |= {name: getattr(one.result, name) for name in ("program", "nodes", "threads_per_node")}
        found["settings"] = dict(one.result.settings)
        found |= {name: getattr(one.time, name) for name in ("samples", "time_s", "low_s", "high_s")}
        found |= {"difference": one.difference, "is_beyond": one.is_beyond}
        found |= apart(one.result.doubts)
        found["account_s"] = {row.name: row.values[number] for row in comparison.accounts}
        found["counts"] = {row.name: row.values[number] for row in comparison.counts}
        results.append(found)
    head = {"format": FORMAT, "kind": "comparison", "reference": comparison.results[0].result.file}
    return head | {"results": results}
