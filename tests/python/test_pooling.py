"""Are the statistics over several runs those of all their samples?"""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdsm.calibrate.pooling import RunSummary, pool, spread_of_runs, weighted_mean


def summary(samples: list[float]) -> RunSummary:
    deviation = statistics.stdev(samples) if len(samples) > 1 else None
    return RunSummary(len(samples), statistics.mean(samples), deviation, min(samples), max(samples))


def test_two_runs_by_hand():
    """Samples 1 2 3 and 4 6: what each run prints about itself, and what is rebuilt from that.

    Run 1: n = 3, mean 2, s^2 = (1 + 0 + 1) / 2 = 1.  Run 2: n = 2, mean 5, s^2 = (1 + 1) / 1 = 2.
    N = 5, m = (3 x 2 + 2 x 5) / 5 = 16 / 5 = 3.2.
    Sums of squares: 1 x 2 + 3 x 4 = 14 and 2 x 1 + 2 x 25 = 52 (which are 1 + 4 + 9 and 16 + 36).
    sigma^2 = (14 + 52 - 5 x 3.2^2) / 4 = (66 - 51.2) / 4 = 3.7; sigma = 1.9235384...
    sigma_R^2 = ((2 - 3.2)^2 + (5 - 3.2)^2) / 1 = 1.44 + 3.24 = 4.68; sigma_R = 2.1633307...
    """
    both = pool([RunSummary(3, 2.0, 1.0, 1.0, 3.0, 0), RunSummary(2, 5.0, math.sqrt(2), 4.0, 6.0, 1)])
    assert (both.runs, both.samples, both.outliers, both.minimum, both.maximum) == (2, 5, 1, 1.0, 6.0)
    assert f"{both.mean:.6f}" == "3.200000"
    assert f"{both.sd_samples:.6f}" == "1.923538"
    assert f"{both.sd_runs:.6f}" == "2.163331"
    assert f"{both.sd_largest:.6f}" == "1.414214"


def test_one_run_is_what_it_printed_and_has_no_spread_over_runs():
    one = pool([RunSummary(5, 0.583316, 0.016415, 0.568015, 0.607728)])
    assert f"{one.mean:.6f} {one.sd_samples:.6f}" == "0.583316 0.016415"
    assert one.sd_runs is None


def test_runs_of_one_sample_have_the_spread_of_those_samples():
    three = pool([RunSummary(1, value, None, value, value) for value in (1.0, 2.0, 6.0)])
    assert three.sd_samples == pytest.approx(statistics.stdev([1.0, 2.0, 6.0]))
    assert three.sd_samples == three.sd_runs
    assert three.sd_largest is None
    assert pool([RunSummary(1, 1.0, None, 1.0, 1.0)]).sd_samples is None


def test_a_small_spread_of_a_large_time_keeps_its_digits():
    """The published formula, evaluated as it stands, loses them: it takes 5e13 from 5e13."""
    runs = [RunSummary(50, 1_000_000.0, 0.001, 999_999.99, 1_000_000.01)] * 2
    plain = sum(r.standard_deviation**2 * (r.samples - 1) + r.samples * r.mean**2 for r in runs) - 100 * 1_000_000.0**2
    assert abs(plain / 99 - 1e-6) > 1e-8
    assert pool(runs).sd_samples == pytest.approx(0.001 * math.sqrt(98 / 99), rel=1e-12)


def test_what_cannot_be_pooled_is_refused():
    with pytest.raises(ValueError, match="needs values"):
        pool([])
    with pytest.raises(ValueError, match="standard deviation"):
        pool([RunSummary(2, 1.0, None, 1.0, 1.0)])
    with pytest.raises(ValueError, match="at least 1"):
        weighted_mean([1.0], [0])
    assert spread_of_runs([1.0], 1.0) is None


times = st.floats(0.001, 1e5)


@given(st.lists(st.lists(times, min_size=1, max_size=30), min_size=1, max_size=8))
def test_rebuilt_from_summaries_are_the_statistics_of_all_samples(runs):
    samples = [sample for run in runs for sample in run]
    pooled = pool([summary(run) for run in runs])
    scale = max(samples)
    assert pooled.samples == len(samples)
    assert pooled.mean == pytest.approx(statistics.mean(samples))
    assert (pooled.minimum, pooled.maximum) == (min(samples), max(samples))
    if len(samples) > 1:
        assert pooled.sd_samples == pytest.approx(statistics.stdev(samples), abs=1e-9 * scale)


@given(st.lists(st.tuples(st.integers(2, 50), st.integers(0, 10**7), st.integers(0, 10**6)), min_size=2, max_size=8))
def test_the_sums_are_those_of_the_published_formula_in_exact_arithmetic(runs):
    """runs: n_i, m_i and s_i, the latter in millionths."""
    exact = [(n, Fraction(mean, 10**6), Fraction(sd, 10**6)) for n, mean, sd in runs]
    total = sum(n for n, _, _ in exact)
    mean = sum(n * m for n, m, _ in exact) / total
    over_samples = (sum(s**2 * (n - 1) + n * m**2 for n, m, s in exact) - total * mean**2) / (total - 1)
    over_runs = sum((m - mean) ** 2 for _, m, _ in exact) / (len(exact) - 1)
    pooled = pool([RunSummary(n, float(m), float(s), 0.0, 100.0) for n, m, s in exact])
    assert pooled.sd_samples == pytest.approx(math.sqrt(over_samples), rel=1e-9, abs=1e-9)
    assert pooled.sd_runs == pytest.approx(math.sqrt(over_runs), rel=1e-9, abs=1e-9)
