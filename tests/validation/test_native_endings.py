"""Does a program end under `sdsm run` as it would anywhere: with its status, its exit functions and its output, whichever
of its threads ends it?"""

from __future__ import annotations

import json
import os
import subprocess
import time

import pytest

from tests.traces import traced
from tests.validation.native_runs import ASKED, BUILD, MEMORY_PROGRAMS, MarkedRun, hosts, thinned

FAILING_CALLS = BUILD / "tests" / "run" / "libfailing_calls.so"
RUN_TIME = BUILD / "libsdsm-run.so"
PROGRAM = MEMORY_PROGRAMS / "endings"
SAID = {"exit": "atexit\n", "computing": "atexit\n", "locked": "", "quick_exit": "at_quick_exit\n", "_exit": ""}


def ending(how: str, thread: int, status: int, *cluster: object) -> MarkedRun:
    return MarkedRun("-q", *cluster, "--", PROGRAM, how, thread, status)


@pytest.mark.parametrize(
    ("how", "thread", "cluster"),
    thinned(2, ("exit", "quick_exit", "_exit", "computing"), (0, 1, 2), (("--nodes", 2, "--threads-per-node", 2), ("--nodes", 3, *hosts(3)))),
)
def test_any_thread_may_end_the_program(how, thread, cluster):
    status = 0 if thread == 2 else 7
    with ending(how, thread, status, *cluster) as run:
        assert run.end() == status, run.errors
        said = f"thread {thread} ends\n"
        assert run.errors == said + (f"sdsm: the program ended with status {status}\n" if status else "")
        assert run.output == "begin\n" + SAID[how]


@pytest.mark.parametrize(("thread", "cluster"), [(0, ("--nodes", 3)), (1, ("--nodes", 3, *hosts(3)))])
def test_a_thread_may_end_the_program_while_others_wait_for_its_lock(thread, cluster):
    with ending("locked", thread, 7, *cluster) as run:
        assert run.end() == 7
        assert run.errors == f"thread {thread} ends\nsdsm: the program ended with status 7\n"
        # The initial thread cannot run its exit functions while it waits for a lock that nobody will give back.
        assert run.output == "begin\n" + ("atexit\n" if thread == 0 else "")


@pytest.mark.parametrize("thread", [0, 1])
@pytest.mark.parametrize("how", ["exit", "quick_exit", "_exit"])
def test_so_it_does_under_the_compilers_run_time(how, thread):
    environment = {**os.environ, "OMP_NUM_THREADS": "3"}
    done = subprocess.run([PROGRAM, how, str(thread), "7"], capture_output=True, text=True, env=environment, timeout=600)
    assert (done.returncode, done.stdout) == (7, "begin\n" + SAID[how])


LAYOUTS = [("-n", 3), ("--nodes", 2, "--threads-per-node", 2), ("--nodes", 3, "--protocol", "jiajia"), ("--nodes", 3, *hosts(3))]


@pytest.mark.parametrize("layout", LAYOUTS, ids=["nodes", "local peers", "jiajia", "hosts"])
def test_what_any_thread_leaves_for_the_end_happens_before_what_main_left(tmp_path, layout):
    """Each thread's own functions in their order; those of different threads one after the other."""
    with MarkedRun("-q", *layout, "--", ASKED / "left_behind", tmp_path / "file") as run:
        assert run.end() == 0, run.errors
        said = run.output.splitlines()
    assert said[0] == "end of main" and said[-1] == "handler of main: 1 member"
    assert sorted(said[1:-1]) in (["first is number 1", "handler", "second is number 2"], ["first is number 2", "handler", "second is number 1"])
    assert said.index("handler") == next(i for i, line in enumerate(said) if line.startswith("first")) - 1
    assert (tmp_path / "file").read_text() == "text\n"


def test_functions_of_on_exit_run_in_the_initial_threads_process_alone():
    with MarkedRun("-q", "-n", 3, "--", ASKED / "on_exit") as run:
        assert (run.end(), run.output) == (3, "3 initial\n")


@pytest.mark.parametrize(
    ("how", "said"),
    [("exec", "must not replace themselves by exec"), ("freed", "frees or resizes a block that it has freed"), ("thread of a library", "ended the run")],
)
def test_a_run_ends_with_a_line_where_a_trace_does(how, said):
    with MarkedRun("-q", "-n", 2, "--", BUILD / "tests" / "traced" / "ending", how) as run:
        assert run.end() == 1
        assert said in run.one_error()


@pytest.mark.parametrize(("how", "status"), [("returns", 0), ("exit", 3), ("_exit", 4)])
def test_another_threads_exit_function_sees_mains_stack_and_may_end_the_program(how, status):
    for layout in (("-n", 3), ("--nodes", 2, "--threads-per-node", 2)):
        with MarkedRun("-q", *layout, "--", ASKED / "ends_at_exit", how) as run:
            assert run.end() == status, run.errors
            assert run.output == "40 7\n"
            assert run.errors == (f"sdsm: the program ended with status {status}\n" if status else "")


def test_a_unit_that_a_thread_left_open_is_closed(tmp_path):
    """What the file held behind is cut off then."""
    (tmp_path / "left.txt").write_text("longer than that\n" * 3)
    done = subprocess.run([BUILD / "sdsm-run", "-q", "-n", "3", "--", ASKED / "open_unit"], cwd=tmp_path, timeout=600)
    assert done.returncode == 0
    assert (tmp_path / "left.txt").read_text() == "left\n"


@pytest.mark.parametrize("cluster", [("-n", 3), ("--nodes", 2, "--threads-per-node", 2)])
@pytest.mark.parametrize(("arguments", "status"), [((), 5), (("quick",), 4)])
def test_the_initial_thread_may_end_the_program_while_others_work(cluster, arguments, status):
    for _ in range(3):
        with MarkedRun("-q", *cluster, "--", ASKED / "early", *arguments) as run:
            assert run.end() == status
            assert run.errors == f"sdsm: the program ended with status {status}\n"


def test_a_result_without_some_threads_says_so(tmp_path):
    with MarkedRun("-q", "-n", 4, "--json", tmp_path / "r.json", "--", ASKED / "endless") as run:
        assert run.end() == 0, run.errors
        assert run.one_error().startswith("sdsm: note: the program ended in the middle of a parallel region. ")
        assert run.one_error().endswith("2, 3")  # 1, too, if it comes after two seconds


def test_a_process_that_comes_late_from_the_last_region_is_waited_for(tmp_path):
    """What it did is part of the result."""
    late_ms = 3000
    late = {"LD_PRELOAD": str(FAILING_CALLS), "LATE_ARRIVAL": f"7 {late_ms}"}
    began = time.monotonic()
    with MarkedRun("-q", "-n", 3, "--json", tmp_path / "r.json", "--", ASKED / "one_region", environment=late) as run:
        assert run.end() == 0, run.errors
    assert time.monotonic() - began > late_ms / 1000
    barriers = [thread["barriers"] for thread in json.loads((tmp_path / "r.json").read_text())["threads"]]
    assert barriers == [2, 2, 2]


def test_the_run_time_outlives_the_programs_exit():
    """Its service thread works to the end, while exit() runs destructors: none of them may be the run-time's."""
    wanted = subprocess.run(["nm", "-D", "--undefined-only", RUN_TIME], capture_output=True, text=True, check=True).stdout
    assert " on_exit" in wanted
    assert "__cxa_atexit" not in wanted


def test_a_thread_that_starts_slowly_reads_the_environment_before_it_is_shared():
    """`environ` is a variable of the program's that names it, and so in shared memory once that is shared."""
    done = subprocess.run([BUILD / "sdsm-run", "-q", "-n", "2", "--", ASKED / "slow_environment"], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")


def is_predicted(*program: object) -> bool:
    """Traces it with 3 threads, and simulates that."""
    trace = traced(3, *program, options=("--passes", 2))
    simulated = [BUILD / "sdsm-simulate", "-q", "-p", "p3-score", "-n", "3", trace]
    done = subprocess.run([str(word) for word in simulated], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return "makespan" in done.stdout


@pytest.mark.parametrize(("how", "thread"), thinned(3, ("exit", "quick_exit", "_exit", "computing", "locked"), (0, 1, 2)))
def test_what_ends_inside_a_region_is_predicted_up_to_there(how, thread):
    assert is_predicted(PROGRAM, how, thread, 0)


@pytest.mark.parametrize("thread", [0, 1, 2])
def test_no_simulation_waits_for_a_thread_that_left_by_exit(thread):
    """If the first ends it, the others have yet to begin; if the last does, they have done their part."""
    assert is_predicted(ASKED / "leaves", thread)


@pytest.mark.parametrize("how", ["holding", "outside", "nested", "ordered", "condition", "semaphores"])
def test_what_ends_while_others_want_locks_is_predicted_up_to_there(how):
    """Some wait for a lock, or are about to, some amid an interval, and some re-check it. In a
    simulation the thread that ends the program may get a lock before others that had it first."""
    for who in range(3):
        assert is_predicted(ASKED / "amid_locks", how, who)


@pytest.mark.parametrize("how", ["met", "behind", "critical"])
def test_a_prediction_ends_where_a_thread_exits_inside_a_region(tmp_path, how):
    """What others would do behind that is not in it, nor does that thread send anything home."""
    trace, result = tmp_path / "p.trace", tmp_path / "p.json"
    words = [BUILD / "sdsm-trace", "-q", "-n", "3", "-o", trace, "--", ASKED / "ends_first", how]
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=600)
    assert "the program ended inside a parallel region" in done.stderr
    for options in (("-p", "p3-score"), ("-p", "p3-jiajia", "--protocol", "jiajia")):
        words = [BUILD / "sdsm-simulate", "-q", *options, "-n", "3", "--region", "whole", "--json", result, trace]
        subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=600)
        predicted = json.loads(result.read_text())
        ends = predicted["threads"][2 if how == "met" else 1]
        assert ends["time_s"]["idle"] < 1e-3
        assert ends["diffs"] == 0
        if how == "behind":
            assert predicted["makespan_s"] < 0.02
