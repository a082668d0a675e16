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


FORTRAN = """
program prints
  use omp_lib
  implicit none
  integer :: i
  !$omp parallel
  !$omp do ordered schedule(static, 1)
  do i = 0, 19
    !$omp ordered
    print '(a, i0)', 'turn ', i
    !$omp end ordered
  end do
  !$omp end do
  !$omp end parallel
  print '(a)', 'end'
end program
"""
STREAMS = r"""
#include <omp.h>
#include <iomanip>
#include <iostream>
int main(int argc, char**) {
  if (argc > 1) std::ios_base::sync_with_stdio(false);
#pragma omp parallel
  {
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 20; ++i) {
#pragma omp ordered
      {
        std::cout << "turn " << std::setw(0) << i << std::endl;
        std::cerr << "and " << i << "\n";
      }
    }
  }
  std::cout << "end\n";
}
"""


@pytest.mark.parametrize("layout", [("-n", 4), ("--nodes", 2, "--threads-per-node", 2)])
@pytest.mark.parametrize(
    ("compiler", "name", "source", "arguments", "errors"),
    [
        ("gfortran", "prints.f90", FORTRAN, (), ""),
        ("g++", "prints.cpp", STREAMS, (), "".join(f"and {i}\n" for i in range(20))),
        ("g++", "prints.cpp", STREAMS, ("apart",), "".join(f"and {i}\n" for i in range(20))),
    ],
)
def test_fortrans_and_cpps_own_output_loses_no_line(tmp_path, layout, compiler, name, source, arguments, errors):
    (tmp_path / name).write_text(source)
    program = tmp_path / "prints"
    subprocess.run([compiler, "-O2", "-fopenmp", "-o", program, tmp_path / name], check=True)
    command = [str(word) for word in (SDSM_RUN, "--quiet", *layout, "--", program, *arguments)]
    # To a file, of which the libraries know that nobody waits for it.
    with (tmp_path / "output").open("w") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, errors)
    assert (tmp_path / "output").read_text() == "".join(f"turn {i}\n" for i in range(20)) + "end\n"


ASKING = """
program asking
  use omp_lib
  implicit none
  integer :: i
  print '(a, i0)', 'sum ', sum_of(100)
  !$omp parallel private(i)
  !$omp critical
  print '(a, i0)', 'thread ', number()
  !$omp end critical
  !$omp end parallel
  print '(a, i0)', 'sum ', sum_of(10)
contains
  integer function sum_of(n)
    integer, intent(in) :: n
    integer :: i, own
    sum_of = 0
    !$omp parallel private(own)
    own = 0
    !$omp do
    do i = 1, n
      own = own + i
    end do
    !$omp critical (adding)
    sum_of = sum_of + own
    !$omp end critical (adding)
    !$omp end parallel
  end function
  integer function number()
    number = omp_get_thread_num()
    !$omp critical (asking_number)
    number = number + 1
    !$omp end critical (asking_number)
  end function
end program
"""


@pytest.mark.parametrize("layout", [("-n", 3), ("--nodes", 2, "--threads-per-node", 2)])
def test_what_fortran_prints_may_be_computed_in_parallel(tmp_path, layout):
    (tmp_path / "asking.f90").write_text(ASKING)
    program = tmp_path / "asking"
    subprocess.run(["gfortran", "-O2", "-fopenmp", "-o", program, tmp_path / "asking.f90"], check=True)
    command = [str(word) for word in (SDSM_RUN, "--quiet", *layout, "--", program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    threads = 3 if layout[0] == "-n" else 4
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("sum 5050", "sum 55")
    assert sorted(lines[1:-1]) == [f"thread {i}" for i in range(1, threads + 1)]
