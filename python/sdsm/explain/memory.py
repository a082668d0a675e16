"""Attributes a simulation's costs to parts of memory, with their writers and the lines that touch them."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from sdsm.base import costs, run_result
from sdsm.base.children import CommandFailed
from sdsm.base.result_types import CallSite, Region, Site, TraceInfo
from sdsm.base.tracing import sha256
from sdsm.explain.locks import Lock, most_taken
from sdsm.explain.shared_words import Page, Sharing, merged, pages_of, sharing_of
from sdsm.explain.source import (
    SYSTEM,
    Line,
    demangled,
    frames_at,
    is_newer,
    is_of_system,
    line_of_touch,
    lines_of_calls,
    variable_of,
)
from sdsm.explain.symbols import PAGE_BYTES, Symbols, symbols_of


def parse_info(text: str) -> TraceInfo:
    """Parses the JSON. Raises CommandFailed if it is of another version of sdsm."""
    try:
        return msgspec.json.decode(text, type=TraceInfo)
    except msgspec.MsgspecError as error:
        raise CommandFailed(f"sdsm trace info wrote what this version cannot read ({error}). Install all parts from one version") from error


@dataclass(frozen=True)
class Touch:
    """First touches of an array's pages by an instruction, as (page, interval) pairs. place: its line, else its address."""

    place: str
    text: str
    reads: int
    writes: int


@dataclass(frozen=True)
class Array:
    """A region of memory: an allocation, a static array, the globals, a stack.

    cost_s:    what its faults and diffs cost all threads together.
    shared_s:  the part of it that pages cost which several threads write, none of them most of the time.
    away_s:    the part of it that pages cost which one thread writes most of the time, from another node than their home.
    read_away_s: the part of it that pages cost of which nobody sends a diff, and which one thread fetches most of the times.
    line:      where it was allocated, if debug information tells.
    traced_as: its name in the trace, where the source's is another, which `sdsm trace` does not know.
    variable:  to which that line gives it, as far as its text says; or empty.
    written_*: pages that threads write in parallel regions, as in docs/result-format.md, `uses`.
    touches:   the most frequent first.
    page_costs_s: cost_s of each of its pages that cost anything, by the page's place in it.
    sharing:   of the words that `sdsm trace --words` recorded; None of an array that was not watched.
    variables: of the program's globals, which share pages: those on its costliest pages, by page.
    blocks:    heap blocks that the same line has allocated, if more than MOST_BLOCKS; else 1.
    phases:    the first and the last one in which it is touched, as in docs/result-format.md, `uses`.
    are_kept:  whether most of the blocks are in use at the same time, as the rows of a matrix are.
    """

    name: str
    pages: int
    placement: str
    cost_s: float
    shared_s: float
    away_s: float
    faults: int
    fetches: int
    diffs: int
    line: Line | None
    written_by_one: int
    written_apart: int
    written_together: int
    touches: tuple[Touch, ...]
    page_costs_s: Mapping[int, float] = field(default_factory=dict)
    blocks: int = 1
    sharing: Sharing | None = None
    variables: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    phases: tuple[int, int] = (0, 0)
    are_kept: bool = False
    read_away_s: float = 0.0
    variable: str = ""
    traced_as: str = ""

    @property
    def short_name(self) -> str:
        """Name for `sdsm trace --words`."""
        return str(self.line) if self.line is not None and self.blocks > 1 else (self.traced_as or self.name).partition(" (")[0]

    @property
    def title(self) -> str:
        """Name in the source: `cg.c:7`, for an allocation with a known line."""
        if self.line is None:
            return self.name
        name = self.name.partition(" (")[0]
        return f"{f'{self.variable} ({name})' if self.variable else name}, allocated at {self.line}"


#: Members that are sums over an array's pages, and over its uses.
_COSTS = ("cost_s", "shared_s", "away_s", "read_away_s", "faults", "fetches", "diffs")
_WRITTEN = ("written_by_one", "written_apart", "written_together")
#: An array's members that documents and tables have.
FIGURES = ("pages", "placement", *(name for name in _COSTS if name != "read_away_s"), *_WRITTEN)


@dataclass
class _Tally:
    cost_s: float = 0.0
    shared_s: float = 0.0
    away_s: float = 0.0
    read_away_s: float = 0.0
    faults: int = 0
    fetches: int = 0
    diffs: int = 0
    page_costs_s: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Prices:
    """Mean seconds of one event for a thread."""

    fetch_s: float
    local_s: float
    diff_s: float


def _mean(total_s: float, count: int) -> float:
    return total_s / count if count else 0.0


def _prices(thread: run_result.Thread, protocol: str) -> _Prices:
    def of(kinds: set[str]) -> float:
        return _mean(sum(thread.time_s.fault.get(kind, 0.0) for kind in kinds), sum(thread.faults[kind] for kind in kinds))

    fetching = {kind.name for kind in costs.faults(protocol) if kind.fetches_page} & set(thread.faults)
    others = set(thread.faults) - fetching or fetching
    return _Prices(of(fetching), of(others), _mean(thread.time_s.diff, thread.diffs))


@dataclass
class Known:
    """Facts from the program's files about a trace.

    traced: when it was, s since 1970; 0 if the program is another one now.
    frames: by site: its lines, the innermost inlined call's first.
    calls: the same by call site.
    places: by site: the line that touches, and its text.
    """

    info: TraceInfo
    traced: float
    frames: list[tuple[Line, ...]]
    calls: list[tuple[Line, ...]]
    places: list[tuple[str, str]]

    def names_of(self, regions: Iterable[str]) -> dict[str, str]:
        """Returns regions' names as the source has them."""
        spelt = self.symbols.named if self.symbols else lambda name: name
        return {name: spelt(name) if spelt(name) != name else shown for name, shown in demangled(regions).items()}

    @cached_property
    def symbols(self) -> Symbols | None:
        return symbols_of(self.info.header.program[0], self.traced)


def known_of(info: TraceInfo, trace: Path, tell: Callable[[str], None]) -> Known:
    """tell: receives what is missing about the program's lines, and why."""
    program = info.header.program[0]
    if not Path(program).is_file():
        tell(f"{program} is not here, so its lines are not shown. Call sdsm explain from the folder that it was traced in")
    files = {program, *(site.file for site in info.header.sites), *(site.file for site in info.header.call_sites)}
    traced = dict.fromkeys(files, trace.stat().st_mtime) | {program: _traced_at(info, trace)}
    # A system's library has no line information.
    for file in sorted(file for file in files if file == program or not is_of_system(file)):
        if is_newer(file, traced[file]):
            tell(f"{Path(file).name} has changed since it was traced, so its lines are not shown. Trace it again")
    frames, calls = (_frames(sites, traced) for sites in (info.header.sites, info.header.call_sites))
    has_sites = info.header.sites or info.header.call_sites
    if Path(program).is_file() and not is_newer(program, traced[program]) and has_sites and not any(frames) and not any(calls):
        tell(f"{Path(program).name} has no debug information, so lines are given by address. Compile with -g and trace it again")
    sources = {frame.file for known in calls for frame in known if not frame.file.startswith(SYSTEM)}
    if lacking := sorted(Path(file).name for file in sources if not Path(file).is_file() or is_newer(file, traced[program])):
        tell(f"{', '.join(lacking[:3])}{' and others are' if len(lacking) > 3 else ' is' if len(lacking) == 1 else ' are'} not here as traced, so names of constructs are less exact")
    return Known(info, traced[program], frames, calls, _places(info, frames))


def arrays(result: run_result.Simulation, pages: Path, known: Known) -> list[Array]:
    """Returns the costliest first, without memory that cost nothing.

    Each thread's time in faults and diffs is shared out among pages by what one fetch, one other fault and one diff took
    it on average, so the costs sum to the account's. pages: what `sdsm simulate --pages` wrote.
    """
    info = known.info
    tallies = _tallies(pages, {thread.id: _prices(thread, result.protocol) for thread in result.threads})
    regions: dict[str, list[Region]] = defaultdict(list)
    for region in info.regions:
        regions[region.name].append(region)
    uses = {use.region: use for use in info.uses}
    allocated = _allocations(known)
    shown = known.names_of(tallies)
    sharings = _sharings(info, tallies, known.places)
    rule = str(result.options.get("placement", "as-asked"))
    has_usual_pages = result.options.get("page_bytes", PAGE_BYTES) == PAGE_BYTES
    found = []
    for name, tally in tallies.items():
        own = regions.get(name, [])
        used = [uses[region.id] for region in own if region.id in uses]
        figures: dict[str, Any] = vars(tally) | {kind: sum(getattr(use, kind) for use in used) for kind in _WRITTEN}
        first, last = (
            min((use.first_phase for use in used), default=0),
            max((use.last_phase for use in used), default=0),
        )
        sites = (site for use in used for site in use.sites)
        found.append(
            Array(
                **figures,
                name=shown[name],
                traced_as="" if name.startswith("_Z") else name,
                pages=sum(region.pages for region in own),
                placement=own[0].placements[rule] if own else "",
                line=allocated.get(name),
                variable=variable_of(allocated[name].text) if name in allocated else "",
                touches=_sorted_touches(Touch(*known.places[one.site], one.reads, one.writes) for one in sites),
                sharing=sharings.get(name),
                variables=_variables(own, tally, known) if has_usual_pages else {},
                phases=(first, last),
            )
        )
    costly = _by_lines([one for one in found if one.cost_s > 0])
    return sorted(costly, key=lambda one: (-one.cost_s, one.name))


#: Number of globals whose variables are named.
MOST_PAGES = 3


def _variables(own: Sequence[Region], tally: _Tally, known: Known) -> dict[int, tuple[str, ...]]:
    if len(own) != 1 or own[0].name != "globals" or (symbols := known.symbols) is None:
        return {}
    costliest = sorted((page for page, cost_s in tally.page_costs_s.items() if cost_s > 0), key=lambda page: (-tally.page_costs_s[page], page))
    return {page: symbols.on_page(page, own[0].pages) for page in costliest[:MOST_PAGES]}


def _traced_at(info: TraceInfo, trace: Path) -> float:
    """Time of tracing, s since 1970; 0 if the program has changed."""
    program = Path(info.header.program[0])
    is_another = program.is_file() and info.header.program_sha256 not in ("", sha256(program))
    return 0.0 if is_another else trace.stat().st_mtime


def locks_of(known: Known, found: Sequence[Array]) -> tuple[Lock, ...]:
    """Returns the most taken first, and what threads use under each; variables that are changed atomically are locks, too."""
    info, symbols = known.info, known.symbols
    shown = known.names_of(region.name for region in info.regions)
    titles = {one.name: one.title for one in found}
    names = {region.id: titles.get(shown[region.name], shown[region.name]) for region in info.regions}
    own_sites = {number for number, site in enumerate(info.header.sites) if site.file == info.header.program[0]}
    locks = most_taken(info.locks, symbols.criticals() if symbols else (), names, [place for place, _ in known.places], own_sites)
    pages = {region.id: region.pages for region in info.regions if region.name == "globals"}
    for use in info.atomics:
        name = (symbols.at(use.byte, pages[use.region]) if symbols and len(pages) == 1 and use.region in pages else "") or names[use.region]
        locks.append(Lock(f"the atomic variable {name}", use.operations, use.threads))
    return tuple(sorted(locks, key=lambda one: (-one.taken, one.name)))


def _sharings(info: TraceInfo, tallies: Mapping[str, _Tally], touches: Sequence[tuple[str, str]]) -> dict[str, Sharing]:
    """Returns the sharing of regions whose words were recorded, by name."""
    if info.header.words is None:
        return {}
    names = {region.id: region.name for region in info.regions}
    by_region: dict[int, dict[int, Page]] = defaultdict(dict)
    for (region, number), page in pages_of(info.header.words).items():
        by_region[region][number] = page
    found: dict[str, list[Sharing]] = defaultdict(list)
    for region, pages in by_region.items():
        costs_s = tallies[names[region]].page_costs_s if names[region] in tallies else {}
        found[names[region]].append(sharing_of(pages, costs_s, touches))
    return {name: merged(sharings) for name, sharings in found.items()}


#: Up to so many blocks of one line are listed separately.
MOST_BLOCKS = 8


def _by_lines(found: Sequence[Array]) -> Iterator[Array]:
    """Merges blocks that one line allocates into one array."""
    by_line: dict[Line | None, list[Array]] = defaultdict(list)
    for one in found:
        by_line[one.line].append(one)
    for line, blocks in by_line.items():
        if line is None or len(blocks) <= MOST_BLOCKS:
            yield from blocks
        else:
            yield _together(blocks)


def _most_at_once(blocks: Sequence[Array]) -> int:
    """Returns how many blocks at most are touched both before and after one border of phases."""
    changes: dict[int, int] = defaultdict(int)
    for one in blocks:
        first, last = one.phases
        changes[first] += 1
        changes[last] -= 1
    return max(accumulate(change for _, change in sorted(changes.items())))


def _together(blocks: Sequence[Array]) -> Array:
    first = blocks[0]
    page_costs_s: dict[int, float] = {}
    pages = 0
    for one in blocks:
        page_costs_s |= {pages + place: cost_s for place, cost_s in one.page_costs_s.items()}
        pages += one.pages
    sums: dict[str, Any] = {name: sum(getattr(one, name) for one in blocks) for name in (*_COSTS, *_WRITTEN)}
    return Array(
        **sums,
        name=f"{len(blocks)} blocks ({first.name.partition(' (')[0]} the first)",
        pages=pages,
        placement=first.placement,
        line=first.line,
        variable=first.variable,
        touches=_sorted_touches(touch for one in blocks for touch in one.touches),
        page_costs_s=page_costs_s,
        blocks=len(blocks),
        are_kept=_most_at_once(blocks) > len(blocks) / 2,
        sharing=merged(known) if (known := [one.sharing for one in blocks if one.sharing]) else None,
    )


#: Share of a page's write faults, diffs, or fetches that makes a thread its main writer or reader.
MOST = 2 / 3


@dataclass
class _Page:
    """A page by thread: write faults, fetches, diffs."""

    cost_s: float = 0.0
    writes: list[int] = field(default_factory=list)
    fetches: list[int] = field(default_factory=list)
    diffs: list[int] = field(default_factory=list)

    @property
    def is_shared(self) -> bool:
        return len([count for count in self.writes if count]) > 1 and max(self.writes) < MOST * sum(self.writes)

    @property
    def is_away(self) -> bool:
        return not self.is_shared and any(self.diffs) and max(self.diffs) >= MOST * sum(self.diffs)

    @property
    def is_read_away(self) -> bool:
        return not any(self.diffs) and any(self.fetches) and max(self.fetches) >= MOST * sum(self.fetches)


def _tallies(file: Path, prices: Mapping[int, _Prices]) -> dict[str, _Tally]:
    """Returns tallies by the region's name."""
    found: dict[str, _Tally] = defaultdict(_Tally)
    pages: dict[tuple[str, str], _Page] = defaultdict(_Page)
    with file.open(newline="", encoding="utf-8", errors="surrogateescape") as table:
        rows = csv.reader(table)
        columns = {name: place for place, name in enumerate(next(rows, []))}
        wanted = ("name", "page", "process", "read_faults", "write_faults", "fetches", "diffs")
        for name, place, *numbers in map(itemgetter(*(columns[one] for one in wanted)), rows):
            process, reads, writes, fetches, diffs = map(int, numbers)
            price = prices[process]
            faults = reads + writes
            cost_s = fetches * price.fetch_s + (faults - fetches) * price.local_s + diffs * price.diff_s
            tally, page = found[name], pages[name, place]
            tally.cost_s += cost_s
            tally.faults += faults
            tally.fetches += fetches
            tally.diffs += diffs
            page.cost_s += cost_s
            page.writes.append(writes)
            page.fetches.append(fetches)
            page.diffs.append(diffs)
    for (name, place), page in pages.items():
        found[name].page_costs_s[int(place)] = page.cost_s
        found[name].shared_s += page.cost_s * page.is_shared
        found[name].away_s += page.cost_s * page.is_away
        found[name].read_away_s += page.cost_s * page.is_read_away
    return found


def _frames(sites: Sequence[Site | CallSite], traced: Mapping[str, float]) -> list[tuple[Line, ...]]:
    """Returns lines by site. traced: time of tracing, by file."""
    files = {site.file for site in sites}
    frames = {file: frames_at(file, [site.address for site in sites if site.file == file], traced[file]) for file in files}
    return [frames[site.file].get(site.address, ()) for site in sites]


def _allocations(known: Known) -> dict[str, Line]:
    """Returns lines by the name of a heap block. If the trace lacks the calls that led to it, the name has the program's file
    and the address behind the innermost call."""
    info, program = known.info, known.info.header.program[0]
    named = {
        region.name: int(match[1], 16) - 1
        for region in info.regions
        if region.kind == "heap_block" and (match := re.search(re.escape(Path(program).name) + r"\+(0x[0-9a-f]+)\)$", region.name))
    }
    by_name = frames_at(program, named.values(), known.traced)
    chains = {name: by_name.get(address, ()) for name, address in named.items()}
    chains |= {region.name: tuple(frame for call in region.calls for frame in known.frames[call]) for region in info.regions if region.calls}
    return lines_of_calls(chains)


def _places(info: TraceInfo, frames: Sequence[Sequence[Line]]) -> list[tuple[str, str]]:
    """Returns by site its place, and the text of its line."""
    found = []
    for site, known in zip(info.header.sites, frames, strict=True):
        line = line_of_touch(known) if known else None
        found.append((str(line), line.text) if line else (f"{Path(site.file).name or 'code'}+{site.address:#x}", ""))
    return found


def _sorted_touches(found: Iterable[Touch]) -> tuple[Touch, ...]:
    """Adds up the touches of each place."""
    by_place: dict[tuple[str, str], Touch] = {}
    for one in found:
        before = by_place.get((one.place, one.text), Touch(one.place, one.text, 0, 0))
        by_place[one.place, one.text] = replace(
            before, reads=before.reads + one.reads, writes=before.writes + one.writes
        )
    return tuple(sorted(by_place.values(), key=lambda one: (-one.reads - one.writes, one.place)))
