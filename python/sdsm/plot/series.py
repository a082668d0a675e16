"""Groups results into the lines of a plot, and finds the reference of their speedups."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sdsm.base.command_line import BadInput
from sdsm.plot.results import PREDICTED, Result

Settings = tuple[tuple[str, str], ...]


class NoReference(BadInput):
    """There is no one-thread time. The text is one line."""


@dataclass(frozen=True)
class Point:
    """Results of one layout, combined. Seconds.

    time_s: the median of all runs or predictions; low_s, high_s: the least and the greatest of them, or the ends of a
    prediction's band.
    """

    nodes: int
    threads_per_node: int
    time_s: float
    low_s: float
    high_s: float
    samples: int
    is_doubtful: bool = False

    @property
    def threads(self) -> int:
        return self.nodes * self.threads_per_node


@dataclass(frozen=True)
class Series:
    """One line: its kind, what distinguishes it from others of its kind, points by growing threads, and the time of
    speedup 1.

    platform: what a prediction is for, by its file's name; empty for measurements.
    """

    kind: str
    label: str
    points: tuple[Point, ...]
    reference_s: float
    has_band: bool
    platform: str = ""

    def speedup(self, point: Point) -> tuple[float, float, float]:
        """Returns the speedup of the time, and of the slowest and the fastest of its band."""
        return self.reference_s / point.time_s, self.reference_s / point.high_s, self.reference_s / point.low_s


def point(results: Sequence[Result]) -> Point:
    """Combines results of one kind, program and layout."""
    times = [time for result in results for time in result.times_s]
    ends = times + [end for result in results if result.band_s for end in result.band_s]
    first = results[0]
    return Point(
        first.nodes, first.threads_per_node, statistics.median_low(times), min(ends), max(ends), len(times),
        any(bool(result.doubts) for result in results),
    )  # fmt: skip


def by_program(
    results: Iterable[Result], sequential_s: float | None, by: str
) -> tuple[dict[str, list[Series]], list[str]]:
    """Returns lines of each program, predicted ones first, and notes on their reference.

    sequential_s: what speedups refer to; None: the one-thread result of the same kind and settings, else of the same kind,
    else of the other one. by: "threads" or "nodes", over which the lines are drawn. Raises NoReference.
    """
    programs: dict[str, list[Result]] = {}
    for result in results:
        programs.setdefault(result.program, []).append(result)
    notes: list[str] = []
    lines = {program: _lines(program, found, sequential_s, by, notes) for program, found in sorted(programs.items())}
    return lines, notes


def _lines(
    program: str, results: Sequence[Result], sequential_s: float | None, by: str, notes: list[str]
) -> list[Series]:
    groups: dict[tuple[str, Settings], list[Result]] = {}
    results = _separated(_in_lines_of_others(results))
    for result in results:
        groups.setdefault((result.kind, result.settings), []).append(result)
    lines = []
    for (kind, settings), members in sorted(groups.items(), key=lambda item: (item[0][0] != PREDICTED, item[0][1])):
        same_kind = [other for other, _ in groups if other == kind]
        label = _label(settings, [given for other, given in groups if other == kind]) if len(same_kind) > 1 else ""
        reference_s = sequential_s or _reference(program, kind, settings, results, notes)
        layouts: dict[tuple[int, int], list[Result]] = {}
        for member in members:
            layouts.setdefault((member.nodes, member.threads_per_node), []).append(member)
        points = [point(found) for _, found in sorted(layouts.items())]
        has_band = any(member.band_s for member in members)
        lines += [
            Series(kind, ", ".join(part for part in (label, more) if part), part_points, reference_s, has_band, dict(settings).get("platform", ""))
            for more, part_points in _apart(points, by)
        ]
    return lines


#: Settings without effect on one thread's time: it alone has every page, and sends nothing.
_BETWEEN_THREADS = frozenset(
    (
        "placement", "page bytes", "invalidation", "prefetch", "jitter", "full page diffs", "scope", "home migration",
        "adaptive write detection", "first touch moves", "fork", "privatized", "quirks", "network", "transport",
    )
)  # fmt: skip
#: Settings that only results with atomic operations have.
_ATOMICS = frozenset({"atomics"})


def _in_lines_of_others(results: Sequence[Result]) -> list[Result]:
    """Repeats a result that belongs to several lines, once with the settings of each. A run without atomic operations belongs
    to the line of each of their implementations; one thread's result belongs to each line that differs only in settings
    without effect on it."""
    several = [result for result in results if result.threads > 1]
    alone = [result for result in results if result.threads == 1]
    repeated = [
        replace(result, settings=settings)
        for result in several
        for settings in [line for line in _lines_for(result, several, _ATOMICS) if line != result.settings] or [result.settings]
    ]
    begun = {settings for result in alone for settings in _lines_for(result, repeated, _ATOMICS)}
    for result in alone:
        own = _lines_for(result, repeated, _ATOMICS)
        others = [line for line in _lines_for(result, repeated, _ATOMICS | _BETWEEN_THREADS) if line not in begun]
        repeated += [replace(result, settings=settings) for settings in [*own, *others] or [result.settings]]
    return repeated


def _lines_for(result: Result, others: Iterable[Result], ignored: frozenset[str]) -> list[Settings]:
    """Returns settings of others of its kind that agree with it, but for those ignored. Atomics are only ignored if it has
    none."""
    if "atomics" in dict(result.settings):
        ignored -= _ATOMICS

    def compared(settings: Settings) -> Settings:
        return tuple(one for one in settings if one[0] not in ignored)

    alike = {other.settings for other in others if other.kind == result.kind and compared(other.settings) == compared(result.settings)}
    return sorted(alike)


def _separated(results: Sequence[Result]) -> list[Result]:
    """Separates results with different variants: they are not samples of one thing. Where a layout has several variants, the
    differences become settings: a compute factor of the whole line, an input of that layout."""
    separated = list(results)
    for name in dict.fromkeys(name for result in results for name, _ in result.variant):
        found: dict[tuple[object, ...], set[str]] = {}
        layouts: dict[int, tuple[object, ...]] = {}
        for number, result in enumerate(separated):
            value = dict(result.variant).get(name)
            if value is None:
                continue
            layouts[number] = (result.kind, result.settings, result.nodes, result.threads_per_node)
            found.setdefault(layouts[number], set()).add(value)
        several = {layout for layout, values in found.items() if len(values) > 1}
        lines = {layout[:2] for layout in several}
        for number, layout in layouts.items():
            if layout in several or (name == "compute factor" and layout[:2] in lines):
                setting = (name, dict(separated[number].variant)[name])
                separated[number] = replace(separated[number], settings=tuple(sorted({*separated[number].settings, setting})))
    return separated


def place(one: Point, by: str) -> int:
    return one.threads if by == "threads" else one.nodes


def _apart(points: Sequence[Point], by: str) -> list[tuple[str, tuple[Point, ...]]]:
    """Returns one line, or one for each number of threads per node where layouts would coincide."""
    ordered = sorted(points, key=lambda one: (place(one, by), one.threads_per_node))
    places = [place(one, by) for one in ordered]
    if len(set(places)) == len(places):
        return [("", tuple(ordered))]
    lines = []
    for per_node in sorted({one.threads_per_node for one in ordered}):
        own = [one for one in ordered if one.threads_per_node == per_node]
        # A line of any layout begins with the one thread that they share.
        alone = [one for one in ordered if one.threads == 1 and place(one, by) not in {place(o, by) for o in own}]
        line = tuple(sorted([*alone, *own], key=lambda one: place(one, by)))
        if any(one.threads > 1 for one in line):
            lines.append((f"{per_node} thread{'s' if per_node > 1 else ''} per node", line))
    return lines


def _label(settings: Settings, all_settings: Sequence[Settings]) -> str:
    """Names settings in which the lines differ."""
    own = dict(settings)

    def differs(name: str) -> bool:
        # A platform's hash is of interest only beside another one of the same name.
        others = [dict(other) for other in all_settings]
        if name == "hash":
            others = [other for other in others if other.get("platform") == own["platform"]]
        return any(other.get(name) != own[name] for other in others)

    def words(name: str, value: str) -> str:
        if name == "platform":
            return value
        return f"{own['platform']} {value}" if name == "hash" else f"{name} {value}"

    differing = [(name, value) for name, value in settings if differs(name)]
    if any(name == "hash" for name, _ in differing):  # which includes the platform's name
        differing = [(name, value) for name, value in differing if name != "platform"]
    return ", ".join(words(name, value) for name, value in differing)


def _reference(program: str, kind: str, settings: Settings, results: Sequence[Result], notes: list[str]) -> float:
    alone = [result for result in results if result.threads == 1]
    alike = [result for result in alone if result.kind == kind and result.settings == settings]
    of_kind = [result for result in alone if result.kind == kind]
    chosen = alike or of_kind or alone
    if not chosen:
        why = "no result of one thread, which speedup refers to. Give one, or --sequential-time"
        raise NoReference(f"{program}: {why}")
    if not alike:
        which = f"the {chosen[0].kind} one-thread time{'' if of_kind else ', as there is no other'}"
        note = f"{program}: {kind} speedups refer to {which} ({chosen[0].file})"
        if note not in notes:
            notes.append(note)
    return point(chosen if of_kind or alike else [replace(one, band_s=None) for one in chosen]).time_s
