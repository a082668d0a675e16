"""Which value of an axis is best, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdsm_sweep.results import Done
from sdsm_sweep.spec import Question, Spec

UNITS = {"time": " s", "speedup": ""}


def shown(values: dict[str, str]) -> str:
    """Platforms and traces by the file's name alone."""
    return ", ".join(f"{axis.removeprefix('set ')} {value.rsplit('/', 1)[-1]}" for axis, value in values.items())


def varied_values(spec: Spec, one: Done, without: Sequence[str] = ()) -> dict[str, str]:
    """What tells the point from others: by axis that has several values."""
    names = [axis for axis in one.point.values if axis in spec.varied() or axis == "trace"]
    return {axis: one.point.values[axis] for axis in names if axis not in without}


def answers(spec: Spec, question: Question, done: Sequence[Done]) -> Iterator[str]:
    """For each combination of all other axes, seeds apart: the median over seeds counts."""
    groups: dict[str, dict[str, list[float]]] = {}
    for one in done:
        if one.result is not None:
            others = shown(varied_values(spec, one, (question.axis, "seed")))
            places = groups.setdefault(others, {})
            places.setdefault(one.point.values[question.axis], []).append(one.value(question.what))
    choose = min if question.end == "least" else max
    for others, places in groups.items():
        middles = {value: median(found) for value, found in places.items()}
        best = choose(middles, key=lambda value: middles[value])
        where = f"{others}: " if others else ""
        number = f"{middles[best]:.4g}{UNITS[question.what]}"
        yield f"{where}{question.what} is {question.end} at {question.axis} {best.rsplit('/', 1)[-1]}: {number}"


def median(values: Sequence[float]) -> float:
    """The lower one of two in the middle."""
    return sorted(values)[(len(values) - 1) // 2]
