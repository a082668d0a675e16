"""Fits on part of the samples, and scores the fit on the rest."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sdsm.calibrate.fit import Batch, CalibrationError, Data, Fit, fit
from sdsm.calibrate.network import Network
from sdsm.microbench.command import Layout
from sdsm.readers.microbench import PACE, PACE_EVERY

#: 90 % of a standard normal distribution lie within.
BAND = 1.6449


def split(data: Data, fraction: float, seed: int) -> tuple[Data, Data]:
    """Splits data for fitting and for holding out: `fraction` of each batch's samples, drawn at random, at least one in
    each part. Files of several runs hold out whole runs, the same ones for all quantities of a layout. These stay in
    the first part: batches of fewer than two samples, summaries of a single run, single faults (whose bursts belong
    together, and which are no parameter's samples), and times of one piece of work on all processors.

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


def score(
    fitted: Fit, held: Data, network: Network, given: Mapping[str, str], simulated: Mapping[str, float]
) -> dict[str, Any]:
    """Compares each quantity of the held-out samples with its simulation by the fit; microseconds and parts.

    network, given: as for the fit itself.

    Raises CalibrationError if too little was held out to compare anything.
    """
    others = {check.row: check.measured for check in fit(held, network, given).checks}
    rows: list[dict[str, Any]] = []
    for check in fitted.checks:
        value, other = simulated.get(check.row), others.get(check.row)
        if value is None or other is None or other.value == 0:
            continue
        errors = (check.measured.standard_error, other.standard_error)
        both = None if None in errors else math.hypot(*(e or 0.0 for e in errors))
        row: dict[str, Any] = {"name": check.row, "simulated_us": value, "held_out_us": other.value}
        row |= {"standard_error_us": other.standard_error, "samples": other.samples}
        row["relative_error"] = (value - other.value) / other.value
        row["within_90_percent_band"] = None if not both else abs(value - other.value) <= BAND * both
        rows.append(row)
    if not rows:
        raise CalibrationError("too little was held out to compare anything. Measure more samples")
    within = [row["within_90_percent_band"] for row in rows if row["within_90_percent_band"] is not None]
    return {
        "rows": rows,
        "median_relative_error": statistics.median(abs(row["relative_error"]) for row in rows),
        "within_90_percent_band": sum(within) / len(within) if within else None,
    }


def table(value: Mapping[str, Any]) -> str:
    lines = ["", f"{'held out':<26}{'held out, us':>14}{'simulated, us':>15}{'error':>9}"]
    for row in value["rows"]:
        times = f"{row['held_out_us']:>14.4f}{row['simulated_us']:>15.4f}"
        lines.append(f"{row['name']:<26}{times}{row['relative_error']:>9.1%}")
    lines.append(f"median error {value['median_relative_error']:.1%}")
    if value["within_90_percent_band"] is not None:
        lines.append(f"within the 90 % band of both errors: {value['within_90_percent_band']:.0%}")
    return "\n".join(lines)
