"""Shared libraries of a program: their variables are shared, their constructors run before that, in process 0, and some come by dlopen."""

from __future__ import annotations

import ctypes
import re
import struct
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = SOURCE / "build"
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


#: Fills, adds up and remembers in what only the library knows; the program has nothing of OpenMP.
HIDDEN = r"""
static double squares[20000], last;
double library(int n) {
  double sum = 0;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) squares[i] = (double)i * i;
#pragma omp parallel for reduction(+ : sum)
  for (int i = n - 1; i >= 0; --i) sum += squares[n - 1 - i];
  const double before = last;
  last = sum;
  return sum + before;
}
"""
SERIAL = r"""
#include <stdio.h>
double library(int n);
int main(void) { double first = library(10000); printf("%.0f %.0f\n", first, library(20000)); return 0; }
"""


@pytest.mark.parametrize("command", [RUN, TRACE, ("env", "OMP_NUM_THREADS=4")], ids=["run", "trace", "libgomp"])
def test_a_program_whose_libraries_alone_use_openmp(tmp_path, command):
    """The library that uses it is not the program's own, but one that its library needs."""
    (tmp_path / "hidden.c").write_text(HIDDEN.replace("library", "hidden"))
    (tmp_path / "library.c").write_text("double hidden(int); double library(int n) { return hidden(n); }\n")
    (tmp_path / "main.c").write_text(SERIAL)
    build(tmp_path, "gcc", "-shared", "-fPIC", "-o", "libhidden.so", "hidden.c")
    plain = ("gcc", "-fno-openmp", "-L.", "-Wl,-rpath,$ORIGIN")
    build(tmp_path, *plain, "-shared", "-fPIC", "-o", "liblibrary.so", "library.c", "-lhidden")
    build(tmp_path, *plain, "-o", "main", "main.c", "-llibrary")
    assert lines(tmp_path, command, "./main") == ["333283335000 2999750005000"]


#: clang's call of a parallel region, and the run-time that has it.
CALLS_LIBOMP = "void __kmpc_fork_call(void *, int, void *, ...); void library(void) { __kmpc_fork_call(0, 0, 0); }\n"
LIBOMP = "void __kmpc_fork_call(void *where, int count, void *task, ...) { (void)where; (void)count; (void)task; }\n"


@pytest.mark.parametrize("own", ["", "#include <omp.h>\ndouble now(void) { return omp_get_wtime(); }\n"], ids=["plain", "clock"])
@pytest.mark.parametrize("command", [RUN, TRACE], ids=["run", "trace"])
def test_a_library_for_libomp_is_named_as_the_reason(tmp_path, command, own):
    """The program has nothing of OpenMP, or asks it for the time alone."""
    (tmp_path / "libomp.c").write_text(LIBOMP + "double omp_get_wtime(void) { return 0; }\n")
    (tmp_path / "solver.c").write_text(CALLS_LIBOMP)
    (tmp_path / "main.c").write_text(own + "void library(void); int main(void) { library(); return 0; }\n")
    plain = ("gcc", "-fno-openmp", "-L.", "-Wl,-rpath,$ORIGIN")
    build(tmp_path, *plain, "-shared", "-fPIC", "-o", "libomp.so.5", "libomp.c")
    build(tmp_path, *plain, "-shared", "-fPIC", "-o", "libsolver.so", "solver.c", "-l:libomp.so.5")
    build(tmp_path, *plain, "-o", "main", "main.c", "-lsolver", "-l:libomp.so.5")
    words = [str(word) for word in (*command, "./main")]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert f"./main: {tmp_path}/libsolver.so, which it needs, is built for libomp" in done.stderr
    assert "does not use OpenMP" not in done.stderr


@pytest.mark.parametrize("command", [RUN, TRACE], ids=["run", "trace"])
def test_a_program_with_many_libraries(tmp_path, command):
    count = 80
    for number in range(count):
        (tmp_path / f"l{number}.c").write_text(f"int v{number}; int f{number}(void) {{ return v{number} += {number}; }}\n")
        build(tmp_path, "gcc", "-fno-openmp", "-O0", "-shared", "-fPIC", "-o", f"lib{number}.so", f"l{number}.c")
    called = " ".join(f"int f{number}(void);" for number in range(count))
    added = " ".join(f"if (i == {number}) f{number}();" for number in range(count))
    total = "+".join(f"f{number}()" for number in range(count))
    source = f"{called}\nint main(void) {{\n#pragma omp parallel for\nfor (int i = 0; i < {count}; ++i) {{ {added} }}\n"
    (tmp_path / "main.c").write_text(f'#include <stdio.h>\n{source}printf("%d\\n", {total}); return 0; }}\n')
    libraries = [tmp_path / f"lib{number}.so" for number in range(count)]
    build(tmp_path, "gcc", "-o", "main", "main.c", *libraries)
    assert lines(tmp_path, command, "./main") == [str(2 * sum(range(count)))]


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


def test_what_the_c_library_loads_for_itself_is_no_library_of_the_program(tmp_path):
    """By iconv, say: nobody can link that to the program, as a note advised."""
    source = r"""
    #include <iconv.h>
    #include <stdio.h>
    int main(void) {
      int opened = 0;
    #pragma omp parallel reduction(+ : opened)
      opened += iconv_open("UTF-16LE", "UTF-8") != (iconv_t)-1;
      puts(opened > 1 ? "opened" : "not opened");
    }
    """
    (tmp_path / "main.c").write_text(source)
    build(tmp_path, "gcc", "-o", "main", "main.c")
    for command in (RUN, TRACE):
        done = subprocess.run([*map(str, command), "./main"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert (done.stdout, "dlopen" in done.stderr) == ("opened\n", False), done.stderr


@pytest.mark.parametrize("command", [RUN, TRACE], ids=["run", "trace"])
def test_a_constructor_of_what_comes_by_dlopen_may_wait_for_another_thread(tmp_path, command):
    """The dynamic linker is locked meanwhile: nothing that others need of this process may look a function up."""
    (tmp_path / "library.c").write_text(
        "void wait_for_other(void);\n__attribute__((constructor)) static void begin(void) { wait_for_other(); }\n"
    )
    source = r"""
    #include <dlfcn.h>
    #include <omp.h>
    #include <stdio.h>
    static int has_begun, is_over, room[4096];
    static void await(int* flag) {
      int is_set = 0;
      while (!is_set) {
    #pragma omp atomic read seq_cst
        is_set = *flag;
      }
    }
    static void set(int* flag) {
    #pragma omp atomic write seq_cst
      *flag = 1;
    }
    void wait_for_other(void) {
      set(&has_begun);
      await(&is_over);
    }
    int main(int argc, char** argv) {
    #pragma omp parallel num_threads(2)
      {
        if (omp_get_thread_num() == 0) {
          if (dlopen(argv[argc - 1], RTLD_NOW) == NULL) puts(dlerror());
        } else {
          await(&has_begun);
          ++room[1024];
          set(&is_over);
        }
      }
      puts("end");
    }
    """
    (tmp_path / "main.c").write_text(source)
    build(tmp_path, "gcc", "-shared", "-fPIC", "-o", "library.so", "library.c")
    build(tmp_path, "gcc", "-rdynamic", "-o", "main", "main.c")
    assert lines(tmp_path, command, "./main", "./library.so") == ["end"]


#: Static arrays and statics of functions, memory from a constructor, thread-local data, a call back, allocation in a region.
STATIC_C = r"""
#include <stdlib.h>
static int table[10000], *made, initialised[2000] = {7};
static __thread int own = 5;
__attribute__((constructor)) static void begin(void) {
  made = calloc(3000, sizeof *made);
  made[0] = 3;
  own = 6;
}
int fill(int n, int (*value)(int)) {
  int bad = own != 6 || made[0] != 3 || initialised[0] != 7;
#pragma omp parallel for reduction(+ : bad)
  for (int i = 0; i < n; ++i) {
    table[i] = value(i);
    if (i < 3000) made[i] = i + 2;
    if (i < 2000) initialised[i] += i;
    bad += ++own < 6;
  }
  for (int i = 0; i < n; ++i) bad += table[i] != value(i) || (i < 3000 && made[i] != i + 2);
  for (int i = 1; i < 2000; ++i) bad += initialised[i] != i;
  return bad;
}
"""
STATIC_CXX = r"""
#include <omp.h>
#include <string>
#include <vector>
static std::vector<double> numbers(5000, 1.5);
static std::vector<std::string> words;
static int& count() { static int counter = 40; return counter; }
extern "C" int sum() {
  int bad = numbers.size() != 5000;
  words.resize(100);
#pragma omp parallel for
  for (int i = 0; i < 5000; ++i) {
    numbers[i] += i;
    if (i < 100) words[i] = std::string(30, char('a' + i % 26));
#pragma omp critical
    ++count();
  }
  for (int i = 0; i < 5000; ++i) bad += numbers[i] != i + 1.5;
  for (int i = 0; i < 100; ++i) bad += words[i] != std::string(30, char('a' + i % 26));
  return bad + (count() != 5040);
}
"""
STATIC_MAIN = r"""
#include <stdio.h>
int fill(int, int (*)(int)), sum(void);
static int base;
static int value(int i) { return base + 3 * i; }
int main(void) {
  base = 11;
  int first = fill(10000, value), second = sum(), members = 0;
#pragma omp parallel reduction(+ : members)
  ++members;
  printf("%d %d %d\n", first, second, members);
}
"""


@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
def test_the_static_data_of_a_programs_libraries_is_shared(tmp_path, optimisation):
    (tmp_path / "first.c").write_text(STATIC_C)
    (tmp_path / "second.cpp").write_text(STATIC_CXX)
    (tmp_path / "main.c").write_text(STATIC_MAIN)
    build(tmp_path, "gcc", optimisation, "-shared", "-fPIC", "-o", "libfirst.so", "first.c")
    build(tmp_path, "g++", optimisation, "-shared", "-fPIC", "-o", "libsecond.so", "second.cpp")
    build(tmp_path, "gcc", optimisation, "-o", "main", "main.c", tmp_path / "libfirst.so", tmp_path / "libsecond.so")
    for command in (RUN, (BUILD / "sdsm-run", "-q", "--nodes", 2, "--threads-per-node", 2, "--"), TRACE):
        assert lines(tmp_path, command, "./main") == ["0 0 4"]


@pytest.mark.parametrize("program", ["atomic_shared_pointers", "containers", "exceptions", "library_guards", "library_locales",
                                     "library_waits"])
def test_a_program_may_hold_the_cpp_library_itself(tmp_path, program):
    """Its state then lies in the program's variables, which are shared, and is never that of the process's own library."""
    source = SOURCE / "tests" / "native" / "programs" / f"{program}.cpp"
    include = f"-I{SOURCE / 'workloads' / 'include'}"
    build(tmp_path, "g++", "-std=c++20", "-static-libstdc++", include, "-o", "main", source)
    alone = lines(tmp_path, ("env", "OMP_NUM_THREADS=4"), "./main")
    for command in (RUN, (BUILD / "sdsm-run", "-q", "--nodes", 2, "--threads-per-node", 2, "--"), TRACE):
        assert lines(tmp_path, command, "./main") == alone


SEEDED = """
program seeded
  use omp_lib
  implicit none
  integer :: length, i
  integer, allocatable :: seed(:)
  real :: numbers(0:63)
!$omp parallel private(length, seed)
  call random_seed(size=length)
  allocate(seed(length))
  seed = 4711 + omp_get_thread_num()
!$omp critical
  call random_seed(put=seed)
  call random_number(numbers(omp_get_thread_num()))
!$omp end critical
!$omp end parallel
  do i = 0, omp_get_max_threads() - 1
    print '(f9.6)', numbers(i)
  end do
end program
"""


def test_threads_that_seed_themselves_get_the_same_random_numbers_everywhere(tmp_path):
    (tmp_path / "seeded.f90").write_text(SEEDED)
    build(tmp_path, "gfortran", "-o", "main", "seeded.f90")
    alone = lines(tmp_path, ("env", "OMP_NUM_THREADS=4"), "./main")
    assert len(set(alone)) == 4
    for command in (RUN, (BUILD / "sdsm-run", "-q", "--nodes", 2, "--threads-per-node", 2, "--"), TRACE):
        assert lines(tmp_path, command, "./main") == alone


SETTINGS = """
program settings
  use omp_lib
  implicit none
  character(20) :: argument(0:63)
  integer :: arguments(0:63), i, thread, stored(0:63)
  arguments = -1
!$omp parallel private(thread)
  thread = omp_get_thread_num()
  arguments(thread) = command_argument_count()
  call get_command_argument(1, argument(thread))
  open(60 + thread, file='file' // achar(48 + thread), form='unformatted')
  write(60 + thread) 1
  close(60 + thread)
  open(60 + thread, file='file' // achar(48 + thread), form='unformatted', access='stream', convert='native')
  read(60 + thread) stored(thread), stored(thread), stored(thread)
  close(60 + thread)
!$omp end parallel
  do i = 0, omp_get_max_threads() - 1
    print '(i2, 1x, a, i12)', arguments(i), trim(argument(i)), stored(i)
  end do
end program
"""


def test_every_thread_has_the_arguments_and_options_of_fortrans_main(tmp_path):
    """Records of another byte order, with longer marks, told by the compiler's code at the begin of main."""
    (tmp_path / "settings.f90").write_text(SETTINGS)
    build(tmp_path, "gfortran", "-fconvert=big-endian", "-frecord-marker=8", "-o", "main", "settings.f90")
    for command in (("env", "OMP_NUM_THREADS=4"), RUN, (BUILD / "sdsm-run", "-q", "--nodes", 2, "--threads-per-node", 2, "--"), TRACE):
        assert lines(tmp_path, command, "./main", "one", "two") == [" 2 one    16777216"] * 4


ARGUMENTS = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
  while (getopt(argc, argv, "v") != -1) {
  }
  char* const first = strtok(argv[optind], ",");
  int right = 0, members = 0;
#pragma omp parallel reduction(+ : right, members)
  {
    ++members;
    right += strcmp(argv[optind], "a") == 0 && strcmp(first, "a") == 0 && strcmp(first + 2, "b") == 0 && argv[argc] == NULL;
  }
  printf("%d of %d\n", right, members);
  return 0;
}
"""


def test_what_main_makes_of_its_arguments_all_threads_see(tmp_path):
    """getopt sorts the array, strtok divides the text."""
    (tmp_path / "arguments.c").write_text(ARGUMENTS)
    build(tmp_path, "gcc", "-o", "main", "arguments.c")
    for command in (("env", "OMP_NUM_THREADS=4"), RUN, (BUILD / "sdsm-run", "-q", "--nodes", 2, "--threads-per-node", 2, "--"), TRACE):
        assert lines(tmp_path, command, "./main", "a,b", "-v") == ["4 of 4"]


STATE = r"""
#include <locale.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static int right, members;
static void look(const char* name, unsigned mode, unsigned mode_of_others, size_t most_bytes) {
  right = members = 0;
#pragma omp parallel reduction(+ : right, members)
  {
    char file[100];
    struct stat status;
    snprintf(file, sizeof file, "%s%d", name, omp_get_thread_num());
    FILE* made = fopen(file, "w");
    if (made != NULL) fclose(made);
    ++members;
    right += stat(file, &status) == 0 && (status.st_mode & 0777) == (omp_get_thread_num() > 0 ? mode_of_others : mode) && MB_CUR_MAX == most_bytes;
  }
  printf("%d of %d\n", right, members);
}
int main(void) {
  look("first", 0644, 0644, 1);
  if (chdir("inside") != 0 || setlocale(LC_ALL, "C.UTF-8") == NULL) return 1;
  umask(077);
  look("second", 0600, 0600, 6);
#pragma omp parallel
  if (omp_get_thread_num() > 0) umask(027); /* its own */
#pragma omp parallel
  if (omp_get_thread_num() > 0 && umask(027) != 027) abort();
  setlocale(LC_ALL, "C");
  look("third", 0600, 0640, 1);
  return 0;
}
"""


def test_folder_mask_and_locale_that_main_sets_hold_for_all_threads_from_the_next_region_on(tmp_path):
    (tmp_path / "state.c").write_text(STATE)
    (tmp_path / "inside").mkdir()
    build(tmp_path, "gcc", "-o", "main", "state.c")
    for layout in (("-n", 4), ("--nodes", 2, "--threads-per-node", 2)):
        assert lines(tmp_path, ("env", "-u", "LC_ALL", BUILD / "sdsm-run", "-q", *layout, "--"), "./main") == ["4 of 4"] * 3
        assert {path.name for path in (tmp_path / "inside").iterdir()} == {f"{name}{i}" for name in ("second", "third") for i in range(4)}


#: What docs/running.md says of libraries that come by dlopen: by one thread for all, by each for itself.
LOADED = r"""
static int calls;
int call(int* shared) {
  __atomic_fetch_add(shared, 1, __ATOMIC_SEQ_CST);
  return ++calls;
}
"""
LOADING = r"""
#include <dlfcn.h>
#include <stdio.h>
static int shared, most;
int main(int argc, char** argv) {
  int (*call)(int*) = dlsym(dlopen(argv[1], RTLD_NOW), "call");
#pragma omp parallel reduction(max : most)
  {
    int (*own)(int*) = argc > 2 ? dlsym(dlopen(argv[1], RTLD_NOW), "call") : call;
    for (int i = 0; i < 100; ++i) most = own(&shared);
  }
  printf("%d %d\n", shared, most);
}
"""


def test_libraries_that_come_by_dlopen_are_each_processes_own(tmp_path):
    (tmp_path / "library.c").write_text(LOADED)
    (tmp_path / "main.c").write_text(LOADING)
    build(tmp_path, "gcc", "-shared", "-fPIC", "-o", "library.so", "library.c")
    build(tmp_path, "gcc", "-o", "main", "main.c")

    def done(command: tuple, *arguments: str) -> subprocess.CompletedProcess:
        words = [str(word) for word in (*command, *arguments)]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    each = done(RUN, "./main", "./library.so", "each")
    assert each.stdout == "400 100\n"
    assert each.stderr.count("note: ./library.so comes by dlopen: each process has its own variables of it") == 1
    assert done(TRACE, "./main", "./library.so").stdout == "400 400\n"
    assert re.search(r"^ +1 +\d+  dlopen$", done((BUILD / "sdsm-trace",), "info", "out.trace").stdout, re.M)
    ended = done(RUN, "./main", "./library.so")
    assert ended.returncode == 1
    assert "the program touched address 0x" in ended.stderr and "loaded by dlopen" in ended.stderr


LOCKING = r"""
#include <pthread.h>
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
int call(int* shared) {
  pthread_mutex_lock(&own);
  const int before = __atomic_fetch_add(shared, 1, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(shared, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&own);
  return before + 1;
}
"""


def test_a_trace_goes_on_where_threads_wait_for_a_lock_of_a_librarys_own(tmp_path):
    """They wait in the C library. Whoever holds it goes on at atomic operations, where else others would have their turn: each of
    which would then take as long as it takes to interrupt one that does nothing, minutes in all."""
    (tmp_path / "library.c").write_text(LOCKING)
    (tmp_path / "main.c").write_text(LOADING.replace("i < 100", "i < 1000"))
    build(tmp_path, "gcc", "-shared", "-fPIC", "-o", "library.so", "library.c")
    build(tmp_path, "gcc", "-o", "main", "main.c")
    assert lines(tmp_path, TRACE, "./main", "./library.so") == ["8000 7999"]


def without_executable_stacks() -> None:
    """personality(2) may not ask for READ_IMPLIES_EXEC; it may ask what is, and for anything else."""
    load, equals, has, returns = 0x20, 0x15, 0x45, 0x06  # of words; BPF_JMP | BPF_JEQ | BPF_K, | BPF_JSET; BPF_RET | BPF_K
    number, argument = 0, 16  # offsets in struct seccomp_data
    allowed, refused = 0x7FFF0000, 0x00050001  # SECCOMP_RET_ALLOW; SECCOMP_RET_ERRNO with EPERM
    personality_number, ask_only, read_implies_exec = 135, 0xFFFFFFFF, 0x0400000
    program = [
        (load, 0, 0, number), (equals, 0, 4, personality_number), (load, 0, 0, argument), (equals, 2, 0, ask_only),
        (has, 0, 1, read_implies_exec), (returns, 0, 0, refused), (returns, 0, 0, allowed),
    ]  # fmt: skip
    filters = b"".join(struct.pack("<HBBI", *one) for one in program)
    kept = ctypes.create_string_buffer(filters)
    described = ctypes.create_string_buffer(struct.pack("<H6xQ", len(program), ctypes.addressof(kept)))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) != 0 or libc.prctl(seccomp, by_filter, ctypes.byref(described), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


NESTED = """
#include <stdio.h>
static int twice(int (*f)(int)) { return f(1) + f(2); }
int main(int argc, char** argv) {
  int add(int x) { return x + argc; }
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 4; ++i) sum += twice(add);
  printf("%d\\n", sum);
}
"""


@pytest.mark.parametrize("command", [RUN, TRACE], ids=["run", "trace"])
def test_where_stacks_cannot_be_executable_only_programs_that_have_code_there_are_refused(tmp_path, command):
    (tmp_path / "silent.s").write_text(".text\n.globl silent\nsilent: ret\n")
    (tmp_path / "main.c").write_text("void silent(void);\n" + MAIN.replace("library(); own();", "silent(); own();") + CONSTRUCTOR.replace("NAME", "own"))
    build(tmp_path, "gcc", "-shared", "-o", "silent.so", "silent.s")
    build(tmp_path, "gcc", "-o", "main", "main.c", tmp_path / "silent.so")
    (tmp_path / "nested.c").write_text(NESTED)
    build(tmp_path, "gcc", "-o", "nested", "nested.c")
    assert lines(tmp_path, command, "./nested") == ["20"]
    limited = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 120, "preexec_fn": without_executable_stacks}
    done = subprocess.run([str(word) for word in (*command, "./main")], **limited)
    assert (done.returncode, done.stdout) == (0, "4 4 1 50\n"), done.stderr
    refused = subprocess.run([str(word) for word in (*command, "./nested")], **limited)
    assert refused.returncode != 0
    assert "Allow the system call personality" in refused.stderr
