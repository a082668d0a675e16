"""Names the constructs of a program, by line, and what each costs."""

from __future__ import annotations

import linecache
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from sdsm.base import result_types
from sdsm.base.result_parts import by_term
from sdsm.explain.source import SYSTEM, Line

#: Terms in which a thread waits, or keeps others from their work.
WAITS = ("barrier", "lock", "idle", "stolen", "protect")
#: Directives that a simulated construct may come from; a barrier also ends other constructs. Longer names first.
_DIRECTIVES = {
    "region": ("parallel for", "parallel do", "parallel sections", "parallel workshare", "parallel", "teams", "target"),
    "barrier": ("barrier", "for", "do", "sections", "single", "workshare", "scope", "taskgroup"),
    "loop": ("parallel for", "parallel do", "parallel sections", "for", "do", "sections", "taskloop"),
    "single": ("single",),
    "critical": ("critical",),
    "ordered": ("ordered",),
    "atomic": ("atomic",),
    "doacross": ("ordered",),
    "flush": ("flush",),
}
_NAMES = sorted({name for names in _DIRECTIVES.values() for name in names}, key=len, reverse=True)
#: What a construct is called: by its directive, else by its kind in the simulation.
_TITLES = {
    "parallel for": "parallel loop", "parallel do": "parallel loop", "parallel sections": "parallel sections", "parallel": "parallel region",
    "for": "loop", "do": "loop", "critical": "critical section", "atomic": "atomic operation", "ordered": "ordered region",
    "region": "parallel region", "doacross": "doacross loop", "object": "library's synchronisation", "wait": "waiting loop",
    "serial": "serial code before the parallel region", "reduction": "reduction",
}  # fmt: skip
#: So many lines below its directive a construct's instruction may be; above it a third.
_FAR = 24
#: The same of an atomic operation, which is one statement.
_NEAR = 2


@dataclass(frozen=True)
class Construct:
    """What one construct of the source costs.

    kind:       as docs/result.schema.json has it, of its first part: a loop's barrier is a part of the loop.
    title:      in words, with its place: "loop at cg.c:41".
    place:      file and line, or file and address.
    line:       None without debug information.
    call_sites: numbers in the trace, from 1.
    callers:    chains of calls that led to it, the costliest first, the innermost call first, where they are known.
    times:      that threads came to it, all together.
    by_thread:  seconds by thread and term of the account.
    """

    kind: str
    title: str
    place: str
    line: Line | None
    call_sites: tuple[int, ...]
    callers: tuple[tuple[str, ...], ...]
    times: int
    by_thread: Mapping[int, Mapping[str, float]]
    faults: int
    diffs: int
    diff_bytes: int
    messages: int
    bytes: int

    @property
    def time_s(self) -> dict[str, float]:
        """Seconds of all threads by term."""
        found: dict[str, float] = defaultdict(float)
        for terms in self.by_thread.values():
            for term, seconds in terms.items():
                found[term] += seconds
        return dict(found)

    @property
    def cost_s(self) -> float:
        """All but computing, of all threads, s."""
        return sum(seconds for term, seconds in self.time_s.items() if term != "compute")

    @property
    def computing_s(self) -> float:
        return self.time_s.get("compute", 0.0)

    @property
    def faults_s(self) -> float:
        return sum(seconds for term, seconds in self.time_s.items() if term.startswith("fault "))

    @property
    def diffs_s(self) -> float:
        return self.time_s.get("diff", 0.0)

    @property
    def waiting_s(self) -> float:
        return sum(seconds for term, seconds in self.time_s.items() if term in WAITS)

    @property
    def uneven_s(self) -> float:
        """What threads compute less than the one that computes most, s."""
        computing = [terms.get("compute", 0.0) for terms in self.by_thread.values()]
        return max(computing, default=0.0) * len(computing) - sum(computing)


@dataclass(frozen=True)
class _Part:
    construct: result_types.Construct
    directive: str
    line: Line | None
    place: str


def constructs(
    result: result_types.Simulation, call_sites: Sequence[result_types.CallSite], frames: Sequence[Sequence[Line]]
) -> list[Construct]:
    """Returns the costliest first. frames: lines by call site, as source.frames_at() has them."""
    in_order = _in_order_of_regions(result.constructs, call_sites, frames)
    parts: dict[tuple[str, str], list[_Part]] = defaultdict(list)
    for one in result.constructs:
        part = _part(one, call_sites, frames, in_order.get((one.kind, one.call_site)))
        parts[part.place, _title(part)].append(part)
    found = [_merged(title, own, call_sites, frames) for (_, title), own in parts.items()]
    return sorted(found, key=lambda one: (-one.cost_s, one.title))


def _own_frames(frames: Sequence[Line]) -> list[Line]:
    return [frame for frame in frames if not frame.file.startswith(SYSTEM)] or list(frames[:1])


def _part(
    one: result_types.Construct, call_sites: Sequence[result_types.CallSite], frames: Sequence[Sequence[Line]], known: _Directive | None
) -> _Part:
    if not 0 < one.call_site <= len(call_sites):
        return _Part(one, "", None, "")
    site, own = call_sites[one.call_site - 1], _own_frames(frames[one.call_site - 1])
    if not own:
        return _Part(one, "", None, f"{Path(site.file).name or 'code'}+{site.address:#x}")
    # The compiler moves instructions into calls that it has inlined: the frame whose directive is nearest is the construct's.
    nearest = [(0, known, own[0])] if known else [(*found, frame) for frame in own if (found := _nearest(frame, one.kind))]
    if not nearest:
        return _Part(one, "", own[0], str(own[0]))
    _, directive, frame = min(nearest, key=lambda found: found[0])
    text = " ".join(linecache.getline(frame.file, directive.begin).split())
    line = Line(frame.function, frame.file, directive.begin, text)
    return _Part(one, directive.name, line, str(line))


#: Kinds of the calls that gcc makes for a directive, in their order; those behind the first may be missing.
_CALLS = dict.fromkeys(("for", "do", "barrier", "workshare", "sections", "scope"), ("barrier",)) | {"single": ("single", "barrier")}


def _in_order_of_regions(
    found: Sequence[result_types.Construct], call_sites: Sequence[result_types.CallSite], frames: Sequence[Sequence[Line]]
) -> dict[tuple[str, int], _Directive]:
    """Returns directives by kind and call site, for constructs to which the compiler gives their parallel region's line, as
    gfortran does. If the region has as many directives, they are called for in the source's order."""
    regions: dict[tuple[str, str, int], list[result_types.Construct]] = defaultdict(list)
    for one in found:
        own = _own_frames(frames[one.call_site - 1]) if 0 < one.call_site <= len(frames) else []
        if one.kind in ("barrier", "loop", "single") and own and own[0].text and _is_region(own[0].file, own[0].number):
            regions[own[0].file, own[0].function, own[0].number].append(one)
    known: dict[tuple[str, int], _Directive] = {}
    for (file, _, begin), unplaced in regions.items():
        end = next((one.at for one in _directives_of(file) if one.begin == begin and one.at > begin), 0)
        inside = [one for one in _directives_of(file) if begin < one.at < end and one.at == one.begin and one.name in _CALLS]
        known |= _matched(inside, sorted(unplaced, key=lambda one: call_sites[one.call_site - 1].address))
    return known


def _matched(directives: Sequence[_Directive], left: list[result_types.Construct]) -> dict[tuple[str, int], _Directive]:
    """Returns nothing if the constructs are not those that the directives make, in their order."""
    matched: dict[tuple[str, int], _Directive] = {}
    for directive in directives:
        for place, kind in enumerate(_CALLS[directive.name]):
            if left and (left[0].kind == kind or (left[0].kind == "loop" and directive.name in _DIRECTIVES["loop"])):
                one = left.pop(0)
                matched[one.kind, one.call_site] = directive
            elif place == 0:
                return {}
    return {} if left else matched


def _is_region(file: str, number: int) -> bool:
    return any(one.begin == number and one.name in _DIRECTIVES["region"] for one in _directives_of(file))


def _title(part: _Part) -> str:
    kind = part.construct.kind
    if not part.place:
        return "serial code at the end" if kind == "serial" else f"{_TITLES.get(kind, kind)} at an unknown place"
    named = _TITLES.get(part.directive, part.directive) if kind != "serial" and part.directive else _TITLES.get(kind, kind)
    is_inside = part.line is not None and not part.directive and kind not in ("region", "serial") and _is_region(part.line.file, part.line.number)
    # Without a directive the line may be that of a call, or of a statement that the compiler has moved.
    is_near = part.line is not None and part.line.text and not part.directive and kind in _DIRECTIVES
    return f"{named} {'in the parallel region ' if is_inside else ''}{'near' if is_near and not is_inside else 'at'} {part.place}"


def _merged(title: str, parts: Sequence[_Part], call_sites: Sequence[result_types.CallSite], frames: Sequence[Sequence[Line]]) -> Construct:
    by_thread: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    shares = [share for part in parts for share in part.construct.threads]
    for share in shares:
        for term, seconds in by_term(share.time_s).items():
            by_thread[share.id][term] += seconds
    own = tuple(sorted({part.construct.call_site for part in parts} - {0}))
    # A barrier at a loop's end is come to as often as the loop.
    times: dict[str, int] = defaultdict(int)
    for part in parts:
        times[part.construct.kind] += sum(share.times for share in part.construct.threads)
    first = max(parts, key=lambda part: times[part.construct.kind])
    costs_s: dict[int, float] = defaultdict(float)
    for part in parts:
        costs_s[part.construct.call_site] += sum(seconds for share in part.construct.threads for seconds in by_term(share.time_s).values())
    chains = (_callers(site, call_sites, frames) for site in sorted(own, key=lambda site: -costs_s[site]))
    return Construct(
        kind=first.construct.kind, title=title, place=first.place, line=first.line, call_sites=own,
        callers=tuple(dict.fromkeys(chain for chain in chains if chain)),
        times=times[first.construct.kind],
        by_thread={thread: dict(terms) for thread, terms in sorted(by_thread.items())},
        faults=sum(sum(share.faults.values()) for share in shares),
        **{name: sum(getattr(share, name) for share in shares) for name in ("diffs", "diff_bytes", "messages", "bytes")},
    )  # fmt: skip


def _callers(site: int, call_sites: Sequence[result_types.CallSite], frames: Sequence[Sequence[Line]]) -> tuple[str, ...]:
    """Returns "function at file:line" for each call that led to the site, the innermost first."""
    chain: list[str] = []
    while site > 0:
        chain += [f"{frame.function} at {frame}" for frame in frames[site - 1] if not frame.file.startswith(SYSTEM)]
        site = call_sites[site - 1].caller
    return tuple(chain[1:])


def _nearest(line: Line, kind: str) -> tuple[int, _Directive] | None:
    """Returns the directive that a construct of this kind at this line comes from, after its distance. The compiler gives a
    construct's calls the lines of statements in it or behind it; the begin of a `single` may be higher, too."""
    accepted = _DIRECTIVES.get("region" if kind == "serial" else kind)
    if accepted is None or not line.text:
        return None
    known = _directives_of(line.file)
    fits = [one for one in known if one.name in accepted]
    if kind == "atomic":
        # A reduction ends with an atomic operation, at the line of its directive.
        fits += [replace(one, name="reduction") for one in known if one.has_reduction and one.at == line.number]
    if kind not in ("region", "serial") and _is_region(line.file, line.number):
        fits = [one for one in fits if one.at == line.number]
    far = []
    for one in fits:
        first, last = sorted((one.at, line.number))
        if (one.at <= line.number or kind == "single") and not _has_border(line.file, first, last):
            far.append(((last - first) * (1 if one.at <= line.number else 3), one))
    most = _NEAR if kind == "atomic" else _FAR
    return min((one for one in far if one[0] <= most), key=lambda one: one[0], default=None)


def _has_border(file: str, first: int, last: int) -> bool:
    """Whether a function ends between the lines."""
    return any(re.match(r"}|\s*(end\s+(subroutine|function|program)|contains)\b", text, re.IGNORECASE) for text in linecache.getlines(file)[first : last - 1])


@dataclass(frozen=True)
class _Directive:
    """at: its line, or that of its end; begin: its line."""

    at: int
    name: str
    begin: int
    has_reduction: bool


@lru_cache
def _directives_of(file: str) -> tuple[_Directive, ...]:
    """Returns the OpenMP directives of a source, and ends of those in Fortran."""
    lines = linecache.getlines(file)
    found: list[_Directive] = []
    for number, text in enumerate(lines, start=1):
        match = re.match(r"\s*(?:#\s*pragma\s+omp|[!cC*]\$omp)\s+(.*)", text, re.IGNORECASE)
        if match is None:
            continue
        whole = match[1]
        ahead = number
        while whole.rstrip().endswith(("\\", "&")) and ahead < len(lines):
            whole = whole.rstrip().rstrip("\\&") + " " + re.sub(r"^\s*[!cC*]\$omp&?", "", lines[ahead], flags=re.IGNORECASE)
            ahead += 1
        words = " ".join(whole.lower().split())
        is_end = words.startswith("end ")
        name = next((name for name in _NAMES if re.match(rf"{name}\b", words.removeprefix("end "))), "")
        if not name:
            continue
        begin = next((one.begin for one in reversed(found) if one.name == name), number) if is_end else number
        found.append(_Directive(number, name, begin, not is_end and "reduction" in words))
    return tuple(found)
