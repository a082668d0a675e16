"""Does a node's first use of memory in `sdsm run` cost it what later uses do not? The simulator knows of first copies
alone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build"
PAGES = 1024


def compiled(folder: Path, body: str) -> Path:
    """A program of two threads, each of which does `body`. Memory that the initial thread has written before."""
    (folder / "program.c").write_text(f"""#include <omp.h>
#include <stdio.h>
#include <sys/resource.h>
enum {{ pages = {PAGES}, words = 512 }};
static double a[pages * words] __attribute__((aligned(4096)));
static long most_kb(void) {{
  struct rusage used;
  return getrusage(RUSAGE_SELF, &used) == 0 ? used.ru_maxrss : -1;
}}
int main(void) {{
  for (int i = 0; i < pages * words; ++i) a[i] = i;
#pragma omp parallel num_threads(2)
  {{
    const int me = omp_get_thread_num();
{body}
  }}
  return 0;
}}
""")
    program = folder / "program"
    subprocess.run(["gcc", "-O2", "-fopenmp", "-D_GNU_SOURCE", "-o", program, folder / "program.c"], check=True)
    return program


def run(folder: Path, program: Path, *options: object) -> tuple[str, dict]:
    command = [BUILD / "sdsm-run", "-q", "--nodes", "2", *options, "--json", folder / "run.json", "--", program]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=100, check=True)
    return done.stdout, json.loads((folder / "run.json").read_text())


def test_a_flush_needs_no_memory_for_the_diffs_of_all_its_pages(tmp_path):
    program = compiled(
        tmp_path,
        """
    if (me == 1) {
      for (int i = 0; i < pages * words; ++i) a[i] += 1;
    }
    const long before = most_kb();
#pragma omp barrier
    if (me == 1) printf("%ld\\n", most_kb() - before);""",
    )
    said, result = run(tmp_path, program)
    assert result["threads"][1]["diffs"] >= PAGES
    assert int(said) < 4 * PAGES / 4, "kB more behind the flush than before it"


@pytest.mark.parametrize("options", [("--placement", "round-robin"), ("--placement", "block")], ids=" ".join)
def test_home_pages_that_are_looked_at_in_rows_take_one_trap_for_many(tmp_path, options):
    program = compiled(
        tmp_path,
        """
    double sum = 0;
    for (int p = 0; p < pages; ++p) sum += a[p * words];
    if (sum != pages * (pages - 1.0) / 2 * words) printf("wrong\\n");""",
    )
    said, result = run(tmp_path, program, *options)
    assert said == ""
    for thread in result["threads"]:
        assert thread["traps"] - sum(thread["faults"].values()) < PAGES // 16, thread
