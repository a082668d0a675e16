"""Does a run stay right, and end, if its processes stop for a while at any moment, as on a machine with other work?

What comes to a process that stands still is there together when it goes on. A circle of processes that waited for each other
was found so.
"""

from __future__ import annotations

import os
import random
import signal
import time

import pytest

from tests.validation.native_runs import BUILD, MEMORY_PROGRAMS, MarkedRun
from tests.validation.whole_programs import ARGUMENTS, PROGRAMS

LAYOUTS = ((2, 1), (3, 1), (4, 1), (8, 1), (2, 2), (3, 2), (2, 3), (4, 2))
#: Random programs of these shapes; and whole programs as often.
SHAPES = (
    ("--pages", 2, "--steps", 60, "--locks", 4),
    ("--pages", 1, "--steps", 20, "--locks", 1, "--phases", 60),
    ("--phases", 8, "--steps", 24, "--locks", 8, "--with", "all-but-plain"),
)
#: Seconds: between two stops on average, of stops on average, and after which none come any more.
PAUSE_S, STOPS_S, DISTURBED_S = 0.02, (0.001, 0.01, 0.05), 15


def stop_one(run: MarkedRun, chance: random.Random) -> None:
    """Any process of the run, for a while. It may have ended meanwhile."""
    members = run.members()
    if not members:
        return
    stopped = chance.choice(members)
    try:
        os.kill(stopped, signal.SIGSTOP)
        time.sleep(chance.expovariate(1 / chance.choice(STOPS_S)))
        os.kill(stopped, signal.SIGCONT)
    except ProcessLookupError:
        pass


def options(chance: random.Random) -> tuple[object, ...]:
    nodes, threads_per_node = chance.choice(LAYOUTS)
    if chance.random() < 0.5:
        name = chance.choice(PROGRAMS)
        program = (BUILD / "tests" / "whole" / name, *ARGUMENTS.get(name, ()))
    else:
        program = (MEMORY_PROGRAMS / "random_program", "--seed", chance.randrange(10**6), "--programs", 6, *chance.choice(SHAPES))
    return ("--quiet", "--nodes", nodes, "--threads-per-node", threads_per_node, "--", *program)


def check_disturbed_run(chance: random.Random) -> None:
    chosen = options(chance)
    with MarkedRun(*chosen) as run:
        disturbed_until = time.monotonic() + DISTURBED_S
        while run.process.poll() is None and time.monotonic() < disturbed_until:
            time.sleep(chance.expovariate(1 / PAUSE_S))
            stop_one(run, chance)
        assert run.end() == 0, f"{chosen}: {run.output}{run.errors}"


@pytest.mark.parametrize("seed", range(3))
def test_a_run_whose_processes_stop_for_a_while_is_right(seed):
    check_disturbed_run(random.Random(seed))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_runs_whose_processes_stop_for_a_while_are_right(seed):
    chance = random.Random(seed)
    for _ in range(20):
        check_disturbed_run(chance)
