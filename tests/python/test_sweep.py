"""`sdsm sweep`: is every combination simulated once, kept as long as nothing it comes from changes, and answered right?"""

from __future__ import annotations

import csv
import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from calibration import run_result
from calibration.readers.text import Text
from run_results import simulation
from sdsm_sweep.answer import answers
from sdsm_sweep.command import main
from sdsm_sweep.points import Point
from sdsm_sweep.results import Done
from sdsm_sweep.spec import Question, Spec

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


@pytest.fixture(scope="session")
def traces(tmp_path_factory) -> Path:
    """A folder with 2.trace and 4.trace."""
    folder = tmp_path_factory.mktemp("traces")
    program = [BUILD / "workloads" / "laplace", "--impl", "4", "--size", "64", "--iterations", "3", "--no-check"]
    for threads in (2, 4):
        command = [BUILD / "sdsm", "trace", "-q", "-n", threads, "-o", folder / f"{threads}.trace", "--", *program]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture()
def place(traces, tmp_path) -> Path:
    """A folder of a sweep of its own: traces and a platform."""
    for name in ("2.trace", "4.trace"):
        shutil.copy(traces / name, tmp_path)
    shutil.copy(ROOT / "platforms" / "p3-score.xml", tmp_path / "m.xml")
    return tmp_path


SPEC = """
traces = ["2.trace", "4.trace"]
platform = "m.xml"
nodes = [2, 4]
placement = ["as-asked", "block", "round-robin"]
find = "nodes at which time is least"
[set]
"network.bandwidth" = ["100Mbps", "1Gbps"]
"""


def sweep(place: Path, text: str, capsys, *options: str) -> tuple[list[dict[str, str]], int, str]:
    """Rows of points.csv, how many were kept from before, and what was printed."""
    (place / "s.toml").write_text(text)
    status = main([str(place / "s.toml"), "-o", str(place / "out"), *options])
    printed = capsys.readouterr()
    assert status == 0, printed.err
    kept = re.findall(r"\((\d+) kept", printed.err)
    with (place / "out" / "points.csv").open(newline="") as file:
        return list(csv.DictReader(file)), int(kept[-1]) if kept else -1, printed.out


def test_a_point_is_what_the_simulator_says_of_its_options(place, capsys):
    rows, kept, printed = sweep(place, SPEC, capsys)
    assert (len(rows), kept) == (12, 0)
    assert [(row["nodes"], row["placement"], row["set:network.bandwidth"]) for row in rows[:3]] == [
        ("2", "as-asked", "100Mbps"), ("2", "as-asked", "1Gbps"), ("2", "block", "100Mbps"),
    ]  # fmt: skip
    for row in rows[::5]:
        words = ["-n", row["nodes"], "--placement", row["placement"], "--set", f"network.bandwidth={row['set:network.bandwidth']}"]
        command = [BUILD / "sdsm", "simulate", "-q", place / f"{row['nodes']}.trace", "-p", place / "m.xml", *words, "--json", "-"]
        result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        assert float(row["makespan_s"]) == result["makespan_s"]
        assert int(row["messages"]) == sum(thread["messages"] for thread in result["threads"])
        assert sum(float(row[name]) for name in row if name.endswith("_s") and name not in ("makespan_s", "computing_s")) == pytest.approx(
            result["makespan_s"]
        )
    assert len(re.findall(r"^placement \S+, network.bandwidth \S+: time is least at nodes [24]: ", printed, re.MULTILINE)) == 6
    assert (place / "out" / "time.svg").exists() and (place / "out" / "time.png").exists()


def test_what_has_not_changed_is_kept_and_what_has_is_simulated_anew(place, capsys):
    first = sweep(place, SPEC, capsys)[0]
    rows, kept, _ = sweep(place, SPEC, capsys)
    assert (rows, kept) == (first, 12)
    # One of three values of an axis is another: two thirds are kept.
    assert sweep(place, SPEC.replace("round-robin", "first-touch"), capsys)[1] == 8
    # A platform with other contents under the same name: nothing is.
    platform = place / "m.xml"
    platform.write_text(platform.read_text() + "\n<!-- -->\n")
    assert sweep(place, SPEC, capsys)[1] == 0
    # An option that all points have.
    assert sweep(place, SPEC.replace("platform =", "seed = 2\nplatform ="), capsys)[1] == 0
    shutil.copy(place / "2.trace", place / "4.trace.old")
    program = [BUILD / "workloads" / "laplace", "--impl", "3", "--size", "64", "--iterations", "3", "--no-check"]
    subprocess.run([BUILD / "sdsm", "trace", "-q", "-n", "4", "-o", place / "4.trace", "--", *program], check=True, stdout=subprocess.DEVNULL)
    assert sweep(place, SPEC, capsys)[1] == 6


def test_a_damaged_result_is_not_kept(place, capsys):
    first = sweep(place, SPEC, capsys)[0]
    kept = sorted((place / "out" / "kept").glob("*.json"))
    kept[0].write_text("{")
    kept[1].write_text(kept[1].read_text().replace('"simulation"', '"native"'))
    rows, count, _ = sweep(place, SPEC, capsys)
    assert (rows, count) == (first, 10)


def many(count: int) -> str:
    seeds = ", ".join(str(seed) for seed in range(1, count // 2 + 1))
    return f'traces = ["2.trace", "4.trace"]\nplatform = "m.xml"\nnodes = [2, 4]\njitter = 0.1\nseed = [{seeds}]\n'


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.long)])
def test_a_sweep_killed_twice_and_resumed_equals_one_that_was_not(place, capsys, count):
    whole = sweep(place, many(count), capsys)[0]
    bytes_of_whole = (place / "out" / "points.csv").read_bytes()
    shutil.rmtree(place / "out")
    kept = place / "out" / "kept"
    for killed, signal_number in ((count // 4, signal.SIGKILL), (count // 2, signal.SIGINT)):
        process = subprocess.Popen(
            [BUILD / "sdsm", "sweep", place / "s.toml", "-o", place / "out", "-j", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while len(list(kept.glob("*.json"))) < killed and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send_signal(signal_number)
        # On a busy machine it may be through before the signal comes; else nothing is written that is not whole.
        if process.wait(timeout=60) != 0:
            assert not (place / "out" / "points.csv").exists()
    rows, found, _ = sweep(place, many(count), capsys)
    assert rows == whole and (place / "out" / "points.csv").read_bytes() == bytes_of_whole
    assert count // 2 <= found <= count


def test_a_point_that_fails_is_recorded_and_stops_no_other(place, capsys):
    # The first is less than the messages of a barrier take.
    rows, _, _ = sweep(place, SPEC.replace('"network.bandwidth" = ["100Mbps", "1Gbps"]', '"barrier.2x1" = ["10us", "1ms"]'), capsys)
    failed = [row for row in rows if row["error"]]
    assert len(failed) == 6 and all(row["set:barrier.2x1"] == "10us" and not row["makespan_s"] for row in failed)
    assert "its messages alone take" in failed[0]["error"]


def test_a_program_is_traced_for_each_number_of_threads(place, capsys):
    program = shutil.copy(BUILD / "tests" / "planted" / "planted", place)
    text = f'program = ["{Path(program).name}", "homes"]\nplatform = "p3-score"\nnodes = [2, 3]\n'
    rows = sweep(place, text, capsys)[0]
    assert [row["nodes"] for row in rows] == ["2", "3"] and all(float(row["makespan_s"]) > 0 for row in rows)
    assert len(list((place / "out" / "kept").glob("*.trace"))) == 2


def test_a_number_of_threads_with_which_a_program_fails_stops_no_other(place, capsys):
    script = place / "program.c"
    script.write_text("#include <omp.h>\n#include <stdlib.h>\nint main(void) { if (omp_get_max_threads() == 2) abort(); return 0; }\n")
    subprocess.run(["gcc", "-fopenmp", "-o", place / "program", script], check=True)
    rows = sweep(place, 'program = ["program"]\nplatform = "p3-score"\nregion = "whole"\nnodes = [2, 3]\n', capsys)[0]
    assert "program with 2 threads cannot be traced" in rows[0]["error"]
    assert rows[1]["error"] == "" and float(rows[1]["makespan_s"]) > 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("platform = [", "is not TOML"),
        ('platform = "m.xml"\nnodes = 2\n', "traces or program: give one of both"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\n', "nodes is missing"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = [2, 4]\n', "no trace has 4 threads"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nplacment = "block"\n', "Did you mean placement"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = [2, 2]\n', "has a value twice"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = [true]\n', "is a value or a list of values"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = "two"\n', "not a whole number"),
        ('traces = ["2.trace"]\nplatform = "none.xml"\nnodes = 2\n', "there is no file"),
        ('traces = ["none.trace"]\nplatform = "m.xml"\nnodes = 2\n', "there is no file"),
        ('traces = ["m.xml"]\nplatform = "m.xml"\nnodes = 2\n', "m.xml"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nfind = "the best"\n', "write it as"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nfind = "nodes at which time is least"\n', "does not vary"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nset = 3\n', "is a table"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nfind = 7\n', "is a text or a list"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nsequential_time = ""\n', "has an empty value"),
        (f'traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nseed = {list(range(1001))}\njitter = {list(range(1001))}\n', "makes 1002001 points"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nx = "seed"\n', "does not vary"),
    ],
)
def test_a_file_that_cannot_be_swept_is_refused_in_one_line(place, capsys, text, told):
    (place / "s.toml").write_text(text)
    assert main([str(place / "s.toml"), "-o", str(place / "out"), "-q"]) == 2
    errors = capsys.readouterr().err
    assert told in errors and errors.count("\n") == 1
    assert not (place / "out").exists()


def test_if_all_points_fail_the_sweep_has(place, capsys):
    (place / "s.toml").write_text('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nplacement = ["nowhere", "elsewhere"]\n')
    assert main([str(place / "s.toml"), "-o", str(place / "out"), "-q"]) == 1
    assert "2 of 2 points failed" in capsys.readouterr().err


def test_an_answer_is_the_median_over_seeds_for_each_other_value():
    def done(nodes: str, placement: str, seed: str, time_s: float) -> Done:
        document = json.dumps(simulation(2, time_s))
        result = run_result.read(Text("result", document), run_result.Simulation)
        return Done(Point({"nodes": nodes, "placement": placement, "seed": seed}, Path("a.trace")), result)

    axes = {"nodes": ("2", "4"), "placement": ("block", "round-robin"), "seed": ("1", "2", "3")}
    spec = Spec(Path("s.toml"), axes, (Path("a.trace"),), (), (), None)
    times = {("2", "block"): (3, 9, 5), ("4", "block"): (4, 4, 90), ("2", "round-robin"): (1, 1, 1), ("4", "round-robin"): (2, 2, 0.5)}
    found = [done(*place, str(seed), time_s) for place, values in times.items() for seed, time_s in enumerate(values, start=1)]
    assert list(answers(spec, Question("nodes", "time", "least"), found)) == [
        "placement block: time is least at nodes 4: 4 s", "placement round-robin: time is least at nodes 2: 1 s",
    ]  # fmt: skip
