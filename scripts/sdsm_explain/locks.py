"""Which locks a trace takes most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

#: Of critical sections, of which a lock is one.
MOST_NAMES = 6

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


def _name(kind: str, number: int, criticals: Sequence[str] = ()) -> str:
    """As docs/tracing.md numbers them: 0 to 2 are the run-time's, others count from 3 by creation or first use. criticals: names
    of which each named critical section has one.
    """
    if number == 0:
        return "the unnamed critical section"
    if number == 1:
        return "atomic operations that gcc compiles to calls"
    if number == 2:
        return "ordered regions"
    if kind == "critical" and criticals:
        names = ", ".join(f'"{name}"' for name in criticals[:MOST_NAMES]) + (" and others" if len(criticals) > MOST_NAMES else "")
        return f"critical section {names}" if len(criticals) == 1 else f"critical section number {number} (one of {names})"
    return f"{'critical section' if kind == 'critical' else kind.replace('_', ' ')} number {number}"


def most_taken(uses: Sequence[LockUse], criticals: Sequence[str] = ()) -> tuple[Lock, ...]:
    """The most taken first. criticals: names of critical sections that the program has."""
    # Where more are taken than it has, a library has some.
    names = criticals if sum(use.kind == "critical" and use.lock != 0 for use in uses) <= len(criticals) else ()
    found = [Lock(_name(use.kind, use.lock, names), use.taken, use.threads) for use in uses]
    return tuple(sorted(found, key=lambda one: (-one.taken, one.name)))
