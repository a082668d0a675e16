"""What Python reads of results. tests/python/result_format.py writes this file from docs/result.schema.json."""

from __future__ import annotations

from typing import Annotated

import msgspec

from sdsm.base.result_parts import Bytes, Change, Count, Index, OfSimulation, OfThread, Positive, Seconds


class Input(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class Baselines(msgspec.Struct, frozen=True, kw_only=True):
    counts_s: Seconds
    critical_path_s: Seconds


class ConstructShare(msgspec.Struct, frozen=True, kw_only=True):
    id: Index
    times: Count
    time_s: dict[str, Seconds | dict[str, Seconds]]
    faults: dict[str, Count]
    diffs: Count
    diff_bytes: Bytes
    messages: Count
    bytes: Bytes


class Construct(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    call_site: Index
    threads: tuple[ConstructShare, ...]


class SiteUse(msgspec.Struct, frozen=True, kw_only=True):
    site: Index
    reads: Count
    writes: Count


class Part(msgspec.Struct, frozen=True, kw_only=True):
    makespan_s: Seconds
    threads: Annotated[tuple[Thread, ...], msgspec.Meta(min_length=1)]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    kind: str
    program: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    nodes: Positive
    threads_per_node: Positive
    protocol: str = "scash"
    makespan_s: Seconds
    inputs: tuple[Input, ...]
    threads: Annotated[tuple[Thread, ...], msgspec.Meta(min_length=1)]
    whole_run: Part
    options: dict[str, bool | int | float | str | list[str]]
    versions: dict[str, str]


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    samples: Positive
    low_5_percent_s: Seconds
    high_95_percent_s: Seconds


class ComputingRange(msgspec.Struct, frozen=True, kw_only=True):
    least_factor: float
    greatest_factor: float
    shortest_s: Seconds
    longest_s: Seconds


class Assumed(msgspec.Struct, frozen=True, kw_only=True):
    costs: tuple[str, ...]
    share: float


class Uncertainty(msgspec.Struct, frozen=True, kw_only=True):
    median_s: Seconds
    low_5_percent_s: Seconds
    high_95_percent_s: Seconds


class Simulation(OfSimulation, Run, frozen=True, kw_only=True):
    seed: Index
    baselines: Baselines | None = None
    constructs: tuple[Construct, ...] = ()
    spread: Spread | None = None
    computing_range: ComputingRange | None = None
    extrapolated: tuple[str, ...]
    assumed: tuple[Assumed, ...] = ()
    set: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] = ()
    uncertainty: Uncertainty | None = None
    inputs: Annotated[tuple[Input, ...], msgspec.Meta(min_length=2)]


class Repeat(msgspec.Struct, frozen=True, kw_only=True):
    makespan_s: Seconds
    retransmissions: Count = 0


class Native(Run, frozen=True, kw_only=True):
    median_s: Seconds
    min_s: Seconds
    max_s: Seconds
    runs: Annotated[tuple[Repeat, ...], msgspec.Meta(min_length=1)]


class Times(msgspec.Struct, frozen=True, kw_only=True):
    compute: Seconds
    fault: dict[str, Seconds]
    diff: Seconds
    protect: Seconds
    barrier: Seconds
    lock: Seconds
    stolen: Seconds
    idle: Seconds


class Thread(OfThread, msgspec.Struct, frozen=True, kw_only=True):
    id: Count
    node: Count
    time_s: Times
    faults: dict[str, Count]
    barriers: Count
    locks: Count
    messages: Count
    bytes: Bytes
    messages_by_kind: dict[str, Count]
    served: Count
    served_bytes: Bytes
    diffs: Count
    diff_bytes: Bytes
    prefetched: Count = 0
    atomics: Count = 0
    waits: Count = 0
    invalidations: Count = 0
    notices: Count = 0
    migrated_in: Count = 0
    migrated_out: Count = 0
    added_computing_s: Change = 0.0
    stolen_from_s: dict[str, Seconds | dict[str, Seconds]] = msgspec.field(default_factory=dict)
    traps: Count = 0
    pages_served: Count = 0
    page_service_s: Seconds = 0.0
    trap_s: Seconds = 0.0


class ReplayedRow(msgspec.Struct, frozen=True, kw_only=True):
    what: str
    simulated_s: Seconds


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    rows: tuple[ReplayedRow, ...]


class CallSite(msgspec.Struct, frozen=True, kw_only=True):
    file: str
    address: Index
    caller: Index


class Site(msgspec.Struct, frozen=True, kw_only=True):
    file: str
    address: Index


class WordRows(msgspec.Struct, frozen=True, kw_only=True):
    thread: tuple[Index, ...]
    region: tuple[Index, ...]
    page: tuple[Index, ...]
    access: tuple[Index, ...]
    site: tuple[Index, ...]
    set: tuple[Index, ...]


class SharedWords(msgspec.Struct, frozen=True, kw_only=True):
    array: str
    rows: WordRows
    sets: tuple[Annotated[tuple[Count, ...], msgspec.Meta(min_length=2)], ...]


class TraceHeader(msgspec.Struct, frozen=True, kw_only=True):
    program: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    threads: Positive
    program_sha256: str
    call_sites: tuple[CallSite, ...]
    sites: tuple[Site, ...]
    words: SharedWords | None = None


class Region(msgspec.Struct, frozen=True, kw_only=True):
    id: Index
    kind: str
    name: str
    pages: Count
    placements: dict[str, str]
    calls: tuple[Count, ...] = ()


class RegionUse(msgspec.Struct, frozen=True, kw_only=True):
    region: Index
    written_by_one: Count
    written_apart: Count
    written_together: Count
    first_phase: Index
    last_phase: Index
    sites: tuple[SiteUse, ...]


class RegionTouches(msgspec.Struct, frozen=True, kw_only=True):
    region: Index
    reads: Count
    writes: Count


class LockUse(msgspec.Struct, frozen=True, kw_only=True):
    class_: str = msgspec.field(name="class")
    lock: Index
    taken: Positive
    threads: Positive
    regions: tuple[RegionTouches, ...]
    sites: tuple[SiteUse, ...]


class AtomicUse(msgspec.Struct, frozen=True, kw_only=True):
    region: Index
    byte: Bytes
    operations: Positive
    threads: Positive


class TraceInfo(msgspec.Struct, frozen=True, kw_only=True):
    header: TraceHeader
    regions: tuple[Region, ...]
    uses: tuple[RegionUse, ...]
    locks: tuple[LockUse, ...]
    atomics: tuple[AtomicUse, ...]


class SweepQuestion(msgspec.Struct, frozen=True, kw_only=True):
    axis: str
    what: str
    end: str


class SweepPoint(msgspec.Struct, frozen=True, kw_only=True):
    values: dict[str, str]
    trace: str
    key: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")] | None
    error: str


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    program: tuple[str, ...]
    axes: dict[str, Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]]
    x: str | None
    panels: str | None
    find: tuple[SweepQuestion, ...]
    points: tuple[SweepPoint, ...]
