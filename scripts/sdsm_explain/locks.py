"""Which locks a trace takes most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]


class LockUse(msgspec.Struct, frozen=True):
    """Of `locks` of `sdsm trace info --json`."""

    kind: str = msgspec.field(name="class")
    lock: Count
    taken: Count
    threads: Count


@dataclass(frozen=True)
class Lock:
    """taken: how often in the whole run; threads: how many take it."""

    name: str
    taken: int
    threads: int


def _name(kind: str, number: int) -> str:
    """As docs/tracing.md numbers them: 0 to 2 are the run-time's, others count from 3 by creation or first use."""
    if number == 0:
        return "the unnamed critical section"
    if number == 1:
        return "atomic operations that gcc compiles to calls"
    if number == 2:
        return "ordered regions"
    return f"{'critical section' if kind == 'critical' else kind.replace('_', ' ')} number {number}"


def most_taken(uses: Iterable[LockUse]) -> tuple[Lock, ...]:
    """The most taken first."""
    found = [Lock(_name(use.kind, use.lock), use.taken, use.threads) for use in uses]
    return tuple(sorted(found, key=lambda one: (-one.taken, one.name)))
