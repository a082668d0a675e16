"""Which part of a run is measured where the initial thread reads its clock within a parallel region? Others hear of that at
the next barrier, and bound their part at the barrier that was nearest."""

from __future__ import annotations

import csv
import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build"
PAGES, ROUNDS = 64, 6

#: Each thread reads the other's pages, all of which it has lost at the barrier, and then writes its own.
PROGRAM = f"""#include <omp.h>
#include <stdio.h>
enum {{ pages = {PAGES}, words = 512, rounds = {ROUNDS} }};
static double a[2 * pages * words] __attribute__((aligned(4096)));
static double readings[3];
static void look(int which) {{
#pragma omp master
  readings[which] = omp_get_wtime();
}}
static void pause_a_while(void) {{
  for (volatile int i = 0; i < 3000000; ++i) {{
  }}
}}
int main(void) {{
#pragma omp parallel num_threads(2)
  {{
    const int me = omp_get_thread_num();
    double* const mine = a + me * pages * words;
    const double* const others = a + (1 - me) * pages * words;
    for (int r = 0; r < rounds; ++r) {{
#pragma omp barrier
      BEHIND_BARRIER
      pause_a_while();
      double sum = 0;
      for (int p = 0; p < pages; ++p) sum += others[p * words];
      pause_a_while();
      BEFORE_BARRIER
#pragma omp barrier
      for (int p = 0; p < pages; ++p) mine[p * words] += sum + 1;
    }}
  }}
  return readings[0] <= readings[1] && readings[1] <= readings[2] ? 0 : 1;
}}
"""


def run(folder: Path, behind: str, before: str, turns: int = 3_000_000) -> tuple[list[dict], Counter]:
    """turns: of each pause."""
    program = PROGRAM.replace("BEHIND_BARRIER", behind).replace("BEFORE_BARRIER", before).replace("3000000", str(turns))
    (folder / "program.c").write_text(program)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", folder / "program", folder / "program.c"], check=True)
    files = ("--json", folder / "run.json", "--pages", folder / "pages.csv")
    command = [BUILD / "sdsm-run", "-q", "--nodes", "2", "--placement", "block", *files, "--", folder / "program"]
    subprocess.run([str(word) for word in command], timeout=100, check=True)
    fetches: Counter = Counter()
    with (folder / "pages.csv").open() as table:
        for row in csv.DictReader(table):
            fetches[int(row["process"])] += int(row["fetches"]) if row["name"] == "a" else 0
    return json.loads((folder / "run.json").read_text())["threads"], fetches


@pytest.mark.parametrize(
    ("behind", "before", "rounds", "barriers"),
    [
        ("if (r == 1) look(0); if (r == 5) look(1), look(2);", "", 4, 8),
        ("if (r == 1) look(0);", "if (r == 4) look(1), look(2);", 4, 6),
        ("", "if (r == 1) look(0); if (r == 4) look(1), look(2);", 3, 6),
        ("", "if (r == 1) look(0); if (r == 3) look(1); if (r == 4) look(2);", 3, 6),
        ("if (r == 2) look(0);", "if (r == 2) look(1), look(2);", 1, 0),
        ("", "if (r == 4) look(0), look(1), look(2);", 0, 0),
        ("if (r == 2) look(0), look(1), look(2);", "", 0, 0),
    ],
)
def test_both_threads_count_what_lies_between_the_readings(tmp_path, behind, before, rounds, barriers):
    threads, fetches = run(tmp_path, behind, before)
    assert [thread["barriers"] for thread in threads] == [barriers, barriers]
    for number, thread in enumerate(threads):
        assert thread["faults"]["RUMR"] == rounds * PAGES, number
        assert fetches[number] == rounds * PAGES, number
        assert 0 <= thread["time_s"]["compute"] < 100, number
        # The initial thread stores its readings, too.
        assert 0 <= thread["faults"]["WROH"] - barriers // 2 * PAGES <= (ROUNDS if number == 0 else 0), number


def test_the_account_is_of_the_same_part(tmp_path):
    threads, _ = run(tmp_path, "if (r == 1) look(0);", "if (r == 4) look(1), look(2);")
    whole = [sum(v for k, v in t["time_s"].items() if k != "fault") + sum(t["time_s"]["fault"].values()) for t in threads]
    assert whole[1] == pytest.approx(whole[0], rel=1e-6)
    first, second = (thread["time_s"] for thread in threads)
    assert second["idle"] == 0
    # Both do the same work; a fetch takes longer, the machine being busy, but a region of another length is far off.
    assert 0.2 < second["compute"] / first["compute"] < 5


def test_a_thread_that_fetches_much_behind_the_last_reading_has_computed_before(tmp_path):
    """More charges lay between the reading and the thread's arrival than are remembered, and took the place of computing."""
    late = "if (me == 1) for (int i = 0; i < 4000; ++i) pause_a_while();"
    threads, _ = run(tmp_path, "if (r == 4) look(0);" + late, "if (r == 4) look(1), look(2);", turns=30_000)
    account = threads[1]["time_s"]
    all_s = sum(v for k, v in account.items() if k != "fault") + sum(account["fault"].values())
    assert account["compute"] > 0.6 * all_s
