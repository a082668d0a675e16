"""A sweep's folder: sweep.json describes the sweep, kept/ has a result for each point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from sdsm.base.command_line import BadInput
from sdsm.base.result_types import Sweep, SweepPoint
from sdsm.base.tracing import sha256
from sdsm.readers import ReadError
from sdsm.readers.text import Text, load_input
from sdsm.sweep.answer import answers
from sdsm.sweep.points import Point
from sdsm.sweep.results import Done, kept_result
from sdsm.sweep.spec import Question, Spec, is_file

FORMAT = 1
NAME = "sweep.json"
RESULTS = "kept"


@dataclass(frozen=True)
class Kept:
    spec: Spec
    done: Sequence[Done]

    def answers(self) -> list[str]:
        return [sentence for question in self.spec.questions for sentence in answers(self.spec, question, self.done)]

    def named(self, name: Callable[[str, str], str]) -> Kept:
        """Returns the sweep with files in axes and traces renamed by `name(axis, file)`."""

        def named(axis: str, value: str) -> str:
            return name(axis, value) if axis == "trace" or is_file(axis) else value

        axes = {axis: tuple(named(axis, value) for value in values) for axis, values in self.spec.axes.items()}
        done = []
        for one in self.done:
            values = {axis: named(axis, value) for axis, value in one.point.values.items()}
            done.append(replace(one, point=replace(one.point, values=values)))
        return Kept(replace(self.spec, axes=axes), done)


def document(spec: Spec, done: Sequence[Done]) -> dict[str, Any]:
    """Returns the document of sweep.json (docs/result-format.md): the same whether or not the sweep was interrupted."""
    kept = Kept(spec, done)
    return {
        "format": FORMAT,
        "kind": "sweep",
        "program": list(spec.program),
        "axes": {axis: list(values) for axis, values in spec.axes.items()},
        "x": spec.x,
        "panels": spec.panels,
        "find": [vars(question) for question in spec.questions],
        "answers": kept.answers(),
        "inputs": [{"path": path, "sha256": sha256(Path(path))} for path in _inputs(spec, done)],
        "points": [_point(one) for one in done],
    }


def _point(one: Done) -> dict[str, object]:
    key = None if one.point.error else one.point.key
    time_s = one.result.makespan_s if one.result else None
    named = {"values": dict(one.point.values), "trace": str(one.point.trace)}
    return named | {"key": key, "makespan_s": time_s, "error": one.error}


def _inputs(spec: Spec, done: Sequence[Done]) -> Iterator[str]:
    files = dict.fromkeys(str(one.point.trace) for one in done if not one.point.error)
    yield from [*files, *(file for axis in filter(is_file, spec.axes) for file in spec.axes[axis])]


def read(folder: Path) -> Kept:
    """Raises BadInput."""
    source = load_input(folder / NAME, "Name a folder that sdsm sweep wrote")
    document = source.json if source.looks_like_json else None
    if not isinstance(document, Mapping) or (document.get("format"), document.get("kind")) != (FORMAT, "sweep"):
        source.refuse(1, "is not what this version of sdsm sweep writes. Sweep again")
    try:
        found = msgspec.convert(document, Sweep)
    except msgspec.ValidationError as error:
        source.refuse(1, f"{error}. Sweep again")
    questions = tuple(Question(one.axis, one.what, one.end) for one in found.find)
    traces = tuple(Path(name) for name in dict.fromkeys(one.trace for one in found.points))
    spec = Spec(folder / NAME, found.axes, traces, found.program, questions, found.x, found.panels)
    return Kept(spec, [_done(source, folder, one) for one in found.points])


def _done(source: Text, folder: Path, kept: SweepPoint) -> Done:
    point = Point(kept.values, Path(kept.trace), kept.error)
    if kept.error or kept.key is None:
        return Done(point, None, kept.error)
    place = folder / RESULTS / f"{kept.key}.json"
    try:
        return Done(point, kept_result(place))
    except (OSError, UnicodeDecodeError, ReadError) as error:
        raise BadInput(f"{place}: a point's result cannot be read ({error}). Sweep again, which makes it anew") from None
