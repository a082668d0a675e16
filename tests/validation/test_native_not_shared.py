"""What does a program hear that uses memory which `sdsm run` does not share?"""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.validation.native_runs import BUILD, MarkedRun

PROGRAM = r"""
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile int* volatile given;
static void handled(int number) {
  (void)!write(2, "handled\n", 8);
  _exit(0);
}
static void told(int number) { (void)!write(2, "told\n", 5); }
static int recurse(volatile int depth) {
  volatile char room[2000];
  room[depth % 2000] = 1;
  return depth < 0 ? 0 : recurse(depth + 1) + room[1];
}
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
#pragma omp parallel
  {
    if (strcmp(what, "handler") == 0 && omp_get_thread_num() == 1) signal(SIGSEGV, handled);
    if (strcmp(what, "recursion") == 0 && omp_get_thread_num() == 1) *given = recurse(1);
    if (strcmp(what, "once") == 0 && omp_get_thread_num() == 1) {
      struct sigaction action = {0};
      action.sa_handler = told;
      action.sa_flags = SA_RESETHAND;
      sigaction(SIGSEGV, &action, NULL);
    }
    if (strcmp(what, "null") != 0 && omp_get_thread_num() == 0) {
      void* place = mmap((void*)0x123450000000, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      given = place;
      *given = 1;
    }
#pragma omp barrier
    if (omp_get_thread_num() == 1) *given = 2;
  }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("not_shared")
    (folder / "foreign.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", folder / "foreign", folder / "foreign.c"], check=True)
    return folder / "foreign"


@pytest.mark.parametrize(
    ("what", "said"),
    [("mapped", "the program touched address 0x123450000000, where this process has no memory"),
     ("null", "the program used a null pointer (address 0x0)"),
     ("recursion", "the thread's stack is full (address 0x3")],
)  # fmt: skip
def test_the_address_is_named_and_the_likely_reason(program, what, said):
    with MarkedRun("-q", "-n", 2, "--", program, what) as run:
        assert run.end() == 1
        assert run.errors.startswith(f"sdsm: process 1 on node 1 ended the run: {said}"), run.errors
        assert ('docs/running.md, "What is not shared"' in run.errors) == (what == "mapped")
        assert run.errors.count("\n") == 1


def test_a_handler_of_the_programs_own_gets_the_fault(program):
    with MarkedRun("-q", "-n", 2, "--", program, "handler") as run:
        assert run.end() == 0, run.errors
        assert run.errors == "handled\n"


def test_a_handler_that_wants_one_fault_gets_one(program):
    with MarkedRun("-q", "-n", 2, "--", program, "once") as run:
        assert run.end() == 1
        assert run.errors.startswith("told\nsdsm: process 1 on node 1 ended the run: the program touched address")


def test_constants_between_variables_are_told_with_a_remedy(tmp_path):
    source = """
    __attribute__((section(".between,\\"a\\"#"))) const int constant = 1;
    __attribute__((section(".high"))) int variable = 1;
    int main(void) {
    #pragma omp parallel
      if (variable != constant) __builtin_trap();
    }
    """
    (tmp_path / "apart.c").write_text(source)
    placed = [f"-Wl,--section-start=.{name}={address}" for name, address in (("between", "0x800000"), ("high", "0xa00000"))]
    subprocess.run(["gcc", "-fopenmp", "-no-pie", *placed, "-o", "apart", "apart.c"], cwd=tmp_path, check=True)
    with MarkedRun("-q", "-n", 2, "--", tmp_path / "apart") as run:
        assert run.end() == 1
        assert "a segment that is not writable lies between those of its variables" in run.errors, run.errors
        assert "linker" in run.errors and "4096" not in run.errors


def test_a_prediction_says_how_much_memory_it_leaves_out(tmp_path, program):
    trace = tmp_path / "mapped.trace"
    subprocess.run([BUILD / "sdsm-trace", "-q", "-n", "2", "-o", trace, "--", program, "mapped"], check=True)
    command = [BUILD / "sdsm-simulate", trace, "--platform", BUILD.parent / "platforms" / "p3-score.xml", "--nodes", 2, "--json", "-"]
    ended = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=True)
    left_out = "touches of the 4096 bytes of memory that the program got by mmap"
    assert left_out in json.loads(ended.stdout)["uncosted"]
    assert left_out in ended.stderr


def test_what_is_unmapped_beyond_all_mappings_takes_no_small_block_and_no_time(tmp_path):
    source = """
    #include <stdint.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    int main(void) {
      char* small = malloc(64);
      int failed = 0;
      small[0] = 5;
    #pragma omp parallel reduction(+ : failed)
      failed += munmap((void*)((uintptr_t)small & ~(uintptr_t)4095), (size_t)1 << 40) != 0;
      return failed != 0 || small[0] != 5;
    }
    """
    (tmp_path / "unmaps.c").write_text(source)
    subprocess.run(["gcc", "-fopenmp", "-o", "unmaps", "unmaps.c"], cwd=tmp_path, check=True)
    for command in ((BUILD / "sdsm-run", "-q", "-n", "2"), (BUILD / "sdsm-trace", "-q", "-n", "2", "-o", tmp_path / "t.trace")):
        subprocess.run([*command, "--", tmp_path / "unmaps"], check=True, timeout=60)
