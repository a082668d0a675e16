"""Are values and standard errors what their formulas say?"""

from __future__ import annotations

import itertools
import math
import random
import statistics

import pytest

from sdsm.calibrate.estimates import Estimate, line, median, pooled, runs_of_equal_length, segments


@pytest.mark.parametrize("samples", [(3.0, 1.0), (5.0, 1.0, 2.0), (1.0, 4.0, 2.0, 8.0), (9.0, 1.0, 7.0, 2.0, 4.0)])
def test_the_error_of_a_median_is_that_over_all_resamples(samples):
    # Two middle ones: their resampling distributions are averaged, as the weights are.
    n = len(samples)
    lower = [sorted(draw)[(n - 1) // 2] for draw in itertools.product(samples, repeat=n)]
    upper = [sorted(draw)[n // 2] for draw in itertools.product(samples, repeat=n)]
    both = lower + upper
    found = median(samples)
    assert found.value == statistics.median(samples)
    assert found.standard_error == pytest.approx(statistics.pstdev(both))
    assert found.samples == n


def test_a_ratios_error_is_the_root_of_the_relative_errors_squares():
    # 3 % and 4 % make 5 % of 2.
    ratio = Estimate(200.0, 6.0, 9).over(Estimate(100.0, 4.0, 5))
    assert (ratio.value, ratio.standard_error, ratio.samples) == (2.0, pytest.approx(0.1), 5)
    assert Estimate(200.0, None, 9).over(Estimate(100.0, 4.0, 5)).standard_error is None
    with pytest.raises(ValueError):
        Estimate(1.0, 1.0, 1).over(Estimate(0.0, 1.0, 1))


def test_one_sample_has_no_error_and_none_has_no_median():
    assert median([4.0]) == Estimate(4.0, None, 1)
    with pytest.raises(ValueError):
        median([])


def test_the_error_of_a_median_of_normal_samples_is_1_25_sigma_by_root_n():
    generator = random.Random(1)
    errors = [median([generator.gauss(100, 10) for _ in range(100)]).standard_error for _ in range(100)]
    assert statistics.mean(errors) == pytest.approx(1.2533 * 10 / 10, rel=0.1)


def test_samples_that_follow_each_other_tell_less():
    generator = random.Random(2)
    alone = [generator.gauss(0, 1) for _ in range(400)]
    dragged = [0.0]
    for step in alone:
        dragged.append(0.8 * dragged[-1] + 0.6 * step)  # the same variance, r = 0.8
    assert (
        median(dragged[1:]).standard_error
        > 2 * median(sorted(dragged[1:], key=lambda _: generator.random())).standard_error
    )


def test_batches_that_agree_weigh_by_their_errors():
    # Weights 1 and 1/4: (10 + 10.5 / 4) / 1.25, error 1 / sqrt(1.25); Q = 0.2 < 1.
    found = pooled([Estimate(10.0, 1.0, 5), Estimate(10.5, 2.0, 7)])
    assert found.value == pytest.approx(10.1)
    assert found.standard_error == pytest.approx(1 / math.sqrt(1.25))
    assert (found.samples, found.batches) == (12, 2)


def test_batches_that_differ_add_what_they_differ_by_to_the_error():
    # Q = 50, tau^2 = (50 - 1) / (2 - 2/2) = 49: each has the variance 50, the mean of both 25.
    found = pooled([Estimate(10.0, 1.0, 5), Estimate(20.0, 1.0, 5)])
    assert found.value == pytest.approx(15)
    assert found.standard_error == pytest.approx(5)


def test_a_batch_without_an_error_leaves_the_spread_of_batches():
    found = pooled([Estimate(1.0, None, 1), Estimate(2.0, 0.1, 5), Estimate(3.0, 0.1, 5)])
    assert found.value == pytest.approx(2)
    # Their deviation is 1; Student's t is 4.303 for three, 1.960 for many.
    assert found.standard_error == pytest.approx(1 / math.sqrt(3) * 4.303 / 1.960, rel=1e-3)


def test_runs_of_equal_length_weigh_alike_and_their_spread_is_the_error():
    found = runs_of_equal_length([Estimate(10.0, 0.1, 10), Estimate(14.0, 3.0, 10), Estimate(18.0, 0.1, 10)])
    # The deviation of 10, 14 and 18 is 4; Student's t is 4.303 for three, 1.960 for many. Their own errors would give
    # hypot(0.1, 3, 0.1) / 3 = 1.0.
    assert found == Estimate(14.0, pytest.approx(4 / math.sqrt(3) * 4.303 / 1.960, rel=1e-3), 30, 3)
    alike = runs_of_equal_length([Estimate(10.0, 3.0, 10), Estimate(10.0, 4.0, 10)])
    assert alike == Estimate(10.0, pytest.approx(5 / 2), 20, 2)
    # Ten runs that go up all the while tell less than ten that do not: the rank correlation of neighbours is 0.7.
    up, apart = ([Estimate(float(value), 0.1, 10) for value in values] for values in (range(10), (3, 8, 1, 6, 4, 9, 0, 5, 2, 7)))
    by_itself = math.sqrt(110 / 12 / 10) * 2.262 / 1.960
    assert runs_of_equal_length(apart).standard_error == pytest.approx(by_itself, rel=1e-3)
    assert runs_of_equal_length(up).standard_error == pytest.approx(by_itself * math.sqrt(1.7 / 0.3), rel=1e-3)
    with pytest.raises(ValueError, match="two"):
        runs_of_equal_length([Estimate(10.0, 0.1, 10)])


def test_a_line_through_exact_points_is_theirs_and_counts_messages():
    fitted = line([1, 1, 3], [10, 100, 4000], [60 + 0.2 * 10, 60 + 0.2 * 100, 180 + 0.2 * 4000], [1, 1, 1])
    assert (fitted.fixed, fitted.per_unit) == (pytest.approx(60), pytest.approx(0.2))
    assert fitted.misfit == pytest.approx(0, abs=1e-12)


def test_the_errors_of_a_line_by_hand():
    # x = 0, 1, 2 with unit errors: variances 5/6 and 1/2, covariance -1/2; y on the line, so that nothing is added.
    fitted = line([1, 1, 1], [0, 1, 2], [1, 2, 3], [1, 1, 1])
    assert fitted.fixed_error == pytest.approx(math.sqrt(5 / 6))
    assert fitted.per_unit_error == pytest.approx(math.sqrt(1 / 2))
    assert fitted.covariance == pytest.approx(-1 / 2)


def test_points_further_from_the_line_than_they_say_make_its_errors_larger():
    near = line([1] * 4, [0, 1, 2, 3], [1, 2, 3, 4], [0.1] * 4)
    far = line([1] * 4, [0, 1, 2, 3], [1, 2.5, 2.5, 4], [0.1] * 4)
    assert far.misfit > 10
    assert far.fixed_error == pytest.approx(near.fixed_error * math.sqrt(far.misfit))


def test_a_falling_line_is_held_level():
    fitted = line([1, 1, 1], [0, 10, 20], [5, 4, 3], [1, 1, 1])
    assert fitted.per_unit == pytest.approx(0, abs=1e-6)
    assert fitted.fixed == pytest.approx(4, abs=1e-5)


@pytest.mark.parametrize(("xs", "ys"), [([1], [2]), ([3, 3], [1, 2])])
def test_too_few_sizes_leave_a_line_open(xs, ys):
    with pytest.raises(ValueError):
        line([1] * len(xs), xs, ys, [1] * len(xs))


def noisy(function, sizes, seed):
    generator = random.Random(seed)
    return [function(x) * (1 + 0.01 * generator.gauss(0, 1)) for x in sizes]


SIZES = [1 << k for k in range(22)] + [3 << k for k in range(20)]


@pytest.mark.parametrize("seed", range(5))
def test_a_straight_line_is_left_whole(seed):
    (found,) = segments(SIZES, noisy(lambda x: 20 + 0.01 * x, SIZES, seed))
    assert found.intercept == pytest.approx(20, rel=0.02)
    assert found.slope == pytest.approx(0.01, rel=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_a_change_of_protocol_breaks_the_line_where_it_is(seed):
    def time(x):
        return 20 + 0.01 * x if x <= 12288 else 200 + 0.004 * x

    found = segments(SIZES, noisy(time, SIZES, seed))
    assert len(found) == 2
    assert (found[0].high, found[1].low) == (12288, 16384)
    assert found[1].slope == pytest.approx(0.004, rel=0.05)


def test_few_points_are_no_broken_line():
    with pytest.raises(ValueError):
        segments([1, 2, 3], [1, 2, 3])


def test_thousands_of_sizes_are_thinned_not_tried_in_all_pairs():
    xs = list(range(1, 20_001))
    (found,) = segments(xs, [5 + 0.5 * x for x in xs])
    assert found.points <= 400
    assert (found.intercept, found.slope) == (pytest.approx(5), pytest.approx(0.5))


def test_one_size_measured_often_is_no_line():
    with pytest.raises(ValueError):
        segments([8.0] * 10, [1.0] * 10)


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_a_piece_of_a_broken_line_has_four_sizes_however_often_they_were_measured(runs):
    sizes = [1024.0, 4096.0, 65536.0, 1048576.0]
    times = noisy(lambda x: 5 + 0.01 * x if x < 5000 else 30 + 0.002 * x, sizes * runs, 1)
    (found,) = segments(sizes * runs, times)
    assert (found.low, found.high, found.points) == (sizes[0], sizes[-1], 4 * runs)


def test_a_batch_that_is_known_far_better_than_the_others_outweighs_them():
    # Of 1 +- 1 and 3 +- 1e-9: by the formula of two batches tau^2 = (Q - 1) / c with Q = 4 / (v1 + v2) and
    # c = 2 w1 w2 / (w1 + w2) = 2 / (v1 + v2), so 1.5 for v1 + v2 = 1: weights 1 / 2.5 and 1 / 1.5.
    found = pooled([Estimate(1.0, 1.0, 5), Estimate(3.0, 1e-9, 5)])
    assert found.value == pytest.approx((1 / 2.5 + 3 / 1.5) / (1 / 2.5 + 1 / 1.5))
    tiny = pooled([Estimate(1e-300, 1e-300, 5), Estimate(3e-300, 1e-309, 5)])
    assert tiny.value == pytest.approx(found.value * 1e-300, rel=1e-6)
