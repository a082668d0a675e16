"""Accounts side by side: one meaning for each term, and a mark where a large one is far off."""

from __future__ import annotations

import msgspec
import pytest

import run_results
from sdsm.base import run_result
from sdsm.base.accounts import mean_over_threads, medians, side_by_side

#: Seconds. The simulation has no locks.
RUN = {"compute": 2.0, "fault RUMR": 4.0, "diff": 1.0, "barrier": 2.5, "lock": 0.5}
SIMULATION = {"compute": 1.9, "fault RUMR": 5.0, "diff": 1.0, "barrier": 1.75}


def simulated(times: dict, **more: object) -> run_result.Thread:
    return msgspec.convert(run_results.thread(0, 0, times) | more, run_result.Thread)


def test_what_serving_others_takes_is_part_of_what_the_thread_did_meanwhile_where_a_run_is_compared():
    times = {"compute": 1.0, "fault": {"RUMR": 5.0, "WROH": 2.0}, "protect": 0.5, "stolen": 0.9}
    one = simulated(times, stolen_from_s={"compute": 0.5, "fault": {"WROH": 0.3}, "protect": 0.1})
    account = mean_over_threads([one])
    assert account == pytest.approx({**dict.fromkeys(account, 0.0), "compute": 1.5, "fault RUMR": 5.0, "fault WROH": 2.3, "protect": 0.6})
    assert "stolen" not in account and sum(account.values()) == pytest.approx(sum(one.account_s().values()))
    # Of a result that does not tell: computing.
    assert mean_over_threads([simulated(times), one])["compute"] == pytest.approx((1.9 + 1.5) / 2)


def test_terms_stand_side_by_side_and_sum_to_the_times():
    terms = {term.name: term for term in side_by_side(RUN, SIMULATION, 10.0)}
    assert {name: (term.measured_s, term.predicted_s) for name, term in terms.items()} == {
        "compute": (2.0, 1.9),
        "fault RUMR": (4.0, 5.0),
        "diff": (1.0, 1.0),
        "barrier": (2.5, 1.75),
        "lock": (0.5, 0.0),
    }
    assert sum(term.measured_s for term in terms.values()) == pytest.approx(10.0)
    assert sum(term.predicted_s for term in terms.values()) == pytest.approx(9.65)


def test_only_a_large_term_that_is_off_by_more_than_a_quarter_is_marked():
    # Of 10 s: 5 of 4 is a quarter more, and near; 1.75 of 2.5 is 30 % less; half a second of locks is too small to matter.
    terms = {term.name: term for term in side_by_side(RUN, SIMULATION, 10.0)}
    assert [name for name, term in terms.items() if term.is_off] == ["barrier"]
    assert [name for name, term in terms.items() if term.is_large] == ["compute", "fault RUMR", "diff", "barrier"]
    assert terms["fault RUMR"].ratio == 1.25
    assert terms["barrier"].ratio == 0.7


def test_a_large_term_that_the_run_does_not_have_at_all_is_marked_without_a_ratio():
    (term,) = side_by_side({}, {"protect": 1.0}, 10.0)
    assert (term.name, term.ratio, term.is_off) == ("protect", None, True)


def test_of_several_runs_each_term_has_its_median():
    runs = [{"compute": 6.0}, {"compute": 5.0, "lock": 0.5}, {"compute": 3.5}]
    assert medians(runs) == {"compute": 5.0, "lock": 0.0}
