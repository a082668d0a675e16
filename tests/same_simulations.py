#!/usr/bin/env python3
"""Do two checkouts simulate the same? Runs `sdsm simulate` of both on the same traces and compares what they write.

    tests/same_simulations.py OLD NEW INPUT...

OLD, NEW: checkouts that are built in build/. INPUT: a trace, a folder of traces, or a platform file (*.xml; without any:
OLD's own). An order of a run beside a trace (X.order beside X.trace) is repeated, too. Each trace is simulated on each
platform, on both networks, in several layouts, and with every option that changes a result. Status, messages, tables and JSON must be equal byte for byte;
--added NAME lets NEW's JSON have a field that OLD's lacks (the path of its keys, as in versions.costs).

Prints how many runs were equal, and the first difference of each other one. Status: 0 all equal, 1 not, 2 bad usage.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

#: Beside plain runs. What a platform or a layout does not allow, both must refuse with the same words.
OPTIONS = (
    ("--placement", "block"),
    ("--placement", "round-robin"),
    ("--placement", "first-touch"),
    ("--pages", "-"),
    ("--jitter", "0.4", "--seed", "7"),
    ("--memory-bound", "0.5"),
    ("--region", "whole"),
    ("--full-page-diffs",),
    ("--compute-factor", "3.5"),
    ("--sequential-time", "20ms"),
    ("--uncertainty", "10", "--jitter", "0.1"),
)
NETWORKS = ("queue", "simgrid")

Outcome = tuple[int, str, str]


def simulate(checkout: Path, arguments: tuple[str, ...]) -> Outcome:
    """Status, stdout and stderr."""
    command = [str(checkout / "build" / "sdsm"), "simulate", *arguments, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def threads_of(checkout: Path, trace: Path, platform: Path) -> int:
    """Asks for a layout of one thread, which a trace of more refuses."""
    status, _, errors = simulate(checkout, (str(trace), "--platform", str(platform), "--nodes", "1"))
    reported = re.search(r"has (\d+) threads", errors)
    if reported is not None:
        return int(reported[1])
    if status != 0:
        raise SystemExit(f"sdsm: {trace}: {errors.strip()}")
    return 1


def runs_of(checkout: Path, trace: Path, platforms: list[Path]) -> Iterator[tuple[str, ...]]:
    threads = threads_of(checkout, trace, platforms[0])
    per_node = [n for n in (1, 2, threads) if threads % n == 0]
    for platform, network, share in itertools.product(platforms, NETWORKS, dict.fromkeys(per_node)):
        size = ("--nodes", str(threads // share), "--threads-per-node", str(share))
        plain = (str(trace), "--platform", str(platform), "--network", network, *size)
        yield (*plain, "--json", "-")
        yield plain
        if network == NETWORKS[0] or share == per_node[0]:
            for options in OPTIONS:
                yield (*plain, *options) if "--pages" in options else (*plain, *options, "--json", "-")
        if (order := trace.with_suffix(".order")).exists():
            yield (*plain, "--order", str(order), "--json", "-")


def without(text: str, added: set[str]) -> object:
    """The document as nested pairs in order, numbers as they are written, without the fields of those paths."""

    def clean(node: object, path: str) -> object:
        if isinstance(node, list):
            return [clean(one, path) for one in node]
        if not isinstance(node, tuple):
            return node
        named = [(key, value, f"{path}.{key}".lstrip(".")) for key, value in node]
        return tuple((key, clean(value, name)) for key, value, name in named if name not in added)

    return clean(json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=tuple), "")


def difference(old: Outcome, new: Outcome, added: set[str]) -> str:
    """Empty if there is none."""
    if old == new:
        return ""
    are_documents = (old[0], old[2]) == (new[0], new[2]) and old[1].startswith("{") and new[1].startswith("{")
    if added and are_documents and without(old[1], set()) == without(new[1], added):
        return ""
    for what, one, other in zip(("status", "stdout", "stderr"), map(str, old), map(str, new), strict=True):
        for a, b in itertools.zip_longest(one.splitlines(), other.splitlines(), fillvalue="(nothing)"):
            if a != b:
                return f"{what}: {a.strip()!r} became {b.strip()!r}"
    return "the end of a line"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("inputs", type=Path, nargs="+")
    parser.add_argument("--added", action="append", default=[], metavar="NAME")
    request = parser.parse_args()
    platforms = [given for given in request.inputs if given.suffix == ".xml"]
    platforms = platforms or sorted((request.old / "platforms").glob("*.xml"))
    others = [given for given in request.inputs if given.suffix != ".xml"]
    traces = [trace for given in others for trace in (sorted(given.glob("*.trace")) if given.is_dir() else [given])]
    for checkout in (request.old, request.new):
        if not (checkout / "build" / "sdsm").exists():
            parser.error(f"{checkout} is not built: there is no build/sdsm in it")
    if not traces:
        parser.error("no trace in what was given")
    equal = simulated = total = 0
    for trace in traces:
        for run in runs_of(request.old, trace, platforms):
            old, new = simulate(request.old, run), simulate(request.new, run)
            why = difference(old, new, set(request.added))
            total, equal, simulated = total + 1, equal + (not why), simulated + (old[0] == 0)
            if why:
                print(f"simulate {' '.join(run)}: {why}", flush=True)
    print(f"{equal} of {total} runs of {len(traces)} traces are equal ({simulated} simulate, the others are refused)")
    return 0 if equal == total else 1


if __name__ == "__main__":
    sys.exit(main())
