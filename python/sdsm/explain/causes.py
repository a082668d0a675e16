"""Ranks what costs most: constructs and arrays in one list, each with what mending it alone would gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sdsm.explain.alternatives import (
    BALANCED,
    BOUNDS,
    PADDING,
    PARALLEL_INIT,
    WITHOUT_BARRIERS,
    WITHOUT_LOCKS,
    WITHOUT_SINGLES,
    Alternative,
    Point,
    of_construct,
)
from sdsm.explain.constructs import Construct
from sdsm.explain.memory import Array

#: Shares of all threads' time: a construct that costs less is not tried alone; a cause that costs less is not listed.
TRIED, LISTED = 0.03, 0.01
#: So many constructs are tried alone at most, the costliest first.
MOST_TRIED = 8
#: A gain that moves a cause to the front.
NOTABLE_GAIN = 1.05
#: Advice by mending.
_ADVICE = {
    WITHOUT_BARRIERS: "leave its barrier out, or give nowait, where nothing needs it; the other times stay in this gain",
    WITHOUT_LOCKS: "take it less often, or let each thread collect its own and combine once (the gain is an upper bound)",
    WITHOUT_SINGLES: "do it once outside, or all that is done once together (the gain is an upper bound)",
    BALANCED: "share its work out evenly: another schedule, smaller chunks",
    PADDING: "let each thread's part begin on a page of its own (the gain is that of all such arrays)",
    PARALLEL_INIT: "let each thread initialise the part that it uses (the gain is that of all such arrays, with --placement first-touch)",
}


@dataclass(frozen=True)
class Cause:
    """what: a construct's title, or an array's; place: its line, or empty.

    cost_s: what it costs all threads: of a construct all but computing, of an array faults and diffs, which constructs
    have, too.
    gain:   how many times faster the program is if it alone is mended, or all arrays with the array's flaw; None: not
            tried, or it cannot be.
    advice: what mending means.
    """

    what: str
    place: str
    cost_s: float
    gain: float | None = None
    advice: str = ""


def mendings_of(point: Point, found: Sequence[Construct], all_s: float) -> Iterator[Alternative]:
    """Yields what may help one construct alone."""
    costly = [one for one in found if one.call_sites and max(one.cost_s, one.uneven_s) >= TRIED * all_s]
    for one in costly[:MOST_TRIED]:
        for mending in _mendings(one, all_s):
            yield of_construct(point, mending, one.title, one.call_sites)


def _mendings(one: Construct, all_s: float) -> Iterator[str]:
    if one.kind in ("critical", "lock", "atomic"):
        yield WITHOUT_LOCKS
    if one.kind in ("barrier", "loop"):
        yield WITHOUT_BARRIERS
    if one.title.startswith("single "):
        yield WITHOUT_SINGLES
    if one.kind in ("barrier", "loop", "region", "single") and one.uneven_s >= TRIED * all_s:
        yield BALANCED


def causes(found: Sequence[Construct], arrays: Sequence[Array], gains: Mapping[tuple[str, tuple[int, ...]], float], all_s: float) -> list[Cause]:
    """gains: of what was simulated, by mending and call sites."""
    listed = []
    for one in found:
        own = [(gain, mending) for (mending, at), gain in gains.items() if at and at == one.call_sites]
        # What is no bound comes first.
        own.sort(key=lambda gained: (gained[0] < NOTABLE_GAIN, gained[1] in BOUNDS, -gained[0]))
        gain, mending = own[0] if own else (None, "")
        listed.append(Cause(one.title, one.place, one.cost_s, gain, _ADVICE.get(mending, "") if gain and gain >= NOTABLE_GAIN else ""))
    of_arrays = {PADDING: "shared_s", PARALLEL_INIT: "away_s"}
    for array in arrays:
        gain, advice = None, ""
        for mending, share in of_arrays.items():
            costliest = max(arrays, key=lambda other: _away(other) if share == "away_s" else other.shared_s)
            if (mending, ()) in gains and costliest is array and gains[mending, ()] >= max(gain or 0.0, NOTABLE_GAIN):
                gain, advice = gains[mending, ()], _ADVICE[mending]
        listed.append(Cause(array.title, str(array.line or ""), array.cost_s, gain, advice))
    listed = [one for one in listed if one.cost_s >= LISTED * all_s or (one.gain or 0.0) >= NOTABLE_GAIN]
    return sorted(listed, key=lambda one: (-(one.gain or 0.0) if (one.gain or 0.0) >= NOTABLE_GAIN else 0.0, -one.cost_s, one.what))


def _away(one: Array) -> float:
    return one.away_s + one.read_away_s
