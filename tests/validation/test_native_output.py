"""What threads print comes out in the order that barriers and locks give it, also to a pipe, whose text each process
collects before it writes it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SDSM_RUN = Path(__file__).resolve().parents[2] / "build" / "sdsm-run"

PROGRAM = r"""
#include <omp.h>
#include <stdio.h>
int main(void) {
  printf("begin\n");
#pragma omp parallel
  {
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 20; ++i) {
#pragma omp ordered
      printf("turn %d\n", i);
    }
    if (omp_get_thread_num() == omp_get_num_threads() - 1) printf("before the barrier\n");
#pragma omp barrier
    if (omp_get_thread_num() == 0) printf("behind the barrier\n");
  }
  printf("end\n");
}
"""


@pytest.mark.parametrize("layout", [("-n", 4), ("--nodes", 2, "--threads-per-node", 2)])
def test_lines_come_in_the_order_of_barriers_and_turns(tmp_path, layout):
    source = tmp_path / "prints.c"
    source.write_text(PROGRAM)
    program = tmp_path / "prints"
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", program, source], check=True)
    command = [str(word) for word in (SDSM_RUN, "--quiet", *layout, "--", program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    turns = [f"turn {i}" for i in range(20)]
    assert done.stdout.splitlines() == ["begin", *turns, "before the barrier", "behind the barrier", "end"]
