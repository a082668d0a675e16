"""Values with standard errors, from samples and from each other.

median     of samples in the order in which they were taken. Its standard error is Maritz and Jarrett's (the exact
           bootstrap of an order statistic). Where neighbours resemble each other, samples tell less than their number:
           if the rank correlation r of successive samples is above 1.645 / sqrt(n) (5 % by chance), the error grows by
           sqrt((1 + r) / (1 - r)).
pooled     of the same quantity from several batches (files, layouts): the random-effects mean of DerSimonian and Laird.
           With variances v_i of k batches, w_i = 1 / v_i and their weighted mean m, Q = sum w_i (x_i - m)^2;
           tau^2 = max(0, (Q - (k - 1)) / (sum w_i - sum w_i^2 / sum w_i)) is what the batches differ by beyond v_i; the
           result is the mean with weights 1 / (v_i + tau^2), its variance 1 / their sum.
runs of equal length   their mean: none knows better than another what the next run will be like. Its error is their standard
           deviation by the root of their number, or what their own errors give, if that is more. Few runs tell their deviation
           badly: the error grows by Student's t over the normal's at 95 % (2.26 / 1.96 for ten runs), so that two errors mean
           the same for any number, and where neighbours resemble each other, as above.
line       y = fixed n + per_unit x, by weighted least squares within bounds (SciPy).
segments   broken line of measurements over sizes that span decades, see there.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

#: r of successive samples beyond this many standard deviations of chance counts as correlation.
CORRELATED = 1.645
MOST_CORRELATION = 0.98
#: Residuals below this part of a time are zero: no clock resolves more.
EXACT = 1e-6


@dataclass(frozen=True, slots=True)
class Estimate:
    """standard_error is None if the spread is unknown. batches: number of pooled ones."""

    value: float
    standard_error: float | None
    samples: int | None
    batches: int = 1

    def times(self, factor: float) -> Estimate:
        error = None if self.standard_error is None else self.standard_error * abs(factor)
        return Estimate(self.value * factor, error, self.samples, self.batches)

    def minus(self, other: Estimate) -> Estimate:
        """Difference of independent estimates."""
        return self._with(other, self.value - other.value, 1.0, 1.0)

    def over(self, other: Estimate) -> Estimate:
        """Ratio of independent estimates, its error to first order. Raises ValueError if `other` is not above 0."""
        if other.value <= 0:
            raise ValueError(f"a ratio to {other.value:g} has no meaning")
        ratio = self.value / other.value
        return self._with(other, ratio, 1 / other.value, ratio / other.value)

    def _with(self, other: Estimate, value: float, by_self: float, by_other: float) -> Estimate:
        """Returns an estimate of `value`, computed from both; by_self, by_other: its derivatives."""
        if self.standard_error is None or other.standard_error is None:
            error = None
        else:
            error = math.hypot(self.standard_error * by_self, other.standard_error * by_other)
        counts = [n for n in (self.samples, other.samples) if n is not None]
        return Estimate(value, error, min(counts, default=None), min(self.batches, other.batches))


def median(samples: Sequence[float]) -> Estimate:
    """Median of samples in their order, in their unit. One sample has no error. Raises ValueError for none."""
    from scipy import stats  # slow to import: half a second

    if not samples:
        raise ValueError("a median needs a sample")
    values = np.asarray(samples, dtype=float)
    n = len(values)
    if n == 1:
        return Estimate(float(values[0]), None, 1)
    # Weights of the order statistics: the probability that each is the median of a resample, the mean of the two
    # middle ones where n is even.
    lower, upper = (n - 1) // 2 + 1, n // 2 + 1
    steps = np.arange(n + 1) / n
    weights = np.zeros(n)
    for rank in (lower, upper):
        weights += np.diff(stats.beta.cdf(steps, rank, n + 1 - rank)) / 2
    ordered = np.sort(values)
    mean = float(weights @ ordered)
    error = math.sqrt(float(weights @ (ordered - mean) ** 2))
    return Estimate(float(np.median(values)), error * _inflation(values), n)


def _inflation(values: np.ndarray) -> float:
    from scipy import stats  # slow to import: half a second

    n = len(values)
    ranks = stats.rankdata(values)
    deviations = ranks - ranks.mean()
    square = float(deviations @ deviations)
    if n < 8 or square == 0:
        return 1.0
    r = float(deviations[1:] @ deviations[:-1]) / square
    if r < CORRELATED / math.sqrt(n):
        return 1.0
    r = min(r, MOST_CORRELATION)
    return math.sqrt((1 + r) / (1 - r))


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """Random-effects mean. If a batch has no error, all weigh alike and their own spread, as of few, is the error.

    Raises ValueError for none.
    """
    if not estimates:
        raise ValueError("nothing to pool")
    counts = [e.samples for e in estimates]
    samples = None if None in counts else sum(n for n in counts if n is not None)
    batches = sum(e.batches for e in estimates)
    if len(estimates) == 1:
        return estimates[0]
    x = np.array([e.value for e in estimates])
    if any(not e.standard_error for e in estimates):
        error = float(x.std(ddof=1)) / math.sqrt(len(x)) * growth_of_few(len(x))
        return Estimate(float(x.mean()), error, samples, batches)
    errors = np.array([e.standard_error or 0.0 for e in estimates])
    # In parts of the largest (a power of two, so nothing is rounded), as squares soon overflow.
    scale = 2.0 ** math.frexp(max(float(np.abs(x).max()), float(errors.max())))[1]
    x, v = x / scale, np.maximum(errors / scale, EXACT**2) ** 2
    w = 1 / v
    m = float(w @ x) / float(w.sum())
    q = float(w @ (x - m) ** 2)
    # sum w - sum w^2 / sum w, without the difference, which is 0 for a weight far above the others.
    others = np.array([np.delete(w, i).sum() for i in range(len(w))])
    tau2 = max(0.0, (q - (len(x) - 1)) / float(w @ others) * float(w.sum()))
    w = 1 / (v + tau2)
    return Estimate(float(w @ x) / float(w.sum()) * scale, scale / math.sqrt(float(w.sum())), samples, batches)


def runs_of_equal_length(estimates: Sequence[Estimate]) -> Estimate:
    """One estimate of several runs that measured the same. Raises ValueError for fewer than two."""
    k = len(estimates)
    if k < 2:
        raise ValueError("a spread over runs needs two")
    values = [e.value for e in estimates]
    own = math.hypot(*(e.standard_error or 0.0 for e in estimates)) / k
    counts = [e.samples for e in estimates if e.samples is not None]
    spread = statistics.stdev(values) / math.sqrt(k) * growth_of_few(k) * _inflation(np.asarray(values))
    return Estimate(statistics.fmean(values), max(spread, own), sum(counts) or None, k)


def growth_of_few(runs: int) -> float:
    """Factor on the error from the deviation of a few runs, two or more, as they estimate it badly."""
    from scipy import stats  # slow to import: half a second

    return float(stats.t.ppf(0.975, runs - 1) / stats.norm.ppf(0.975))


@dataclass(frozen=True, slots=True)
class Line:
    """y = fixed n + per_unit x. Errors and covariance as of the fit; misfit: chi^2 per degree of freedom, None without
    one. Where it is above 1 the points lie further from the line than their errors say, and the errors of both
    coefficients are multiplied by its root (Birge)."""

    fixed: float
    per_unit: float
    fixed_error: float
    per_unit_error: float
    covariance: float
    chi2: float
    misfit: float | None

    def at(self, count: float, x: float) -> float:
        return self.fixed * count + self.per_unit * x


def line(counts: Sequence[float], xs: Sequence[float], ys: Sequence[float], errors: Sequence[float]) -> Line:
    """Least squares, both coefficients at least 0. counts: how often the fixed part is in each y.

    Raises ValueError for fewer than two points, or for points that leave a coefficient open.
    """
    from scipy import optimize  # slow to import: half a second

    if len(ys) < 2:
        raise ValueError("a line needs two points")
    design = np.column_stack([counts, xs]).astype(float)
    scale = np.asarray(errors, dtype=float)
    if np.linalg.matrix_rank(design) < 2 or not np.all(scale > 0):
        raise ValueError("these points leave the line open: they need two sizes, and errors above 0")
    a, y = design / scale[:, None], np.asarray(ys, dtype=float) / scale
    fit = optimize.lsq_linear(a, y, bounds=(0, np.inf))
    chi2 = float(np.sum((a @ fit.x - y) ** 2))
    freedom = len(y) - 2
    misfit = chi2 / freedom if freedom else None
    covariance = np.linalg.inv(a.T @ a) * max(1.0, misfit or 1.0)
    fixed, per_unit = (float(c) for c in fit.x)
    errors = (math.sqrt(covariance[0, 0]), math.sqrt(covariance[1, 1]))
    return Line(fixed, per_unit, *errors, float(covariance[0, 1]), chi2, misfit)


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a broken line: y = intercept + slope x for low <= x <= high, from `points` points."""

    low: float
    high: float
    points: int
    intercept: float
    slope: float
    intercept_error: float
    slope_error: float


LEAST_POINTS = 4
MOST_SEGMENTS = 4
#: With more sizes than these, every second one is used, or every third, and so on.
MOST_POINTS = 400


def segments(xs: Sequence[float], ys: Sequence[float]) -> list[Segment]:
    """The broken line that data over many sizes ask for: at most 4 pieces of at least 4 points each.

    Residuals count in parts of y, as sizes and times span decades. For each number of pieces k the breaks are those of the
    least sum of squares (all are tried, by dynamic programming); k is the one with the least Bayesian information
    criterion n ln(RSS / n) + (3 k - 1) ln n: a break is made only where it pays for its three further numbers.
    Raises ValueError for fewer than 4 sizes or a y that is not positive.
    """
    x, y = np.asarray(xs, dtype=float), np.asarray(ys, dtype=float)
    order = np.argsort(x, kind="stable")[:: -(-len(x) // MOST_POINTS) or 1]
    x, y = x[order], y[order]
    n = len(x)
    if n < LEAST_POINTS or len(np.unique(x)) < LEAST_POINTS or not np.all(y > 0):
        raise ValueError(f"a broken line needs {LEAST_POINTS} sizes or more, and times above 0")
    cost = _costs(x, y)
    total = np.full(n + 1, np.inf)
    total[0] = 0.0
    befores: list[np.ndarray] = []
    candidates: list[tuple[float, int]] = []
    for k in range(1, min(MOST_SEGMENTS, n // LEAST_POINTS) + 1):
        ways = total[:, None] + cost
        befores.append(np.argmin(ways, axis=0))
        total = np.min(ways, axis=0)
        if math.isfinite(total[n]):
            rss = max(float(total[n]), n * EXACT**2)
            candidates.append((n * math.log(rss / n) + (3 * k - 1) * math.log(n), k))
    _, k = min(candidates)
    ends = [n]
    for before in reversed(befores[:k]):
        ends.append(int(before[ends[-1]]))
    ends.reverse()
    return [_segment(x[first:end], y[first:end]) for first, end in pairwise(ends)]


def _costs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Sum of squares of the best line through points i to j - 1, at [i, j]; infinite for fewer than LEAST_POINTS sizes. x grows."""
    n = len(x)
    u, v = 1 / y, x / y  # y = a + b x in parts of y: 1 = a u + b v
    sums = [np.concatenate([[0.0], np.cumsum(terms)]) for terms in (u * u, u * v, v * v, u, v)]
    uu, uv, vv, su, sv = (s[None, :] - s[:, None] for s in sums)
    points = np.arange(n + 1)[None, :] - np.arange(n + 1)[:, None]
    order = np.cumsum(np.diff(x, prepend=-np.inf) > 0)  # of a point's size
    sizes = np.concatenate([[0], order])[None, :] - np.append(order, n)[:, None] + 1
    determinant = uu * vv - uv * uv
    usable = (sizes >= LEAST_POINTS) & (determinant > 1e-12 * uu * vv)
    safe = np.where(usable, determinant, 1.0)
    a, b = (su * vv - sv * uv) / safe, (sv * uu - su * uv) / safe
    return np.where(usable, np.maximum(points - a * su - b * sv, 0.0), np.inf)


def _segment(x: np.ndarray, y: np.ndarray) -> Segment:
    design = np.column_stack([np.ones(len(x)), x]) / y[:, None]
    coefficients, _, _, _ = np.linalg.lstsq(design, np.ones(len(x)), rcond=None)
    rss = float(np.sum((design @ coefficients - 1) ** 2))
    covariance = np.linalg.inv(design.T @ design) * rss / (len(x) - 2)
    intercept, slope = (float(c) for c in coefficients)
    errors = (math.sqrt(covariance[0, 0]), math.sqrt(covariance[1, 1]))
    return Segment(float(x[0]), float(x[-1]), len(x), intercept, slope, *errors)
