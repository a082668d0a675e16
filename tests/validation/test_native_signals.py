"""May a program under `sdsm run` have handlers of signals, as it may elsewhere?"""

from __future__ import annotations

import subprocess

import pytest

from tests.validation.native_runs import BUILD, MEMORY_PROGRAMS, MarkedRun

LAYOUTS = ((1, 1), (2, 1), (4, 1), (2, 2), (1, 3))


@pytest.mark.parametrize(("nodes", "threads_per_node"), LAYOUTS)
@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_handlers_may_write_shared_memory_at_any_moment(nodes, threads_per_node, transport):
    layout = ("--nodes", nodes, "--threads-per-node", threads_per_node, "--transport", transport)
    with MarkedRun("-q", *layout, "--", MEMORY_PROGRAMS / "signals", 300, "sigaction", "stopped") as run:
        assert (run.end(), run.errors) == (0, "")


@pytest.mark.parametrize("placement", ["round-robin", "first-touch"])
def test_wherever_the_pages_are_at_home(placement):
    with MarkedRun("-q", "-n", 3, "--placement", placement, "--", MEMORY_PROGRAMS / "signals", 300) as run:
        assert (run.end(), run.errors) == (0, "")


@pytest.mark.parametrize("way", ["exchanged", "signal", "sigset"])
def test_by_whatever_call_they_are_set(way):
    with MarkedRun("-q", "-n", 3, "--", MEMORY_PROGRAMS / "signals", 300, way, "stopped") as run:
        assert (run.end(), run.errors) == (0, "")


@pytest.mark.parametrize("attempt", range(5))
def test_signals_may_still_come_when_the_program_ends(attempt):
    with MarkedRun("-q", "-n", 3, "--", MEMORY_PROGRAMS / "signals", 20, "sigaction", "running") as run:
        assert (run.end(), run.errors) == (0, "")


WAITING = r"""
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int fired;
static void fire(int number) { fired = 1; }
static void give_up(int number) { (void)!write(2, "watchdog\n", 9); _exit(3); }
static void take_lock(int number) {
#pragma omp critical (in_handler)
  fired = 1;
}
static void wait_for_alarm(void) {
  alarm(1);
  while (!fired) usleep(1000);
  puts("fired");
}
int main(int argc, char** argv) {
  const int gives_up = strcmp(argv[1], "exit function") != 0;
  if (strcmp(argv[1], "lock") == 0) {
    signal(SIGALRM, take_lock);
  } else {
    signal(SIGALRM, gives_up ? give_up : fire);
  }
  if (!gives_up) atexit(wait_for_alarm);
  if (strcmp(argv[1], "member's watchdog") == 0) {
#pragma omp parallel
    if (omp_get_thread_num() == 1) {
      signal(SIGALRM, give_up);
      alarm(1);
    } else {
      sleep(20);
    }
  }
#pragma omp parallel
  if (omp_get_thread_num() == 1) {
    volatile int one = 1;
    while (gives_up && one) usleep(1000);
    exit(7);
  } else if (gives_up) {
    alarm(1);
  }
}
"""


@pytest.mark.parametrize(
    ("what", "status", "output", "errors"),
    [
        ("watchdog", 3, "", "watchdog\n"),
        ("member's watchdog", 3, "", "watchdog\n"),
        ("exit function", 7, "fired\n", ""),
    ],
)
def test_they_come_while_a_thread_waits_and_in_exit_functions(tmp_path, what, status, output, errors):
    (tmp_path / "waiting.c").write_text(WAITING)
    program = tmp_path / "waiting"
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", program, tmp_path / "waiting.c"], check=True)
    with MarkedRun("-q", "-n", 2, "--", program, what) as run:
        assert run.end() == 1
        assert run.output == output
        assert run.errors == errors + f"sdsm: the program ended with status {status}\n"


def test_a_handler_that_takes_a_lock_while_its_thread_waits_is_told_so(tmp_path):
    (tmp_path / "waiting.c").write_text(WAITING)
    program = tmp_path / "waiting"
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", program, tmp_path / "waiting.c"], check=True)
    with MarkedRun("-q", "-n", 2, "--", program, "lock") as run:
        assert run.end() == 1
        assert "a handler of a signal takes a lock or comes to a barrier while its thread waits for one" in run.errors


TRACED = r"""
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile sig_atomic_t ticks;
static double values[1 << 14];
static void count(int number) { ticks++; }
int main(void) {
  const struct itimerval timer = {{0, 300}, {0, 300}};
  signal(SIGALRM, count);
  setitimer(ITIMER_REAL, &timer, 0);
  for (int k = 0; k < 200; k++) {
#pragma omp parallel for
    for (int i = 0; i < (1 << 14); i++) values[i] += i * 0.5 + k;
  }
  printf("%g %d\n", values[1000], ticks > 0);
}
"""


@pytest.mark.parametrize("threads", [1, 4])
def test_a_program_with_a_timer_can_be_traced(tmp_path, threads):
    (tmp_path / "timer.c").write_text(TRACED)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", tmp_path / "timer", tmp_path / "timer.c"], check=True)
    trace = BUILD / "sdsm-trace", "-q", "-n", str(threads), "-o", tmp_path / "t.trace", "--", tmp_path / "timer"
    for _ in range(3):
        done = subprocess.run(trace, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout, done.stderr) == (0, "119900 1\n", "")


POSTING = r"""
#include <omp.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
static sem_t posted;
static void post(int number) { sem_post(&posted); }
static void tick_every(int us) {
  const struct itimerval timer = {{0, us}, {0, us}};
  setitimer(ITIMER_REAL, &timer, NULL);
}
int main(void) {
  int done[64] = {0};
  sem_init(&posted, 0, 0);
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    signal(SIGALRM, post);
    if (self == omp_get_num_threads() - 1) tick_every(5000);
    for (; done[self] < 10; ++done[self]) sem_wait(&posted);
#pragma omp barrier
    tick_every(0);
  }
  return 0;
}
"""


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_handler_posts_the_semaphore_that_its_thread_waits_for(tmp_path, threads):
    (tmp_path / "posting.c").write_text(POSTING)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", tmp_path / "posting", tmp_path / "posting.c"], check=True)
    with MarkedRun("-q", "-n", threads, "--", tmp_path / "posting") as run:
        assert (run.end(), run.errors) == (0, "")


def test_under_jiajia_a_handler_that_posts_while_its_thread_waits_ends_the_run_with_the_remedy(tmp_path):
    (tmp_path / "posting.c").write_text(POSTING)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", tmp_path / "posting", tmp_path / "posting.c"], check=True)
    with MarkedRun("-q", "-n", 2, "--protocol", "jiajia", "--", tmp_path / "posting") as run:
        assert run.end() == 1
        assert "a handler of a signal gives back a lock or a semaphore while its thread waits for one" in run.errors
        assert "give --protocol scash" in run.errors


def test_under_jiajia_a_loop_that_waits_amid_other_work_is_told_of(tmp_path):
    """Its turns differ, and it calls the library. What it looks at has been changed, and JIAJIA hands nothing on."""
    (tmp_path / "ring.c").write_text(
        r"""
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
atomic_uint head, tail;
int slots[8];
int main(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  for (int done = 0; done < 20;) {
    const int self = omp_get_thread_num();
    const unsigned h = atomic_load_explicit(&head, memory_order_acquire);
    const unsigned t = atomic_load_explicit(&tail, memory_order_acquire);
    if (self == 0 && t - h < 4) {
      slots[t % 8] = done++;
      atomic_store_explicit(&tail, t + 1, memory_order_release);
    } else if (self == 1 && t != h) {
      wrong += slots[h % 8] != done++;
      atomic_store_explicit(&head, h + 1, memory_order_release);
    } else {
      sched_yield();
    }
  }
  return wrong;
}
"""
    )
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", tmp_path / "ring", tmp_path / "ring.c"], check=True)
    with MarkedRun("-q", "-n", 2, "--", tmp_path / "ring") as run:
        assert (run.end(), run.errors) == (0, "")
    with MarkedRun("-q", "-n", 2, "--protocol", "jiajia", "--", tmp_path / "ring") as run:
        told = "seems to wait in a loop for another thread's plain store"
        run.wait_for(lambda: told in run.errors, "the warning")


#: It waits for faults in the second page of a block: of its own memory, or of a file's. The handler is set first or last.
GUARDED = r"""
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char *guarded;
static volatile int calls;
static void open_it(int signal) {
  (void)signal;
  ++calls;
  mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}
int main(int count, char **words) {
  const int of_file = strcmp(words[1], "file") == 0, is_late = strcmp(words[1], "late") == 0;
  int file = memfd_create("guarded", 0);
  if (count != 2 || ftruncate(file, 4096) != 0) return 2;
  guarded = of_file ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : aligned_alloc(4096, 4096);
  if (!is_late) signal(SIGSEGV, open_it);
  mprotect(guarded, 4096, PROT_READ);
  if (is_late) signal(SIGSEGV, open_it);
  *guarded = 1;
#pragma omp parallel
  if (omp_get_num_threads() != 2) abort();
  printf("%d calls\n", calls);
  return 0;
}
"""


@pytest.mark.parametrize("command", ["run", "trace"])
@pytest.mark.parametrize("what", ["file", "early", "late"])
def test_a_handler_of_sigsegv_is_called_or_the_run_ends_and_says_why(tmp_path, command, what):
    program = tmp_path / "guarded"
    program.with_suffix(".c").write_text(GUARDED)
    subprocess.run(["gcc", "-O1", "-fopenmp", "-o", program, program.with_suffix(".c")], check=True)
    options = ["--passes", "1", "-o", tmp_path / "p.trace"] if command == "trace" else []
    words = [BUILD / f"sdsm-{command}", "-q", "-n", "2", *options, "--", program, what]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, check=False)
    if what == "file":
        assert (done.returncode, done.stdout, done.stderr) == (0, "1 calls\n", "")
    else:
        assert (done.returncode, done.stdout) == (1, "")
        assert "takes away its right to shared memory (mprotect) and has a handler of SIGSEGV" in done.stderr


#: Thread 0 waits, nearly all the time inside of the C library's heap. Of thread 1's changes its home hears by what the
#: run-time does in a signal then.
ALLOCATES = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int over;
static int shared[16][1024];
static int compare(const void* a, const void* b) { return *(const char*)a - *(const char*)b; }
int main(void) {
#pragma omp parallel num_threads(2)
  {
    static __thread char items[2][100000] = {{1}, {2}};
    if (omp_get_thread_num() == 0) {
      while (!over) qsort(items, 2, sizeof items[0], compare);
    } else {
      for (int i = 0; i < 16; ++i) shared[i][i] = i + 1;
      usleep(200000);
      over = 1;
    }
  }
  puts("end");
}
"""


def test_a_wait_that_allocates_in_the_c_library_goes_on(tmp_path):
    (tmp_path / "allocates.c").write_text(ALLOCATES)
    program = tmp_path / "allocates"
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", program, program.with_suffix(".c")], check=True)
    for _ in range(8):
        with MarkedRun("-q", "-n", 2, "--timeout", 10, "--", program, environment={"MALLOC_PERTURB_": "1"}) as run:
            assert (run.end(), run.errors) == (0, "")


#: Counts the run-time's own calls, in each of its threads and within its handlers.
TOOL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
static long calls;
ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
  ssize_t (*real)(int, const void *, size_t, int) = (ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
  __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
  __sync_synchronize();
  return real(descriptor, bytes, count, flags);
}
int epoll_wait(int descriptor, void *events, int most, int limit) {
  int (*real)(int, void *, int, int) = (int (*)(int, void *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
  __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
  __sync_synchronize();
  return real(descriptor, events, most, limit);
}
"""


@pytest.mark.parametrize("layout", [(3, 1), (2, 2)])
@pytest.mark.parametrize("atomics", ["home", "lock"])
def test_a_preloaded_tool_may_count_the_run_times_calls_by_atomic_operations(tmp_path, layout, atomics):
    tool = tmp_path / "tool.so"
    tool.with_suffix(".c").write_text(TOOL)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", tool, tool.with_suffix(".c"), "-ldl"], check=True)
    options = ("-q", "--nodes", layout[0], "--threads-per-node", layout[1], "--atomics", atomics)
    command = ("--", MEMORY_PROGRAMS / "counted", "atomics")
    with MarkedRun(*options, *command, environment={"LD_PRELOAD": str(tool)}) as run:
        assert (run.end(), run.errors) == (0, "")
