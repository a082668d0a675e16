"""Values with standard errors, from samples and from each other.

median     of samples in the order in which they were taken. Its standard error is Maritz and Jarrett's (the exact
           bootstrap of an order statistic). Where neighbours resemble each other, samples tell less than their number:
           if the rank correlation r of successive samples is above 1.645 / sqrt(n) (5 % by chance), the error grows by
           sqrt((1 + r) / (1 - r)).
pooled     of the same quantity from several batches (files, layouts): the random-effects mean of DerSimonian and Laird.
           With variances v_i of k batches, w_i = 1 / v_i and their weighted mean m, Q = sum w_i (x_i - m)^2;
           tau^2 = max(0, (Q - (k - 1)) / (sum w_i - sum w_i^2 / sum w_i)) is what the batches differ by beyond v_i; the
           result is the mean with weights 1 / (v_i + tau^2), its variance 1 / their sum.
line       y = fixed n + per_unit x, by weighted least squares within bounds (SciPy).
segments   broken line of measurements over sizes that span decades, see there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

#: r of successive samples beyond this many standard deviations of chance counts as correlation.
CORRELATED = 1.645
MOST_CORRELATION = 0.98


@dataclass(frozen=True, slots=True)
class Estimate:
    """standard_error is None for what nothing tells the spread of. batches: how many were pooled."""

    value: float
    standard_error: float | None
    samples: int | None
    batches: int = 1

    def times(self, factor: float) -> Estimate:
        error = None if self.standard_error is None else self.standard_error * abs(factor)
        return Estimate(self.value * factor, error, self.samples, self.batches)

    def minus(self, other: Estimate) -> Estimate:
        """Of independent estimates."""
        if self.standard_error is None or other.standard_error is None:
            error = None
        else:
            error = math.hypot(self.standard_error, other.standard_error)
        counts = [n for n in (self.samples, other.samples) if n is not None]
        return Estimate(self.value - other.value, error, min(counts, default=None), min(self.batches, other.batches))


def median(samples: Sequence[float]) -> Estimate:
    """Of samples in their order, in their unit. One sample has no error. Raises ValueError for none."""
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
    """Random-effects mean. Where a batch has no error, all weigh alike and their own spread is the error.

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
        return Estimate(float(x.mean()), float(x.std(ddof=1)) / math.sqrt(len(x)), samples, batches)
    v = np.array([e.standard_error or 0.0 for e in estimates]) ** 2
    w = 1 / v
    m = float(w @ x) / float(w.sum())
    q = float(w @ (x - m) ** 2)
    tau2 = max(0.0, (q - (len(x) - 1)) / (float(w.sum()) - float(w @ w) / float(w.sum())))
    w = 1 / (v + tau2)
    return Estimate(float(w @ x) / float(w.sum()), 1 / math.sqrt(float(w.sum())), samples, batches)


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
    return Line(
        fixed, per_unit, math.sqrt(covariance[0, 0]), math.sqrt(covariance[1, 1]), float(covariance[0, 1]), chi2, misfit
    )


@dataclass(frozen=True, slots=True)
class Segment:
    """Of a broken line: y = intercept + slope x for low <= x <= high, from `points` points."""

    low: float
    high: float
    points: int
    intercept: float
    slope: float
    intercept_error: float
    slope_error: float


LEAST_POINTS = 4
MOST_SEGMENTS = 4


def segments(xs: Sequence[float], ys: Sequence[float]) -> list[Segment]:
    """The broken line that data over many sizes ask for: at most 4 pieces of at least 4 points each.

    Residuals count in parts of y, as sizes and times span decades. For each number of pieces k the breaks are those of the
    least sum of squares (all are tried, by dynamic programming); k is the one with the least Bayesian information
    criterion n ln(RSS / n) + (3 k - 1) ln n: a break is made only where it pays for its three further numbers.
    Raises ValueError for fewer than 4 points or a y that is not positive.
    """
    x, y = np.asarray(xs, dtype=float), np.asarray(ys, dtype=float)
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    n = len(x)
    if n < LEAST_POINTS or not np.all(y > 0):
        raise ValueError(f"a broken line needs {LEAST_POINTS} points or more, all of them above 0")

    def piece(first: int, end: int) -> tuple[float, np.ndarray, np.ndarray]:
        design = np.column_stack([np.ones(end - first), x[first:end]]) / y[first:end, None]
        coefficients, _, rank, _ = np.linalg.lstsq(design, np.ones(end - first), rcond=None)
        if rank < 2:
            return math.inf, coefficients, design
        return float(np.sum((design @ coefficients - 1) ** 2)), coefficients, design

    cost = {
        (i, j): piece(i, j)[0] for i in range(n) for j in range(i + LEAST_POINTS, n + 1)
    }
    best: list[dict[int, tuple[float, list[int]]]] = [{0: (0.0, [0])}]
    candidates: list[tuple[float, list[int]]] = []
    floor = n * (1e-9) ** 2  # exact data: no criterion tells zero from less
    for k in range(1, min(MOST_SEGMENTS, n // LEAST_POINTS) + 1):
        row: dict[int, tuple[float, list[int]]] = {}
        for end in range(k * LEAST_POINTS, n + 1):
            ways = [
                (total + cost[i, end], [*breaks, end])
                for i, (total, breaks) in best[-1].items()
                if (i, end) in cost
            ]
            if ways:
                row[end] = min(ways)
        best.append(row)
        if n in row:
            rss, breaks = row[n]
            candidates.append((n * math.log(max(rss, floor) / n) + (3 * k - 1) * math.log(n), breaks))
    _, breaks = min(candidates)
    found = []
    for first, end in zip(breaks, breaks[1:], strict=False):
        rss, coefficients, design = piece(first, end)
        covariance = np.linalg.inv(design.T @ design) * rss / (end - first - 2)
        found.append(
            Segment(
                float(x[first]),
                float(x[end - 1]),
                end - first,
                float(coefficients[0]),
                float(coefficients[1]),
                math.sqrt(covariance[0, 0]),
                math.sqrt(covariance[1, 1]),
            )
        )
    return found
