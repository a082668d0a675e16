"""Are gangs (sdsm/divide.h) the same under an ordinary OpenMP run-time, in a trace and in a run, misuse included? What a
program does rightly with them, tests/native/programs/gangs.c tells; what it does wrongly, traced/gang_misuse.c."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.traces import traced
from tests.validation.native_runs import BUILD, output_of

CONSTRUCTS = BUILD / "tests" / "constructs"
MISUSE = BUILD / "tests" / "traced" / "gang_misuse"
PLATFORMS = BUILD.parent / "platforms"

NOT_ALL_COME = "leaves it while another waits at the gang's barrier"
IN_LOOP = "inside of a gang's loop. End the loop first"
DIVIDED_OTHERWISE = "sdsm_divide: members of one gang divide it in different ways"
#: What is said of each misuse.
MISUSES = {
    "many": "sdsm_divide: more gangs than threads",
    "none": "sdsm_divide: it asks for no gang",
    "units": "sdsm_divide: more gangs than units of threads",
    "unit": "sdsm_divide: a unit has one thread at least",
    "partition": "sdsm_divide: there is no such partition",
    "loop": "sdsm_divide: " + IN_LOOP,
    "inner_loop": "sdsm_divide: " + IN_LOOP,
    "loop_barrier": "sdsm_gang_barrier: " + IN_LOOP,
    "loop_end": "sdsm_for_end: there is no gang's loop to end",
    "loop_unite": "sdsm_unite: " + IN_LOOP,
    "unite": "sdsm_unite: the threads are not divided here",
    "barrier": NOT_ALL_COME,
    "inner_barrier": NOT_ALL_COME,
    "no_unite": "inside of a gang. Call sdsm_unite for each sdsm_divide",
    "otherwise": DIVIDED_OTHERWISE,
    "alike": DIVIDED_OTHERWISE,
    "inner_alike": DIVIDED_OTHERWISE,
    "some": DIVIDED_OTHERWISE,
    "inner_some": DIVIDED_OTHERWISE,
    "some_until_the_end": DIVIDED_OTHERWISE,
    "omp_barrier": "a barrier of OpenMP: it is the whole team's",
    "omp_for": "a work-sharing directive: it is the whole team's",
}
#: An ordinary run-time lets these pass, or waits for ever.
OF_SDSM_ALONE = ("omp_barrier", "omp_for", "some", "inner_some", "some_until_the_end")
#: The tracer sees that nobody can go on.
DEADLOCKS = ("barrier", "inner_barrier")


def said(*command: object, **environment: str) -> tuple[int, str]:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, env={**os.environ, **environment})
    return done.returncode, done.stderr


@pytest.mark.parametrize(("program", "threads"), [("c", 1), ("c", 3), ("c_O0", 4)])
def test_gangs_under_an_ordinary_run_time(program, threads):
    assert said(CONSTRUCTS / program, "gangs", OMP_NUM_THREADS=str(threads)) == (0, "")


@pytest.mark.parametrize("layout", [(2, 2), (2, 3)])
def test_gangs_of_threads_that_share_nodes(layout):
    nodes, threads = layout
    size = ("--nodes", nodes, "--threads-per-node", threads)
    assert output_of(BUILD / "sdsm-run", "-q", *size, "--", CONSTRUCTS / "c", "gangs") == "ok\n"


@pytest.mark.parametrize("misuse", MISUSES)
def test_misuse_ends_with_one_line(tmp_path, misuse):
    trace = (BUILD / "sdsm-trace", "-q", "-n", 4, "--passes", 1, "-o", tmp_path / "trace", "--")
    commands = {"ordinary": (), "trace": trace, "run": (BUILD / "sdsm-run", "-q", "-n", 4, "--")}
    for name, command in commands.items():
        if name == "ordinary" and misuse in OF_SDSM_ALONE:
            continue
        status, errors = said(*command, MISUSE, misuse)
        message = "the program is deadlocked" if name == "trace" and misuse in DEADLOCKS else MISUSES[misuse]
        assert status == 1, name
        assert errors.count("\n") == 1, errors
        assert message in errors


def test_a_member_may_end_the_program_before_the_gang_begins():
    assert said(MISUSE, "exit") == (3, "")
    assert said(BUILD / "sdsm-run", "-q", "-n", 4, "--", MISUSE, "exit") == (3, "sdsm: the program ended with status 3\n")


def test_protocols_without_gangs_refuse_them_by_name():
    fft = (BUILD / "workloads" / "fft", "--impl", 6, "--points", 64, "--no-check")
    simulate = (BUILD / "sdsm-simulate", traced(4, *fft), "-q", "--nodes", 4, "--platform")
    status, errors = said(*simulate, PLATFORMS / "p3-jiajia.xml", "--protocol", "jiajia")
    assert status == 2
    assert "the trace has a barrier of a gang, of 2 threads, which this protocol's simulation has not" in errors


def predicted_s(implementation: int) -> float:
    """At four threads, with so little computing that only the shared memory takes time."""
    fft = (BUILD / "workloads" / "fft", "--impl", implementation, "--points", 4096, "--no-check")
    simulate = (BUILD / "sdsm-simulate", traced(4, *fft), "-q", "--nodes", 4, "--compute-factor", "1e-6")
    return json.loads(output_of(*simulate, "--platform", PLATFORMS / "p3-score.xml", "--json", "-"))["makespan_s"]


def test_gangs_gain_what_their_smaller_barriers_cost_less():
    # Two of the four inner barriers are of 2 nodes (661 us) instead of 4 (7305 us).
    gain_s = predicted_s(4) - predicted_s(6)
    assert gain_s == pytest.approx(2 * (7305 - 661) * 1e-6, rel=0.15)
