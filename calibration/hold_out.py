"""Fits on part of the samples, scores on the rest."""

from __future__ import annotations

import random
from dataclasses import replace

from calibration.fit import Batch, Data


def split(data: Data, fraction: float, seed: int) -> tuple[Data, Data]:
    """What is fitted on, and what is held out: of each batch's samples `fraction`, drawn at random, at least one in each
    part. Batches of fewer than two samples, summaries of a single run, and faults one by one (whose bursts belong together,
    and which are no parameter's samples) are in the first part only.

    Raises ValueError unless 0 < fraction < 1.
    """
    if not 0 < fraction < 1:
        raise ValueError(f"a fraction of {fraction:g} cannot be held out: it lies between 0 and 1")
    generator = random.Random(seed)
    kept: list[Batch] = []
    held: list[Batch] = []
    for batch in data.batches:
        n = len(batch.samples)
        if n < 2 or batch.summary is not None or batch.quantity.endswith(".single"):
            kept.append(batch)
            continue
        count = min(max(round(n * fraction), 1), n - 1)
        chosen = set(generator.sample(range(n), count))
        kept.append(replace(batch, samples=tuple(s for i, s in enumerate(batch.samples) if i not in chosen)))
        held.append(replace(batch, samples=tuple(s for i, s in enumerate(batch.samples) if i in chosen)))
    return replace(data, batches=tuple(kept)), replace(data, batches=tuple(held))
