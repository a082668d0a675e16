"""Results of `sdsm simulate --json` and `sdsm run --json`, as far as a plot needs them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from calibration.readers.text import Text, load

PREDICTED, MEASURED = "predicted", "measured"
_KINDS = {"simulation": PREDICTED, "native": MEASURED}
FORMAT = 1


@dataclass(frozen=True)
class Result:
    """One file. Seconds.

    program:  the command line, without the folder that the program was in.
    settings: what else may make a time differ (platform, network, placement, ...), by name.
    times_s:  the predicted time, or that of each run.
    band_s:   the middle 90 % of a prediction, where it was made with --uncertainty.
    """

    file: str
    kind: str
    program: str
    nodes: int
    threads_per_node: int
    settings: tuple[tuple[str, str], ...]
    times_s: tuple[float, ...]
    band_s: tuple[float, float] | None = None

    @property
    def threads(self) -> int:
        return self.nodes * self.threads_per_node


def read(path: str) -> Result:
    """Raises ReadError with file and line for what is no such result, OSError."""
    source = load(path)
    if not source.looks_like_json:
        source.refuse(1, "no JSON. Give what sdsm simulate --json or sdsm run --json wrote")
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: Text) -> None:
        self.source = source
        self.document: Any = source.json

    def read(self) -> Result:
        if not isinstance(self.document, dict) or self.document.get("kind") not in _KINDS:
            what = self.document.get("kind") if isinstance(self.document, dict) else None
            self.refuse(
                f"kind {str(what)[:40]!r} is no predicted or measured run. Give what sdsm simulate --json or sdsm run "
                "--json wrote",
                "kind",
            )
        if self.document.get("format") != FORMAT:
            self.refuse(f"format {str(self.document.get('format'))[:40]!r} is not {FORMAT}. Use a newer sdsm", "format")
        kind = _KINDS[self.document["kind"]]
        words = self.document.get("program")
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            self.refuse("program is no command line. Give the file as it was written", "program")
        times, band = self.predicted() if kind == PREDICTED else (self.runs(), None)
        return Result(
            self.source.file,
            kind,
            " ".join([Path(words[0]).name, *words[1:]]),
            self.count("nodes"),
            self.count("threads_per_node"),
            self.settings(kind),
            times,
            band,
        )

    def predicted(self) -> tuple[tuple[float, ...], tuple[float, float] | None]:
        times = (self.time(self.document, "makespan_s"),)
        told = self.document.get("uncertainty")
        if told is None:
            return times, None
        if not isinstance(told, dict):
            self.refuse("uncertainty is no object. Give the file as it was written", "uncertainty")
        low, high = (self.time(told, name, "uncertainty") for name in ("low_5_percent_s", "high_95_percent_s"))
        if low > high:
            self.refuse("the band's low end is above its high end. Correct or leave out the file", "uncertainty")
        return times, (low, high)

    def runs(self) -> tuple[float, ...]:
        runs = self.document.get("runs")
        if not isinstance(runs, list) or not runs or not all(isinstance(run, dict) for run in runs):
            self.refuse("runs is no list of runs. Give the file as it was written", "runs")
        return tuple(self.time(run, "makespan_s", "runs", index) for index, run in enumerate(runs))

    def settings(self, kind: str) -> tuple[tuple[str, str], ...]:
        """Of a prediction, not the seed: results that differ in nothing else are samples of one thing."""
        options = self.document.get("options")
        found = {}
        names = ("placement", "full_page_diffs", "region", "jitter", "memory_bound") if kind == PREDICTED else ("placement", "transport")
        for name in names:
            value = options.get(name) if isinstance(options, dict) else None
            if isinstance(value, (str, int, float)):
                found[name.replace("_", " ")] = str(value)
        if kind == PREDICTED:
            inputs, versions = self.document.get("inputs"), self.document.get("versions")
            # sdsm simulate names the trace, then the platform.
            if isinstance(inputs, list) and len(inputs) > 1 and isinstance(inputs[1], dict):
                found["platform"] = Path(str(inputs[1].get("path", ""))).name
            if isinstance(versions, dict) and isinstance(versions.get("network"), str):
                found["network"] = versions["network"]
        return tuple(sorted(found.items()))

    def count(self, name: str) -> int:
        value = self.document.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 1 << 32:
            self.refuse(f"{name} is {str(value)[:40]!r}, no such number. Give the file as it was written", name)
        return int(value)

    def time(self, parent: dict[str, Any], name: str, *path: str | int) -> float:
        value = parent.get(name)
        if (
            not isinstance(value, (int, float))
            or isinstance(value, bool)
            or not math.isfinite(value)
            or not 0 < value < 1e9
        ):
            self.refuse(
                f"{name} is {str(value)[:40]!r}, no time that a speedup could be made of. Give the file as it was written",
                *path,
                name,
            )
        return float(value)

    def refuse(self, what: str, *path: str | int) -> NoReturn:
        self.source.refuse(self.source.json_line(*path), what)
