"""Does calibrate say of costs that other work on the machine has spoilt that they are, though the gate passes?"""

from __future__ import annotations

import pytest

from sdsm.calibrate.doubts import doubts
from sdsm.calibrate.parameters import Parameter


def one(name: str, value: float, error: float | None, kind: str = "measured") -> Parameter:
    return Parameter(name, value, "us", error, 100, kind, "median", ("m.json",))


def test_a_main_cost_that_two_errors_leave_open_by_half_is_doubted():
    quiet = [one("fault.RUMR", 40.0, 9.9), one("lock.2x1", 10.0, 0.2), one("fault.WROH", 2.0, None)]
    assert list(doubts(quiet)) == []
    (reported,) = doubts([*quiet, one("fault.WUMR", 40.0, 10.1), one("barrier.4x1", 80.0, 30.0)])
    assert "fault.WUMR is 40 us with a standard error of 10.1 us, barrier.4x1 is 80 us" in reported and "RUMR" not in reported
    assert "--over" in reported
    # Small ones may be nothing but noise, and what nobody measured is as it was assumed.
    # A page's message takes 10 us and 4096 times the cost of a byte, which may be next to nothing beside it.
    by_byte = [one("message.fixed", 10.0, 0.1), one("message.per-byte", 0.0001, 0.0005)]
    assert list(doubts(by_byte)) == []
    (reported,) = doubts([by_byte[0], one("message.per-byte", 0.0001, 0.0007)])
    assert "message.per-byte is 0.0001 us" in reported
    assert list(doubts([one("barrier.dirty-home-page", 0.1, 0.3), one("fault.WROL", 5.0, 5.0, "assumed")])) == []


@pytest.mark.parametrize(("more", "is_reported"), [(110.0, False), (98.0, False), (95.0, True)])
def test_a_barrier_that_more_nodes_make_cheaper_by_more_than_two_errors_is_doubted(more, is_reported):
    """The errors of 1.2 and 1.6 us make one of 2 us for the difference."""
    reported = list(doubts([one("barrier.4x1", more, 1.6), one("barrier.2x2", 20.0, 1.0), one("barrier.2x1", 100.0, 1.2)]))
    assert len(reported) == is_reported
    if is_reported:
        assert reported[0].startswith("barrier.4x1 (95 us) comes out cheaper than barrier.2x1 (100 us)")


def test_noise_of_a_machine_that_does_other_work_is_reported():
    assert list(doubts([one("noise.deviation", 0.1, 0.01)])) == []
    (reported,) = doubts([one("noise.deviation", 0.51, 0.05)])
    assert reported.startswith("noise.deviation is 0.51:") and "while nothing else runs" in reported
