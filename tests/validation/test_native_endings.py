"""Does a program end under `sdsm run` as it would anywhere: with its status, its exit functions and its output, whichever
of its threads ends it?"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.validation.native_runs import BUILD, MEMORY_PROGRAMS, MarkedRun, hosts

FAILING_CALLS = BUILD / "tests" / "run" / "libfailing_calls.so"
RUN_TIME = BUILD / "libsdsm-run.so"
PROGRAM = MEMORY_PROGRAMS / "endings"
SAID = {"exit": "atexit\n", "computing": "atexit\n", "locked": "", "quick_exit": "at_quick_exit\n", "_exit": ""}


def ending(how: str, thread: int, status: int, *cluster: object) -> MarkedRun:
    return MarkedRun("-q", *cluster, "--", PROGRAM, how, thread, status)


@pytest.mark.parametrize("cluster", [("--nodes", 2, "--threads-per-node", 2), ("--nodes", 3, *hosts(3))])
@pytest.mark.parametrize("thread", [0, 1, 2])
@pytest.mark.parametrize("how", ["exit", "quick_exit", "_exit", "computing"])
def test_any_thread_may_end_the_program(how, thread, cluster):
    status = 0 if thread == 2 else 7
    with ending(how, thread, status, *cluster) as run:
        assert run.end() == (1 if status else 0), run.errors
        said = f"thread {thread} ends\n"
        assert run.errors == said + (f"sdsm: the program ended with status {status}\n" if status else "")
        assert run.output == "begin\n" + SAID[how]


@pytest.mark.parametrize(("thread", "cluster"), [(0, ("--nodes", 3)), (1, ("--nodes", 3, *hosts(3)))])
def test_a_thread_may_end_the_program_while_others_wait_for_its_lock(thread, cluster):
    with ending("locked", thread, 7, *cluster) as run:
        assert run.end() == 1
        assert run.errors == f"thread {thread} ends\nsdsm: the program ended with status 7\n"
        # The initial thread cannot run its exit functions while it waits for a lock that nobody will give back.
        assert run.output == "begin\n" + ("atexit\n" if thread == 0 else "")


@pytest.mark.parametrize("thread", [0, 1])
@pytest.mark.parametrize("how", ["exit", "quick_exit", "_exit"])
def test_so_it_does_under_the_compilers_run_time(how, thread):
    environment = {**os.environ, "OMP_NUM_THREADS": "3"}
    done = subprocess.run([PROGRAM, how, str(thread), "7"], capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stdout) == (7, "begin\n" + SAID[how])


LEFT_BEHIND = r"""
#include <omp.h>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>
static std::vector<std::string> names;
struct Left {
  std::string name;
  explicit Left(const char* given) : name(given) {}
  ~Left() {
    names.push_back(name);
    std::printf("%s is number %zu\n", name.c_str(), names.size());
  }
};
static void handler() {
  int members = 0;
#pragma omp parallel reduction(+ : members)
  ++members;
  if (members > 0) std::printf("handler\n");
}
static void initial_handler() {
  int members = 0;
#pragma omp parallel reduction(+ : members)
  ++members;
  std::printf("handler of main: %d member\n", members);
}
int main(int, char** argv) {
  std::atexit(initial_handler);
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      static std::ofstream file(argv[1]);
      file << "text\n";
      static Left first("first");
      std::atexit(handler);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 1) static Left second("second");
  }
  std::printf("end of main\n");
}
"""
LAYOUTS = [("-n", 3), ("--nodes", 2, "--threads-per-node", 2), ("--nodes", 3, "--protocol", "jiajia"), ("--nodes", 3, *hosts(3))]


@pytest.mark.parametrize("layout", LAYOUTS, ids=["nodes", "companions", "jiajia", "hosts"])
def test_what_any_thread_leaves_for_the_end_happens_before_what_main_left(tmp_path, layout):
    """Each thread's own functions in their order; those of different threads one after the other."""
    (tmp_path / "left.cpp").write_text(LEFT_BEHIND)
    subprocess.run(["g++", "-fopenmp", "-o", tmp_path / "left", tmp_path / "left.cpp"], check=True)
    with MarkedRun("-q", *layout, "--", tmp_path / "left", tmp_path / "file") as run:
        assert run.end() == 0, run.errors
        said = run.output.splitlines()
    assert said[0] == "end of main" and said[-1] == "handler of main: 1 member"
    assert sorted(said[1:-1]) in (["first is number 1", "handler", "second is number 2"], ["first is number 2", "handler", "second is number 1"])
    assert said.index("handler") == next(i for i, line in enumerate(said) if line.startswith("first")) - 1
    assert (tmp_path / "file").read_text() == "text\n"


ENDING = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char* how;
static int* shared;
static int deep(int depth) {
  volatile char frame[100000];
  frame[depth] = 1;
  return depth == 0 ? 0 : deep(depth - 1) + frame[depth];
}
static void handler(void) {
  printf("%d %d\n", deep(40), shared[5]);
  fflush(stdout);
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(4);
}
int main(int argc, char** argv) {
  how = argv[1];
  int* const block = malloc(100000);
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) {
    atexit(handler);
    block[3] = 1;
  }
  free(block);
  shared = malloc(300000); /* at least in part where that block was */
  shared[5] = 7;
  return 0;
}
"""


@pytest.mark.parametrize(("how", "status"), [("returns", 0), ("exit", 3), ("_exit", 4)])
def test_an_exit_function_of_another_thread_sees_what_main_left_has_its_stack_and_may_end_the_program(tmp_path, how, status):
    (tmp_path / "ending.c").write_text(ENDING)
    subprocess.run(["gcc", "-fopenmp", "-o", tmp_path / "ending", tmp_path / "ending.c"], check=True)
    for layout in (("-n", 3), ("--nodes", 2, "--threads-per-node", 2)):
        with MarkedRun("-q", *layout, "--", tmp_path / "ending", how) as run:
            assert run.end() == (1 if status else 0), run.errors
            assert run.output == "40 7\n"
            assert run.errors == (f"sdsm: the program ended with status {status}\n" if status else "")


def test_a_unit_that_a_thread_left_open_is_closed(tmp_path):
    """What the file held behind is cut off then."""
    (tmp_path / "unit.f90").write_text("""
program unit
  use omp_lib
!$omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) then
    open (50, file='left.txt')
    write (50, '(a)') 'left'
  end if
!$omp end parallel
end program
""")
    subprocess.run(["gfortran", "-fopenmp", "-o", "unit", "unit.f90"], cwd=tmp_path, check=True)
    (tmp_path / "left.txt").write_text("longer than that\n" * 3)
    done = subprocess.run([BUILD / "sdsm-run", "-q", "-n", "3", "--", "./unit"], cwd=tmp_path, timeout=60)
    assert done.returncode == 0
    assert (tmp_path / "left.txt").read_text() == "left\n"


EXIT_IN_REGION = r"""
#include <omp.h>
#include <stdlib.h>
static long words[8192];
int main(int argc, char** argv) {
#pragma omp parallel
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp critical
      for (int page = 0; page < 16; ++page) ++words[page * 512];
    }
    if (omp_get_thread_num() == 0) {
      if (argc > 1) quick_exit(4);
      exit(5);
    }
  }
}
"""


@pytest.mark.parametrize("cluster", [("-n", 3), ("--nodes", 2, "--threads-per-node", 2)])
@pytest.mark.parametrize(("arguments", "status"), [((), 5), (("quick",), 4)])
def test_the_initial_thread_may_end_the_program_while_others_work(tmp_path, cluster, arguments, status):
    (tmp_path / "early.c").write_text(EXIT_IN_REGION)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", tmp_path / "early", tmp_path / "early.c"], check=True)
    for _ in range(3):
        with MarkedRun("-q", *cluster, "--", tmp_path / "early", *arguments) as run:
            assert run.end() == 1
            assert run.errors == f"sdsm: the program ended with status {status}\n"


def test_a_result_without_some_threads_says_so(tmp_path):
    (tmp_path / "endless.c").write_text(
        "#include <omp.h>\n#include <stdlib.h>\n#include <unistd.h>\nint main(void) {\n#pragma omp parallel\n"
        "  for (; omp_get_thread_num() != 1; usleep(1000))\n    if (omp_get_thread_num() == 0) exit(0);\n}\n"
    )
    subprocess.run(["gcc", "-fopenmp", "-o", tmp_path / "endless", tmp_path / "endless.c"], check=True)
    with MarkedRun("-q", "-n", 4, "--json", tmp_path / "r.json", "--", tmp_path / "endless") as run:
        assert run.end() == 0, run.errors
        assert run.one_error().startswith("sdsm: note: the program ended in the middle of a parallel region. ")
        assert run.one_error().endswith("2, 3")  # 1, too, if it comes after two seconds


def test_a_process_that_comes_late_from_the_last_region_is_waited_for(tmp_path):
    """What it did is part of the result."""
    (tmp_path / "late.c").write_text("int main(void) {\n#pragma omp parallel\n  ;\n  return 0; }\n")
    subprocess.run(["gcc", "-fopenmp", "-o", tmp_path / "late", tmp_path / "late.c"], check=True)
    late_ms = 3000
    late = {"LD_PRELOAD": str(FAILING_CALLS), "LATE_ARRIVAL": f"7 {late_ms}"}
    began = time.monotonic()
    with MarkedRun("-q", "-n", 3, "--json", tmp_path / "r.json", "--", tmp_path / "late", environment=late) as run:
        assert run.end() == 0, run.errors
    assert time.monotonic() - began > late_ms / 1000
    barriers = [thread["barriers"] for thread in json.loads((tmp_path / "r.json").read_text())["threads"]]
    assert barriers == [2, 2, 2]


def test_the_run_time_outlives_the_programs_exit():
    """Its service thread works to the end, while exit() runs destructors: none of them may be the run-time's."""
    wanted = subprocess.run(["nm", "-D", "--undefined-only", RUN_TIME], capture_output=True, text=True, check=True).stdout
    assert " on_exit" in wanted
    assert "__cxa_atexit" not in wanted


def test_a_thread_that_starts_slowly_reads_the_environment_before_it_is_shared(tmp_path):
    """`environ` is a variable of the program's that names it, and so in shared memory once that is shared."""
    (tmp_path / "p.c").write_text(
        "#include <string.h>\n#include <unistd.h>\nextern char** environ;\n"
        "char* getenv(const char* name) {\n  usleep(2000);\n  size_t length = strlen(name);\n"
        "  for (char** one = environ; *one; ++one)\n"
        "    if (!strncmp(*one, name, length) && (*one)[length] == '=') return *one + length + 1;\n"
        "  return NULL;\n}\n"
        "int main(void) {\n#pragma omp parallel\n  ;\n  return 0; }\n"
    )
    subprocess.run(["gcc", "-fopenmp", "-o", tmp_path / "p", tmp_path / "p.c"], check=True)
    done = subprocess.run([BUILD / "sdsm-run", "-q", "-n", "2", "--", tmp_path / "p"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def is_predicted(folder: Path, *program: object) -> bool:
    """Traces it with 3 threads, and simulates that."""
    trace = folder / "p.trace"
    words = [BUILD / "sdsm", "trace", "-q", "-n", 3, "--passes", 2, "-o", trace, "--", *program]
    subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=100)
    simulated = [BUILD / "sdsm", "simulate", "-q", "-p", "p3-score", "-n", "3", trace]
    done = subprocess.run([str(word) for word in simulated], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return "makespan" in done.stdout


@pytest.mark.parametrize("thread", [0, 1, 2])
@pytest.mark.parametrize("how", ["exit", "quick_exit", "_exit", "computing", "locked"])
def test_what_ends_inside_a_region_is_predicted_up_to_there(tmp_path, how, thread):
    assert is_predicted(tmp_path, PROGRAM, how, thread, 0)


@pytest.mark.parametrize("thread", [0, 1, 2])
def test_nobody_waits_in_a_simulation_for_a_region_that_a_thread_has_left_by_exit(tmp_path, thread):
    """If the first ends it, the others have yet to begin; if the last does, they have done their part."""
    source = r"""
    #include <omp.h>
    #include <stdlib.h>
    static int filled[10000];
    int main(int argc, char** argv) {
      const int who = atoi(argv[1]);
    #pragma omp parallel for
      for (int i = 0; i < 10000; ++i) filled[i] = i;
    #pragma omp parallel
      if (omp_get_thread_num() == who) exit(0);
      return 1;
    }
    """
    (tmp_path / "leaves.c").write_text(source)
    subprocess.run(["gcc", "-O1", "-fopenmp", "leaves.c", "-o", "leaves"], cwd=tmp_path, check=True)
    assert is_predicted(tmp_path, tmp_path / "leaves", thread)


ENDS_AMID_LOCKS = r"""
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t todo, done;
static long count, inner;
static int jobs;
static void work(int loops) {
  for (volatile int i = 0; i < loops; ++i) {
  }
}
static void with_criticals(int who, int is_outside, int is_nested) {
  const int self = omp_get_thread_num();
  for (int i = 0;; ++i) {
    work(1000 * (5 + (i * 7 + self * 3) % 11));
#pragma omp critical(outer)
    {
      ++count;
      if (is_nested) {
        work(30000);
#pragma omp critical(inner)
        ++inner;
        work(30000);
#pragma omp critical(inner)
        ++inner;
      }
      if (!is_outside && self == who && i >= 10) exit(0);
    }
    if (is_outside && self == who && i == 40) exit(0);
  }
}
static void in_order(void) {
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < 100; ++i) {
    work(2000 * (i % 7 + 1));
#pragma omp ordered
    if (i == 57) exit(0);
  }
}
static void with_condition(void) {
  if (omp_get_thread_num() > 0) {
    pthread_mutex_lock(&mutex);
    for (;; --jobs) {
      while (jobs == 0) pthread_cond_wait(&condition, &mutex);
    }
  }
  for (int i = 0; i < 5; ++i) {
    work(100000);
    pthread_mutex_lock(&mutex);
    ++jobs;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  }
  exit(0);
}
static void with_semaphores(void) {
  const int others = omp_get_num_threads() - 1;
  if (omp_get_thread_num() > 0) {
    for (;; sem_post(&done)) sem_wait(&todo);
  }
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < others; ++i) sem_post(&todo);
    for (int i = 0; i < others; ++i) sem_wait(&done);
  }
#pragma omp critical
  ++count;
  exit(0);
}
int main(int argc, char** argv) {
  const char* const how = argv[1];
  const int who = atoi(argv[2]);
  sem_init(&todo, 0, 0);
  sem_init(&done, 0, 0);
#pragma omp parallel
  {
    if (strcmp(how, "holding") == 0) with_criticals(who, 0, 0);
    if (strcmp(how, "outside") == 0) with_criticals(who, 1, 0);
    if (strcmp(how, "nested") == 0) with_criticals(who, 0, 1);
    if (strcmp(how, "ordered") == 0) in_order();
    if (strcmp(how, "condition") == 0) with_condition();
    if (strcmp(how, "semaphores") == 0) with_semaphores();
  }
  return 1;
}
"""


@pytest.mark.parametrize("how", ["holding", "outside", "nested", "ordered", "condition", "semaphores"])
def test_what_ends_while_others_want_locks_is_predicted_up_to_there(tmp_path, how):
    """Some wait for a lock, or are about to, some amid an interval, and some have been told to look at it again. In a
    simulation the thread that ends the program may get a lock before others that had it first."""
    (tmp_path / "amid.c").write_text(ENDS_AMID_LOCKS)
    subprocess.run(["gcc", "-O1", "-fopenmp", "amid.c", "-o", "amid"], cwd=tmp_path, check=True)
    for who in range(3):
        assert is_predicted(tmp_path, tmp_path / "amid", how, who)


ENDS_FIRST = r"""
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { threads = 3, pages = 200, page = 4096 };
static pthread_barrier_t barrier;
static char memory[pages * page];
int main(int argc, char** argv) {
  const char* const how = argv[argc - 1];
  pthread_barrier_init(&barrier, NULL, threads);
#pragma omp parallel num_threads(threads)
  {
    const int self = omp_get_thread_num();
    if (strcmp(how, "met") == 0) {
      // The last to come ends the program, before those that it lets go run.
      if (self == 2) {
        for (volatile int i = 0; i < 10000000; ++i) {
        }
      }
      pthread_barrier_wait(&barrier);
      if (self == 2) exit(0);
    } else if (strcmp(how, "behind") == 0) {
      // What others fetch meanwhile takes longer on a cluster than here.
      if (self == 1) {
        usleep(20000);
        exit(0);
      }
      for (int i = 0; i < pages; ++i) memory[i * page] += self;
    } else if (self == 1) {
#pragma omp critical
      {
        memset(memory, 1, sizeof memory);
        exit(0);
      }
    }
#pragma omp barrier
  }
}
"""


@pytest.mark.parametrize("how", ["met", "behind", "critical"])
def test_a_prediction_lasts_until_a_thread_has_ended_the_program_inside_a_region(tmp_path, how):
    """What others would do behind that is not in it, nor does that thread send anything home."""
    (tmp_path / "first.c").write_text(ENDS_FIRST)
    subprocess.run(["gcc", "-O1", "-fopenmp", "first.c", "-o", "first"], cwd=tmp_path, check=True)
    trace, result = tmp_path / "p.trace", tmp_path / "p.json"
    words = [BUILD / "sdsm", "trace", "-q", "-n", "3", "-o", trace, "--", tmp_path / "first", how]
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=100)
    assert "the program ended inside a parallel region" in done.stderr
    for options in (("-p", "p3-score"), ("-p", "p3-jiajia", "--protocol", "jiajia")):
        words = [BUILD / "sdsm", "simulate", "-q", *options, "-n", "3", "--region", "whole", "--json", result, trace]
        subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=100)
        predicted = json.loads(result.read_text())
        ends = predicted["threads"][2 if how == "met" else 1]
        assert ends["time_s"]["idle"] < 1e-3
        assert ends["diffs"] == 0
        if how == "behind":
            assert predicted["makespan_s"] < 0.02
