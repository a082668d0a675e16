"""Statistics of several runs of one benchmark, rebuilt from what each run prints about itself [ON].

For run i with n_i samples, mean m_i and standard deviation s_i (that of a sample: n_i - 1 below), its sum of squares is
s_i^2 (n_i - 1) + n_i m_i^2. With N samples in all and their mean m

    over all samples   sigma^2   = (sum of those - N m^2) / (N - 1)
    over R runs        sigma_R^2 = sum (m_i - m)^2 / (R - 1)

The first is summed here as s_i^2 (n_i - 1) + n_i (m_i - m)^2, which is the same sum without the difference of two large
numbers: times of milliseconds with spreads of nanoseconds keep their digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run's summary of its samples, all in one unit. standard_deviation is None for a single sample."""

    samples: int
    mean: float
    standard_deviation: float | None
    minimum: float
    maximum: float
    outliers: int = 0


@dataclass(frozen=True, slots=True)
class Pooled:
    """All runs together, in the runs' unit. None: too few samples or runs for a deviation."""

    runs: int
    samples: int
    mean: float
    sd_samples: float | None
    sd_runs: float | None
    sd_largest: float | None  # among the runs'
    minimum: float
    maximum: float
    outliers: int


def weighted_mean(values: Sequence[float], weights: Sequence[int]) -> float:
    """Mean of `values`, each counted `weights` times. Raises ValueError for none at all."""
    if not values or len(values) != len(weights) or min(weights) < 1:
        raise ValueError("a weighted mean needs values, each with a weight of at least 1")
    return math.fsum(w * v for v, w in zip(values, weights, strict=True)) / sum(weights)


def spread_of_runs(values: Sequence[float], mean: float) -> float | None:
    """sigma_R about `mean`; None for fewer than two values."""
    if len(values) < 2:
        return None
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def pool(summaries: Sequence[RunSummary]) -> Pooled:
    """The statistics of all samples of all runs. Raises ValueError for no runs, or several samples without spread."""
    counts = [summary.samples for summary in summaries]
    means = [summary.mean for summary in summaries]
    mean = weighted_mean(means, counts)
    within = []
    for summary in summaries:
        if summary.samples > 1 and summary.standard_deviation is None:
            raise ValueError("a run of several samples has a standard deviation; without it theirs cannot be rebuilt")
        within.append((summary.standard_deviation or 0.0) ** 2 * (summary.samples - 1))
    between = [n * (m - mean) ** 2 for n, m in zip(counts, means, strict=True)]
    total = sum(counts)
    deviations = [summary.standard_deviation for summary in summaries if summary.standard_deviation is not None]
    return Pooled(
        runs=len(summaries),
        samples=total,
        mean=mean,
        sd_samples=math.sqrt(math.fsum(within + between) / (total - 1)) if total > 1 else None,
        sd_runs=spread_of_runs(means, mean),
        sd_largest=max(deviations, default=None),
        minimum=min(summary.minimum for summary in summaries),
        maximum=max(summary.maximum for summary in summaries),
        outliers=sum(summary.outliers for summary in summaries),
    )
