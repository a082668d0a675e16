"""Does our own EPCC program print a table, and the table of the cluster that it is simulated on?"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from calibration.readers import epcc
from calibration.readers.text import Text

ROOT = Path(__file__).resolve().parents[2]
SDSM = ROOT / "build" / "sdsm"
PROGRAM = ROOT / "build" / "workloads" / "epcc"
DIRECTIVES = (
    *("PARALLEL", "FOR", "PARALLEL FOR", "BARRIER", "SINGLE", "CRITICAL"),
    *("LOCK/UNLOCK", "ORDERED", "ATOMIC", "REDUCTION"),
)


def run(*command: object, status: int = 0, threads: int = 2) -> subprocess.CompletedProcess[str]:
    arguments = [str(part) for part in command]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=280, env=environment
    )
    assert done.returncode == status, done.stderr
    return done


def run_of(output: str) -> epcc.Run:
    (only,) = epcc.runs(Text("epcc.out", output))
    return only


def test_it_prints_what_version_2_prints_for_ten_directives():
    table = run_of(run(PROGRAM, "--samples", 4, "--repetitions", 4).stdout)
    assert (table.version, table.threads, table.is_fortran) == ("2.0", 2, False)
    directives = [block for block in table.blocks if not block.is_reference]
    assert tuple(block.name for block in directives) == DIRECTIVES
    for block in directives:
        assert block.samples == 4
        assert block.minimum <= block.mean <= block.maximum
        assert block.reference is not None


def test_wrong_options_are_refused_by_name():
    for options, said in (
        (("--repetitions", 3), "--repetitions 3 is no multiple of the 2 threads"),
        (("--directive", "locks"), "--directive 'locks' is none of those"),
        (("--samples", 1), "--samples '1' is not a whole number from 2"),
        (("more",), "unexpected argument 'more'"),
    ):
        done = run(PROGRAM, *options, status=2)
        assert done.stderr.startswith("epcc: ")
        assert said in done.stderr


@pytest.mark.parametrize(
    ("nodes", "threads", "barrier_us", "lock_us"),
    # The given figures, [WR-env].
    [(1, 1, 0.2, 0.6), (2, 1, 661, 52), (1, 2, 225, 4), (4, 1, 7305, 74)],
)
def test_on_the_pentium_iii_cluster_barrier_and_lock_cost_what_was_given(tmp_path, nodes, threads, barrier_us, lock_us):
    trace, team, repetitions = tmp_path / "a.trace", nodes * threads, 400
    program = (PROGRAM, "--samples", 2, "--repetitions", repetitions, "--directive", "barrier", "--directive", "lock")
    run(SDSM, "trace", "-q", "--passes", 1, "-n", team, "-o", trace, "--", *program)
    cluster = ("--platform", ROOT / "platforms" / "p3-score.xml", "-n", nodes, "-t", threads, "-q")
    # Without compute times, which are measured here.
    done = run(SDSM, "simulate", trace, *cluster, "--compute-factor", 1e-6, "--output", "-")
    overhead = {block.name: block.overhead for block in run_of(done.stdout).blocks if not block.is_reference}
    # The region around the repetitions is timed, too: fork and join, each a barrier, and a few page faults of each node.
    region_us = (2 * barrier_us + 30 + 700 * (nodes - 1)) / repetitions
    for name, given_us in (("BARRIER", barrier_us), ("LOCK/UNLOCK", lock_us)):
        assert given_us - 0.1 <= overhead[name] <= given_us + region_us + 0.1
