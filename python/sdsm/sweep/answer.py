"""Finds the best value of an axis, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdsm.base.run_result import why_doubtful
from sdsm.sweep.results import Done
from sdsm.sweep.spec import Question, Spec

UNITS = {"time": " s", "speedup": ""}
NAMES = {"time": "time", "speedup": "speedup over its computing on one processor"}


def shown(values: dict[str, str]) -> str:
    """Shows platforms and traces by the file's name alone."""
    return ", ".join(f"{axis.removeprefix('set ')} {value.rsplit('/', 1)[-1]}" for axis, value in values.items())


def varied_values(spec: Spec, one: Done, without: Sequence[str] = ()) -> dict[str, str]:
    """Returns the point's values on axes with several values."""
    names = [axis for axis in one.point.values if axis in spec.varied() or axis == "trace"]
    return {axis: one.point.values[axis] for axis in names if axis not in without}


def answers(spec: Spec, question: Question, done: Sequence[Done]) -> Iterator[str]:
    """Yields an answer for each combination of all other axes, with the median over seeds. A time's range is that over seeds,
    or the band of --uncertainty."""
    groups: dict[str, dict[str, list[Done]]] = {}
    for one in done:
        if one.result is not None:
            others = shown(varied_values(spec, one, (question.axis, "seed")))
            places = groups.setdefault(others, {})
            places.setdefault(one.point.values[question.axis], []).append(one)
    choose = min if question.end == "least" else max
    for others, places in groups.items():
        failed = [one.point.values[question.axis] for one in done if one.result is None and shown(varied_values(spec, one, (question.axis, "seed"))) == others]
        middles = {value: median([one.value(question.what) for one in found]) for value, found in places.items()}
        best = choose(middles, key=lambda value: middles[value])
        where = f"{others}: " if others else ""
        number = f"{middles[best]:.4g}{UNITS[question.what]}"
        low_s, high_s = time_range(places[best])
        between = f" ({low_s:.4g} to {high_s:.4g} s)" if question.what == "time" and low_s < high_s else ""
        axis = question.axis.removeprefix("set ")
        what = NAMES[question.what]
        yield f"{where}{what} is {question.end} at {axis} {best.rsplit('/', 1)[-1]}: {number}{between}{marked(places[best])}{_failed(failed)}"


def _failed(values: Sequence[str]) -> str:
    """Says which values are not among the compared."""
    names = list(dict.fromkeys(value.rsplit("/", 1)[-1] for value in values))
    return f" ({', '.join(names)} failed)" if names else ""


def marked(points: Sequence[Done]) -> str:
    """Names in brackets what the platform lacks for them; empty if nothing."""
    why = why_doubtful(dict.fromkeys(name for one in points if one.result for name in one.result.doubts))
    return f" ({why})" if why else ""


def time_range(points: Sequence[Done]) -> tuple[float, float]:
    """Returns the least and the greatest time, or ends of their bands."""
    ends = [end for one in points for end in (one.value("time"), *one.band_s())]
    return min(ends), max(ends)


def median(values: Sequence[float]) -> float:
    """Returns the lower one of two in the middle."""
    return sorted(values)[(len(values) - 1) // 2]
