"""Is the band around a prediction that of the parameters' errors?"""

from __future__ import annotations

import json
import statistics
import subprocess
from pathlib import Path

import pytest
from sdsm_calibrate.uncertainty import Sampler, main

ROOT = Path(__file__).resolve().parents[2]
SDSM = ROOT / "build" / "sdsm"
PLATFORM = ROOT / "platforms" / "p3-score.xml"


def parameter(name: str, value: float, error: float | None, unit: str = "us") -> dict:
    return {"name": name, "value": value, "unit": unit, "standard_error": error}


def report(parameters: list[dict], covariance: tuple[dict, ...] = ()) -> str:
    document = {"format": "sdsm-calibration", "version": 1, "parameters": parameters, "covariance": list(covariance)}
    return json.dumps(document)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    file = tmp_path_factory.mktemp("trace") / "laplace.trace"
    program = [
        str(ROOT / "build" / "workloads" / "laplace"),
        "--impl",
        "4",
        "--size",
        "128",
        "--iterations",
        "3",
        "--no-check",
    ]
    command = [str(SDSM), "trace", "--quiet", "-n", "2", "-o", str(file), "--", *program]
    subprocess.run(command, check=True, capture_output=True, timeout=280)
    return file


def test_draws_have_the_reports_means_errors_and_covariance():
    known = {"a": parameter("a", 100, 5), "b": parameter("b", 10, 1)}
    sampler = Sampler(known, [("a", "b", -4.0)], seed=1)
    draws = [sampler.draw() for _ in range(4000)]
    a, b = [d["a"] for d in draws], [d["b"] for d in draws]
    assert statistics.mean(a) == pytest.approx(100, abs=0.3)
    assert statistics.stdev(a) == pytest.approx(5, rel=0.05)
    assert statistics.covariance(a, b) == pytest.approx(-4, rel=0.1)


def test_no_draw_is_below_zero_no_share_above_one_and_no_slowdown_below():
    known = {"x": parameter("x", 0.1, 10), "local-part.home-share": parameter("local-part.home-share", 0.9, 1, "1")}
    known["memory-bus.2"] = parameter("memory-bus.2", 1.01, 1, "1")
    sampler = Sampler(known, [], seed=1)
    draws = [sampler.draw() for _ in range(100)]
    assert min(d["x"] for d in draws) == 0
    assert max(d["local-part.home-share"] for d in draws) == 1
    assert min(d["memory-bus.2"] for d in draws) == 1


def test_the_band_of_barriers_is_the_number_of_barriers_times_their_error(trace, tmp_path, capsys):
    # Only the barrier is uncertain, so that a prediction is linear in it: makespan = rest + barriers x cost.
    told = tmp_path / "r.json"
    told.write_text(report([parameter("barrier.2x1", 661, 20), parameter("fault.WROH", 8, None)]))
    arguments = [str(trace), "-p", str(PLATFORM), "--report", str(told), "-N", "12", "--json", "-", "--", "-n", "2"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    drawn = [(run["parameters"]["barrier.2x1"], run["makespan_s"]) for run in found["runs"]]
    line = statistics.linear_regression([cost for cost, _ in drawn], [time * 1e6 for _, time in drawn])
    barriers = round(line.slope)
    assert barriers >= 3 and line.slope == pytest.approx(barriers, rel=1e-3)
    costs = statistics.quantiles([cost for cost, _ in drawn], n=20, method="inclusive")
    width = found["high_95_percent_s"] - found["low_5_percent_s"]
    assert width * 1e6 == pytest.approx(barriers * (costs[-1] - costs[0]), rel=1e-3)
    assert found["low_5_percent_s"] < found["makespan_s"] < found["high_95_percent_s"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == found


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("hello", "not what `sdsm calibrate --report` writes"),
        (report([parameter("fault.WROH", float("nan"), 1)]), "no number"),
        (report([parameter("barrier.9x9", 1, 1)]), "barrier.9x9"),
        (report([]), "no standard error"),
    ],
)
def test_a_report_that_does_not_fit_is_refused_in_one_line(trace, tmp_path, capsys, text, what):
    told = tmp_path / "r.json"
    told.write_text(text)
    assert main([str(trace), "-p", str(PLATFORM), "--report", str(told), "--", "-n", "2"]) == 2
    error = capsys.readouterr().err
    assert what in error and len(error.splitlines()) == 1


def test_what_simulate_refuses_is_told(trace, tmp_path, capsys):
    told = tmp_path / "r.json"
    told.write_text(report([parameter("fault.WROH", 8, 1)]))
    assert main([str(trace), "-p", str(PLATFORM), "--report", str(told), "--", "-n", "3"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert main([str(trace), "-p", str(PLATFORM), "--report", str(told), "--", "-n", "2", "--json", "x"]) == 2
