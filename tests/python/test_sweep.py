"""`sdsm sweep`: is every combination simulated once, kept as long as nothing it comes from changes, and answered right?"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from run_results import simulation
from sdsm.base import run_result
from sdsm.readers.text import Text
from sdsm.sweep import command
from sdsm.sweep.answer import answers
from sdsm.sweep.command import main
from sdsm.sweep.figure import pictures, quantities
from sdsm.sweep.points import Point
from sdsm.sweep.results import Done
from sdsm.sweep.spec import Question, Spec, options
from tests.traces import traced

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


@pytest.fixture()
def place(tmp_path) -> Path:
    """A folder of a sweep of its own: traces and a platform."""
    program = (BUILD / "workloads" / "laplace", "--impl", 4, "--size", 64, "--iterations", 3, "--no-check")
    for threads in (2, 4):
        shutil.copy(traced(threads, *program, options=()), tmp_path / f"{threads}.trace")
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


def sweep(place: Path, text: str, capsys, *options: str, draws: bool = False) -> tuple[list[dict[str, str]], int, str]:
    """Rows of points.csv, how many were kept from before, and what was printed. draws: pictures, too, which takes a while."""
    (place / "s.toml").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        if not draws:
            patch.setattr(command, "_draw", lambda *_: None)
        status = main([str(place / "s.toml"), "-o", str(place / "out"), *options])
    printed = capsys.readouterr()
    assert status == 0, printed.err
    kept = re.findall(r"\((\d+) kept", printed.err)
    with (place / "out" / "points.csv").open(newline="") as file:
        return list(csv.DictReader(file)), int(kept[-1]) if kept else -1, printed.out


def test_a_point_is_what_the_simulator_says_of_its_options(place, capsys):
    rows, kept, printed = sweep(place, SPEC, capsys, draws=True)
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
    assert all((place / "out" / name).exists() for name in ("time.svg", "time.png", "heat.svg", "heat.png"))


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


@pytest.fixture(scope="module")
def dask() -> Iterator[str]:
    """Address of the scheduler of a cluster of two workers."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster("127.0.0.1", n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def tables(folder: Path) -> list[object]:
    """All that a sweep tells, apart from pictures."""
    found: list[object] = [(folder / name).read_bytes() for name in ("points.csv", "sweep.json")]
    if (folder / "points.parquet").exists():
        found.append(importlib.import_module("pyarrow.parquet").read_table(folder / "points.parquet"))
    return found


@pytest.mark.parametrize(
    ("count", "where"),
    [(40, "here"), (20, "dask"), pytest.param(200, "here", marks=pytest.mark.long), pytest.param(200, "dask", marks=pytest.mark.long)],
)
def test_a_sweep_killed_twice_and_resumed_equals_one_that_was_not(place, capsys, count, where, request):
    options = ["--parquet"] if importlib.util.find_spec("pyarrow") else []
    whole = sweep(place, many(count), capsys, *options)[0]
    reported_of_whole = tables(place / "out")
    shutil.rmtree(place / "out")
    options += ["--dask", request.getfixturevalue("dask")] if where == "dask" else []
    kept = place / "out" / "kept"
    # Of the packages that this Python has.
    environment = os.environ | {"SDSM_PYTHON": sys.executable}
    for killed, signal_number in ((count // 4, signal.SIGKILL), (count // 2, signal.SIGINT)):
        process = subprocess.Popen(
            [BUILD / "sdsm", "sweep", place / "s.toml", "-o", place / "out", "-j", "2", *options],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 600
        while len(list(kept.glob("*.json"))) < killed and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send_signal(signal_number)
        # On a busy machine it may be through before the signal comes; else nothing is written that is not whole.
        if process.wait(timeout=600) != 0:
            assert not (place / "out" / "points.csv").exists()
    rows, found, _ = sweep(place, many(count), capsys, *options)
    assert rows == whole and tables(place / "out") == reported_of_whole
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


def test_a_kept_trace_that_is_damaged_is_made_again(place, capsys):
    program = shutil.copy(BUILD / "tests" / "planted" / "planted", place)
    text = f'program = ["{Path(program).name}", "lock"]\nplatform = "p3-score"\nnodes = 2\n'
    rows = sweep(place, text, capsys)[0]
    [trace] = (place / "out" / "kept").glob("*.trace")
    whole = trace.read_bytes()
    assert sweep(place, text, capsys)[:2] == (rows, 1)
    trace.write_bytes(whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1 :])
    (place / "s.toml").write_text(text)
    assert main([str(place / "s.toml"), "-o", str(place / "out")]) == 0
    assert f"{trace} is not as it was made" in capsys.readouterr().err
    info = subprocess.run([BUILD / "sdsm", "trace", "info", trace], capture_output=True, text=True)
    assert info.returncode == 0, info.stderr


def test_every_option_of_the_simulator_is_an_axis_but_for_its_outputs(place, capsys):
    known = options()
    assert {"scope", "network", "seed", "full_page_diffs", "home_migration", "uncertainty", "order"} <= set(known)
    assert {"json", "pages", "output", "readings", "timeline", "timeline_window", "quiet", "help", "version", "set"}.isdisjoint(known)
    text = ('traces = ["2.trace"]\nplatform = "p3-jiajia"\nnodes = 2\nprotocol = "jiajia"\nscope = ["openmp", "lock"]\n'
            "home_migration = [false, true]\n")  # fmt: skip
    rows = sweep(place, text, capsys)[0]
    assert [(row["scope"], row["home_migration"], row["error"]) for row in rows] == [
        ("openmp", "false", ""), ("openmp", "true", ""), ("lock", "false", ""), ("lock", "true", ""),
    ]  # fmt: skip
    options_of_last = Point({"scope": "lock", "home_migration": "true", "adaptive_write_detection": "false"}, Path("a")).command()[6:]
    assert options_of_last == ["--scope", "lock", "--home-migration"]


def test_parts_and_tasks_of_an_array_job_make_the_whole_sweep(place, capsys):
    whole = sweep(place, SPEC, capsys)[0]
    shutil.rmtree(place / "out")
    arguments = [str(place / "s.toml"), "-o", str(place / "out"), "-q"]
    assert main([*arguments, "--part", "1/3"]) == 0
    assert len(list((place / "out" / "kept").glob("*.json"))) == 4 and not (place / "out" / "points.csv").exists()
    assert main([*arguments, "--slurm", "2"]) == 0
    script = place / "out" / "sweep.sbatch"
    assert "#SBATCH --array=1-2\n" in script.read_text()
    for task in (1, 2):
        done = subprocess.run(["bash", script], cwd="/", env={"PATH": "/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": str(task)}, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout == "", done.stderr
    capsys.readouterr()
    rows, kept, _ = sweep(place, SPEC, capsys)
    assert (rows, kept) == (whole, 12)


def test_points_of_equal_contents_are_simulated_once(place, capsys):
    shutil.copy(place / "m.xml", place / "same.xml")
    rows = sweep(place, 'traces = ["2.trace"]\nplatform = ["m.xml", "same.xml"]\nnodes = 2\n', capsys)[0]
    assert len(rows) == 2 and rows[0]["makespan_s"] == rows[1]["makespan_s"]
    assert len(list((place / "out" / "kept").glob("*.json"))) == 1


def test_parquet_has_the_rows_of_the_csv_with_numbers_as_numbers(place, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    # The first barrier's points fail.
    rows = sweep(place, SPEC.replace('"network.bandwidth" = ["100Mbps", "1Gbps"]', '"barrier.2x1" = ["10us", "1ms"]'), capsys, "--parquet")[0]
    table = parquet.read_table(place / "out" / "points.parquet").to_pylist()
    assert [{name: "" if value is None else str(value) for name, value in row.items()} for row in table] == rows
    assert [type(table[1][name]) for name in ("nodes", "placement", "makespan_s", "messages")] == [int, str, float, int]


def test_without_its_package_an_option_is_refused_before_anything_is_simulated(place, capsys, monkeypatch):
    (place / "s.toml").write_text(SPEC)
    for option, package in ((["--parquet"], "pyarrow"), (["--dask", "tcp://127.0.0.1:1"], "distributed")):
        monkeypatch.setitem(sys.modules, package, None)
        assert main([str(place / "s.toml"), "-o", str(place / "out"), *option]) == 1
        errors = capsys.readouterr().err
        assert f"the Python package {package} is missing. Install it: " in errors and errors.count("\n") == 1
    assert not (place / "out").exists()


@pytest.mark.long
def test_a_dask_cluster_that_is_not_there_or_has_other_files_is_named(place, capsys, monkeypatch, dask):
    from sdsm.sweep import cluster, on_worker

    (place / "s.toml").write_text(SPEC)
    monkeypatch.setattr(cluster, "ANSWER_LIMIT_S", 1)
    assert main([str(place / "s.toml"), "-o", str(place / "out"), "--dask", "tcp://127.0.0.1:1"]) == 2
    assert "no scheduler answers" in capsys.readouterr().err
    trace = place / "2.trace"
    assert on_worker.simulate(["true"], {str(trace): "0" * 64}, 9)[2].startswith(f"{trace} is another file on ")
    assert "Workers need the same files" in on_worker.simulate(["true"], {str(place / "none"): "0" * 64}, 9)[2]
    # A point that fails there says the same as here.
    rows = sweep(place, SPEC.replace("round-robin", "nowhere"), capsys, "--dask", dask)[0]
    shutil.rmtree(place / "out")
    assert rows == sweep(place, SPEC.replace("round-robin", "nowhere"), capsys)[0] and sum(bool(row["error"]) for row in rows) == 4


def made_up(
    axes: dict[str, tuple[str, ...]], time_s: Callable[..., float], lacking: Callable[..., bool] = lambda *_: False, **more: Any
) -> tuple[Spec, list[Done]]:
    spec = replace(Spec(Path("s.toml"), axes, (Path("a.trace"),), (), (), None), **more)
    done = []
    for values in itertools.product(*axes.values()):
        one = simulation(2, time_s(*values), extrapolated=["barrier"] if lacking(*values) else [])
        result = run_result.read(Text("result", json.dumps(one)), run_result.Simulation)
        done.append(Done(Point(dict(zip(axes, values, strict=True)), Path("a.trace")), result))
    return spec, done


def test_small_multiples_have_the_same_scales_and_a_heat_map_the_medians():
    axes = {"nodes": ("2", "4"), "placement": ("block", "$x_"), "set network.bandwidth": ("1Mbps", "1Gbps"), "seed": ("1", "2", "3")}

    def time_s(nodes: str, placement: str, bandwidth: str, seed: str) -> float:
        return float(nodes) * (1 if placement == "block" else 10) * (5 if bandwidth == "1Mbps" else 1) * float(seed)

    drawn = pictures(*made_up(axes, time_s, panels="placement"))
    time, heat = (drawn[name].axes for name in ("time", "heat"))
    assert [one.get_title(loc="left") for one in time] == ["placement block", "placement $x_"]
    assert len({one.get_ylim() for one in time}) == 1 and all(one.get_yscale() == "log" for one in time)
    assert [text.get_text() for text in drawn["time"].legends[0].get_texts()] == ["network.bandwidth 1Mbps", "network.bandwidth 1Gbps"]
    # A row for each bandwidth, a column for each number of nodes, a panel for each placement; the middle seed is 2.
    assert [one.get_title(loc="left") for one in heat[:2]] == ["placement block", "placement $x_"]
    assert [text.get_text() for text in heat[0].texts] == ["20", "40", "4", "8"]
    assert [text.get_text() for text in heat[1].texts] == ["200", "400", "40", "80"]
    # One axis alone has no heat map; many lines get panels of themselves.
    assert set(pictures(*made_up({"nodes": ("2", "4")}, float))) == {"time"}
    many_lines = {"nodes": ("2", "4"), "seed": ("1",), "placement": ("a", "b"), "jitter": tuple(f"0.{n}" for n in range(1, 8))}
    spec, done = made_up(many_lines, lambda *values: 1.0)
    assert [one.get_title(loc="left") for one in pictures(spec, done)["time"].axes] == ["placement a", "placement b"]


def test_the_picture_has_the_asked_axis_below_and_no_panel_more_lines_than_colours():
    axes = {"platform": ("p/p3-score.xml",), "nodes": ("2", "4"), "placement": ("block", "round-robin"), "page_size": ("8KiB", "4KiB", "64KiB"), "jitter": ("0.1", "0.2", "0.3")}
    questions = (Question("page_size", "time", "least"),)
    figure = pictures(*made_up(axes, lambda *values: 1.0, questions=questions))["time"]
    # 2 x 2 x 3 lines are more than seven: a panel for each placement or number of nodes.
    assert [one.get_title(loc="left") for one in figure.axes] == ["nodes 2", "nodes 4"]
    for panel in figure.axes:
        assert panel.get_xlabel() == "page_size" and panel.get_xscale() == "log"
        assert [label.get_text() for label in panel.get_xticklabels()] == ["8KiB", "4KiB", "64KiB"]
        assert len(panel.containers) == 6 and list(panel.containers[0].lines[0].get_xdata()) == [8192, 4096, 65536]
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 6
    assert figure.texts[0].get_text() == "laplace on p3-score, 2 nodes x 1 thread: predicted time"


def test_names_below_a_picture_have_dots_beside_each_other_and_no_lines():
    axes = {"placement": ("block", "round-robin", "first-touch"), "protocol": ("scash", "home-open")}
    (panel,) = pictures(*made_up(axes, lambda *values: 1.0))["time"].axes
    lines = [container.lines[0] for container in panel.containers]
    assert {line.get_linestyle() for line in lines} == {"None"}
    first, second = (list(line.get_xdata()) for line in lines)
    assert all(place - 0.5 < one < other < place + 0.5 for place, one, other in zip(range(3), first, second, strict=True))


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (("2", "0.5"), [2, 0.5]), (("x2", "x0.5"), [2, 0.5]), (("8KiB", "4096B"), [8192, 4096]), (("1ms", "2us"), [1000, 2]),
        (("1Mbps", "2Gbps"), [125000, 2.5e8]), (("0", "1"), None), (("-1", "1"), None), (("scash", "x2"), None), (("1ms", "2B"), None),
    ],
)  # fmt: skip
def test_quantities_have_places_on_an_axis_and_names_have_none(values, numbers):
    assert quantities(values) == numbers


def test_extrapolated_points_are_hollow_in_the_picture_and_said_to_be():
    axes = {"nodes": ("2", "4", "8"), "placement": ("block", "round-robin")}
    figure = pictures(*made_up(axes, lambda nodes, placement: float(nodes), lambda nodes, placement: nodes == "8"))["time"]
    hollow = [line for line in figure.axes[0].get_lines() if line.get_markerfacecolor() == "white"]
    assert [list(line.get_xdata()) for line in hollow] == [[8], [8]]
    assert any("Hollow points" in text.get_text() for text in figure.texts)
    heat = pictures(*made_up(axes, lambda nodes, placement: float(nodes), lambda nodes, placement: nodes == "8"))["heat"]
    rings = [(int(x), int(y)) for line in heat.axes[0].get_lines() for x, y in line.get_xydata()]
    assert sorted(rings) == [(2, 0), (2, 1)] and any("Ring: " in text.get_text() for text in heat.texts)
    known = pictures(*made_up(axes, lambda nodes, placement: float(nodes)))["time"]
    assert not any("Hollow" in text.get_text() for text in known.texts)


def test_a_number_of_threads_with_which_a_program_fails_stops_no_other(place, capsys):
    shutil.copy(BUILD / "tests" / "asked" / "no_two_threads", place / "program")
    rows = sweep(place, 'program = ["program"]\nplatform = "p3-score"\nregion = "whole"\nnodes = [2, 3]\n', capsys)[0]
    assert "program with 2 threads cannot be traced" in rows[0]["error"]
    assert rows[1]["error"] == "" and float(rows[1]["makespan_s"]) > 0


@pytest.mark.parametrize(
    ("text", "reported"),
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
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\npanels = "seed"\n', "does not vary"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nseed = [1, 2]\nx = "seed"\npanels = "seed"\n', "is x already"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nfull_page_diffs = "yes"\n', "is true, false or a list of both"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\njson = "a.json"\n', "is nothing to sweep over"),
        ('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\norder = "none"\n', "there is no file"),
    ],
)
def test_a_file_that_cannot_be_swept_is_refused_in_one_line(place, capsys, text, reported):
    (place / "s.toml").write_text(text)
    assert main([str(place / "s.toml"), "-o", str(place / "out"), "-q"]) == 2
    errors = capsys.readouterr().err
    assert reported in errors and errors.count("\n") == 1
    assert not (place / "out").exists()


@pytest.mark.parametrize(
    ("line", "name"), [('platform = ["m.xml", "b/m.xml"]', "m.xml"), ('platform = "m.xml"\ntraces = ["2.trace", "b/2.trace"]', "2.trace")]
)
def test_two_files_of_one_name_are_refused_as_results_could_not_be_told_apart(place, capsys, line, name):
    (place / "b").mkdir()
    shutil.copy(place / name, place / "b")
    (place / "s.toml").write_text(f"{line}\nnodes = 2\n" + ("" if "traces" in line else 'traces = ["2.trace"]\n'))
    assert main([str(place / "s.toml"), "-o", str(place / "out"), "-q"]) == 2
    assert f"two files are called {name}" in capsys.readouterr().err


def test_traces_of_two_programs_are_no_sweep_over_threads(place, capsys):
    other = ["sdsm", "trace", "-q", "-n", "4", "-o", place / "4.trace", "--", BUILD / "workloads" / "sor", "--rows", "16", "--columns", "64", "--no-check"]
    subprocess.run([str(BUILD / "sdsm"), *(str(word) for word in other[1:])], check=True, stdout=subprocess.DEVNULL)
    (place / "s.toml").write_text('traces = ["2.trace", "4.trace"]\nplatform = "m.xml"\nnodes = [2, 4]\n')
    assert main([str(place / "s.toml"), "-o", str(place / "out"), "-q"]) == 2
    assert "those of 2 threads are of laplace, those of 4 of sor, so times would be" in capsys.readouterr().err


def test_if_all_points_fail_the_sweep_has(place, capsys):
    (place / "s.toml").write_text('traces = ["2.trace"]\nplatform = "m.xml"\nnodes = 2\nplacement = ["nowhere", "elsewhere"]\n')
    assert main([str(place / "s.toml"), "-o", str(place / "out"), "-q"]) == 1
    assert "2 of 2 points failed" in capsys.readouterr().err


def test_an_answer_is_the_median_over_seeds_for_each_other_value():
    def done(nodes: str, placement: str, seed: str, time_s: float) -> Done:
        lacking = ["page-size"] if (nodes, placement, seed) == ("2", "round-robin", "3") else []
        document = json.dumps(simulation(2, time_s, extrapolated=lacking))
        result = run_result.read(Text("result", document), run_result.Simulation)
        return Done(Point({"nodes": nodes, "placement": placement, "seed": seed}, Path("a.trace")), result)

    axes = {"nodes": ("2", "4"), "placement": ("block", "round-robin"), "seed": ("1", "2", "3")}
    spec = Spec(Path("s.toml"), axes, (Path("a.trace"),), (), (), None)
    times = {("2", "block"): (3, 9, 5), ("4", "block"): (4, 4, 90), ("2", "round-robin"): (1, 1, 1), ("4", "round-robin"): (2, 2, 0.5)}
    found = [done(*place, str(seed), time_s) for place, values in times.items() for seed, time_s in enumerate(values, start=1)]
    assert list(answers(spec, Question("nodes", "time", "least"), found)) == [
        "placement block: time is least at nodes 4: 4 s (4 to 90 s)",
        "placement round-robin: time is least at nodes 2: 1 s (extrapolated: the platform has no costs of pages of this size)",
    ]  # fmt: skip


@pytest.mark.parametrize("device", ["/dev/full", "/dev/zero"])
def test_a_device_that_never_ends_is_no_sweep(device, capsys):
    assert main([device]) == 2
    assert capsys.readouterr().err == f"sdsm: {device}: cannot be read: neither a file nor a pipe. Name a file that says what to sweep over\n"
