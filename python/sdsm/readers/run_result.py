"""Measurements of `sdsm run --json`: a program's counts and times on the native software DSM.

Only native results are measurements; those of `sdsm simulate` and `sdsm replay` have the same form and are refused, as a
simulation must not be taken for the measurement that it is compared with.

Seen: format 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdsm.base import run_result
from sdsm.readers.measurement import Key, Measurement, Reading, Setting, Spread
from sdsm.readers.text import Text

NAME = "sdsm run JSON"
SEEN = True

#: Members that identify a thread; every other is measured or counted, in the unit of its name's end.
_IDENTITY = ("id", "node")


def recognises(source: Text) -> bool:
    return source.looks_like_json and isinstance(source.json, dict) and {"kind", "format"} <= source.json.keys()


def read(source: Text) -> Reading:
    """Reads times in s; counts by thread in "1" or B. Keys nodes, threads_per_node, thread, part. Raises ReadError."""
    run = run_result.read(source, run_result.Native)
    keys: dict[str, Key] = {"nodes": run.nodes, "threads_per_node": run.threads_per_node}
    spread = Spread(minimum=run.min_s, median=run.median_s, maximum=run.max_s)
    measurements = [
        _measured(source, "makespan", tuple(one.makespan_s for one in run.runs), keys | {"part": "region"}, "runs", spread=spread)
    ]
    measurements += _threads(source, source.json, keys | {"part": "region"})
    whole: dict[str, Key] = keys | {"part": "whole run"}
    measurements.append(_measured(source, "makespan", (run.whole_run.makespan_s,), whole, "whole_run", "makespan_s"))
    measurements += _threads(source, source.json["whole_run"], whole, "whole_run")
    settings = [Setting("program", " ".join(run.program), "1", source.at(source.json_line("program")))]
    settings += [
        Setting(name, value, "1", source.at(source.json_line("options", name)))
        for name, value in run.options.items()
        if not isinstance(value, (bool, list))
    ]
    return Reading(source.file, NAME, tuple(measurements), tuple(settings))


def _threads(source: Text, part: Mapping[str, Any], keys: dict[str, Key], *path: str) -> list[Measurement]:
    """Returns every number of every thread, also those that only a newer sdsm writes."""
    found: list[Measurement] = []
    for index, thread in enumerate(part["threads"]):
        own = keys | {"thread": thread["id"], "node": thread["node"]}
        for name, value in thread.items():
            if name not in _IDENTITY:
                found += _numbers(source, value, name.removesuffix("_s"), own, *path, "threads", index, name)
    return found


def _numbers(source: Text, value: Any, quantity: str, keys: dict[str, Key], *path: str | int) -> list[Measurement]:
    """Returns a number, or each number below an object, named by its path."""
    if isinstance(value, dict):
        return [
            measured
            for name, below in value.items()
            for measured in _numbers(source, below, f"{quantity}.{name}", keys, *path, name)
        ]
    return [_measured(source, quantity, (value,), keys, *path)] if isinstance(value, (int, float)) else []


def _measured(
    source: Text,
    quantity: str,
    values: tuple[float, ...],
    keys: Mapping[str, Key],
    *path: str | int,
    spread: Spread = Spread(),  # noqa: B008 - immutable
) -> Measurement:
    is_time = any(isinstance(step, str) and step.endswith("_s") for step in path) or path == ("runs",)
    unit = "s" if is_time else "B" if str(path[-1]).endswith("bytes") else "1"
    statistic = "samples" if is_time else "count"
    return Measurement(quantity, values, unit, statistic, source.at(source.json_line(*path)), len(values), spread, keys)
