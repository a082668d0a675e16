"""The contents of one line of the tables."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from sdsm.base.accounts import Term
from sdsm.validate.plan import Case

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a median, and the confidence that its order statistics really give."""

    low: float
    high: float
    confidence: float


def median_interval(samples: Sequence[float]) -> Interval:
    """Confidence interval of the median, from order statistics: no assumption about the distribution.

    With n samples the median lies between the k-th smallest and the k-th largest with probability
    1 - 2 P(Binomial(n, 1/2) < k); k is the largest with at least 95 %. Below six samples even the extremes give less: then
    they are the interval, and `confidence` says how much it is worth. Raises ValueError without samples.
    """
    ordered = sorted(samples)
    count = len(ordered)
    if count == 0:
        raise ValueError("no samples")
    below = 0.0  # P(Binomial < k)
    chosen, confidence = 1, 1 - 2 * 0.5**count
    for k in range(1, count // 2 + 1):
        below += math.comb(count, k - 1) * 0.5**count
        if 1 - 2 * below < CONFIDENCE:
            break
        chosen, confidence = k, 1 - 2 * below
    return Interval(ordered[chosen - 1], ordered[count - chosen], max(confidence, 0.0))


@dataclass(frozen=True)
class Line:
    """Seconds. predicted_s: one for each seed; measured_s: one for each run; sequential_s: what speedups refer to.

    band_s: the middle 90 % of predictions over the platform's uncertain costs and seeds; None where nothing tells.
    terms: where the time went in the run of median time, beside the prediction with the first seed.
    """

    case: Case
    predicted_s: tuple[float, ...]
    measured_s: tuple[float, ...]
    sequential_s: float
    band_s: tuple[float, float] | None = None
    terms: tuple[Term, ...] = ()

    @property
    def predicted(self) -> float:
        return statistics.median(self.predicted_s)

    @property
    def measured(self) -> float:
        return statistics.median(self.measured_s)

    @property
    def interval(self) -> Interval:
        return median_interval(self.measured_s)

    @property
    def error_percent(self) -> float:
        """Error of the predicted time, in percent of the measured one."""
        return 100 * (self.predicted / self.measured - 1)

    @property
    def predicted_speedup(self) -> float:
        return self.sequential_s / self.predicted

    @property
    def measured_speedup(self) -> float:
        return self.sequential_s / self.measured


@dataclass(frozen=True)
class Accuracy:
    lines: int
    median_percent: float
    worst_percent: float


def accuracy(lines: Sequence[Line]) -> Accuracy | None:
    """Statistics of absolute errors; None without lines."""
    if not lines:
        return None
    errors = [abs(line.error_percent) for line in lines]
    return Accuracy(len(lines), statistics.median(errors), max(errors))
