"""Results of `sdsm simulate`, `sdsm run` and `sdsm replay` as typed values: docs/result-format.md says what each field is.

Every command that reads them reads them here. Fields that this version does not know are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec

from sdsm.readers.text import Text

FORMAT = 1
#: An account's terms are exact inside the simulator; their decimal forms may each be off in the last digit.
ACCOUNT_TOLERANCE_S = 1e-6

Seconds = Annotated[float, msgspec.Meta(ge=0, lt=1e9)]
Count = Annotated[int, msgspec.Meta(ge=0, lt=10**18)]
Positive = Annotated[int, msgspec.Meta(ge=1, lt=1 << 32)]
Words = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


#: Words for `extrapolated`; for a layout's costs one word.
_OF_LAYOUT = {"barrier": "barriers", "lock": "locks"}
_EXTRAPOLATED = {
    "page-size": "pages of this size", "atomic": "atomic operations", "memory-bus": "so many threads that share a node's memory",
}  # fmt: skip


def why_extrapolated(names: Iterable[str]) -> str:
    """Describes what the platform lacks; empty if nothing is extrapolated."""
    all_names = list(names)
    lacking = [_EXTRAPOLATED.get(name, name) for name in all_names if name not in _OF_LAYOUT]
    if of_layout := [words for name, words in _OF_LAYOUT.items() if name in all_names]:
        lacking.append(f"{' and '.join(of_layout)} of this layout")
    return f"extrapolated: the platform has no costs of {' and '.join(lacking)}" if lacking else ""


class Times(msgspec.Struct, frozen=True):
    """A thread's time by item. fault: by kind."""

    compute: Seconds
    fault: dict[str, Seconds]
    diff: Seconds
    protect: Seconds
    barrier: Seconds
    lock: Seconds
    stolen: Seconds
    idle: Seconds


class StolenFrom(msgspec.Struct, frozen=True):
    """Stolen time by what the thread did meanwhile. fault: by kind."""

    compute: Seconds = 0.0
    fault: dict[str, Seconds] = msgspec.field(default_factory=dict)
    diff: Seconds = 0.0
    protect: Seconds = 0.0
    barrier: Seconds = 0.0
    lock: Seconds = 0.0
    idle: Seconds = 0.0


def _by_term(times: Times | StolenFrom) -> dict[str, float]:
    """Returns times by term: "compute", "fault WROH", ..., "idle"."""
    terms: dict[str, float] = {}
    for term, value in msgspec.structs.asdict(times).items():
        terms |= {f"fault {kind}": time for kind, time in value.items()} if term == "fault" else {term: value}
    return terms


class Thread(msgspec.Struct, frozen=True):
    """A thread's times and counts. Only native runs have traps, pages_served, page_service_s and trap_s, only simulations
    stolen_from_s and added_computing_s."""

    id: Count
    node: Count
    time_s: Times
    faults: dict[str, Count]
    barriers: Count
    locks: Count
    messages: Count
    bytes: Count
    messages_by_kind: dict[str, Count]
    served: Count
    served_bytes: Count
    diffs: Count
    diff_bytes: Count
    traps: Count = 0
    atomics: Count = 0
    waits: Count = 0
    prefetched: Count = 0
    pages_served: Count = 0
    page_service_s: Seconds = 0.0
    trap_s: Seconds = 0.0
    stolen_from_s: StolenFrom = StolenFrom()
    added_computing_s: Annotated[float, msgspec.Meta(gt=-1e9, lt=1e9)] = 0.0

    def account_s(self) -> dict[str, float]:
        """Terms that sum to the makespan: "compute", "fault WROH", ..., "idle"."""
        return _by_term(self.time_s)

    def account_as_of_a_run_s(self) -> dict[str, float]:
        """Returns account_s() with stolen time where a run has it: in what the thread did meanwhile."""
        terms = self.account_s()
        stolen_s = terms.pop("stolen")
        for term, seconds in _by_term(self.stolen_from_s).items():
            terms[term] = terms.get(term, 0.0) + seconds
            stolen_s -= seconds
        terms["compute"] += max(stolen_s, 0.0)  # results of older versions lack the parts
        return terms

    def counts(self) -> dict[str, int]:
        """Returns all counts but faults; messages by kind as "messages_diff" and so on."""
        names = ("barriers", "locks", "messages", "bytes", "diffs", "diff_bytes", "served", "served_bytes")
        counts = {name: getattr(self, name) for name in names}
        return counts | {f"messages_{kind}": count for kind, count in self.messages_by_kind.items()}


class Part(msgspec.Struct, frozen=True):
    makespan_s: Seconds
    threads: tuple[Thread, ...]


class Input(msgspec.Struct, frozen=True):
    path: str
    sha256: str


class Run(msgspec.Struct, frozen=True):
    """The common part of simulated and native runs."""

    program: Words
    nodes: Positive
    threads_per_node: Positive
    makespan_s: Seconds
    threads: tuple[Thread, ...]
    whole_run: Part
    options: dict[str, bool | int | float | str | list[str]]
    inputs: tuple[Input, ...]
    versions: dict[str, str]
    protocol: str = "scash"  # of older results, which name none


class Uncertainty(msgspec.Struct, frozen=True):
    median_s: Seconds
    low_5_percent_s: Seconds
    high_95_percent_s: Seconds


class Baselines(msgspec.Struct, frozen=True):
    """Times without queues (docs/simulation.md)."""

    counts_s: Seconds
    critical_path_s: Seconds


class Simulation(Run, frozen=True, kw_only=True):
    inputs: Annotated[tuple[Input, ...], msgspec.Meta(min_length=2)]  # the trace, then the platform
    seed: int
    extrapolated: tuple[str, ...]
    set: tuple[str, ...] = ()
    uncertainty: Uncertainty | None = None
    baselines: Baselines | None = None

    @property
    def computing_s(self) -> float:
        """Time of the program's computing on one processor with memory of its own: that of all threads together, without what
        costs and noise of the platform add; or the one-thread time if a trace of one thread replaces it, as several threads
        may compute more than one."""
        alone_s = self.options.get("sequential_time_s")
        if self.options.get("compute_from") == "sequential-trace" and isinstance(alone_s, int | float):
            return alone_s
        return sum(max(thread.time_s.compute - thread.added_computing_s, 0.0) for thread in self.threads)


class Repeat(msgspec.Struct, frozen=True):
    makespan_s: Seconds


class Native(Run, frozen=True, kw_only=True):
    median_s: Seconds
    min_s: Seconds
    max_s: Seconds
    runs: Annotated[tuple[Repeat, ...], msgspec.Meta(min_length=1)]


class ReplayedRow(msgspec.Struct, frozen=True):
    what: str
    simulated_s: Seconds


class Replay(msgspec.Struct, frozen=True):
    rows: tuple[ReplayedRow, ...]


#: Document types by their kind, and the command that writes each.
_KINDS: Mapping[type[Any], tuple[str, str]] = {
    Simulation: ("simulation", "sdsm simulate --json"),
    Native: ("native", "sdsm run --json"),
    Replay: ("replay", "sdsm replay --json"),
}
_Document = TypeVar("_Document", bound=msgspec.Struct)


def read(source: Text, *accepted: type[_Document]) -> _Document:
    """Reads a result. accepted: of Simulation, Native and Replay. Raises ReadError with file and line for anything else, or
    for a contradiction."""
    kinds = {_KINDS[kind][0]: kind for kind in accepted}
    advice = f"Give what {' or '.join(_KINDS[kind][1] for kind in accepted)} wrote"
    document = source.json if source.looks_like_json else None
    if not isinstance(document, dict):
        source.refuse(1, f"no JSON object. {advice}")
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        _refuse(source, f"kind {_shown(kind)} is not {' or '.join(map(repr, kinds))}. {advice}", "kind")
    if document.get("format") != FORMAT or isinstance(document["format"], bool):
        _refuse(source, f"format {_shown(document.get('format'))} is not {FORMAT}. Use a newer sdsm", "format")
    try:
        found = msgspec.convert(document, kinds[kind])
    except msgspec.ValidationError as error:
        _refuse_invalid(source, str(error))
    if isinstance(found, Run):
        _check(source, found)
    return found


def _check(source: Text, run: Run) -> None:
    for threads, path in ((run.threads, ("threads",)), (run.whole_run.threads, ("whole_run", "threads"))):
        if len(threads) != run.nodes * run.threads_per_node:
            product = run.nodes * run.threads_per_node
            what = f"{len(threads)} threads, but nodes x threads_per_node is {product}. Correct or leave out the file"
            _refuse(source, what, *path)
    if isinstance(run, Native):
        times = [one.makespan_s for one in run.runs]
        if (run.min_s, run.max_s) != (min(times), max(times)) or not run.min_s <= run.median_s <= run.max_s:
            _refuse(source, "min_s, median_s and max_s are not those of the runs. Correct or leave out the file", "min_s")
    elif isinstance(run, Simulation):
        for thread in run.threads:
            total_s = sum(thread.account_s().values())
            if not abs(total_s - run.makespan_s) <= ACCOUNT_TOLERANCE_S:
                what = f"thread {thread.id}'s times sum to {total_s:.6f} s, but the makespan is {run.makespan_s:.6f} s"
                _refuse(source, f"{what}. Correct or leave out the file", "makespan_s")
        if run.uncertainty and run.uncertainty.low_5_percent_s > run.uncertainty.high_95_percent_s:
            what = "the band's low end is above its high end. Correct or leave out the file"
            _refuse(source, what, "uncertainty", "low_5_percent_s")


def _shown(value: Any) -> str:
    return repr(str(value)[:40])


def _refuse(source: Text, what: str, *path: str | int) -> NoReturn:
    source.refuse(source.json_line(*path), what)


def _refuse_invalid(source: Text, message: str) -> NoReturn:
    """Raises the error for msgspec's `message`, such as "Expected `int`, got `str` - at `$.threads[1].barriers`"."""
    what, _, where = message.partition(" - at `$")
    path = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", where)]
    name = ".".join(map(str, path))
    _refuse(source, f"{name}{': ' if name else ''}{what}. Give the file as it was written", *path)
