"""Reads results of `sdsm simulate`, `sdsm run` and `sdsm replay` as typed values. docs/result-format.md explains each field.

All commands read them here. Fields that this version does not know are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from sdsm.base.children import CommandFailed
from sdsm.base.result_types import Input, Native, Replay, Run, Simulation, Thread
from sdsm.readers.text import ReadError, Text

__all__ = ["Input", "Native", "Replay", "Run", "Simulation", "Thread"]
__all__ += ["apart", "mean_account_s", "printed", "read", "why_doubtful"]

FORMAT = 1
#: An account's terms are exact inside the simulator; their decimal forms may each be off in the last digit.
ACCOUNT_TOLERANCE_S = 1e-6

#: What `extrapolated` names, in words; those of a layout in one.
_OF_LAYOUT = {"barrier": "barriers", "lock": "locks"}
_EXTRAPOLATED = {
    "page-size": "pages of this size", "atomic": "atomic operations", "memory-bus": "so many threads that share a node's memory",
}  # fmt: skip


#: Assumed costs that a sentence names.
_MOST_ASSUMED = 3


def apart(doubts: Iterable[str]) -> dict[str, list[str]]:
    """Returns what the platform lacks as "extrapolated", and what it assumes as "assumed" (Simulation.doubts)."""
    names = list(doubts)
    return {"extrapolated": [name for name in names if "." not in name], "assumed": [name for name in names if "." in name]}


def why_doubtful(doubts: Iterable[str]) -> str:
    """Describes what the platform lacks or assumes (Simulation.doubts); empty if nothing."""
    names, assumed = apart(doubts).values()
    lacking = [_EXTRAPOLATED.get(name, name) for name in names if name not in _OF_LAYOUT]
    if of_layout := [words for name, words in _OF_LAYOUT.items() if name in names]:
        lacking.append(f"{' and '.join(of_layout)} of this layout")
    words = [f"extrapolated: the platform has no costs of {' and '.join(lacking)}"] if lacking else []
    if assumed:
        more = len(assumed) - _MOST_ASSUMED
        words.append(f"built on costs that nobody measured: {', '.join(assumed[:_MOST_ASSUMED])}{f' and {more} more' if more > 0 else ''}")
    return ", and ".join(words)


#: By what each calls itself, and the command that writes it.
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
        source.refuse_at(f"kind {_shown(kind)} is not {' or '.join(map(repr, kinds))}. {advice}", "kind")
    if document.get("format") != FORMAT or isinstance(document["format"], bool):
        source.refuse_at(f"format {_shown(document.get('format'))} is not {FORMAT}. Use a newer sdsm", "format")
    found = source.typed(kinds[kind])
    if isinstance(found, Run):
        _check(source, found)
    return found


def printed(text: str, kind: type[_Document], by: str = "sdsm simulate") -> _Document:
    """Reads what a command printed as JSON. Raises CommandFailed where it is no such result."""
    try:
        return read(Text(f"{by}'s JSON", text), kind)
    except ReadError as error:
        raise CommandFailed(str(error)) from None


def mean_account_s(threads: Sequence[Thread]) -> dict[str, float]:
    """Mean over threads of each term, s, in the order of first appearance; they sum to the makespan."""
    accounts = [thread.account_s() for thread in threads]
    terms = dict.fromkeys(term for one in accounts for term in one)
    return {term: sum(one.get(term, 0.0) for one in accounts) / len(accounts) for term in terms}


def _check(source: Text, run: Run) -> None:
    for threads, path in ((run.threads, ("threads",)), (run.whole_run.threads, ("whole_run", "threads"))):
        if len(threads) != run.nodes * run.threads_per_node:
            product = run.nodes * run.threads_per_node
            source.damaged_at(f"{len(threads)} threads, but nodes x threads_per_node is {product}", *path)
    if isinstance(run, Native):
        times = [one.makespan_s for one in run.runs]
        if (run.min_s, run.max_s) != (min(times), max(times)) or not run.min_s <= run.median_s <= run.max_s:
            source.damaged_at("min_s, median_s and max_s are not those of the runs", "min_s")
    elif isinstance(run, Simulation):
        for thread in run.threads:
            total_s = sum(thread.account_s().values())
            if not abs(total_s - run.makespan_s) <= ACCOUNT_TOLERANCE_S:
                what = f"thread {thread.id}'s times sum to {total_s:.6f} s, but the makespan is {run.makespan_s:.6f} s"
                source.damaged_at(what, "makespan_s")
        if run.uncertainty and run.uncertainty.low_5_percent_s > run.uncertainty.high_95_percent_s:
            source.damaged_at("the band's low end is above its high end", "uncertainty", "low_5_percent_s")


def _shown(value: Any) -> str:
    return repr(str(value)[:40])
