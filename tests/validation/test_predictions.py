"""Is it true? Traces of the real programs, simulated on the Pentium III cluster.

Counts are compared with counts made by hand. Times enter only where they follow from counts and costs, or, in the long
tests, as the predictions that are compared with published times.
"""

from __future__ import annotations

import csv
import json
import statistics
import subprocess
from pathlib import Path

import pytest

from tests.traces import traced

SOURCE = Path(__file__).resolve().parents[2]
SIMULATE = SOURCE / "build" / "sdsm-simulate"
PLATFORM = SOURCE / "platforms" / "p3-score.xml"


def trace(threads: int, program: str, *arguments: str) -> Path:
    """Of build/workloads/PROGRAM, the least of several passes."""
    return traced(threads, SOURCE / "build/workloads" / program, *arguments, "--no-check", options=())


def simulate_text(path: Path, nodes: int, *arguments: str) -> str:
    command = [SIMULATE, path, "--platform", PLATFORM, "--nodes", str(nodes), "--quiet", "--json", "-", *arguments]
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, timeout=600).stdout


def simulate(path: Path, nodes: int, *arguments: str) -> dict:
    return json.loads(simulate_text(path, nodes, *arguments))


def total(result: dict, kind: str) -> int:
    return sum(thread["faults"][kind] for thread in result["threads"])


@pytest.fixture(scope="module")
def traces() -> dict[str, Path]:
    """Ten iterations of Laplace 2 and 4 and an FFT of 2^16 points, four threads each."""
    laplace = ("--size", "1024", "--iterations", "10")
    return {
        "laplace 2": trace(4, "laplace", "--impl", "2", *laplace),
        "laplace 4": trace(4, "laplace", "--impl", "4", *laplace),
        "fft 2": trace(4, "fft", "--impl", "2", "--points", "65536"),
    }


def test_laplace_4_faults_are_those_counted_by_hand(traces):
    """Per iteration: 1022 interior rows of two pages are written at home, and each of the three borders between four
    blocks is read from both sides, two pages each. Once for the team: the master writes the administrative page; three
    threads fetch it, and the page of the initial stack with the region's arguments."""
    result = simulate(traces["laplace 4"], 4, "--sequential-time", "0.75s")
    assert total(result, "WROH") == 10 * 1022 * 2 + 1
    assert total(result, "RUMR") == 10 * 3 * 2 * 2 + 3 + 3
    assert sum(total(result, kind) for kind in result["threads"][0]["faults"]) == total(result, "WROH") + total(result, "RUMR")


def test_laplace_2_fetches_three_pages_of_four(traces):
    """Round robin over four nodes: a page written is at home once in four. Of 2044 pages written per iteration 1533 are
    remote."""
    result = simulate(traces["laplace 2"], 4, "--sequential-time", "0.75s")
    assert total(result, "WUMR") == 10 * 1533
    assert total(result, "WROH") == 10 * 511 + 1


@pytest.mark.parametrize("program", ["laplace 2", "laplace 4", "fft 2"])
def test_both_networks_agree_within_ten_percent(traces, program):
    times = [
        simulate(traces[program], 4, "--sequential-time", "0.75s", "--network", network)["makespan_s"]
        for network in ("queue", "simgrid")
    ]
    assert times[0] == pytest.approx(times[1], rel=0.10)


@pytest.mark.parametrize("network", ["queue", "simgrid"])
def test_the_same_run_gives_the_same_bytes(traces, network):
    arguments = ("--sequential-time", "0.75s", "--network", network, "--jitter", "0.05", "--draws", "1", "--seed", "7")
    assert simulate_text(traces["laplace 2"], 4, *arguments) == simulate_text(traces["laplace 2"], 4, *arguments)


def test_diff_sizes_come_from_the_data(traces):
    """In ten iterations heat reaches ten rows of 1022, so few pages change; full-page diffs pay for every page twinned."""
    own = simulate(traces["laplace 2"], 4, "--sequential-time", "0.75s")
    full = simulate(traces["laplace 2"], 4, "--sequential-time", "0.75s", "--full-page-diffs")
    assert sum(thread["diffs"] for thread in full["threads"]) == 10 * 1533
    assert sum(thread["diffs"] for thread in own["threads"]) < 10 * 40
    assert full["makespan_s"] > own["makespan_s"]


def published(impl: int, nodes: int) -> float:
    """Seconds, one thread per node, from the published data."""
    with open(SOURCE / "calibration/published/laplace_times.csv", newline="") as file:
        for row in csv.DictReader(file):
            key = (row["source"], int(row["implementation"]), int(row["nodes"]), int(row["grid_points_per_side"]))
            if key == ("WR-opt", impl, nodes, 1024):
                return float(row["time_s"])
    raise AssertionError(f"no published time of implementation {impl} on {nodes} nodes")


@pytest.mark.long
def test_six_laplace_times_are_predicted(tmp_path):
    """Implementations 3, 5 and 6 on 2 and 4 threads: median error at most 5 %, none above 10 %."""
    errors = []
    for impl in (3, 5, 6):
        for threads in (2, 4):
            path = trace(tmp_path, threads, "laplace", "--impl", str(impl), name=f"{impl}-{threads}.trace")
            time = simulate(path, threads, "--sequential-time", "7.5s", "--jitter", "0.05", "--draws", "1")["makespan_s"]
            errors.append(abs(time / published(impl, threads) - 1))
    assert statistics.median(errors) <= 0.05
    assert max(errors) <= 0.10


@pytest.mark.long
def test_five_traces_of_laplace_4_agree_within_two_percent(tmp_path):
    times = [
        simulate(trace(tmp_path, 4, "laplace", "--impl", "4", name=f"{i}.trace"), 4, "--sequential-time", "7.5s")["makespan_s"]
        for i in range(5)
    ]
    assert max(times) / min(times) <= 1.02


FORMAT_1 = SOURCE / "tests" / "workloads" / "trace" / "format_1"
"""Traces of format 1, and what sdsm at commit e0bb375, the last that wrote it, made of them (without its inputs' hashes
and versions): laplace --impl 4 --size 256 --iterations 8; fft --impl 2; two programs of tests/native/programs."""


def assert_has(actual: object, expected: object, where: str = "") -> None:
    """Fails unless `actual` is `expected`, but for members that objects have in addition."""
    if isinstance(expected, dict):
        assert isinstance(actual, dict), where
        for key, value in expected.items():
            assert key in actual, f"{where}.{key}"
            assert_has(actual[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert isinstance(actual, list) and len(actual) == len(expected), where
        for number, value in enumerate(expected):
            assert_has(actual[number], value, f"{where}[{number}]")
    else:
        assert actual == expected, where


@pytest.mark.parametrize("case", json.loads((FORMAT_1 / "simulated.json").read_text()), ids=lambda case: case["trace"])
def test_a_trace_of_format_1_is_simulated_as_ever(case: dict) -> None:
    command = [SIMULATE, FORMAT_1 / case["trace"], "--platform", PLATFORM, "--quiet", "--json", "-"]
    run = subprocess.run(list(map(str, [*command, *case["arguments"], "--draws", "1"])), check=True, capture_output=True, text=True)
    assert_has(json.loads(run.stdout), case["result"], case["trace"])
