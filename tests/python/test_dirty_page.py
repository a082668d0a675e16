"""The per-dirty-page cost of a barrier: each term of its formula by hand, then the published value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdsm.calibrate import dirty_page
from sdsm.calibrate.dirty_page import IterationWork, PublishedCosts, equation, iteration_work, least_squares_us

COSTS = PublishedCosts(sequential_time_s=7.5, write_fault_us=8, read_fault_us=587)


def test_on_two_threads_each_writes_511_rows_of_two_pages_and_reads_one_neighbours_row():
    for thread in (0, 1):
        assert iteration_work(2, thread) == IterationWork(interior_rows=511, pages_written=1022, pages_read=2)


def test_on_four_threads_a_middle_thread_writes_one_row_more_and_reads_two_neighbours_rows():
    assert iteration_work(4, 0) == IterationWork(interior_rows=255, pages_written=510, pages_read=2)
    assert iteration_work(4, 1) == IterationWork(interior_rows=256, pages_written=512, pages_read=4)
    assert iteration_work(4, 3) == IterationWork(interior_rows=255, pages_written=510, pages_read=2)


def test_the_terms_of_two_threads_by_hand():
    e = equation(2, measured_s=6.7, rounding_s=0.05, barrier_us=661, costs=COSTS)
    assert e.measured_us == pytest.approx(67_000)
    assert e.compute_us == pytest.approx(37_500)  # half of 75 000
    assert e.write_faults_us == 8 * 1022
    assert e.read_faults_us == 2 * 587
    assert e.rest_us == pytest.approx(67_000 - 37_500 - 8_176 - 1_174 - 661)  # 19 489
    assert e.cost_us == pytest.approx(19_489 / 1022)
    assert e.cost_rounding_us == pytest.approx(500 / 1022)


def test_the_slowest_of_four_threads_is_a_middle_one():
    e = equation(4, measured_s=4.2, rounding_s=0.05, barrier_us=7305, costs=COSTS)
    assert e.work.pages_written == 512
    assert e.compute_us == pytest.approx(75_000 * 256 / 1022)
    assert e.rest_us == pytest.approx(42_000 - 75_000 * 256 / 1022 - 8 * 512 - 4 * 587 - 7305)


@given(st.floats(0.1, 1000), st.floats(0, 1e4))
def test_times_made_from_a_cost_give_that_cost_back(cost_us, barrier_us):
    pages = {2: (1022, 511, 2), 4: (512, 256, 4)}
    equations = []
    for threads, (written, rows, read) in pages.items():
        iteration_us = 75_000 * rows / 1022 + (8 + cost_us) * written + 587 * read + barrier_us
        equations.append(equation(threads, iteration_us * 100 / 1e6, 0.05, barrier_us, COSTS))
    assert least_squares_us(equations) == pytest.approx(cost_us, rel=1e-6)


def test_a_cost_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="must be positive"):
        least_squares_us([equation(2, measured_s=4.0, rounding_s=0.05, barrier_us=661, costs=COSTS)])
    with pytest.raises(ValueError):
        least_squares_us([])


def test_the_published_times_give_18_95_us_and_agree_within_their_rounding():
    two, four = dirty_page.published_equations()
    assert two.cost_us == pytest.approx(19.07, abs=0.005)
    assert four.cost_us == pytest.approx(18.48, abs=0.005)
    assert abs(two.cost_us - four.cost_us) < two.cost_rounding_us + four.cost_rounding_us
    # (1022 x 19489.0 + 512 x 9464.3) / (1022^2 + 512^2) = 24 763 484 / 1 306 628
    assert dirty_page.dirty_home_page_us() == 18.95


def test_the_report_shows_both_values_the_mean_and_the_value_used():
    out = dirty_page.report(dirty_page.published_equations())
    assert all(text in out for text in ("19.07 +-0.49", "18.48 +-0.98", "18.78 us", "18.95 +-0.59 us"))
