"""`sdsm trace` of loops that wait for a plain store and that neither code nor registers show: they count their turns,
poll through functions, read a clock, stop after so many turns or so long."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import ASKED, BUILD, thinned


def trace(folder: Path, threads: int, program: str | Path, *arguments: object) -> str:
    """What the program prints in the last pass."""
    command = [BUILD / "sdsm-trace", "--quiet", "--passes", "2", "-n", threads, "-o", folder / "waits.trace", "--"]
    words = [str(word) for word in (*command, BUILD / "tests" / "memory" / program, *arguments)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def count_of_waits(folder: Path) -> int:
    dump = subprocess.run(
        [BUILD / "sdsm-trace", "dump", folder / "waits.trace"], capture_output=True, text=True, timeout=600, check=True
    )
    lines = [json.loads(line) for line in dump.stdout.splitlines()]
    return sum("spin" in json.dumps(line.get("end", "")) for line in lines)


WAYS = {
    "blind_waits": ("0 older, 0 late\n", ("calls", "run-time", "deadline", "deadline-by-calls", "histogram", "turns", "sleeps", "pauses")),
    "counts_turns": ("0 older\n", ("plainly", "backing-off", "in-memory", "starting-anew")),
}


@pytest.mark.parametrize(
    ("wait", "level"), thinned(2, [(program, way) for program, (_, ways) in WAYS.items() for way in ways], ("O0", "O2"))
)
def test_a_wait_that_its_code_does_not_show_ends_in_time(tmp_path, wait, level):
    program, way = wait
    assert trace(tmp_path, 3, f"{program}_{level}", way) == WAYS[program][0]


@pytest.mark.parametrize("level", ["O0", "O2"])
def test_a_thread_works_in_the_loop_in_which_others_wait_by_calls(tmp_path, level):
    assert trace(tmp_path, 3, f"blind_waits_{level}", "one-loop") == "10 turns\n"


@pytest.mark.parametrize("level", ["O0", "O2"])
def test_hand_overs_by_loops_that_count_turns_are_one_wait_each(tmp_path, level):
    rounds = 200
    assert trace(tmp_path, 2, f"counted_waits_{level}", "hands-over", rounds) == f"{2 * rounds} in time, 0 in vain\n"
    # Whoever comes first finds the flag as it wants it; the last store is waited for by nobody.
    assert 2 * rounds - 2 <= count_of_waits(tmp_path) <= 2 * rounds


@pytest.mark.parametrize("level", ["O0", "O2"])
@pytest.mark.parametrize(("way", "in_vain"), [("in-vain", 2), ("one-in-vain", 1)])
def test_who_waits_for_what_nobody_stores_goes_on_after_its_limit(tmp_path, way, in_vain, level):
    assert trace(tmp_path, 2, f"counted_waits_{level}", way) == f"0 in time, {in_vain} in vain\n"


@pytest.mark.parametrize("level", ["O0", "O2"])
def test_a_loop_that_waited_before_may_wait_in_vain(tmp_path, level):
    """Both threads turn in the same loop, and neither stores: by turns they would take minutes."""
    assert trace(tmp_path, 2, f"counted_waits_{level}", "both", 20) == "40 in time, 2 in vain\n"


@pytest.mark.parametrize(("threads", "level"), thinned(2, (2, 3, 4), ("O0", "O2")))
def test_hand_overs_by_polls_with_long_pauses_take_no_minutes(tmp_path, threads, level):
    """Three threads took 10 s for each: where a loop within the waiting one was learnt, nobody waited any more."""
    assert trace(tmp_path, threads, ASKED / f"hands_on_{level}") == "0 too many or too few\n"
