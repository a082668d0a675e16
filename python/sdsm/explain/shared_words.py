"""Finds who uses which words of an array, from `sdsm trace --words`: this proves or disproves false sharing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sdsm.base.children import CommandFailed
from sdsm.base.result_types import SharedWords

#: Bits of a row's access (docs/trace-format.md).
READS, WRITES, IN_TEAM, UNSIZED = 1, 2, 4, 8
WORD_BYTES = 4
#: Number of threads in an example.
MOST_THREADS = 4


@dataclass(frozen=True)
class Sharing:
    """Pages of an array by their users within parallel regions, in the whole trace.

    apart:    several threads use it and at least one writes, and no word that one of them writes is used by another.
    together: a word that one thread writes is used by another.
    unknown:  undecided, because the size of some access is unknown.
    apart_s, together_s: what these pages cost all threads.
    """

    apart: int = 0
    together: int = 0
    unknown: int = 0
    apart_s: float = 0.0
    together_s: float = 0.0
    apart_example: str = ""
    together_example: str = ""


def merged(all_: Iterable[Sharing]) -> Sharing:
    """Merges the sharing of several blocks: the first examples represent all."""
    found = list(all_)
    names = ("apart", "together", "unknown", "apart_s", "together_s")
    sums: dict[str, Any] = {name: sum(getattr(one, name) for one in found) for name in names}
    of_apart, of_together = (one.apart_example for one in found), (one.together_example for one in found)
    sums |= {"apart_example": next(filter(None, of_apart), ""), "together_example": next(filter(None, of_together), "")}
    return Sharing(**sums)


@dataclass
class Page:
    """Words as bits, by thread; lines by thread and access, with their words."""

    read: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    written: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    unsized: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    sites: list[tuple[int, int, int, int]] = field(default_factory=list)

    @property
    def threads(self) -> list[int]:
        return sorted({*self.read, *self.written, *self.unsized})

    def common(self) -> int:
        """Words that one thread writes and another uses."""
        found = 0
        for writer, words in self.written.items():
            for other in self.threads:
                if other != writer:
                    found |= words & (self.read.get(other, 0) | self.written.get(other, 0))
        return found


def _bits(runs: Sequence[int]) -> int:
    bits = 0
    for first, count in zip(runs[::2], runs[1::2], strict=True):
        bits |= ((1 << count) - 1) << first
    return bits


def pages_of(words: SharedWords) -> dict[tuple[int, int], Page]:
    """By region and page: what threads use within parallel regions. Raises CommandFailed if the trace contradicts itself."""
    sets = [_bits(runs) for runs in words.sets]
    rows = words.rows
    found: dict[tuple[int, int], Page] = defaultdict(Page)
    columns = (rows.thread, rows.region, rows.page, rows.access, rows.site, rows.set)
    if len({len(column) for column in columns}) != 1 or any(number >= len(sets) for number in rows.set):
        raise CommandFailed("the trace's recorded words contradict themselves. Trace it again")
    for thread, region, page, access, site, number in zip(*columns, strict=True):
        if not access & IN_TEAM:
            continue
        one, bits = found[region, page], sets[number]
        if access & UNSIZED:
            one.unsized[thread] |= access
        else:
            if access & READS:
                one.read[thread] |= bits
            if access & WRITES:
                one.written[thread] |= bits
        one.sites.append((thread, access, site, bits))
    return found


def sharing_of(pages: Mapping[int, Page], costs_s: Mapping[int, float], places: Sequence[tuple[str, str]]) -> Sharing:
    """Returns one region's sharing, from its pages, the cost of each, and the line of each site."""
    apart: dict[int, Page] = {}
    together: dict[int, Page] = {}
    unknown = 0
    for number, page in sorted(pages.items()):
        if len(page.threads) < 2 or not (any(page.written.values()) or any(one & WRITES for one in page.unsized.values())):
            continue
        if page.common():
            together[number] = page
        elif page.unsized:
            unknown += 1
        else:
            apart[number] = page
    apart_s, together_s = (sum(costs_s.get(number, 0.0) for number in pages) for pages in (apart, together))
    examples = (_apart_example(apart, costs_s, places), _together_example(together, costs_s, places))
    return Sharing(len(apart), len(together), unknown, apart_s, together_s, *examples)


def _costliest(pages: Mapping[int, Page], costs_s: Mapping[int, float]) -> int:
    return max(pages, key=lambda number: (costs_s.get(number, 0.0), -number))


def _apart_example(pages: Mapping[int, Page], costs_s: Mapping[int, float], places: Sequence[tuple[str, str]]) -> str:
    if not pages:
        return ""
    number = _costliest(pages, costs_s)
    page = pages[number]
    uses = [_used(page, thread, places) for thread in page.threads[:MOST_THREADS]]
    left = len(page.threads) - MOST_THREADS
    return f"On page {number} {', '.join(uses)}" + (f", and {left} more threads" if left > 0 else "")


def _used(page: Page, thread: int, places: Sequence[tuple[str, str]]) -> str:
    written = page.written.get(thread, 0)
    words, verb = (written, "writes") if written else (page.read.get(thread, 0), "reads")
    lines = _lines(page, thread, WRITES if written else READS, words, places)
    return f"thread {thread} {verb} {_listed_words(words)} at {lines}"


def _together_example(pages: Mapping[int, Page], costs_s: Mapping[int, float], places: Sequence[tuple[str, str]]) -> str:
    if not pages:
        return ""
    number = _costliest(pages, costs_s)
    page = pages[number]
    common = page.common()
    word = (common & -common).bit_length() - 1
    bit = 1 << word
    writers = [thread for thread in page.threads if page.written.get(thread, 0) & bit]
    readers = [thread for thread in page.threads if page.read.get(thread, 0) & bit]
    parts = [_by(page, verb, threads, access, bit, places) for verb, threads, access in (("written", writers, WRITES), ("read", readers, READS)) if threads]
    used = 0
    for thread in page.threads:
        used |= page.written.get(thread, 0) | page.read.get(thread, 0)
    return (
        f"On page {number} {common.bit_count()} of {used.bit_count()} used words: the first, bytes {word * WORD_BYTES} to "
        f"{word * WORD_BYTES + WORD_BYTES - 1}, is {' and '.join(parts)}"
    )


def _by(page: Page, verb: str, threads: Sequence[int], access: int, bit: int, places: Sequence[tuple[str, str]]) -> str:
    shown = ", ".join(str(thread) for thread in threads[:MOST_THREADS]) + (" and others" if len(threads) > MOST_THREADS else "")
    return f"{verb} by thread{'s' if len(threads) > 1 else ''} {shown} at {_lines(page, threads[0], access, bit, places)}"


def _lines(page: Page, thread: int, access: int, words: int, places: Sequence[tuple[str, str]]) -> str:
    """Names two lines at which the thread does so, the one with most words first."""
    counts: dict[str, int] = defaultdict(int)
    for who, how, site, bits in page.sites:
        if who == thread and how & access and bits & words:
            counts[places[site][0]] += (bits & words).bit_count()
    found = sorted(counts, key=lambda place: (-counts[place], place))
    return " and ".join(found[:2])


def _listed_words(bits: int) -> str:
    """Lists bytes, which a program's source counts."""
    runs = list(_runs(bits))
    shown = ", ".join(f"{first * WORD_BYTES} to {(first + count) * WORD_BYTES - 1}" for first, count in runs[:2])
    left = len(runs) - 2
    return f"bytes {shown}" + (f" and {left} more runs" if left > 0 else "")


def _runs(bits: int) -> Iterator[tuple[int, int]]:
    first = 0
    while bits:
        gap = (bits & -bits).bit_length() - 1
        bits >>= gap
        first += gap
        count = ((bits + 1) & ~bits).bit_length() - 1
        yield first, count
        bits >>= count
        first += count
