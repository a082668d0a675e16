"""Finds the locks that a trace takes most, and what threads use under them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from sdsm.base.result_types import LockUse, RegionTouches, SiteUse

#: Name of critical sections, each of which has a lock.
MOST_NAMES = 6


@dataclass(frozen=True)
class Lock:
    """taken: how often in the whole run; threads: number of threads that take it.

    arrays, lines: what threads touch while they hold it, and where; the most frequent first.
    """

    name: str
    taken: int
    threads: int
    arrays: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def _name(kind: str, number: int, criticals: Sequence[str] = (), is_own: bool = True) -> str:
    """Names a lock by docs/tracing.md: 0 to 2 are the run-time's, others count from 3 by creation or first use. criticals:
    names of named critical sections, each with a lock. is_own: whether it is the program's own, as far as is known."""
    if number == 0:
        return "the unnamed critical section"
    if number == 1:
        return "atomic operations that gcc compiles to calls"
    if number == 2:
        return "ordered regions"
    if kind == "critical" and criticals:
        names = ", ".join(f'"{name}"' for name in criticals[:MOST_NAMES]) + (" and others" if len(criticals) > MOST_NAMES else "")
        if len(criticals) > 1:
            return f"critical section number {number} (probably one of {names})"
        return f"critical section {'' if is_own else 'probably '}{names}"
    return f"{'critical section' if kind == 'critical' else kind.replace('_', ' ')} number {number}"


def most_taken(
    uses: Sequence[LockUse],
    criticals: Sequence[str] = (),
    arrays: Mapping[int, str] = MappingProxyType({}),
    places: Sequence[str] = (),
    own_sites: Collection[int] = (),
) -> list[Lock]:
    """Returns the most taken first.

    criticals: names of critical sections that the program has. arrays: names by region. places: lines by site.
    own_sites: those in the program itself.
    """
    # Where more are taken than it has, a library has some.
    names = criticals if sum(use.class_ == "critical" and use.lock != 0 for use in uses) <= len(criticals) else ()
    found = []
    for use in uses:
        # Libraries have no names here, so a lock under which only library code touches memory may be a library's.
        is_own = any(one.site in own_sites for one in use.sites)
        touched = [arrays[one.region] for one in _by_frequency(use.regions) if one.region in arrays]
        lines = [places[one.site] for one in _by_frequency(use.sites) if one.site < len(places)]
        name = _name(use.class_, use.lock, names, is_own)
        found.append(Lock(name, use.taken, use.threads, tuple(dict.fromkeys(touched)), tuple(dict.fromkeys(lines))))
    return sorted(found, key=lambda one: (-one.taken, one.name))


Touched = TypeVar("Touched", SiteUse, RegionTouches)


def _by_frequency(touches: Sequence[Touched]) -> list[Touched]:
    return sorted(touches, key=lambda one: -one.reads - one.writes)
