"""The main job against a stand-in for sdsm: order, reuse, failures, interruption, output."""

import csv
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sdsm.report.main_job.__main__ import main

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Place:
    """A build folder with the stand-in in it, and a results folder."""

    def __init__(self, folder: Path) -> None:
        self.build, self.results = folder / "build", folder / "results"
        (self.build / "workloads").mkdir(parents=True)
        # This interpreter, isolated and without site packages: it starts hundreds of times.
        code = (HERE / "fake_sdsm.py").read_text().replace("#!/usr/bin/env python3", f"#!{sys.executable} -IS", 1)
        (self.build / "sdsm").write_text(code)
        (self.build / "sdsm").chmod(0o755)
        shutil.copy(HERE / "run_results.py", self.build)
        for name in ("sdsm-trace", "workloads/laplace", "workloads/fft", "workloads/epcc", "libtracer.so"):
            (self.build / name).write_text(name)
        (self.build / "platform.xml").write_text("<platform/>")

    def arguments(self, *more: str) -> list[str]:
        paths = {"build": self.build, "platform": self.build / "platform.xml", "results": self.results}
        return [text for name, path in paths.items() for text in (f"--{name}", str(path))] + list(more)

    def run(self, *more: str) -> int:
        return main(self.arguments("--seeds", "2", *more))

    def behave(self, **behaviour) -> None:
        (self.build / "behaviour.json").write_text(json.dumps(behaviour))

    def calls(self) -> list[list[str]]:
        path = self.build / "calls.txt"
        calls = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        path.unlink(missing_ok=True)
        return calls

    def times(self) -> dict[str, dict[str, str]]:
        with (self.results / "times.csv").open() as file:
            rows = list(csv.DictReader(file))
        return {f"{r['program']}-{r['implementation']}-{r['nodes']}x{r['threads_per_node']}": r for r in rows}

    def digests(self, pattern: str) -> dict[str, str]:
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(self.results.glob(pattern))}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_the_whole_job_traces_first_then_simulates_and_leaves_tables_and_figures(place, capsys):
    assert place.run() == 0
    calls = [call[0] for call in place.calls()]
    # 40 lines, 4 of them with a second seed; what protocols there are, and each on 1 to 8 nodes with both programs; EPCC on
    # 5 layouts, which have 1 to 8 threads; the V1280 with 2 and 4.
    assert calls == ["trace"] * (37 + 4) + ["simulate"] * (44 + 1 + 3 * 8 + 5 + 2)
    out, err = capsys.readouterr()
    assert "Laplace, 1024 x 1024, 100 iterations" in out and "FFT, 524288 points" in out
    assert "(6 predictions): median error" in out
    assert "sdsm: [85/85]" not in out and "sdsm: [36/85] trace fft-4-8t" in err
    assert len(place.times()) == 40
    names = {"laplace_speedup", "laplace_time", "laplace_spread", "fft_speedup", "fft_time", "protocols", "directives"}
    assert {p.stem for p in place.results.glob("*.png")} == names
    assert {p.stem for p in place.results.glob("*.svg")} == names
    assert (place.results / "tables.txt").read_text() == out
    assert "laplace 4, jiajia (platform.xml): refused: exit status 2: platform.xml gives no costs for protocol" in out
    with (place.results / "protocols.csv").open() as file:
        rows = {(row["program"], row["nodes"], row["protocol"]): row for row in csv.DictReader(file)}
    assert len(rows) == 24
    # What is not told apart here is as fast as under scash, which the job's own tables have.
    own = place.times()["laplace-4-4x1"]["predicted_s"]
    assert rows["laplace", "4", "home-open"]["predicted_s"] == rows["laplace", "4", "scash"]["predicted_s"] == own
    assert all(row["status"].startswith("refused: ") for key, row in rows.items() if key[2] == "jiajia")
    assert not list(place.results.rglob("*.part"))
    # The second time tables and figures are byte for byte the same.
    first = place.digests("*.*")
    assert place.run() == 0 and place.digests("*.*") == first


def test_what_directives_cost_is_what_the_program_prints_beside_what_was_given(place, capsys):
    assert place.run("--only", "epcc") == 0
    out = capsys.readouterr().out
    assert [line.split() for line in out.splitlines() if line.startswith(("directive", "BARRIER", "SINGLE"))] == [
        ["directive", "1x1", "2x1", "1x2", "4x1", "4x2"],
        ["BARRIER", "0.7", "(0.2)", "661.5", "(661)", "225.5", "(225)", "7305.5", "(7305)", "17631.5", "(17631)"],
        ["SINGLE", *["100.0"] * 5],
    ]
    with (place.results / "directives.csv").open() as file:
        rows = {(row["directive"], row["nodes"], row["threads_per_node"]): row for row in csv.DictReader(file)}
    assert len(rows) == 10
    assert (rows["BARRIER", "4", "2"]["given_us"], rows["SINGLE", "4", "2"]["given_us"]) == ("17631.0", "")
    endings = ("", ".csv", ".png", ".svg")
    assert {path.name for path in place.results.glob("directives*")} == {f"directives{end}" for end in endings}
    place.behave(fail={"epcc-0-8t": "epcc ended by signal 11", "epcc-1x2": "deadlock"})
    assert place.run("--only", "epcc", "--retrace", "--no-figures") == 1
    out = capsys.readouterr().out
    assert "1x2: exit status 1: deadlock\n4x2: no trace: exit status 1: epcc ended by signal 11" in out
    assert "661.5" in out and "17631.5" not in out


def test_fft_2_on_the_v1280_is_predicted_from_its_own_one_thread_time(place, capsys):
    assert place.run("--only", "fft", "--no-figures") == 0
    calls = [call for call in place.calls() if "hardware" in call]
    assert sorted(call[call.index("--threads-per-node") + 1] for call in calls) == ["2", "4"]
    assert all(call[call.index("--sequential-time") + 1] == "0.7s" for call in calls)
    assert all(Path(call[call.index("--platform") + 1]).name == "v1280.xml" for call in calls)
    with (place.results / "v1280.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["threads"], row["one_thread_s"], row["status"]) for row in rows] == [("2", "0.7", "done"), ("4", "0.7", "done")]
    assert f"1 thread: 0.7 (given [WR-opt])\n2 threads: {float(rows[0]['predicted_s']):.3f}" in capsys.readouterr().out
    place.behave(fail={"fft-2-1x4": "deadlock"})
    assert place.run("--only", "fft", "--no-figures") == 1
    assert "4 threads: exit status 1: deadlock" in capsys.readouterr().out


def test_a_trace_is_kept_while_it_its_program_tracer_and_arguments_are_the_same(place):
    def threads_of_traces(*more: str) -> list[str]:
        assert place.run("--only", "epcc", "--no-figures", *more) == 0
        return [call[call.index("-n") + 1] for call in place.calls() if call[0] == "trace"]

    assert len(threads_of_traces()) == 4
    assert threads_of_traces() == []
    assert len(threads_of_traces("--retrace")) == 4
    for name in ("sdsm-trace", "workloads/epcc", "libtracer.so"):
        (place.build / name).write_text("another build")
        assert len(threads_of_traces()) == 4
    (place.results / "traces" / "epcc-0-4t.trace").write_text("damaged")
    assert threads_of_traces() == ["4"]


def test_a_failed_trace_costs_its_own_lines_only(place, capsys):
    place.behave(fail={"fft-2-2t": "fft ended by signal 11"})
    assert place.run("--only", "fft") == 1
    times = place.times()
    failed = {name for name, row in times.items() if row["status"] != "done"}
    assert failed == {"fft-2-1x2", "fft-2-2x1"}
    assert times["fft-2-1x2"]["status"] == "no trace: exit status 1: fft ended by signal 11"
    assert times["fft-2-1x2"]["predicted_s"] == ""
    assert "2 of 21 lines are incomplete (2 failed):" in capsys.readouterr().out
    assert (place.results / "fft_speedup.png").exists()
    assert not (place.results / "traces" / "fft-2-2t.trace").exists()


def test_a_failed_simulation_costs_its_own_line_only_and_leaves_no_old_result(place):
    assert place.run("--only", "fft", "--no-figures") == 0
    stale = place.results / "simulations" / "fft-4-4x2-seed1.json"
    assert stale.exists()
    place.behave(fail={"fft-4-4x2": "deadlock"}, garbage=["fft-3-4x1"])
    assert place.run("--only", "fft", "--no-figures") == 1
    statuses = {name: row["status"] for name, row in place.times().items() if row["status"] != "done"}
    assert statuses["fft-4-4x2"] == "simulation: exit status 1: deadlock"
    assert statuses["fft-3-4x1"].startswith("simulation: sdsm simulate's JSON:2: not JSON")
    assert len(statuses) == 2
    assert not stale.exists()


def test_a_failed_seed_is_named_and_the_others_give_the_distribution(place):
    place.behave(fail={"laplace-1-4x1-seed2": "out of memory"})
    assert place.run("--only", "laplace", "--no-figures") == 1
    row = place.times()["laplace-1-4x1"]
    assert row["seeds"] == "1" and row["status"].startswith("1 of 2 seeds; simulation: exit status 1: out of memory")
    assert float(row["predicted_s"]) > 0


def test_everything_failing_still_ends_with_tables(place, capsys):
    (place.build / "workloads" / "laplace").unlink()
    assert place.run("--only", "laplace") == 1
    assert "19 of 19 lines are incomplete (19 failed):" in capsys.readouterr().out
    assert not list(place.results.glob("*.png"))


def test_an_extrapolated_cost_is_marked_in_the_table_and_no_other(place, capsys):
    assert place.run("--only", "fft", "--no-figures") == 0
    assert "*" not in capsys.readouterr().out
    place.behave(extrapolate="fft-1-4x2")
    assert place.run("--only", "fft", "--no-figures") == 0
    out = capsys.readouterr().out
    marked = [line for line in out.splitlines() if "(extrapolated: barrier)" in line]
    assert len(marked) == 1 and marked[0].split()[:2] == ["1", "4x2"]
    assert marked[0].split()[2].endswith("*")
    assert out.count("\n* extrapolated: ") == 1


def test_an_extrapolated_cost_is_marked_in_both_tables_of_a_distribution(place, capsys):
    place.behave(extrapolate="laplace-1-4x1")
    assert place.run("--only", "laplace", "--no-figures") == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if line.split()[:2] == ["1", "4x1"]]
    assert len(rows) == 2 and all(any(cell.endswith("*") for cell in row.split()[2:]) for row in rows)
    assert out.count("\n* extrapolated: ") == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_job_leaves_what_was_done_and_no_running_command(place, number):
    place.behave(hang=["fft-3-2x1"])
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-m", "sdsm.report.main_job", *place.arguments("--only", "fft", "--no-figures")]
    # A shell that runs the tests in the background has interruptions ignored, which is inherited.
    uninterrupted = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=environment, **pipes, **uninterrupted)
    hanging, simulations = place.build / "hanging", place.results / "simulations"
    # The hung simulation holds one of two slots; the other works off the rest.
    while process.poll() is None and not (hanging.exists() and len(list(simulations.glob("*.json"))) == 20):
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 1
    assert "interrupted" in err and "Traceback" not in err
    statuses = {name: row["status"] for name, row in place.times().items()}
    assert [name for name, status in statuses.items() if status != "done"] == ["fft-3-2x1"]
    assert statuses["fft-3-2x1"] == "not run"
    assert "1 of 21 lines are incomplete (0 failed):" in out


def test_a_command_that_takes_too_long_is_ended_and_reported(place, monkeypatch):
    monkeypatch.setattr("sdsm.report.main_job.simulation.TIME_LIMIT_S", 3.0)
    place.behave(hang=["fft-1-4x1"])
    assert place.run("--only", "fft", "--no-figures") == 1
    assert place.times()["fft-1-4x1"]["status"] == "simulation: took longer than 3 s and was ended"


def test_openmp_settings_of_the_user_do_not_reach_the_traced_program(monkeypatch):
    from sdsm.base.children import CommandRunner

    monkeypatch.setenv("OMP_SCHEDULE", "dynamic")
    monkeypatch.setenv("GOMP_SPINCOUNT", "0")
    out = CommandRunner().run([sys.executable, "-c", "import os; print(sorted(os.environ))"], 60)
    assert "PATH" in out and "OMP_" not in out


@pytest.mark.parametrize(
    ("said", "reported"),
    [
        ("sdsm: no results", "exit status 3: no results"),
        ("usage: p N\nsdsm: no results", "exit status 3: no results (on stderr before: usage: p N)"),
        ("usage: p N", "exit status 3: usage: p N"),
        ("", "exit status 3: it said nothing"),
    ],
)
def test_a_command_that_failed_is_reported_with_its_own_reason_and_its_programs_last_words(said, reported):
    from sdsm.base.children import CommandFailed, CommandRunner

    with pytest.raises(CommandFailed) as failed:
        CommandRunner().run(["sh", "-c", 'printf "%s\\n" "$1" >&2; exit 3', "sh", said], 60)
    assert str(failed.value) == reported


def test_what_is_not_there_is_named_with_what_to_do_and_status_2(place, capsys):
    assert main(["--build", str(place.build / "none"), "--results", str(place.results)]) == 2
    assert "Build it first" in capsys.readouterr().err
    assert main(place.arguments("--platform", "none.xml")) == 2
    assert "none.xml does not exist" in capsys.readouterr().err
    assert not place.results.exists()


@pytest.mark.parametrize("arguments", [["--seeds", "0"], ["--seeds", "many"], ["--only", "swim"], ["--unknown"]])
def test_a_bad_option_is_refused_with_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as refusal:
        main(arguments)
    assert refusal.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("sdsm: ")
    assert said.count("\n") == 1
