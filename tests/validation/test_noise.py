"""Do accounts add up with the system's noise, under every protocol? `sdsm simulate` ends with status 1 where a thread's items
are not the makespan's sum, in the measured region or the whole run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import thinned

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "tests" / "workloads" / "trace" / "format_1"
PLATFORMS = {"scash": "p3-score.xml", "home-open": "p3-score.xml", "jiajia": "p3-jiajia.xml"}


@pytest.mark.parametrize(
    ("protocol", "trace", "noise"),
    thinned(2, PLATFORMS, ("fft", "laplace", "locks", "sections"), (("0.2", "100ms"), ("0.9", "1ms"))),
)
def test_every_thread_accounts_for_the_whole_time(protocol, trace, noise):
    deviation, duration = noise
    nodes = {"fft": "4", "laplace": "4", "locks": "3", "sections": "3"}[trace]
    for seed in range(1, 7):
        command = [ROOT / "build" / "sdsm-simulate", TRACES / f"{trace}.trace", "--platform", ROOT / "platforms" / PLATFORMS[protocol]]
        command += ["--nodes", nodes, "--protocol", protocol, "--compute-factor", "20", "--seed", str(seed), "--quiet"]
        command += ["--set", f"noise.deviation={deviation}", "--set", f"noise.duration={duration}"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert result.returncode == 0, f"{command}: {result.stderr}"
