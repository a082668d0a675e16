"""A program's counts as `sdsm run` has them and as `sdsm simulate` has them of its trace."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.traces import traced
from tests.validation.native_runs import BUILD, COMMAND, MEMORY_PROGRAMS, output_of

PLATFORM = BUILD.parent / "platforms" / "p3-score.xml"
WORKLOADS = BUILD / "workloads"
COUNTED = MEMORY_PROGRAMS / "counted"
RANDOM = ("--seed", 31, "--programs", 3, "--phases", 10, "--steps", 40, "--with", "cells,teams,thread-locals")
PLACEMENTS = ("round-robin", "block", "first-touch")

#: Counts that the rules of the protocol decide, whatever the timing.
COUNTS = ("faults", "barriers", "locks", "messages", "messages_by_kind", "diffs", "diff_bytes", "bytes", "served")


def _layout(threads: int, per_node: int, options: tuple) -> tuple:
    """Both commands have atomic operations at the home, unless the options say otherwise. (Simulations have a lock.)"""
    atomics = () if "--atomics" in options or "jiajia" in options else ("--atomics", "home")
    return ("--nodes", threads // per_node, "--threads-per-node", per_node, *atomics, *options)


def simulated(threads: int, *program: object, per_node: int = 1, options: tuple = (), platform: Path = PLATFORM) -> dict:
    command = (BUILD / "sdsm-simulate", traced(threads, *program), "-q", "--platform", platform)
    return json.loads(output_of(*command, *_layout(threads, per_node, options), "--json", "-"))


def executed(threads: int, *program: object, per_node: int = 1, options: tuple = ()) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "run.json"
        output_of(COMMAND, "-q", *_layout(threads, per_node, options), "--json", result, "--", *program)
        return json.loads(result.read_text())


def both(threads: int, *program: object, platform: Path = PLATFORM, **rules) -> tuple[dict, dict]:
    """The run and its simulation."""
    return executed(threads, *program, **rules), simulated(threads, *program, platform=platform, **rules)


def counts(result: dict, left_out: Iterable = (), counted: tuple = COUNTS) -> list[dict]:
    """By thread."""
    compared = [count for count in counted if count not in left_out]
    return [{count: thread[count] for count in compared} for thread in result["threads"]]


def total(result: dict, count: str) -> int:
    return sum(thread[count] for thread in result["threads"])
