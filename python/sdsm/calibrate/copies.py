"""Outputs that are among the inputs twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple

from sdsm.base.command_line import BadInput
from sdsm.microbench.command import ROUND_SAMPLES
from sdsm.readers.measurement import Measurement, Reading

#: So many different samples do not agree by chance, nor do so many different numbers of a run.
TELLING, TELLING_OF_RUN = 8, 4


def copies(readings: Iterable[Reading]) -> Iterator[str]:
    """Yields a sentence for each file that holds, whole or in part, what it or one before held."""
    by_content: dict[object, str] = {}
    said: set[str] = set()
    for name, content in ((reading.file, content) for reading in readings for content in _contents(reading)):
        other = by_content.get(content)
        by_content.setdefault(content, name)
        if other is not None and name not in said:
            said.add(name)
            yield f"{name} has one output twice" if other == name else f"{other} and {name} are one output, given twice"


def refuse_copies(readings: Iterable[Reading]) -> None:
    """Raises BadInput."""
    for what in copies(readings):
        raise BadInput(f"{what}, whole or in part. Its samples would count twice: leave one out")


def _contents(reading: Reading) -> list[object]:
    """Returns the contents by which a copy is recognised, although it may be formatted otherwise, come through a pipe, or be
    a part of its file: each run's numbers, and each round's samples of a quantity. Data with too few numbers are left out."""
    runs: dict[int, list[Measurement]] = {}
    found: list[object] = []
    for m in reading.measurements:
        runs.setdefault(m.run, []).append(m)
        for begin in range(0, len(m.values), ROUND_SAMPLES):
            samples = m.values[begin : begin + ROUND_SAMPLES]
            if len(set(samples)) >= TELLING:
                found.append((m.quantity, samples))
    for run in runs.values():
        if len({value for m in run for value in (*m.values, *astuple(m.spread))} - {None}) >= TELLING_OF_RUN:
            all_of_it = Counter((m.quantity, m.values, m.unit, m.statistic, m.samples, m.spread, tuple(sorted(m.keys.items()))) for m in run)
            found.append(frozenset(all_of_it.items()))
    return found
