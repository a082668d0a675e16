"""Fits on part of the samples, scores on the rest."""

from __future__ import annotations

import random
from dataclasses import replace

from calibration.fit import Batch, Data
from calibration.microbench import Layout
from calibration.readers.microbench import PACE, PACE_EVERY


def split(data: Data, fraction: float, seed: int) -> tuple[Data, Data]:
    """What is fitted on, and what is held out: of each batch's samples `fraction`, drawn at random, at least one in each
    part. Of files of several runs whole runs are held out, the same ones for all quantities of a layout. Batches of fewer
    than two samples, summaries of a single run, faults one by one (whose bursts belong together, and
    which are no parameter's samples), and times of one piece of work on all processors are in the first part only.

    Raises ValueError unless 0 < fraction < 1.
    """
    if not 0 < fraction < 1:
        raise ValueError(f"a fraction of {fraction:g} cannot be held out: it lies between 0 and 1")
    generator = random.Random(seed)
    kept: list[Batch] = []
    held: list[Batch] = []
    of_layout: dict[tuple[str, Layout], set[int]] = {}
    for batch in data.batches:
        n = len(batch.samples)
        if n < 2 or batch.summary is not None or batch.quantity.endswith(".single") or batch.quantity in (PACE, PACE_EVERY):
            kept.append(batch)
            continue
        if batch.rounds > 1:
            count = _held_of(batch.rounds, fraction)
            runs = of_layout.setdefault((batch.file, batch.layout), set(generator.sample(range(batch.rounds), count)))
            for part, is_held in ((kept, False), (held, True)):
                found = [one for run, one in enumerate(batch.each_round()) if (run in runs) == is_held]
                samples = tuple(sample for one in found for sample in one.samples)
                part.append(replace(batch, samples=samples, rounds=len(found)))
            continue
        count = _held_of(n, fraction)
        chosen = set(generator.sample(range(n), count))
        kept.append(replace(batch, samples=tuple(s for i, s in enumerate(batch.samples) if i not in chosen)))
        held.append(replace(batch, samples=tuple(s for i, s in enumerate(batch.samples) if i in chosen)))
    return replace(data, batches=tuple(kept)), replace(data, batches=tuple(held))


def _held_of(count: int, fraction: float) -> int:
    return min(max(round(count * fraction), 1), count - 1)
