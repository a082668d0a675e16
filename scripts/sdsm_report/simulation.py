"""Results of `sdsm simulate`: run, checked, kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration.output_file import write_output
from sdsm_report.commands import CommandFailed, CommandRunner
from sdsm_report.plan import Layout, SimulationRun

TIME_LIMIT_S = 300.0
FORMAT = 1

ACCOUNT_TOLERANCE_S = 1e-6
"""Times are exact integers inside the simulator; their decimal forms in JSON may each be off in the last digit."""


@dataclass(frozen=True)
class ThreadAccount:
    """Where one thread's time went, and what it did. Keys of time_s: the terms of the result JSON, with the faults
    flattened to "fault WROH" and so on; their values sum to the makespan."""

    thread: int
    node: int
    time_s: dict[str, float]
    faults: dict[str, int]
    counts: dict[str, int]


@dataclass(frozen=True)
class Result:
    makespan_s: float
    threads: tuple[ThreadAccount, ...]
    extrapolated: tuple[str, ...]

    def mean_account_s(self) -> dict[str, float]:
        """Mean over the threads of each term, seconds, in order of first appearance; sums to the makespan."""
        terms = dict.fromkeys(term for thread in self.threads for term in thread.time_s)
        return {
            term: sum(thread.time_s.get(term, 0.0) for thread in self.threads) / len(self.threads) for term in terms
        }


COUNTS = ("barriers", "locks", "messages", "bytes", "diffs", "diff_bytes")
FURTHER_COUNTS = ("served", "served_bytes")


def parse_result(text: str, layout: Layout) -> Result:
    """Reads a result JSON (docs of the format: the result JSON of `sdsm simulate`).

    Raises CommandFailed if it is no result of this format and layout, or if a thread's terms do not sum to the
    makespan: an account that does not add up must not reach a plot.
    """
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise CommandFailed(f"result has format {document['format']!r}, this report reads {FORMAT}")
        if (document["nodes"], document["threads_per_node"]) != (layout.nodes, layout.threads_per_node):
            raise CommandFailed(f"result is of another layout than {layout}")
        makespan_s = float(document["makespan_s"])
        threads = tuple(_thread(thread) for thread in document["threads"])
        extrapolated = tuple(str(name) for name in document.get("extrapolated", []))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandFailed(f"result JSON cannot be read ({type(error).__name__}: {error})") from error
    if len(threads) != layout.threads:
        raise CommandFailed(f"result has {len(threads)} threads, expected {layout.threads}")
    if not makespan_s > 0 or makespan_s == float("inf"):
        raise CommandFailed(f"result has a makespan of {makespan_s} s")
    for thread in threads:
        total_s = sum(thread.time_s.values())
        if not abs(total_s - makespan_s) <= ACCOUNT_TOLERANCE_S:
            raise CommandFailed(
                f"thread {thread.thread}'s times sum to {total_s:.6f} s, but the makespan is {makespan_s:.6f} s"
            )
    return Result(makespan_s, threads, extrapolated)


def _thread(thread: dict[str, Any]) -> ThreadAccount:
    time_s: dict[str, float] = {}
    for term, value in thread["time_s"].items():
        if term == "fault":
            time_s.update({f"fault {kind}": float(time) for kind, time in value.items()})
        else:
            time_s[term] = float(value)
    return ThreadAccount(
        thread=int(thread["id"]),
        node=int(thread["node"]),
        time_s=time_s,
        faults={kind: int(count) for kind, count in thread["faults"].items()},
        counts=_counts(thread),
    )


def _counts(thread: dict[str, Any]) -> dict[str, int]:
    """COUNTS, which every result has, then what simulations add: replies served, messages by kind."""
    counts = {name: int(thread[name]) for name in COUNTS}
    counts.update({name: int(thread[name]) for name in FURTHER_COUNTS if name in thread})
    counts.update({f"messages_{kind}": int(count) for kind, count in thread.get("messages_by_kind", {}).items()})
    return counts


def simulate(
    run: SimulationRun, build: Path, trace: Path, platform: Path, folder: Path, runner: CommandRunner
) -> Result:
    """Runs one simulation and leaves its JSON in `folder`. Raises CommandFailed or Stopped; then no JSON is left."""
    path = folder / f"{run.name}.json"
    path.unlink(missing_ok=True)
    text = runner.run(run.command(build / "sdsm", trace, platform), TIME_LIMIT_S)
    result = parse_result(text, run.configuration.layout)
    folder.mkdir(parents=True, exist_ok=True)
    write_output(path, text)
    return result
