"""Does the noise that is found in times of work say how processors' paces were drawn?"""

from __future__ import annotations

import numpy as np
import pytest

from sdsm.calibrate.noise import noise

EVERY_US = 5000.0


def paces(deviation: float, duration_us: float, random: np.random.Generator, processors: int = 2) -> np.ndarray:
    """Times of 128 pieces on each processor, as sim/noise.hpp has them: a pace is lognormal, and lasts exponentially."""
    variance = np.log1p(deviation**2)
    times = np.empty((128, processors))
    for processor in range(processors):
        until = 0.0
        for piece in range(len(times)):
            while until <= piece * EVERY_US:
                slowness = np.exp(random.normal(variance / 2, np.sqrt(variance)))
                until = piece * EVERY_US + random.exponential(duration_us)
            times[piece, processor] = 4000 * slowness
    return times


@pytest.mark.parametrize("processors", [2, 4])
@pytest.mark.parametrize(("deviation", "duration_us"), [(0.05, 20e3), (0.1, 100e3), (0.2, 60e3)])
def test_deviation_and_duration_are_found_again(deviation, duration_us, processors):
    random = np.random.default_rng(7)
    found = [noise([paces(deviation, duration_us, random, processors) for _ in range(10)], [EVERY_US]) for _ in range(20)]
    values = [one.deviation.value for one in found]
    assert np.mean(values) == pytest.approx(deviation, rel=0.1)
    assert np.median([one.duration_us for one in found]) == pytest.approx(duration_us, rel=0.35)
    # The stated error is what sittings differ by.
    assert np.mean([one.deviation.standard_error for one in found]) == pytest.approx(np.std(values), rel=0.6)


def test_processors_that_are_always_alike_have_no_noise():
    alike = np.repeat(np.linspace(4000, 5000, 128)[:, None], 2, axis=1)
    assert noise([alike, alike], [EVERY_US]).deviation.value == 0


def test_one_processor_few_pieces_and_no_time_tell_nothing():
    times = paces(0.1, 50e3, np.random.default_rng(1))
    assert noise([times[:, :1]], [EVERY_US]) is None
    assert noise([times[:63]], [EVERY_US]) is None
    assert noise([np.zeros_like(times)], [EVERY_US]) is None
    assert noise([times], [0.0]) is noise([], []) is None


def test_paces_that_outlast_the_run_are_reported_as_long_ones():
    constant = np.tile([4000.0, 5000.0], (128, 1))
    assert noise([constant], [EVERY_US]).duration_us > 128 * EVERY_US
    assert noise([constant], [1e12]).duration_us == 3600e6  # a platform file's longest
    assert noise([constant], [1e-9]).duration_us == 1  # and what it can tell


@pytest.mark.parametrize("factor", [2.6, 1e30])
def test_no_deviation_is_more_than_a_platform_file_may_tell(factor):
    assert noise([np.tile([1.0, factor], (128, 1))], [EVERY_US]).deviation.value == 1
