"""Which part of a run is measured where the initial thread reads its clock within a parallel region? Others hear of that at
the next barrier, and bound their part at the barrier that was nearest."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.validation.native_runs import ASKED, COMMAND, output_of

PAGES, ROUNDS = 64, 6


def run(folder: Path, readings: str, turns: int = 3_000_000, late: str | Path = "usual") -> tuple[list[dict], Counter]:
    """readings: where the initial thread reads its clock, as tests/native/asked/region says. turns: of each pause."""
    files = ("--json", folder / "run.json", "--pages", folder / "pages.csv")
    program = (ASKED / "region", turns, late, *readings.split())
    output_of(COMMAND, "-q", "--nodes", 2, "--placement", "block", *files, "--", *program)
    fetches: Counter = Counter()
    with (folder / "pages.csv").open() as table:
        for row in csv.DictReader(table):
            fetches[int(row["process"])] += int(row["fetches"]) if row["name"] == "a" else 0
    return json.loads((folder / "run.json").read_text())["threads"], fetches


@pytest.mark.parametrize(
    ("readings", "rounds", "barriers"),
    [
        ("b1 b5 b5", 4, 8),
        ("b1 e4 e4", 4, 6),
        ("e1 e4 e4", 3, 6),
        ("e1 e3 e4", 3, 6),
        ("b2 e2 e2", 1, 0),
        ("e4 e4 e4", 0, 0),
        ("b2 b2 b2", 0, 0),
    ],
)
def test_both_threads_count_what_lies_between_the_readings(tmp_path, readings, rounds, barriers):
    threads, fetches = run(tmp_path, readings)
    assert [thread["barriers"] for thread in threads] == [barriers, barriers]
    for number, thread in enumerate(threads):
        assert thread["faults"]["RUMR"] == rounds * PAGES, number
        assert fetches[number] == rounds * PAGES, number
        assert 0 <= thread["time_s"]["compute"] < 100, number
        # The initial thread stores its readings, too.
        assert 0 <= thread["faults"]["WROH"] - barriers // 2 * PAGES <= (ROUNDS if number == 0 else 0), number


def test_the_account_is_of_the_same_part(tmp_path):
    threads, _ = run(tmp_path, "b1 e4 e4")
    whole = [sum(v for k, v in t["time_s"].items() if k != "fault") + sum(t["time_s"]["fault"].values()) for t in threads]
    assert whole[1] == pytest.approx(whole[0], rel=1e-6)
    assert threads[1]["time_s"]["idle"] == 0


def test_a_thread_that_fetches_much_behind_the_last_reading_has_computed_before(tmp_path):
    """More charges lay between the reading and the thread's arrival than are remembered, and took the place of computing."""
    threads, _ = run(tmp_path, "b4 e4 e4", turns=30_000, late=tmp_path / "half")
    # Before the last reading, 2000 pauses of 30,000 additions in memory: no processor does one in a tenth of a nanosecond.
    assert threads[1]["time_s"]["compute"] > 2000 * 30_000 * 0.1e-9
