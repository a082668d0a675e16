"""Chooses the most telling part of a timeline: its threads' states over time."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from sdsm.base import run_result
from sdsm.base.command_line import BadInput
from sdsm.readers.text import open_input, unreadable

NAME_A_TIMELINE = "Name a timeline that sdsm simulate or sdsm run wrote"
#: More threads make no better picture.
MOST_SLICES, MOST_THREADS, MOST_ARROWS = 3000, 16, 500
#: Largest number of a simulation's events from which an excerpt is chosen.
MOST_EVENTS = 400_000
#: Margins around the costliest barrier, in parts of its length; and the excerpt of a run without barriers.
BEFORE, AFTER, LAST = 0.4, 0.15, 0.1

Microseconds = Annotated[float, msgspec.Meta(ge=0)]


class _Event(msgspec.Struct, frozen=True):
    ph: str
    name: str
    cat: str = ""
    tid: int = 0
    ts: Microseconds = 0.0
    dur: Microseconds = 0.0
    id: int = -1


class _About(msgspec.Struct, frozen=True):
    run: str
    of: str
    nodes: int
    threads_per_node: int
    cut_events: int
    cut_from_s: float | None = None
    notes: tuple[str, ...] = ()


class _Document(msgspec.Struct, frozen=True):
    about: _About = msgspec.field(name="otherData")
    events: tuple[_Event, ...] = msgspec.field(name="traceEvents")


@dataclass(frozen=True)
class Slice:
    """A thread's time in a state, s from the run's begin."""

    thread: int
    state: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class Arrow:
    sender: int
    receiver: int
    sent_s: float
    arrived_s: float


@dataclass(frozen=True)
class Excerpt:
    """notes: sentences on what is shown, and what is left out."""

    begin_s: float
    end_s: float
    threads: tuple[int, ...]
    slices: tuple[Slice, ...]
    arrows: tuple[Arrow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Timeline:
    """run: "simulated" or "measured". of: a trace or a program. slices: in the order of their beginnings. bounds_s: the
    measured region's, or None. cut_from_s: start of the incomplete part, or None."""

    run: str
    of: str
    nodes: int
    threads_per_node: int
    slices: tuple[Slice, ...]
    arrows: tuple[Arrow, ...]
    bounds_s: tuple[float | None, float | None]
    cut_from_s: float | None


def read(path: Path) -> Timeline:
    """Reads a file of `--timeline FILE.json` (docs/timelines.md). Raises BadInput."""
    try:
        with open_input(path, NAME_A_TIMELINE) as file:
            document = msgspec.json.decode(file.read(), type=_Document)
    except OSError as error:
        raise BadInput(f"{path}: {unreadable(error, NAME_A_TIMELINE)}") from None
    except msgspec.MsgspecError as error:
        raise BadInput(f"{path}: this is no timeline in Chrome's format ({error}). Write one by --timeline FILE.json") from None
    slices: list[Slice] = []
    sent: dict[int, _Event] = {}
    arrows: list[Arrow] = []
    marks: dict[str, float] = {}
    for event in document.events:
        if event.ph == "X" and event.cat == "state":
            slices.append(Slice(event.tid - 1, event.name, event.ts * 1e-6, (event.ts + event.dur) * 1e-6))
        elif event.ph == "s":
            sent[event.id] = event
        elif event.ph == "f" and event.id in sent:
            first = sent.pop(event.id)
            arrows.append(Arrow(first.tid - 1, event.tid - 1, first.ts * 1e-6, event.ts * 1e-6))
        elif event.ph == "i":
            marks[event.name] = event.ts * 1e-6
    about = document.about
    cut_from_s = about.cut_from_s if about.cut_events else None
    bounds_s = (marks.get("measured region begins"), marks.get("measured region ends"))
    slices.sort(key=lambda one: (one.begin_s, one.thread))
    return Timeline(about.run, about.of, about.nodes, about.threads_per_node, tuple(slices), tuple(arrows), bounds_s, cut_from_s)


def excerpt(timeline: Timeline, window_s: tuple[float, float] | None) -> Excerpt:
    """window_s: the wanted part, else the surroundings of the costliest barrier, or the end. Raises BadInput for an empty one."""
    shown = _Shown(timeline)
    if window_s is None:
        begin_s, end_s, why = shown.most_telling()
    else:
        begin_s, end_s, why = *window_s, "The part that was asked for"
    inside = shown.within(begin_s, end_s)
    if not inside:
        raise BadInput(f"--window: no thread does anything between {begin_s:g} s and {end_s:g} s of the run. Choose another part")
    begin_s, end_s = max(begin_s, min(one.begin_s for one in inside)), min(end_s, max(one.end_s for one in inside))
    notes = [f"{why}: {_time(begin_s)} to {_time(end_s)} after the run's begin"]
    left = len(inside) - MOST_SLICES
    if left > 0:
        # The end of the wait says more than its begin.
        inside = inside[left:]
        begin_s = inside[0].begin_s
        notes.append(f"It has more than {MOST_SLICES} slices, so the first {left} are left out, and it begins at {_time(begin_s)}")
        inside = shown.within(begin_s, end_s)
    notes += shown.notes
    if timeline.cut_from_s is not None:
        notes.append(f"The timeline is not whole: it lacks events from {_time(timeline.cut_from_s)} on, where nothing can be chosen from")
    arrows = [one for one in timeline.arrows if one.sender in shown.threads and one.receiver in shown.threads]
    arrows = [one for one in arrows if begin_s <= one.sent_s and one.arrived_s <= end_s]
    if len(arrows) > MOST_ARROWS:
        notes.append(f"Its {len(arrows)} messages are not drawn, as they are more than {MOST_ARROWS}")
        arrows = []
    return Excerpt(begin_s, end_s, shown.threads, tuple(inside), tuple(arrows), tuple(f"{one}." for one in notes))


class _Shown:
    """The threads of a timeline that fit in a picture."""

    def __init__(self, timeline: Timeline) -> None:
        threads = sorted({one.thread for one in timeline.slices})
        self.timeline = timeline
        self.threads = tuple(threads[:MOST_THREADS])
        self.notes = [f"The first {MOST_THREADS} of {len(threads)} threads"] if len(threads) > MOST_THREADS else []
        self._slices = [one for one in timeline.slices if one.thread in self.threads]

    def within(self, begin_s: float, end_s: float) -> list[Slice]:
        last = bisect.bisect_left(self._slices, end_s, key=lambda one: one.begin_s)
        return [one for one in self._slices[:last] if one.end_s > begin_s]

    def most_telling(self) -> tuple[float, float, str]:
        """Returns begin and end, s, and a description."""
        begin_s, end_s = self.timeline.bounds_s
        first_s = begin_s if begin_s is not None else min((one.begin_s for one in self._slices), default=0.0)
        last_s = end_s if end_s is not None else max((one.end_s for one in self._slices), default=0.0)
        waits = [one for one in self._slices if one.state == "barrier" and one.begin_s >= first_s and one.end_s <= last_s]
        if not waits:
            return last_s - LAST * (last_s - first_s), last_s, "The end of the run, which has no barriers" if end_s is None else "The end of the measured region, which has no barriers"
        costliest = max(_meetings(waits), key=lambda one: sum(wait.end_s - wait.begin_s for wait in one))
        came_s, went_s = min(one.begin_s for one in costliest), max(one.end_s for one in costliest)
        length_s = went_s - came_s
        waited_s = {thread: sum(one.end_s - one.begin_s for one in costliest if one.thread == thread) for thread in self.threads}
        last = min(self.threads, key=lambda thread: waited_s[thread])
        why = f"The costliest barrier, where threads wait for {_time(sum(waited_s.values()))} together, thread {last} least"
        return max(first_s, came_s - BEFORE * length_s), min(last_s, went_s + AFTER * length_s), why


def _meetings(waits: Sequence[Slice]) -> list[list[Slice]]:
    """Groups waits by barrier: those that overlap. A thread that works during a barrier has several."""
    found: list[list[Slice]] = []
    until_s = -1.0
    for one in sorted(waits, key=lambda wait: wait.begin_s):
        if one.begin_s >= until_s:
            found.append([])
        until_s = max(until_s, one.end_s)
        found[-1].append(one)
    return found


def _time(time_s: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if time_s * factor >= 1:
            return f"{time_s * factor:.4g} {unit}"
    return f"{time_s * 1e6:.4g} us"


def check(timeline: Timeline, path: Path, result: run_result.Run) -> None:
    """Raises BadInput for a timeline of another run than the result's."""
    kind = "simulated" if isinstance(result, run_result.Simulation) else "measured"
    own = (kind, result.nodes, result.threads_per_node)
    if (timeline.run, timeline.nodes, timeline.threads_per_node) != own:
        found = f"{timeline.run} on {timeline.nodes} x {timeline.threads_per_node}"
        raise BadInput(f"{path}: this is a timeline of another run ({found}) than the result's ({kind} on {own[1]} x {own[2]})")
    of = {result.inputs[0].path, result.program[0]}
    if Path(timeline.of).name not in {Path(one).name for one in of}:
        raise BadInput(f"{path}: this is a timeline of {timeline.of}, and the result is of {' or '.join(sorted(of))}")
    end_s = max((one.end_s for one in timeline.slices), default=0.0)
    if kind == "simulated" and end_s > result.whole_run.makespan_s + 1e-8:
        raise BadInput(f"{path}: this is a timeline of another run: it lasts {_time(end_s)}, and the result's {_time(result.whole_run.makespan_s)}")
