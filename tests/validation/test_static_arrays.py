"""Static arrays are at home where `--placement` says, in `sdsm run` and in `sdsm simulate` alike."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.validation.native_runs import BUILD
from tests.validation.test_native_counts import PLACEMENTS, counts, executed, simulated
from tests.validation.test_native_libraries import build

#: In a library: of the linker's, of the function's, with values. Serial code touches what threads' shares divide within a page.
LIBRARY = r"""
static int counts[30000];
int filled_counts[4000] = {[1500] = 1};
int work(int n) {
  int bad = 0;
  for (int i = 0; i < 30000; i += 500) counts[i] += 1;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 30000; ++i) counts[i] += i;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 4000; ++i) filled_counts[i] += 2;
  for (int i = 0; i < 30000; ++i) bad += counts[i] != n * (i + (i % 500 == 0));
  return bad + (filled_counts[1500] != 1 + 2 * n) + (filled_counts[3999] != 2 * n);
}
"""
MAIN = r"""
#include <stdio.h>
int work(int);
#define N 32768 /* 64 pages of doubles */
_Alignas(4096) static double a[N];
_Alignas(4096) double b[N], filled[N] = {1, 2, 3};
double unaligned[N + 3];
char small[300], odd[9001];
static int made[5000];
__attribute__((constructor)) static void begin(void) { made[4000] = 3; }
static void add(int i) {
  _Alignas(4096) static double inner[N];
  inner[i] += a[i] + b[N - 1 - i];
  b[i] += 0;
}
int main(void) {
  int bad = 0;
  for (int i = 0; i < N; i += 100) unaligned[i + 1] = 1;
  for (int i = 0; i < 9001; ++i) odd[i] = 1;
  for (int t = 0; t < 2; ++t) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; ++i) {
      a[i] += i;
      b[i] += 2;
      filled[i] += 1;
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; ++i) {
      unaligned[i + 1] = a[i];
      if (i < 9001) odd[i] += 1;
      if (i < 5000) made[i] += 2;
      if (i < 300) small[i] += 1;
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; ++i) add(i);
    bad += work(t + 1);
  }
  for (int i = 0; i < N; ++i) {
    bad += a[i] != 2 * i || unaligned[i + 1] != a[i] || b[i] != 4 || filled[i] != 2 + (i < 3 ? i + 1 : 0);
    if (i < 9001) bad += odd[i] != 3;
    if (i < 5000) bad += made[i] != 4 + 3 * (i == 4000);
  }
  return bad != 0;
}
"""
FORTRAN = r"""
module fields
  implicit none
  real(8) :: u(200, 200)
  real(8) :: v(200, 200) = 1
end module
program main
  use fields
  implicit none
  real(8) :: w(30000)
  integer :: i, j, t
  common /shared/ w
  w = 0
  u = 0
  do t = 1, 3
    !$omp parallel do schedule(static)
    do j = 1, 200
      do i = 1, 200
        u(i, j) = u(i, j) + v(i, 201 - j)
      end do
    end do
    !$omp parallel do schedule(static)
    do i = 1, 30000
      w(i) = w(i) + i
    end do
  end do
  if (any(u /= 3)) stop 1
  do i = 1, 30000
    if (w(i) /= 3 * i) stop 1
  end do
end program
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("static_arrays")
    (folder / "library.c").write_text(LIBRARY)
    (folder / "main.c").write_text(MAIN)
    (folder / "fields.f90").write_text(FORTRAN)
    build(folder, "gcc", "-O2", "-shared", "-fPIC", "-o", "liblibrary.so", "library.c")
    build(folder, "gcc", "-O2", "-o", "main", "main.c", folder / "liblibrary.so")
    build(folder, "gcc", "-O2", "-no-pie", "-s", "-o", "stripped", "main.c", folder / "liblibrary.so")
    build(folder, "gfortran", "-O2", "-o", "fields", "fields.f90")
    return folder


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("placement", ["as-asked", *PLACEMENTS])
@pytest.mark.parametrize("name", ["main", "fields", "stripped"])
def test_counts_of_static_arrays_are_equal(tmp_path, programs, name, placement, threads):
    run = executed(tmp_path, threads, programs / name, placement=placement)
    assert counts(run) == counts(simulated(tmp_path, threads, programs / name, placement=placement))


def test_placement_moves_static_arrays_from_process_0(tmp_path, programs):
    messages = {}
    for placement in ("as-asked", "block"):
        run = executed(tmp_path, 4, programs / "main", placement=placement)
        messages[placement] = sum(thread["messages"] for thread in run["threads"])
    assert 3 * messages["block"] < messages["as-asked"]


def test_the_trace_names_static_arrays(tmp_path, programs):
    simulated(tmp_path, 2, programs / "main")
    info = subprocess.run(
        [BUILD / "sdsm", "trace", "info", tmp_path / "program.trace"], text=True, capture_output=True, check=True
    )
    regions = [line.split() for line in info.stdout.splitlines() if "mapped" in line.split()]
    assert {"a", "b", "inner.0", "filled", "unaligned", "made", "odd"} <= {line[-1] for line in regions}
    assert sum("liblibrary.so" in line[-1] for line in regions) == 2


def test_a_program_without_symbols_is_told_of(tmp_path, programs):
    for command in (
        ("sdsm-run", "-n", 2, "--placement", "block", "--"),
        ("sdsm-trace", "-n", 2, "-o", tmp_path / "t", "--"),
    ):
        name, *arguments = map(str, command)
        for program, is_told in (("stripped", True), ("main", False)):
            ended = subprocess.run(
                [BUILD / name, *arguments, programs / program], text=True, capture_output=True, check=True
            )
            assert ("has no symbol table" in ended.stderr) == is_told
