"""Whole result documents of made-up runs, as `sdsm simulate --json` and `sdsm run --json` write them."""

from __future__ import annotations

from typing import Any

ORIGIN = [{"path": "a.trace", "sha256": "0" * 64}, {"path": "platforms/machine.xml", "sha256": "1" * 64}]
TERMS = {"compute": 0.0, "fault": {}, "diff": 0.0, "protect": 0.0, "barrier": 0.0, "lock": 0.0, "stolen": 0.0, "idle": 0.0}


def thread(number: int, node: int, time_s: dict[str, Any], **more: Any) -> dict[str, Any]:
    """time_s: some of the terms."""
    counts = ("barriers", "locks", "messages", "bytes", "served", "served_bytes", "diffs", "diff_bytes")
    none: dict[str, Any] = {"faults": {}, "messages_by_kind": {}}
    return {"id": number, "node": node, "time_s": TERMS | time_s} | none | dict.fromkeys(counts, 0) | more


def _run(kind: str, nodes: int, makespan_s: float, more: dict[str, Any]) -> dict[str, Any]:
    per_node = more.get("threads_per_node", 1)
    threads = [thread(number, number // per_node, {"compute": makespan_s}) for number in range(int(nodes) * per_node)]
    return {
        "format": 1,
        "kind": kind,
        "program": ["build/laplace", "--impl", "4"],
        "nodes": nodes,
        "threads_per_node": per_node,
        "makespan_s": makespan_s,
        "threads": threads,
        "whole_run": {"makespan_s": makespan_s, "threads": threads},
    }


def simulation(nodes: int, makespan_s: float, **more: Any) -> dict[str, Any]:
    return _run("simulation", nodes, makespan_s, more) | {
        "seed": 1,
        "extrapolated": [],
        "options": {"placement": "as-asked", "jitter": 0.1},
        "inputs": ORIGIN,
        "versions": {"sdsm": "0.1.0", "simgrid": "3.32", "network": "queue"},
    } | more  # fmt: skip


def native(nodes: int, *times_s: float, **more: Any) -> dict[str, Any]:
    ordered = sorted(times_s) or [0.0]
    median_s = ordered[(len(ordered) - 1) // 2]
    return _run("native", nodes, median_s, more) | {
        "median_s": median_s,
        "min_s": ordered[0],
        "max_s": ordered[-1],
        "runs": [{"makespan_s": time} for time in times_s],
        "options": {"placement": "as-asked", "transport": "unix"},
        "inputs": ORIGIN[:1],
        "versions": {"sdsm": "0.1.0"},
    } | more  # fmt: skip
