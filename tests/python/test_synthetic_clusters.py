"""Does a calibration find the parameters of a cluster again, and is its error as large as it says?"""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from sdsm import readers
from sdsm.calibrate.fit import collect, fit
from sdsm.calibrate.network import Network
from synthetic_cluster import draw, simulated_us, write_outputs

NOISES = (0.01, 0.10)
#: Of a standard normal distribution: 90 % lie within.
BAND = 1.6449
#: Told to the fit: links and frames, and another bandwidth and latency than any cluster's.
BASE = Network(bandwidth=1.25, latency_us=500.0, links=2)


def trial(seed: int, folder: Path) -> dict[float, list[tuple[float, bool]]]:
    """By noise: relative error of each parameter, and whether its 90 % band covers the truth."""
    cluster = draw(seed)
    rows = simulated_us(cluster, folder)
    found: dict[float, list[tuple[float, bool]]] = {}
    for noise in NOISES:
        outputs = write_outputs(cluster, rows, noise, seed, folder)
        fitted = {p.name: p for p in fit(collect([readers.read(file) for file in outputs]), BASE).parameters}
        found[noise] = []
        for name, truth in cluster.parameters.items():
            p = fitted[name]
            assert p.kind in ("measured", "fitted") and p.standard_error is not None, name
            off = abs(p.value - truth)
            found[noise].append((off / truth, off <= BAND * p.standard_error))
    return found


def recovery(trials: range, folder: Path) -> None:
    results = [trial(seed, folder) for seed in trials]
    for noise, limit in zip(NOISES, (0.02, 0.10), strict=True):
        outcomes = [outcome for result in results for outcome in result[noise]]
        assert statistics.median(error for error, _ in outcomes) <= limit
        covered = sum(inside for _, inside in outcomes) / len(outcomes)
        assert 0.85 <= covered <= 0.95, f"noise {noise}: 90 % bands cover {covered:.1%} of {len(outcomes)} true values"


def test_known_parameters_are_found_again_and_bands_cover_them(tmp_path):
    recovery(range(20), tmp_path)


@pytest.mark.long
def test_known_parameters_are_found_again_and_bands_cover_them_200_times(tmp_path):
    recovery(range(200), tmp_path)


def test_without_noise_costs_come_back_to_the_digits_of_the_platform_file(tmp_path):
    cluster = draw(1000)
    rows = simulated_us(cluster, tmp_path)
    outputs = write_outputs(cluster, rows, 0.0, 0, tmp_path)
    fitted = fit(collect([readers.read(file) for file in outputs]), BASE)
    for name, truth in cluster.parameters.items():
        exact = not name.startswith(("reference.", "local-part."))
        assert fitted.value(name) == pytest.approx(truth, rel=1e-4 if exact else 0.02), name
