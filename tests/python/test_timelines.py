"""Timelines: do slices nest, and are their sums, faults and messages those of the result?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.traces import traced
from timelines import ROOT, Timeline, read_chrome, read_paje, read_paraver

BUILD = ROOT / "build"
COUNTERS = [BUILD / "tests" / "planted" / "planted", "counters"]


def sdsm(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([BUILD / "sdsm", *map(str, words)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def trace() -> Path:
    return traced(4, *COUNTERS, options=())


def simulated(trace: Path, place: Path, *options: object, platform: str = "p3-score", nodes: int = 4) -> subprocess.CompletedProcess[str]:
    return sdsm("simulate", trace, "-q", "-p", platform, "-n", nodes, "--json", place / "result.json", "--timeline", *options)


def states_of(result: dict) -> dict[tuple[int, str], float]:
    """Nanoseconds by thread and state, of the whole run."""
    states: dict[tuple[int, str], float] = {}
    for thread in result["whole_run"]["threads"]:
        times = thread["time_s"] | thread["time_s"]["fault"]
        del times["fault"]
        states |= {(thread["id"], name): 1e9 * time for name, time in times.items()}
    return states


def totals(result: dict) -> tuple[Counter[str], Counter[str]]:
    """Faults and messages of the whole run, by kind."""
    faults: Counter[str] = Counter()
    messages: Counter[str] = Counter()
    for thread in result["whole_run"]["threads"]:
        faults.update(thread["faults"])
        messages.update(thread["messages_by_kind"])
    return faults, messages


def check_sums(timeline: Timeline, result: dict) -> None:
    for (thread, state), time in states_of(result).items():
        assert abs(timeline.state_ns[thread, state] - time) <= timeline.slices[thread, state] + 1e-3, (thread, state)
    faults, messages = totals(result)
    assert timeline.faults == +faults
    # A barrier's answers come with its end.
    del messages["barrier_release"]
    del timeline.messages["reply"]
    assert timeline.messages == +messages


@pytest.mark.parametrize(
    "options",
    [
        [],
        pytest.param(["--network", "simgrid"], marks=pytest.mark.long),
        ["--platform", "p3-jiajia", "--protocol", "jiajia"],
        pytest.param(["--protocol", "home-open"], marks=pytest.mark.long),
        ["--platform", "v1280", "--protocol", "hardware", "-n", 1, "-t", 4],
        ["-n", 2, "-t", 2],
    ],
    ids=lambda options: " ".join(map(str, options)) or "queue",
)
def test_sums_faults_and_messages_are_those_of_the_result(trace, tmp_path, options):
    words = ["simulate", trace, "-q", *options]
    words += [] if "--platform" in options else ["-p", "p3-score"]
    words += [] if "-n" in options else ["-n", 4]
    for name, read in (("run.json", read_chrome), ("run.paje", read_paje), ("run.prv", read_paraver)):
        done = sdsm(*words, "--json", tmp_path / "result.json", "--timeline", tmp_path / name)
        assert done.returncode == 0, done.stderr
        result = json.loads((tmp_path / "result.json").read_text())
        timeline = read(tmp_path / name)
        # Hardware shared memory has no faults, which name them.
        assert any("heap #" in array for array in timeline.arrays) == ("hardware" not in options)
        check_sums(timeline, result)


@pytest.mark.skipif(shutil.which("pj_dump") is None, reason="there is no pj_dump, which is Debian's package pajeng")
@pytest.mark.parametrize("is_run", [False, True], ids=["simulated", "measured"])
def test_pj_dump_reads_paje_with_the_same_times_and_messages(trace, tmp_path, is_run):
    path = tmp_path / "run.paje"
    done = sdsm("run", "-q", "-n", 4, "--timeline", path, "--", *COUNTERS) if is_run else simulated(trace, tmp_path, path)
    assert done.returncode == 0, done.stderr
    timeline = read_paje(path)
    states: Counter[tuple[int, str]] = Counter()
    links = 0
    dumped = subprocess.run(["pj_dump", path], capture_output=True, text=True, check=True)
    for line in dumped.stdout.splitlines():
        kind, *row = [cell.strip() for cell in line.split(",")]
        if kind == "State" and row[1] == "State":
            states[int(row[0].removeprefix("thread ")), row[6]] += round((float(row[3]) - float(row[2])) * 1e9)
        links += kind == "Link"
    for key, time in timeline.state_ns.items():
        # It prints microseconds.
        assert abs(states[key] - time) <= 1000 * timeline.slices[key] + 1000
    assert links == timeline.messages.total() > 0


def test_a_result_is_the_same_with_and_without_a_timeline(trace, tmp_path):
    assert simulated(trace, tmp_path, tmp_path / "run.json").returncode == 0
    shown = (tmp_path / "result.json").read_bytes()
    assert sdsm("simulate", trace, "-q", "-p", "p3-score", "-n", 4, "--json", tmp_path / "result.json").returncode == 0
    assert (tmp_path / "result.json").read_bytes() == shown


def test_a_window_and_threads_and_a_limit_cut_what_they_say(trace, tmp_path):
    whole = tmp_path / "whole.json"
    simulated(trace, tmp_path, whole)
    end_s = read_chrome(whole).end_ns * 1e-9
    cut = tmp_path / "cut.json"
    window = f"{end_s / 4:.9f}s:{end_s / 2:.9f}s"
    assert simulated(trace, tmp_path, cut, "--timeline-window", window, "--timeline-threads", "1,3").returncode == 0
    timeline = read_chrome(cut)
    assert {thread for thread, _ in timeline.state_ns} == {1, 3}
    for thread in (1, 3):
        shown = sum(time for (number, _), time in timeline.state_ns.items() if number == thread)
        assert abs(shown - end_s / 4 * 1e9) <= 2
    done = simulated(trace, tmp_path, cut, "--timeline-events", 50)
    assert "sdsm: warning: the timeline has the first " in done.stderr
    timeline = read_chrome(cut)
    assert timeline.other["events"] <= 50 < timeline.other["cut_events"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["t.png"], "its ending does not say in which format"),
        (["t.json", "--timeline-window", "2s"], "this is no window"),
        (["t.json", "--timeline-window", "2s:1s"], "it ends before it begins"),
        (["t.json", "--timeline-window", "1:2"], "Give two times of the run"),
        (["t.json", "--timeline-window", "9000s:"], "nothing of the run is in it"),
        (["t.json", "--timeline-threads", "4"], "Name threads from 0 to 3"),
        (["t.json", "--timeline-threads", "2-1"], "Name threads from 0 to 3"),
        (["t.json", "--timeline-events", "0"], "--timeline-events"),
    ],
)
def test_bad_requests_are_refused_in_one_line_and_leave_no_file(trace, tmp_path, options, words):
    done = simulated(trace, tmp_path, tmp_path / options[0], *options[1:])
    assert done.returncode == 2
    line = done.stderr.splitlines()[-1]
    assert line.startswith("sdsm: ") and words in line
    assert not list(tmp_path.glob("t.*"))


def test_threads_are_those_of_the_trace_however_many_the_layout_asks_for(trace, tmp_path):
    layout = ("-n", 65536, "-t", 65536, "--timeline", tmp_path / "t.json", "--timeline-threads", 0)
    done = sdsm("simulate", trace, "-q", "-p", "p3-score", *layout)
    assert done.returncode == 2 and "8 hosts, but 65536 nodes were asked for" in done.stderr
    done = sdsm("simulate", trace, "-q", "-p", "p3-score", "-n", 8, "--timeline", tmp_path / "t.json", "--timeline-threads", 7)
    assert done.returncode == 2 and "has 4 threads, but" in done.stderr


def test_events_for_less_than_what_begins_at_once_are_too_few(trace, tmp_path):
    few = ("-n", 4, "--timeline", tmp_path / "t.json", "--timeline-events", 1)
    done = sdsm("simulate", trace, "-q", "-p", "p3-score", *few)
    assert done.returncode == 2 and "--timeline-events 1 is too few: more begin at once, at 0.000000000 s" in done.stderr
    done = sdsm("run", "-q", *few, "--", *COUNTERS)
    assert done.returncode == 2 and "window" not in done.stderr and "--timeline-events" in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_option_of_the_timeline_needs_one(trace):
    done = sdsm("simulate", trace, "-q", "-p", "p3-score", "-n", 4, "--timeline-events", 5)
    assert done.returncode == 2 and "no --timeline FILE" in done.stderr


def test_a_file_that_cannot_be_written_whole_is_not_there(trace, tmp_path):
    full = ["bash", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "bash", BUILD / "sdsm", "simulate", trace, "-q", "-p", "p3-score"]
    done = subprocess.run([str(word) for word in [*full, "-n", 4, "--timeline", tmp_path / "t.json"]], capture_output=True, text=True)
    assert done.returncode in (1, 2) and "cannot be written" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module", params=["scash", "jiajia"])
def measured(tmp_path_factory, request) -> Path:
    """A run of four processes, its timeline in all formats."""
    place = tmp_path_factory.mktemp("measured")
    protocol = ("--protocol", request.param)
    for name in ("run.json", "run.paje", "run.prv"):
        done = sdsm("run", "-q", *protocol, "-n", 4, "--json", place / f"{name}.result", "--timeline", place / name, "--", *COUNTERS)
        assert done.returncode == 0, done.stderr
    return place


@pytest.mark.parametrize(("name", "read"), [("run.json", read_chrome), ("run.paje", read_paje), ("run.prv", read_paraver)])
def test_of_a_real_run_likewise(measured, name, read):
    timeline = read(measured / name)
    result = json.loads((measured / f"{name}.result").read_text())
    cut_ns = sum(int(note.split()[4]) for note in timeline.other.get("notes", ()) if note.startswith("faults seem"))
    for (thread, state), time in states_of(result).items():
        assert abs(timeline.state_ns[thread, state] - time) <= timeline.slices[thread, state] + cut_ns, (thread, state)
    faults, messages = totals(result)
    assert timeline.faults == +faults
    assert any("heap #" in array for array in timeline.arrays)
    if result["protocol"] == "jiajia":
        # As below; and for notices that do not fit into a message there is no arrow.
        messages["BARR"] += 3
        assert +timeline.messages == +messages
        return
    # Each worker comes for more work once more, and hears that the program is over.
    messages["barrier_arrive"] += 3
    for kind in ("page_request", "barrier_arrive"):
        assert timeline.messages[kind] == messages[kind], kind
    # What a service thread sends late has no arrow.
    assert 0 < timeline.messages["diff"] <= messages["diff"]
    assert timeline.messages["reply"] >= messages["page_request"]


@pytest.mark.parametrize("most", [20, 8000])
def test_a_real_run_keeps_the_events_that_begin_first_and_says_when_the_others_do(most, tmp_path):
    # Each process sends what it has logged when it has time, so logs come in no order. All are some 50,000.
    done = sdsm("run", "-q", "-n", 4, "--timeline", tmp_path / "t.json", "--timeline-events", most, "--", *COUNTERS)
    assert done.returncode == 0, done.stderr
    timeline = read_chrome(tmp_path / "t.json")
    about = timeline.other
    assert most * 0.9 <= about["events"] <= most
    assert "more events were logged" in about["notes"][0]
    assert f"begin at {about['cut_from_s']:.9f} s or later" in done.stderr


def test_a_window_that_a_real_runs_logs_do_not_reach_is_refused_with_what_would(tmp_path):
    """The program has a region at its begin, and does nothing for a second behind it on any machine."""
    program = (BUILD / "tests" / "asked" / "spins", "end")

    def run(most):
        window = ("--timeline", tmp_path / "t.json", "--timeline-events", most, "--timeline-window", "0.8s:")
        return sdsm("run", "-q", "-n", 4, *window, "--", *program)

    done = run(1)
    assert done.returncode == 2 and "before its window begins" in done.stderr
    assert not list(tmp_path.iterdir())
    enough = 10_000  # the whole run logs fewer
    assert int(re.search(r"Give --timeline-events (\d+)", done.stderr)[1]) < enough
    assert run(enough).returncode == 0


def test_a_timeline_of_several_hosts_is_refused(tmp_path):
    done = sdsm("run", "--hosts", "localhost,localhost", "--timeline", tmp_path / "t.json", "--", *COUNTERS)
    assert done.returncode == 2 and "share a clock" in done.stderr
    assert not list(tmp_path.iterdir())
