"""Reader of this project's microbench: one JSON object, for each quantity its samples in nanoseconds.

Two forms. The plain one, `{"WROH": [6810, 6479], "barrier": [72030, 63239]}`, tells no layout. The one with a header
is recognised by `"format": "sdsm-microbench"`: `version` is 1 if given, `unit` is "ns" if given, the samples are the
lists under "samples", or else in the object itself; every other member that is a number or a text becomes a setting
(nodes and threads_per_node also keys of each measurement).

Seen: the plain form.
"""

from __future__ import annotations

import re
from typing import Any

from calibration.readers.measurement import Key, Measurement, Reading, Setting, untried
from calibration.readers.text import Text

NAME = "sdsm microbench"
SEEN = True
FORMAT = "sdsm-microbench"

#: The ten page faults of SCASH, as the benchmark names them.
FAULTS = ("WROH", "WROL", "WROR", "WRWH", "WRWL", "WRWR", "WUMR", "RRWR", "RROR", "RUMR")

_OTHER_QUANTITY = re.compile(r"barrier(?:\.dirty[0-9]+)?|lock|release\.[0-9]+")
_LAYOUT = ("nodes", "threads_per_node")


def recognises(source: Text) -> bool:
    if not source.looks_like_json:
        return False
    document = source.json
    if not isinstance(document, dict):
        return False
    if "format" in document:
        return document["format"] == FORMAT
    return any(isinstance(samples, list) and _is_quantity(name) for name, samples in document.items())


def read(source: Text) -> Reading:
    """Every sample, in ns, in the order written. Raises ReadError."""
    document: dict[str, Any] = source.json
    settings: list[Setting] = []
    keys: dict[str, Key] = {}
    has_header = document.get("format") == FORMAT
    nested = has_header and isinstance(document.get("samples"), dict)
    if has_header:
        if document.get("version", 1) != 1:
            source.refuse(source.json_line("version"), f"version {document['version']!r} is not 1. Use a newer sdsm")
        if document.get("unit", "ns") != "ns":
            source.refuse(
                source.json_line("unit"), f"unit {document['unit']!r} is not ns. Correct or leave out the file"
            )
        for name, value in document.items():
            if isinstance(value, (int, float, str)) and not isinstance(value, bool) and name not in ("format", "unit"):
                settings.append(Setting(name, value, "1", source.at(source.json_line(name))))
        for name in _LAYOUT:
            if name in document:
                keys[name] = _layout(source, name, document[name])
    samples: dict[str, Any] = document["samples"] if nested else document
    path = ("samples",) if nested else ()
    measurements = []
    for name, values in samples.items():
        if has_header and not nested and not isinstance(values, list):
            continue
        numbers = _samples(source, name, values, (*path, name))
        place = source.at(source.json_line(*path, name))
        measurements.append(Measurement(name, numbers, "ns", "samples", place, len(numbers), keys=keys))
    if not measurements:
        source.refuse(1, "no samples. Was the benchmark stopped?")
    warnings = (untried(source.file, f"{NAME} with a header"),) if has_header else ()
    return Reading(source.file, NAME, tuple(measurements), tuple(settings), warnings)


def _is_quantity(name: str) -> bool:
    return name in FAULTS or _OTHER_QUANTITY.fullmatch(name) is not None


def _layout(source: Text, name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1 << 20:
        source.refuse(
            source.json_line(name), f"{name} is {value!r}, no number of at least 1. Correct or leave out the file"
        )
    return value


def _samples(source: Text, name: str, values: Any, path: tuple[str, ...]) -> tuple[float, ...]:
    if not isinstance(values, list) or not values:
        source.refuse(source.json_line(*path), f"{name} is no list of samples. Give the benchmark's own output")
    for index, value in enumerate(values):
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < 1e18:
            line = source.json_line(*path, index)
            source.refuse(
                line,
                f"sample {index + 1} of {name} is {str(value)[:40]!r}, no time in ns. Correct or leave out the file",
            )
    return tuple(values)
