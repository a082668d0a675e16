"""Estimates system noise from times of one piece of work, repeated on all processors at once.

Each processor keeps a pace for a while (sim/noise.hpp). With lognormal paces of standard deviation s that are independent
between processors, the logarithm of two processors' ratio has the mean absolute value 2 s / sqrt(pi). This, and no mean
square, is taken, as it is what threads that meet wait for each other, and single pieces that the system held up count for
no more than they last. Paces shorter than a piece are averaged in it, and come out with less deviation; a processor that is
always the slower one counts as noise that lasts. Of means over blocks of pieces it falls by the root of g(u) = 2 (u - 1 +
exp(-u)) / u^2, the variance of the mean over u durations of a pace whose correlation falls exponentially; this gives the
duration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sdsm.calibrate.estimates import Estimate, runs_of_equal_length

#: Pieces in a block, whose mean tells how long a pace lasts, and blocks that a run must have.
BLOCK, LEAST_BLOCKS = 16, 4
#: Duration of a pace in parts of a block's, if longer or shorter than a run can resolve.
SHORTEST, LONGEST = 1e-2, 1e2
#: Limits of a platform file.
LEAST_US, MOST_US = 1.0, 3600e6
MOST_DEVIATION = 1.0


@dataclass(frozen=True, slots=True)
class Noise:
    """deviation: of a work's time, in parts of its mean. duration_us: mean time of a pace."""

    deviation: Estimate
    duration_us: float


def noise(runs: Sequence[np.ndarray], every_us: Sequence[float]) -> Noise | None:
    """runs: times of a piece in each run of the benchmark, one row for each piece and one column for each processor;
    every_us: from piece to piece. None for one processor, or too few pieces."""
    usable = [run for run in runs if run.shape[1] > 1 and len(run) >= BLOCK * LEAST_BLOCKS and run.min() > 0]
    if not usable or len(usable) != len(runs) or not min(every_us, default=0.0) > 0:
        return None
    singles = [_deviation(run) for run in usable]
    blocks = [_deviation(_blocks(run)) for run in usable]
    each = [Estimate(_of_times(one), None, run.size) for one, run in zip(singles, usable, strict=True)]
    deviation = runs_of_equal_length(each) if len(each) > 1 else each[0]
    whole = sum(singles)
    part = (sum(blocks) / whole) ** 2 if whole > 0 else 1.0
    duration = BLOCK * float(np.mean(every_us)) * _durations_of_block(part)
    return Noise(deviation, min(max(duration, LEAST_US), MOST_US))


def _of_times(of_logarithm: float) -> float:
    """Returns a lognormal distribution's standard deviation in parts of its mean."""
    return min(math.sqrt(math.expm1(min(of_logarithm, 1.0) ** 2)), MOST_DEVIATION)


def _deviation(times: np.ndarray) -> float:
    """Standard deviation of the logarithm of a processor's times."""
    logs = np.log(times)
    apart = [np.abs(logs[:, a] - logs[:, b]).mean() for a, b in combinations(range(logs.shape[1]), 2)]
    return float(np.mean(apart)) * math.sqrt(math.pi) / 2


def _blocks(times: np.ndarray) -> np.ndarray:
    count = len(times) // BLOCK
    return times[: count * BLOCK].reshape(count, BLOCK, -1).mean(axis=1)


def _durations_of_block(part: float) -> float:
    """Returns a pace's duration in parts of a block's, whose mean has `part` of the variance."""
    low, high = math.log(SHORTEST), math.log(LONGEST)
    for _ in range(60):
        middle = (low + high) / 2
        if _left(math.exp(-middle)) < part:
            low = middle
        else:
            high = middle
    return math.exp(low)


def _left(u: float) -> float:
    # The series avoids a difference that would lose digits.
    return 1 - u / 3 if u < 1e-4 else 2 * (u + math.expm1(-u)) / (u * u)
