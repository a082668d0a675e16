"""May a program under `sdsm run` have handlers of signals, as it may elsewhere?"""

from __future__ import annotations

import subprocess

import pytest

from tests.validation.native_runs import ASKED, BUILD, MEMORY_PROGRAMS, MarkedRun, thinned

LAYOUTS = ((1, 1), (2, 1), (4, 1), (2, 2), (1, 3))


@pytest.mark.parametrize(("layout", "transport"), thinned(2, LAYOUTS, ("unix", "tcp")))
def test_handlers_may_write_shared_memory_at_any_moment(layout, transport):
    size = ("--nodes", layout[0], "--threads-per-node", layout[1], "--transport", transport)
    with MarkedRun("-q", *size, "--", MEMORY_PROGRAMS / "signals", 300, "sigaction", "stopped") as run:
        assert (run.end(), run.errors) == (0, "")


@pytest.mark.parametrize("placement", ["round-robin", "first-touch"])
def test_wherever_the_pages_are_at_home(placement):
    with MarkedRun("-q", "-n", 3, "--placement", placement, "--", MEMORY_PROGRAMS / "signals", 300) as run:
        assert (run.end(), run.errors) == (0, "")


@pytest.mark.parametrize("way", ["exchanged", "signal", "sigset"])
def test_by_whatever_call_they_are_set(way):
    with MarkedRun("-q", "-n", 3, "--", MEMORY_PROGRAMS / "signals", 300, way, "stopped") as run:
        assert (run.end(), run.errors) == (0, "")


@pytest.mark.parametrize("attempt", range(5))
def test_signals_may_still_come_when_the_program_ends(attempt):
    with MarkedRun("-q", "-n", 3, "--", MEMORY_PROGRAMS / "signals", 20, "sigaction", "running") as run:
        assert (run.end(), run.errors) == (0, "")


@pytest.mark.parametrize(
    ("what", "status", "output", "errors"),
    [
        ("watchdog", 3, "", "watchdog\n"),
        ("member's watchdog", 3, "", "watchdog\n"),
        ("exit function", 7, "fired\n", ""),
    ],
)
def test_they_come_while_a_thread_waits_and_in_exit_functions(what, status, output, errors):
    with MarkedRun("-q", "-n", 2, "--", ASKED / "waiting", what) as run:
        assert run.end() == status
        assert run.output == output
        assert run.errors == errors + f"sdsm: the program ended with status {status}\n"


def test_a_handler_that_locks_while_its_thread_waits_ends_the_run():
    with MarkedRun("-q", "-n", 2, "--", ASKED / "waiting", "lock") as run:
        assert run.end() == 1
        assert "a handler of a signal takes a lock or comes to a barrier while its thread waits for one" in run.errors


def test_a_signal_sent_to_another_processs_thread_ends_the_run():
    with MarkedRun("-q", "-n", 2, "--", ASKED / "kills") as run:
        assert run.end() == 1
        assert "was killed by signal 11" in run.one_error()


@pytest.mark.parametrize("threads", [1, 4])
def test_a_program_with_a_timer_can_be_traced(tmp_path, threads):
    trace = BUILD / "sdsm-trace", "-q", "-n", str(threads), "-o", tmp_path / "t.trace", "--", ASKED / "timer"
    for _ in range(3):
        done = subprocess.run(trace, capture_output=True, text=True, timeout=600)
        assert (done.returncode, done.stdout, done.stderr) == (0, "119900 1\n", "")


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_handler_posts_the_semaphore_that_its_thread_waits_for(threads):
    with MarkedRun("-q", "-n", threads, "--", ASKED / "posting") as run:
        assert (run.end(), run.errors) == (0, "")


def test_under_jiajia_a_handler_that_posts_while_waiting_names_the_remedy():
    with MarkedRun("-q", "-n", 2, "--protocol", "jiajia", "--", ASKED / "posting") as run:
        assert run.end() == 1
        assert "a handler of a signal gives back a lock or a semaphore while its thread waits for one" in run.errors
        assert "give --protocol scash" in run.errors


def test_under_jiajia_a_loop_that_waits_amid_work_is_reported():
    """Its turns differ, and it calls the library. What it looks at has been changed, and JIAJIA hands nothing on."""
    with MarkedRun("-q", "-n", 2, "--", ASKED / "waits_amid_work") as run:
        assert (run.end(), run.errors) == (0, "")
    with MarkedRun("-q", "-n", 2, "--protocol", "jiajia", "--", ASKED / "waits_amid_work") as run:
        reported = "seems to wait in a loop for another thread's plain store"
        run.wait_for(lambda: reported in run.errors, "the warning")


@pytest.mark.parametrize("command", ["run", "trace"])
@pytest.mark.parametrize("what", ["file", "early", "late"])
def test_a_handler_of_sigsegv_is_called_or_the_run_says_why(tmp_path, command, what):
    options = ["--passes", "1", "-o", tmp_path / "p.trace"] if command == "trace" else []
    words = [BUILD / f"sdsm-{command}", "-q", "-n", "2", *options, "--", ASKED / "guarded", what]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600, check=False)
    if what == "file":
        assert (done.returncode, done.stdout, done.stderr) == (0, "1 calls\n", "")
    else:
        assert (done.returncode, done.stdout) == (1, "")
        assert "takes away its right to shared memory (mprotect) and has a handler of SIGSEGV" in done.stderr


@pytest.mark.parametrize("runs", [3, pytest.param(8, marks=pytest.mark.long)])
def test_a_wait_that_allocates_in_the_c_library_goes_on(runs):
    for _ in range(runs):
        with MarkedRun("-q", "-n", 2, "--timeout", 10, "--", ASKED / "allocates", environment={"MALLOC_PERTURB_": "1"}) as run:
            assert (run.end(), run.errors) == (0, "")


@pytest.mark.parametrize("layout", [(3, 1), (2, 2)])
@pytest.mark.parametrize("atomics", ["home", "lock"])
def test_a_preloaded_tool_may_count_the_run_times_calls_by_atomic_operations(layout, atomics):
    options = ("-q", "--nodes", layout[0], "--threads-per-node", layout[1], "--atomics", atomics)
    command = ("--", MEMORY_PROGRAMS / "counted", "atomics")
    with MarkedRun(*options, *command, environment={"LD_PRELOAD": str(ASKED / "tool.so")}) as run:
        assert (run.end(), run.errors) == (0, "")
