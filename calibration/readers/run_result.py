"""Reader of `sdsm run --json`: what a program did and took on the native software DSM.

Recognised by "format": 1 and "kind". Only "native" results are measurements; those of `sdsm simulate` and `sdsm
replay` have the same form and are refused, as a simulation must not be taken for what it is to be held against.

Seen: format 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from calibration.readers.measurement import Key, Measurement, Reading, Setting, Spread
from calibration.readers.text import Text, agree

NAME = "sdsm run JSON"
SEEN = True

#: Members of a thread that say which one it is; every other is measured or counted, in the unit of its name's end.
_IDENTITY = ("id", "node")


def recognises(source: Text) -> bool:
    return source.looks_like_json and isinstance(source.json, dict) and {"kind", "format"} <= source.json.keys()


def read(source: Text) -> Reading:
    """Times in s; counts by thread in "1" or B. Keys nodes, threads_per_node, thread, part. Raises ReadError."""
    return _Reader(source).read()


NO_SPREAD = Spread()


class _Reader:
    def __init__(self, source: Text) -> None:
        self.source = source
        self.measurements: list[Measurement] = []
        self.keys: dict[str, Key] = {}

    def read(self) -> Reading:
        document = self.source.json
        if document["kind"] != "native":
            self.refuse(
                f"a result of kind {str(document['kind'])[:40]!r}, which was not measured. Give the JSON of sdsm run",
                "kind",
            )
        if document["format"] != 1:
            self.refuse(f"format {str(document['format'])[:40]!r} is not 1. Use a newer sdsm", "format")
        nodes = self.number(document, "nodes")
        per_node = self.number(document, "threads_per_node")
        self.keys = {"nodes": nodes, "threads_per_node": per_node}
        self.makespan(document)
        self.threads(document, "region", nodes * per_node)
        if "whole_run" in document:
            whole = document["whole_run"]
            if not isinstance(whole, dict):
                self.refuse("whole_run is no object. Give the file as it was written", "whole_run")
            keys = self.keys | {"part": "whole run"}
            self.add("makespan", (self.number(whole, "makespan_s", "whole_run"),), "s", keys, "whole_run", "makespan_s")
            self.threads(whole, "whole run", nodes * per_node, "whole_run")
        program = document.get("program")
        settings = []
        if isinstance(program, list) and all(isinstance(word, str) for word in program):
            settings.append(
                Setting("program", " ".join(program), "1", self.source.at(self.source.json_line("program")))
            )
        options = document.get("options")
        for name, value in (options if isinstance(options, dict) else {}).items():
            if isinstance(value, (int, float, str)) and not isinstance(value, bool):
                settings.append(Setting(name, value, "1", self.source.at(self.source.json_line("options", name))))
        return Reading(self.source.file, NAME, tuple(self.measurements), tuple(settings))

    def makespan(self, document: Mapping[str, Any]) -> None:
        runs = document.get("runs")
        if not isinstance(runs, list) or not runs or not all(isinstance(run, dict) for run in runs):
            self.refuse("runs is no list of runs. Give the file as it was written", "runs")
        times = tuple(self.number(run, "makespan_s", "runs", index) for index, run in enumerate(runs))
        low, middle, high = (self.number(document, name) for name in ("min_s", "median_s", "max_s"))
        if not (agree(low, min(times), 0) and agree(high, max(times), 0) and low <= middle <= high):
            self.refuse("min_s, median_s and max_s are not those of the runs. Correct or leave out the file", "min_s")
        spread = Spread(minimum=low, median=middle, maximum=high)
        self.add("makespan", times, "s", self.keys | {"part": "region"}, "runs", spread=spread)

    def threads(self, document: Mapping[str, Any], part: str, expected: int, *path: str | int) -> None:
        threads = document.get("threads")
        if not isinstance(threads, list) or not all(isinstance(thread, dict) for thread in threads):
            self.refuse("threads is no list of threads. Give the file as it was written", *path, "threads")
        if len(threads) != expected:
            self.refuse(
                f"{len(threads)} threads, but nodes x threads_per_node is {expected}. Correct or leave out the file",
                *path,
                "threads",
            )
        for index, thread in enumerate(threads):
            here = (*path, "threads", index)
            keys = self.keys | {
                "part": part,
                "thread": self.number(thread, "id", *here),
                "node": self.number(thread, "node", *here),
            }
            for name, value in thread.items():
                if isinstance(value, dict):
                    self.group(thread, name, name.removesuffix("_s"), "s" if name.endswith("_s") else "1", keys, *here)
                elif name not in _IDENTITY:
                    unit = "s" if name.endswith("_s") else "B" if name.endswith("bytes") else "1"
                    self.add(name.removesuffix("_s"), (self.number(thread, name, *here),), unit, keys, *here, name)

    def group(
        self, parent: Mapping[str, Any], name: str, label: str, unit: str, keys: dict[str, Key], *path: str | int
    ) -> None:
        """Every number below the object `parent[name]`, named by its way there."""
        members = parent[name]
        for member, value in members.items():
            if isinstance(value, dict):
                self.group(members, member, f"{label}.{member}", unit, keys, *path, name)
            else:
                number = self.number(members, member, *path, name)
                self.add(f"{label}.{member}", (number,), unit, keys, *path, name, member)

    def add(
        self,
        quantity: str,
        values: tuple[float, ...],
        unit: str,
        keys: Mapping[str, Key],
        *path: str | int,
        spread: Spread = NO_SPREAD,
    ) -> None:
        statistic = "count" if unit in ("1", "B") else "samples"
        place = self.source.at(self.source.json_line(*path))
        self.measurements.append(Measurement(quantity, values, unit, statistic, place, len(values), spread, keys))

    def number(self, parent: Mapping[str, Any], name: str, *path: str | int) -> Any:
        value = parent.get(name)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < 1e18:
            self.refuse(f"{name} is {str(value)[:40]!r}, no such number. Give the file as it was written", *path, name)
        return value

    def refuse(self, what: str, *path: str | int) -> NoReturn:
        self.source.refuse(self.source.json_line(*path), what)
