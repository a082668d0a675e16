"""What the structures of results (result_types.py) are made of, beyond their fields: types of numbers, and methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

import msgspec

if TYPE_CHECKING:
    from sdsm.base.result_types import Simulation, Thread

# Each is a definition of docs/result.schema.json. The upper limits keep a damaged file from overflowing sums.
Seconds = Annotated[float, msgspec.Meta(ge=0, lt=1e9)]
Change = Annotated[float, msgspec.Meta(gt=-1e9, lt=1e9)]
Count = Annotated[int, msgspec.Meta(ge=0, lt=10**18)]
Bytes = Annotated[int, msgspec.Meta(ge=0, lt=10**18)]
Index = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1, lt=1 << 32)]


def by_term(times: Mapping[str, Any]) -> dict[str, float]:
    """ "compute", "fault WROH", ..., "idle"."""
    terms: dict[str, float] = {}
    for term, value in times.items():
        terms |= {f"{term} {kind}": time for kind, time in value.items()} if isinstance(value, Mapping) else {term: value}
    return terms


class OfThread:
    __slots__ = ()

    def account_s(self) -> dict[str, float]:
        """Terms that sum to the makespan: "compute", "fault WROH", ..., "idle"."""
        return by_term(msgspec.structs.asdict(cast("Thread", self).time_s))

    def account_as_of_a_run_s(self) -> dict[str, float]:
        """The same with stolen time where a run has it: in the term that it interrupted."""
        terms = self.account_s()
        stolen_s = terms.pop("stolen")
        for term, seconds in by_term(cast("Thread", self).stolen_from_s).items():
            terms[term] = terms.get(term, 0.0) + seconds
            stolen_s -= seconds
        terms["compute"] += max(stolen_s, 0.0)  # results of older versions do not say
        return terms

    def counts(self) -> dict[str, int]:
        """All but faults; messages by kind as "messages_diff" and so on."""
        names = ("barriers", "locks", "messages", "bytes", "diffs", "diff_bytes", "served", "served_bytes")
        counts = {name: getattr(self, name) for name in names}
        return counts | {f"messages_{kind}": count for kind, count in cast("Thread", self).messages_by_kind.items()}


class OfSimulation:
    __slots__ = ()

    @property
    def band_s(self) -> tuple[float, float] | None:
        """Ends of the middle 90 %: with --uncertainty, else of runs that differ by noise and jitter; None if there are neither."""
        result = cast("Simulation", self)
        band = result.uncertainty or result.spread
        return (band.low_5_percent_s, band.high_95_percent_s) if band else None

    @property
    def assumed_costs(self) -> tuple[str, ...]:
        """Properties of the platform that nobody measured, if a tenth of the time or more rests on them; the largest first."""
        return tuple(dict.fromkeys(cost for one in cast("Simulation", self).assumed for cost in one.costs))

    @property
    def doubts(self) -> tuple[str, ...]:
        """Costs that the platform lacks, by kind ("barrier"), and those that it assumes, by property ("fault.RUMR")."""
        return (*cast("Simulation", self).extrapolated, *self.assumed_costs)

    @property
    def computing_s(self) -> float:
        """Time that one processor with memory of its own would need for the computing of all threads.

        Costs and noise of the platform are left out. Where a trace of one thread replaces the computing, it is that thread's
        time, because several threads may compute more than one.
        """
        result = cast("Simulation", self)
        alone_s = result.options.get("sequential_time_s")
        if result.options.get("compute_from") == "sequential-trace" and isinstance(alone_s, int | float):
            return alone_s
        return sum(max(thread.time_s.compute - thread.added_computing_s, 0.0) for thread in result.threads)
