"""Do accounts add up with the system's noise, under every protocol? `sdsm simulate` ends with status 1 where a thread's items
are not the makespan's sum, in the measured region or the whole run."""

from __future__ import annotations

import json
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
        command += ["--nodes", nodes, "--protocol", protocol, "--compute-factor", "20", "--seed", str(seed), "--draws", "1", "--quiet"]
        command += ["--set", f"noise.deviation={deviation}", "--set", f"noise.duration={duration}"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert result.returncode == 0, f"{command}: {result.stderr}"


def simulated(*options: object) -> dict:
    command = [ROOT / "build" / "sdsm-simulate", TRACES / "laplace.trace", "-p", ROOT / "platforms" / "p3-score.xml", "-n", "4", "-q", "--json", "-", *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return json.loads(done.stdout) | {"said": done.stderr}


NOISE = ("--compute-factor", "50", "--set", "noise.deviation=0.7", "--set", "noise.duration=20ms")


def test_on_a_machine_with_noise_the_result_is_the_run_of_median_time():
    result = simulated(*NOISE)
    times = sorted(result["spread"]["times_s"])
    assert len(times) == result["options"]["draws"] >= 21 and len(times) % 2 == 1
    assert result["makespan_s"] == times[len(times) // 2] == result["spread"]["times_s"][result["spread"]["shown"]]
    assert times[0] <= result["spread"]["low_5_percent_s"] < result["makespan_s"] < result["spread"]["high_95_percent_s"] <= times[-1]
    assert f"this is the median of {len(times)} runs, of which the middle 90 % take" in result["said"]
    assert "spread" not in simulated(*NOISE, "--draws", "1")


def test_medians_of_other_seeds_are_alike_where_single_runs_are_not():
    def spread(*options: str) -> float:
        times = [simulated(*NOISE, "--seed", seed, *options)["makespan_s"] for seed in range(1, 11)]
        return max(times) / min(times) - 1

    assert spread() < 0.03 < spread("--draws", "1")


def test_a_quiet_machine_has_neither_noise_nor_jitter():
    quiet = simulated(*NOISE, "--jitter", "0.2", "--quiet-machine")
    assert quiet["makespan_s"] == simulated("--compute-factor", "50")["makespan_s"] and "pace varies" not in quiet["said"]


def test_an_even_number_of_runs_has_no_median_among_them():
    command = [ROOT / "build" / "sdsm-simulate", TRACES / "laplace.trace", "-p", ROOT / "platforms" / "p3-score.xml", "-n", "4", *NOISE, "--draws", "20"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "Give an odd number, such as 21" in done.stderr
