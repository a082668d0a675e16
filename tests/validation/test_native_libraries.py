"""Shared libraries of a program: their constructors run before the program's memory is shared, in every process, and some come by
dlopen."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build"
RUN = (BUILD / "sdsm-run", "-q", "-n", 4, "--")
TRACE = (BUILD / "sdsm-trace", "-q", "-n", 4, "-o", "out.trace", "--")

#: Calls, a lock, a region with work to share: in a constructor, where there is one thread.
CONSTRUCTOR = r"""
#include <omp.h>
#include <stdio.h>
static int most, processors, members, done;
static omp_lock_t lock;
static omp_nest_lock_t nested;
static double time_s;
__attribute__((constructor)) static void begin(void) {
  most = omp_get_max_threads();
  processors = omp_get_num_procs();
  time_s = omp_get_wtime();
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  omp_unset_lock(&lock);
  if (omp_test_lock(&lock)) ++done;
  omp_unset_lock(&lock);
  omp_init_nest_lock(&nested);
  if (omp_test_nest_lock(&nested)) ++done;
  omp_unset_nest_lock(&nested);
#pragma omp critical
  ++done;
#pragma omp parallel num_threads(4)
  {
    members = omp_get_num_threads();
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; ++i) done += i;
#pragma omp single
    ++done;
#pragma omp barrier
#pragma omp task
    ++done;
  }
}
void NAME(void) {
  omp_set_lock(&lock);
  if (time_s < 0 || omp_get_wtime() <= time_s) ++done;
  printf("%d %d %d %d\n", most, processors, members, done);
  omp_unset_lock(&lock);
}
"""
MAIN = "void library(void), own(void); int main(void) { library(); own(); return 0; }\n"


def build(folder: Path, compiler: str, *words: object) -> None:
    subprocess.run([compiler, "-O2", "-fopenmp", *map(str, words)], cwd=folder, check=True)


def lines(folder: Path, command: tuple, *program: object) -> list[str]:
    words = [str(word) for word in (*command, *program)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("command", [RUN, TRACE], ids=["run", "trace"])
def test_openmp_in_a_constructor_has_one_thread_and_knows_how_many_there_will_be(tmp_path, command):
    (tmp_path / "library.c").write_text(CONSTRUCTOR.replace("NAME", "library"))
    (tmp_path / "main.c").write_text(CONSTRUCTOR.replace("NAME", "own") + MAIN)
    build(tmp_path, "gcc", "-shared", "-fPIC", "-o", "library.so", "library.c")
    build(tmp_path, "gcc", "-o", "main", "main.c", tmp_path / "library.so")
    assert lines(tmp_path, command, "./main") == ["4 4 1 50"] * 2


def test_a_library_of_fortran_that_comes_by_dlopen_prints(tmp_path):
    (tmp_path / "prints.f90").write_text("subroutine tell() bind(c)\n  print '(a)', 'from fortran'\nend subroutine\n")
    source = r"""
    #include <dlfcn.h>
    #include <stdio.h>
    int main(int argc, char** argv) {
      void* library = dlopen(argv[1], RTLD_NOW);
      void (*tell)(void) = (void (*)(void))dlsym(library, "tell");
      printf("from c\n");
      fflush(stdout);
      tell();
    #pragma omp parallel
    #pragma omp single
      {
        printf("from c again\n");
        fflush(stdout);
      }
    }
    """
    (tmp_path / "main.c").write_text(source)
    build(tmp_path, "gfortran", "-shared", "-fPIC", "-o", "library.so", "prints.f90")
    build(tmp_path, "gcc", "-o", "main", "main.c")
    for command in (RUN, TRACE):
        assert lines(tmp_path, command, "./main", "./library.so") == ["from c", "from fortran", "from c again"]
