"""What does a program hear that uses memory which `sdsm run` does not share?"""

from __future__ import annotations

import json
import shutil
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


@pytest.mark.parametrize("layout", [("-n", 2), ("--nodes", 1, "--threads-per-node", 2)], ids=["nodes", "companions"])
def test_another_process_never_takes_the_c_librarys_memory_for_its_own(tmp_path, layout):
    """Each has opened a folder: at one address, the second thread would read its own."""
    source = """
    #include <dirent.h>
    #include <omp.h>
    static DIR* opened[2];
    int main(void) {
    #pragma omp parallel num_threads(2)
      {
        opened[omp_get_thread_num()] = opendir(omp_get_thread_num() ? "/etc" : "/");
    #pragma omp barrier
        if (omp_get_thread_num() == 1) readdir(opened[0]);
      }
      return 0;
    }
    """
    (tmp_path / "folders.c").write_text(source)
    subprocess.run(["gcc", "-fopenmp", "-o", "folders", "folders.c"], cwd=tmp_path, check=True)
    with MarkedRun("-q", *layout, "--", tmp_path / "folders") as run:
        assert run.end() == 1
        assert "in memory that the C library, or the program by sbrk, got in process 0" in run.errors, run.errors
        assert 'docs/running.md, "What is not shared"' in run.errors and run.errors.count("\n") == 1


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


RESULTS = r"""
program results
  use omp_lib
  implicit none
  real(8), allocatable :: a(:,:), product(:,:), packed(:), shaped(:,:), least(:), moved(:,:), spreads(:,:,:), unpacked(:,:)
  integer, allocatable :: places(:)
  character(:), allocatable :: text
  character(20) :: padded
  integer :: i, wrong
  allocate (a(40, 50))
  do i = 1, 50
    a(:, i) = i
  end do
  padded = 'some text'
  wrong = 0
!$omp parallel reduction(+:wrong)
  if (omp_get_thread_num() == omp_get_num_threads() - 1) then
    product = matmul(a, transpose(a))
    packed = pack(a, a > 25)
    shaped = reshape(a, [100, 20])
    least = minval(a, dim=2)
    moved = cshift(a, 1, dim=2)
    spreads = spread(a, 1, 3)
    unpacked = unpack(packed, a > 25, 0d0 * a)
    places = maxloc(a, dim=2)
    text = trim(padded) // '.'
  end if
!$omp barrier
  if (any(product /= 42925)) wrong = wrong + 1
  if (sum(packed) /= 38000 .or. size(packed) /= 1000) wrong = wrong + 1
  if (any(shaped(:, 20) < 48)) wrong = wrong + 1
  if (size(least) /= 40 .or. any(least /= 1)) wrong = wrong + 1
  if (any(moved(:, 50) /= 1)) wrong = wrong + 1
  if (any(spreads(2, :, 7) /= 7)) wrong = wrong + 1
  if (sum(unpacked) /= 38000) wrong = wrong + 1
  if (any(places /= 50)) wrong = wrong + 1
  if (text /= 'some text.') wrong = wrong + 1
!$omp end parallel
  deallocate (product, packed, shaped, least, moved, spreads, unpacked, places, text)
  if (wrong /= 0) error stop 1
end program
"""


@pytest.mark.parametrize("options", [("-O0",), ("-O2",), ("-O2", "-fno-plt", "-no-pie")], ids="_".join)
def test_what_fortrans_functions_of_arrays_return_is_the_programs(tmp_path, options):
    """libgfortran allocates it, and another thread reads and frees it."""
    (tmp_path / "results.f90").write_text(RESULTS)
    program = tmp_path / "results"
    subprocess.run(["gfortran", *options, "-fopenmp", "-o", program, tmp_path / "results.f90"], check=True)
    for layout in (("-n", 2), ("-n", 3), ("--nodes", 2, "--threads-per-node", 2), ("-n", 2, "--protocol", "jiajia")):
        with MarkedRun("-q", *layout, "--", program) as run:
            assert (run.end(), run.errors) == (0, "")
    subprocess.run([BUILD / "sdsm-trace", "-q", "-n", "2", "-o", tmp_path / "a.trace", "--", program], check=True)


WRITES = """
program writes
  implicit none
  integer, parameter :: count = 20000
  character(len = 40) :: line
  real(8) :: begin, end
  integer :: i, number, sum
  sum = 0
  !$omp barrier
  call cpu_time(begin)
  do i = 1, count
    write (line, '(I8,F12.4)') i, i * 0.5d0
    read (line, '(I8)') number
    sum = sum + number
  end do
  call cpu_time(end)
  if (sum /= count / 2 * (count + 1)) error stop
  print *, (end - begin) / count
end program
"""


@pytest.mark.parametrize("command", [("sdsm-run",), ("sdsm-trace", "--passes", "1", "-o", "a.trace")], ids=" ".join)
def test_fortrans_internal_io_takes_as_long_as_without_sdsm(tmp_path, command):
    """libgfortran allocates for each statement, which nobody may look up by name each time."""
    (tmp_path / "writes.f90").write_text(WRITES)
    program = tmp_path / "writes"
    subprocess.run(["gfortran", "-O2", "-fopenmp", "-o", program, tmp_path / "writes.f90"], check=True)

    def seconds_each(*words) -> float:
        """The least of three runs: other programs of the machine lengthen it."""
        runs = (subprocess.run([*words, program], cwd=tmp_path, stdout=subprocess.PIPE, check=True) for _ in range(3))
        return min(float(run.stdout) for run in runs)

    assert seconds_each(BUILD / command[0], "-q", *command[1:], "-n", "2", "--") < 3 * seconds_each()


@pytest.mark.parametrize("command", ["sdsm-run", "sdsm-trace"])
def test_an_allocator_that_nobody_would_keep_to_is_none_and_a_note_says_so(tmp_path, command):
    (tmp_path / "pool.c").write_text(
        """
#include <omp.h>
int main(void) {
  const omp_alloctrait_t traits[] = {{omp_atk_pool_size, 1024}, {omp_atk_fallback, omp_atv_null_fb}};
  return omp_init_allocator(omp_default_mem_space, 2, traits) != omp_null_allocator;
}
"""
    )
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", tmp_path / "pool", tmp_path / "pool.c"], check=True)
    options = ("--passes", "1", "-o", tmp_path / "a.trace") if command == "sdsm-trace" else ()
    words = [BUILD / command, "-q", *options, "-n", "2", "--", tmp_path / "pool"]
    done = subprocess.run(words, capture_output=True, text=True)
    note = "sdsm: note: omp_init_allocator gives omp_null_allocator: the trait pool_size is not supported\n"
    assert (done.returncode, done.stderr) == (0, note)


def test_a_match_of_a_regular_expression_asks_nobody(tmp_path):
    """Each thread has compiled its own, from what the program's pattern says."""
    (tmp_path / "matches.c").write_text(
        r"""
#include <regex.h>
int main(void) {
  regex_t pattern;
  int wrong = regcomp(&pattern, "([a-z]+)-([0-9]+)", REG_EXTENDED | REG_ICASE);
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel for reduction(+ : wrong) schedule(static)
    for (int i = 0; i < 400; ++i) {
      regmatch_t found[3];
      wrong += regexec(&pattern, "..ABC-17..", 3, found, 0) != 0 || found[2].rm_so != 6;
      wrong += regexec(&pattern, "abc-", 3, found, 0) != REG_NOMATCH;
    }
    regfree(&pattern);
    wrong += regcomp(&pattern, "([a-z]+)-([0-9]+)", REG_EXTENDED | REG_ICASE);
  }
  wrong += regcomp(&pattern, "(", REG_EXTENDED) == 0;
  return wrong != 0;
}
"""
    )
    program = tmp_path / "matches"
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", program, tmp_path / "matches.c"], check=True)
    for layout in (("-n", 1), ("-n", 3), ("--nodes", 2, "--threads-per-node", 2)):
        with MarkedRun("-q", *layout, "--json", tmp_path / "a.json", "--", program) as run:
            assert (run.end(), run.errors) == (0, "")
        threads = json.loads((tmp_path / "a.json").read_text())["whole_run"]["threads"]
        assert sum(thread["locks"] for thread in threads) == 0 and sum(thread["messages"] for thread in threads) < 400
    subprocess.run([BUILD / "sdsm-trace", "-q", "-n", "2", "-o", tmp_path / "a.trace", "--", program], check=True)


def test_functions_of_the_c_library_answer_as_it_does(tmp_path):
    (tmp_path / "answers.c").write_text(
        r"""
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  char* const folder = getcwd(NULL, PATH_MAX);  // of that size, so that a name may be appended
  char* const next = malloc(64);
  strcpy(next, "as it was");
  memset(folder + strlen(folder), 'x', 500);
  glob_t found;
  memset(&found, 0x55, sizeof found);
  return threads != 2 || strcmp(next, "as it was") != 0 || glob("*", 1 << 30, NULL, &found) != -1 || getcwd(next, 1) != NULL || errno != ERANGE;
}
"""
    )
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", tmp_path / "answers", tmp_path / "answers.c"], check=True)
    with MarkedRun("-q", "-n", 2, "--", tmp_path / "answers") as run:
        assert (run.end(), run.errors) == (0, "")


HANDLER = r"""
#include <omp.h>
#include <signal.h>
static volatile sig_atomic_t calls = 0;
static void count(int number) { calls = calls + 1; }
int main(void) {
  signal(SIGUSR2, count);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) raise(SIGUSR2);
  return calls != 1;
}
"""


def test_a_signal_whose_handler_another_thread_set_ends_the_run_and_says_so(tmp_path):
    (tmp_path / "handler.c").write_text(HANDLER)
    subprocess.run(["gcc", "-O1", "-fopenmp", "-o", tmp_path / "handler", tmp_path / "handler.c"], check=True)
    command = [BUILD / "sdsm-run", "--quiet", "-n", "2", "--", tmp_path / "handler"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1
    assert "process 1 on node 1 was killed by signal 12" in done.stderr and "set it in a parallel region, by each thread" in done.stderr


NUMBERS = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int drawn[2] = {0};
#pragma omp parallel num_threads(2)
  {
    const int self = omp_get_thread_num();
    if (argc > 1 && argv[1][0] == 's') srand(self);
    if (argc > 1 && argv[1][0] == 'e' && self == 1) setenv("SDSM_TEST", "1", 1);
#pragma omp critical
    if (argc == 1 || argv[1][0] == 's' || self == 0) drawn[self] = rand();
  }
  return drawn[0] == 0;
}
"""
UNITS = """
program units
  use omp_lib
  character(20) :: how
  call get_command_argument(1, how)
  if (how /= 'each') open(10, file='units.txt')
  !$omp parallel num_threads(2)
  !$omp critical
  if (how == 'each') open(10, file='units.txt', position='append')
  write(10, *) omp_get_thread_num()
  if (how == 'each') close(10)
  !$omp end critical
  !$omp end parallel
end program
"""


def notes_of(folder, *program: object) -> list[str]:
    command = [str(part) for part in (BUILD / "sdsm-run", "--quiet", "-n", 2, "--", *program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=folder, check=True)
    return [line for line in done.stderr.splitlines() if line.startswith("sdsm: note: ")]


@pytest.mark.parametrize(
    ("arguments", "said"), [((), "rand gives each thread the same numbers"), (("s",), None), (("i",), None), (("e",), "what a thread sets by setenv holds")]
)
def test_what_each_process_has_of_its_own_is_told_where_it_comes_out_differently(tmp_path, arguments, said):
    (tmp_path / "numbers.c").write_text(NUMBERS)
    subprocess.run(["gcc", "-O1", "-fopenmp", "-o", tmp_path / "numbers", tmp_path / "numbers.c"], check=True)
    notes = notes_of(tmp_path, tmp_path / "numbers", *arguments)
    assert (len(notes) == 1 and said in notes[0] and "What is not shared" in notes[0]) if said else notes == []


@pytest.mark.parametrize(("how", "is_told"), [("initial", True), ("each", False)])
def test_a_unit_that_another_thread_opened_is_told_of(tmp_path, how, is_told):
    if shutil.which("gfortran") is None:
        pytest.skip("no gfortran")
    (tmp_path / "units.f90").write_text(UNITS)
    subprocess.run(["gfortran", "-O1", "-fopenmp", "-o", tmp_path / "units", tmp_path / "units.f90"], check=True)
    notes = notes_of(tmp_path, tmp_path / "units", how)
    assert (len(notes) == 1 and "opens the file fort.10 for a unit that is not open in the thread" in notes[0]) if is_told else notes == []
