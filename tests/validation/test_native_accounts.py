"""Every moment of a run's thread goes to one term of its account: do they sum to the run's time, and what is idle?"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import ASKED, COMMAND, hosts
from timelines import read_chrome

PROGRAM = ASKED / "spins"


def run(result: Path, *words: object) -> dict:
    subprocess.run(
        [str(word) for word in (COMMAND, "-q", "--json", result, *words)], capture_output=True, check=True
    )
    return json.loads(result.read_text())


def total(thread: dict) -> float:
    return sum(sum(time.values()) if isinstance(time, dict) else time for time in thread["time_s"].values())


LAYOUTS = ("-n 1", "-n 4", "-n 2 --threads-per-node 2", "-n 4 --protocol jiajia", " ".join((*hosts(2), "-n 2")))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("how", ["at once", "none", "one", "clock", "exit"])
def test_terms_sum_to_the_time_of_the_part(tmp_path, layout, how):
    result = run(tmp_path / "run.json", *layout.split(), "--", PROGRAM, how)
    for part in (result, result["whole_run"]):
        for thread in part["threads"]:
            assert total(thread) == pytest.approx(part["makespan_s"], rel=1e-9, abs=1e-9), thread["time_s"]


def test_a_thread_is_idle_before_its_first_region_and_behind_its_last(tmp_path):
    for how in ("none", "one"):
        result = run(tmp_path / "run.json", "-n", 4, "--", PROGRAM, how)["whole_run"]
        serial_s = 0.1 if how == "none" else 0.2
        for thread in result["threads"][1:]:
            assert thread["time_s"]["idle"] >= serial_s
            assert thread["time_s"]["compute"] <= result["makespan_s"] - serial_s
        assert result["threads"][0]["time_s"]["idle"] == 0


@pytest.mark.parametrize("how", ["none", "one", "clock"])
def test_a_timeline_has_the_same_sums(tmp_path, how):
    result = run(tmp_path / "run.json", "-n", 4, "--timeline", tmp_path / "t.json", "--", PROGRAM, how)["whole_run"]
    timeline = read_chrome(tmp_path / "t.json")
    cut_ns = sum(int(note.split()[4]) for note in timeline.other.get("notes", ()) if note.startswith("faults seem"))
    for thread in result["threads"]:
        shown = {state: time for (number, state), time in timeline.state_ns.items() if number == thread["id"]}
        assert abs(sum(shown.values()) - 1e9 * result["makespan_s"]) <= timeline.slices.total()
        assert (
            abs(shown.get("idle", 0) - 1e9 * thread["time_s"]["idle"]) <= timeline.slices[thread["id"], "idle"] + cut_ns
        )
