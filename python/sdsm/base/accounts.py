"""Accounts of a run and of its simulation side by side: where the time of each went, term by term.

What each term means, models/account.hpp says for both. One of them a run cannot tell: `stolen`, what serving others takes
from a thread's processor, is in a run part of whatever the thread does meanwhile, so it is added to that here.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdsm.base import run_result

#: Terms below this part of the measured time are too small for a meaningful ratio.
LARGE = 0.1
#: Largest acceptable error of a predicted term, in parts of the measured one.
NEAR = 0.25


def mean_over_threads(threads: Sequence[run_result.Thread]) -> dict[str, float]:
    """Seconds by term, as `Thread.account_as_of_a_run_s()` names them: the terms that a run can measure, with the same sum."""
    accounts = [thread.account_as_of_a_run_s() for thread in threads]
    terms = dict.fromkeys(term for one in accounts for term in one)
    return {term: math.fsum(one.get(term, 0.0) for one in accounts) / len(accounts) for term in terms}


def medians(accounts_s: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Medians of each term over runs of one program, or over seeds of a simulation; they need not sum to any run's time."""
    terms = dict.fromkeys(term for one in accounts_s for term in one)
    return {term: statistics.median(one.get(term, 0.0) for one in accounts_s) for term in terms}


@dataclass(frozen=True)
class Term:
    """Seconds of one term, mean over threads. time_s: the whole measured time."""

    name: str
    measured_s: float
    predicted_s: float
    time_s: float

    @property
    def ratio(self) -> float | None:
        """Ratio of the predicted to the measured time; None if nothing was measured."""
        return self.predicted_s / self.measured_s if self.measured_s > 0 else None

    @property
    def is_large(self) -> bool:
        return max(self.measured_s, self.predicted_s) >= LARGE * self.time_s

    @property
    def is_off(self) -> bool:
        return self.is_large and (self.ratio is None or abs(self.ratio - 1) > NEAR)


def side_by_side(measured_s: Mapping[str, float], predicted_s: Mapping[str, float], time_s: float) -> tuple[Term, ...]:
    """Returns every term of either account. time_s: the whole measured time."""
    return tuple(
        Term(name, measured_s.get(name, 0.0), predicted_s.get(name, 0.0), time_s) for name in dict.fromkeys([*measured_s, *predicted_s])
    )
