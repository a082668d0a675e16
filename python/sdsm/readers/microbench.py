"""Reader of the output of `sdsm microbench -o FILE`, and of build/microbench, the program that it runs.

The former is recognised by `"format": "sdsm-microbench"`: samples in nanoseconds by layout and quantity, what homes
took to serve pages, and the bare system's samples (quantities that begin with `system.`). The latter is one object of
lists of samples, recognised by their names, and tells no layout.

Seen: both.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn, TypeGuard

from sdsm.base import costs
from sdsm.microbench import command as microbench
from sdsm.readers import bounds
from sdsm.readers.measurement import Key, Measurement, Reading, Setting
from sdsm.readers.text import Text

NAME = "sdsm microbench"
SEEN = True
WORD_BYTES = 4
#: Faults, one sample each.
SINGLE = "RUMR.single"
#: Cost of an own page's first write behind its trap, which leaves caches cold: one sample a run.
COLD = "WROH.cold"
#: Trap of an own page's first write before and after its handler: one sample a run.
TRAP = "WROH.trap"
#: Extra time of a node's first fetch of a page over later ones: one sample a run.
FIRST_COPY = "RUMR.first-copy"
#: Extra time of an own page's first write over later ones: one sample a run.
FIRST_WRITE = "WROH.first-write"
#: Faults whose home's thread waits.
WAITING = "RUMR.waiting"
#: Service time of each at a computing home.
HOME = "RUMR.home"
#: Times of one piece of work on all processors at once, and from piece to piece.
PACE, PACE_EVERY = "pace", "pace.every"
#: Faults in a row, whose mean is a sample, in outputs without this number; where all nodes act at once.
OLD_BURST, OLD_BURST_TOGETHER = 16, 64
MOST_BURST = 1 << 20

_OTHER_QUANTITY = re.compile(r"barrier(?:\.(?:dirty|apart)[0-9]+)?|lock|release\.[0-9]+|RUMR\.(?:single|home|waiting|first|first-copy)|WROH\.(?:cold|trap|first|again|first-write)|WUMR\.first|WROL\.first|pace(?:\.every)?|stream\.(?:alone|together)")


def recognises(source: Text) -> bool:
    if not source.looks_like_json:
        return False
    document = source.json
    if not isinstance(document, dict):
        return False
    if "format" in document:
        return document["format"] == microbench.FORMAT
    return any(isinstance(samples, list) and _is_quantity(name) for name, samples in document.items())


def read(source: Text) -> Reading:
    """Reads every sample, in ns, in the order written. Keys: nodes, threads_per_node, emulated; rounds: number of equally
    long successive runs of the samples; burst: number of successive pages of a fault's sample, if that is not OLD_BURST.
    Raises ReadError."""
    if "format" in source.json:
        return _Document(source).read()
    samples = {name: values for name, values in source.json.items() if name != "burst"}
    measurements = _quantities(source, samples, (), "", _burst(source, source.json, samples, ()))
    return Reading(source.file, NAME, tuple(measurements))


def _is_quantity(name: str) -> bool:
    return name in costs.fault_names() or _OTHER_QUANTITY.fullmatch(name) is not None


class _Document:
    """A document of `sdsm microbench`."""

    def __init__(self, source: Text) -> None:
        self.source = source
        self.document: dict[str, Any] = source.json
        self.measurements: list[Measurement] = []
        self.settings: list[Setting] = []
        self.keys: dict[str, Key] = {}

    def read(self) -> Reading:
        for name, wanted in (("version", microbench.VERSION), ("unit", "ns")):
            found = self.document.get(name)
            if found != wanted or isinstance(found, bool):
                self.refuse(f"{name} is {str(found)[:40]!r}, where {wanted} is known. Measure again", name)
        machine = self.document.get("machine")
        for name in machine if isinstance(machine, dict) else ():
            self.setting("machine", name)
        for name in ("emulated", "transport"):
            self.setting(name)
        emulated = self.document.get("emulated")
        if isinstance(emulated, str):
            self.keys["emulated"] = emulated
        elif emulated is not None:
            self.refuse(
                f"emulated is {str(emulated)[:40]!r}, no platform file. Correct or leave out the file", "emulated"
            )
        layouts = self.document.get("layouts")
        if not isinstance(layouts, dict) or not layouts:
            self.refuse("no layout was measured. Measure again", "layouts")
        for name, part in layouts.items():
            self.layout(name, part)
        if "system" in self.document:
            samples = self.samples(self.document["system"], "system")
            self.measurements += _quantities(self.source, samples, ("system", "samples_ns"), "system.", {})
        return Reading(self.source.file, NAME, tuple(self.measurements), tuple(self.settings))

    def layout(self, name: str, part: Any) -> None:
        path = ("layouts", name)
        samples = self.samples(part, *path)
        try:
            chosen = microbench.layout(name)
        except ValueError as error:
            self.refuse(f"{error}. Correct or leave out the file", *path)
        for member, wanted in (("nodes", chosen.nodes), ("threads_per_node", chosen.threads_per_node)):
            if part.get(member) != wanted:
                self.refuse(
                    f"{member} of layout {name} is {str(part.get(member))[:40]!r}. Leave out the file", *path, member
                )
        rounds = part.get("rounds", 1)
        if not isinstance(rounds, int) or isinstance(rounds, bool) or not 1 <= rounds <= microbench.MOST_SAMPLES:
            self.refuse(f"rounds is {str(rounds)[:40]!r}, no number of runs. Correct or leave out the file", *path, "rounds")
        for quantity, values in samples.items():
            if isinstance(values, list) and len(values) % rounds:
                self.refuse(
                    f"rounds is {rounds}, but {len(values)} samples of {quantity} are not {rounds} runs' of equal length. Measure again",
                    *path,
                    "rounds",
                )
        burst = _burst(self.source, part, samples, path)
        keys: dict[str, Key] = {"nodes": chosen.nodes, "threads_per_node": chosen.threads_per_node, **self.keys, **burst}
        if rounds > 1:
            keys["rounds"] = rounds
        self.measurements += _quantities(self.source, samples, (*path, "samples_ns"), "", keys)
        if "pages_served" in part or "page_service_s" in part:
            served = self.number(part, "pages_served", *path)
            time = self.number(part, "page_service_s", *path)
            if served > 0 and time == 0:
                self.source.damaged_at(f"page_service_s is 0 for {served:g} pages", *path, "page_service_s")
            place = self.source.at(self.source.json_line(*path, "pages_served"))
            self.measurements.append(Measurement("pages served", (served,), "1", "count", place, keys=keys))
            place = self.source.at(self.source.json_line(*path, "page_service_s"))
            self.measurements.append(Measurement("page service", (time,), "s", "sum", place, int(served), keys=keys))

    def samples(self, part: Any, *path: str) -> dict[str, Any]:
        samples = part.get("samples_ns") if isinstance(part, dict) else None
        if not isinstance(samples, dict) or not samples:
            self.refuse(f"{path[-1]} has no samples_ns by quantity. Measure again", *path)
        return samples

    def setting(self, *path: str) -> None:
        value: Any = self.document
        for name in path:
            value = value.get(name)
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            self.settings.append(Setting(path[-1], value, "1", self.source.at(self.source.json_line(*path))))

    def number(self, part: dict[str, Any], name: str, *path: str) -> float:
        value = part.get(name)
        if not _is_number(value) or value < 0:
            self.refuse(f"{name} is {str(value)[:40]!r}, no such number. Correct or leave out the file", *path, name)
        return value

    def refuse(self, what: str, *path: str) -> NoReturn:
        self.source.refuse(self.source.json_line(*path), what)


def _burst(source: Text, part: dict[str, Any], samples: dict[str, Any], path: tuple[str, ...]) -> dict[str, Key]:
    """Returns the burst's key. Raises ReadError."""
    burst = part.get("burst", OLD_BURST_TOGETHER if part.get("together") is True else OLD_BURST)
    if not isinstance(burst, int) or isinstance(burst, bool) or not 1 <= burst <= MOST_BURST:
        source.refuse(source.json_line(*path, "burst"), f"burst is {str(burst)[:40]!r}, no number of pages. Correct or leave out the file")
    singles = samples.get(SINGLE)
    if "burst" in part and isinstance(singles, list) and len(singles) % burst:
        source.refuse(
            source.json_line(*path, "burst"), f"{len(singles)} samples of {SINGLE} are no bursts of {burst} pages. Measure again"
        )
    return {} if burst == OLD_BURST else {"burst": burst}


def _quantities(
    source: Text, samples: dict[str, Any], path: tuple[str, ...], prefix: str, keys: dict[str, Key]
) -> list[Measurement]:
    """Returns one measurement for each list of samples below `path`. Raises ReadError for anything else."""
    measurements = []
    for name, values in samples.items():
        line = source.json_line(*path, name)
        if not isinstance(values, list) or not values:
            source.refuse(line, f"{name} is no list of samples. Give the benchmark's own output")
        exempt = bounds.exemption(NAME, prefix + name)
        for index, value in enumerate(values):
            what = bounds.wrong(exempt, "ns", value) if _is_number(value) else "no time in ns"
            if what is not None:
                what = f"sample {index + 1} of {name} is {str(value)[:40]!r}, {what}"
                source.damaged_at(what, *path, name, index)
        words = name.removeprefix("release.")
        if words != name and words.isdigit() and int(words) > (most := costs.sizes().page_bytes // WORD_BYTES):
            source.refuse(line, f"{name}: a page has {most} words. Correct or leave out the file")
        place = source.at(line)
        measurements.append(Measurement(prefix + name, tuple(values), "ns", "samples", place, len(values), keys=keys))
    return measurements


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e18
