"""The run-times among the program's own functions, and every call of the kernel on shared memory (native/program)."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = SOURCE / "build"
RUN = (BUILD / "sdsm-run", "-q", "-n", 2, "--")
COMPANIONS = (BUILD / "sdsm-run", "-q", "--nodes", 2, "--threads-per-node", 2, "--")
TRACE = (BUILD / "sdsm-trace", "-q", "-n", 2, "--passes", 2, "-o", "out.trace", "--")
COMMANDS = pytest.mark.parametrize("command", [RUN, COMPANIONS, TRACE], ids=["run", "companions", "trace"])
RUN_TIMES = ("libsdsm-run.so", "libsdsm-trace.so")
TABLE = (SOURCE / "native/program/system_calls.def").read_text()


def done(folder: Path, command: tuple, *program: object, status: int = 0) -> subprocess.CompletedProcess:
    words = [str(word) for word in (*command, *program)]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    assert result.returncode == status, result.stdout + result.stderr
    return result


def compiled(folder: Path, name: str, source: str, *options: object) -> None:
    (folder / f"{name}.c").write_text(source)
    words = ["gcc", "-O1", "-w", "-fopenmp", f"{name}.c", "-o", name, *map(str, options)]
    subprocess.run(words, cwd=folder, check=True)


def symbols(run_time: str, *options: str) -> set[str]:
    listed = subprocess.run(["nm", "-D", *options, BUILD / run_time], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines() if line.split()[-2] in "TtUW"}


#: C reserves these, so who defines them does what they do; libgomp calls those of threads, and
#: that of Debian 13 secure_getenv, before main.
RESERVED = r"mem[^f]|str|malloc|calloc|realloc|free$|al|_|dl|(secure_)?getenv|abort|exit|printf|environ|stdout|stderr|pthread_|sched_getaff"
NAMES_MAIN = r"""
extern int printf(const char*, ...);
int main(void) {
  static double table[5000];
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 100)
  for (int i = 0; i < 5000; ++i) {
    table[i] = i;
#pragma omp critical
    sum += table[i];
  }
  int atomic = 0;
#pragma omp parallel for
  for (int i = 0; i < 100; ++i) {
#pragma omp atomic
    ++atomic;
  }
  printf("%g %d\n", sum, atomic);
}
"""


@pytest.mark.parametrize("run_time", RUN_TIMES)
def test_no_run_time_brings_the_cpp_library_into_a_program(run_time):
    """Which calls the program's functions of the C library's names when it ends (gcc 13 and later: its fflush)."""
    told = subprocess.run(["readelf", "-d", BUILD / run_time], capture_output=True, text=True, check=True).stdout
    assert "libc.so" in told and "libstdc++" not in told


@COMMANDS
@pytest.mark.parametrize("place", ["program", "library"])
def test_a_program_may_have_functions_of_the_c_librarys_names(tmp_path, place, command):
    """Each ends the process that calls it."""
    names = {name for run_time in RUN_TIMES for name in symbols(run_time, "--undefined-only")}
    names |= set(re.findall(r"(?:CALL|FUNCTION)\((\w+),", TABLE)) | {"usleep", "sched_yield", "clock_gettime", "fwrite"}
    names = sorted(name for name in names if not re.match(RESERVED, name))
    assert {"connect", "send", "bind", "read", "write", "poll", "socket", "link", "open", "usleep"} <= {*names}
    functions = "".join(f"int {name}() {{ __builtin_trap(); }}\n" for name in names)
    if place == "library":
        compiled(tmp_path, "names.so", functions, "-fno-builtin", "-shared", "-fPIC")
        compiled(tmp_path, "main", NAMES_MAIN, tmp_path / "names.so", "-Wl,--no-as-needed")
    else:
        compiled(tmp_path, "main", functions + NAMES_MAIN, "-fno-builtin", "-rdynamic")
    assert done(tmp_path, command, "./main").stdout == "1.24975e+07 100\n"


@pytest.mark.parametrize("run_time", RUN_TIMES)
def test_the_run_times_have_no_templates_for_the_programs_libraries(run_time):
    """A library that has the same ones would use these, which allocate for the run-time. Functions of libstdc++'s that the
    run-time takes over are no templates."""
    taken_over = ("_ZNSt8ios_base15sync_with_stdioEb", "_ZNSt8ios_base6xallocEv", "_ZNSt10_Sp_locker", "_ZNKSt6locale2id5_M_idEv",
                  "_ZNSt6locale5_Impl16_M_install_cacheEPKNS_5facetEm")
    assert not [name for name in symbols(run_time, "--defined-only") if name.startswith("_Z") and not name.startswith(taken_over)]


#: What -init of the linker names, as libnuma has one, and what comes before all constructors.
INIT = r"""
#include <stdlib.h>
static int *made, runs;
void begin(void) {
  made = malloc(sizeof *made);
  *made = 7 + runs++;
}
int made_once(void) { return *made == 7 && runs == 1; }
"""
INIT_MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
int made_once(void);
static int* early;
static void begin_early(void) { early = calloc(1, 4); }
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = begin_early;
int main(void) {
  int right = 0;
#pragma omp parallel reduction(+ : right)
  right += made_once();
#pragma omp parallel
#pragma omp atomic
  ++*early;
  printf("%d\n", right == *early);
}
"""


@COMMANDS
def test_a_librarys_one_function_at_start_runs_once(tmp_path, command):
    compiled(tmp_path, "first.so", INIT, "-shared", "-fPIC", "-Wl,-init,begin")
    compiled(tmp_path, "main", INIT_MAIN, tmp_path / "first.so")
    assert done(tmp_path, command, "./main").stdout == "1\n"


def kernels_calls() -> dict[str, int]:
    text = subprocess.run(
        ["gcc", "-E", "-dM", "-include", "asm/unistd_64.h", "-x", "c", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)$", text, re.M)}


def table_rows() -> dict[str, str]:
    """What each call of the kernel is, by its name: served, plain, own, refused or given (refused if shared)."""
    found = {}
    for macro, name, touches in re.findall(r"\b(RAW|CALL|PLAIN|OWN)\((?:\w+, )?SYS_(\w+)(.*?)\)(?=\s|$)", TABLE, re.M):
        assert name not in found, name
        kind = "refused" if "c.refused()" in touches + ")" else "given" if "c.refused({" in touches else "served"
        found[name] = kind if macro in ("RAW", "CALL") else macro.lower()
    return found


#: The last that Debian 13 knows.
LAST_KNOWN = 462
#: They would set the clock, wait, or believe that an address is a size.
NOT_CALLED = {"settimeofday", "clock_settime", "select", "pselect6", "rt_sigsuspend", "futex", "mincore"}


def test_every_call_of_the_kernel_is_in_the_table():
    calls, rows = kernels_calls(), table_rows()
    assert len(calls) > 300
    assert not {name for name, number in calls.items() if number <= LAST_KNOWN} - {*rows}
    assert set(rows.values()) == {"served", "plain", "own", "refused", "given"}


#: All arguments are pages of zeros that another thread has written last; many calls refuse them for other reasons.
EVERY_CALL = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { page = 4096, each = 8 * page };
int main(int argc, char** argv) {
  int bad = 0;
  for (int i = 1; i < argc; ++i) {
    static char* memory;
    memory = aligned_alloc(page, each);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
      memset(memory, 1, each);
      memset(memory, 0, each);
    }
    char* m = memory;
    if (syscall(atoi(argv[i]), m, m + page, m + 2 * page, m + 3 * page, m + 4 * page, m + 5 * page) < 0 && errno == EFAULT) {
      ++bad;
      printf("%s\n", argv[i]);
    }
  }
  printf("%d fail\n", bad);
}
"""


@COMMANDS
def test_no_call_fails_for_shared_memory_and_others_end_by_name(tmp_path, command):
    compiled(tmp_path, "every", EVERY_CALL)
    calls, rows = kernels_calls(), table_rows()
    served = [calls[name] for name, kind in rows.items() if kind == "served" and name in calls.keys() - NOT_CALLED]
    assert len(served) > 150
    assert done(tmp_path, command, "./every", *served).stdout == "0 fail\n"
    for name in [name for name, kind in rows.items() if kind in ("refused", "given") and name in calls]:
        assert f"syscall(SYS_{name}, ...)" in done(tmp_path, command, "./every", calls[name], status=1).stderr


#: Memory by the program's own malloc, which the C library calls, too.
MALLOC = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char arena[1 << 22] __attribute__((aligned(16)));
static size_t used;
void* malloc(size_t bytes) {
  char* block = arena + __atomic_fetch_add(&used, (bytes + 31) & ~(size_t)15, __ATOMIC_SEQ_CST) + 16;
  ((size_t*)block)[-2] = bytes;
  return block;
}
void free(void* block) {
  if (block != NULL && ((char*)block < arena || (char*)block >= arena + sizeof arena)) __builtin_trap();
}
void* calloc(size_t count, size_t bytes) { return memset(malloc(count * bytes), 0, count * bytes); }
void* realloc(void* old, size_t bytes) {
  char* block = malloc(bytes);
  const size_t before = old == NULL ? 0 : ((size_t*)old)[-2];
  if (before > 0) memcpy(block, old, before < bytes ? before : bytes);
  return block;
}
int main(void) {
  char *line = NULL, *text;
  size_t room = 0;
  FILE* file = fopen("/etc/passwd", "r");
  if (getline(&line, &room, file) < 1 || asprintf(&text, "%s", line) < 1) return 1;
  free(realpath("/etc", NULL));
  fclose(file);
  int* numbers = calloc(1000, sizeof *numbers);
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) numbers[i] = i + (line[0] != text[0]);
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += numbers[i];
  free(line);
  free(text);
  printf("%d\n", sum);
}
"""


@COMMANDS
def test_a_program_may_have_its_own_malloc(tmp_path, command):
    compiled(tmp_path, "own", MALLOC, "-fno-builtin")
    assert done(tmp_path, command, "./own").stdout == "499500\n"


#: An address of the program's own stands for the function, which is not the program's.
TAKEN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void* (*volatile allocate)(size_t) = malloc;
int main(void) {
  char* text = strdup("hello");
  int wrong = allocate != malloc;
  free(allocate(10));
#pragma omp parallel reduction(+ : wrong)
  wrong += strcmp(text, "hello") != 0;
  printf("%d wrong\n", wrong);
}
"""


@COMMANDS
def test_a_program_may_take_the_address_of_malloc(tmp_path, command):
    compiled(tmp_path, "taken", TAKEN, "-fno-pie", "-no-pie")
    assert done(tmp_path, command, "./taken").stdout == "0 wrong\n"


#: Each wait is for what never comes, and ends by its limit of 20 ms. With an argument the program has a handler of a signal
#: that never comes either.
LIMITED_WAITS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
ssize_t __read_chk(int file, void* to, size_t bytes, size_t room);  // what -D_FORTIFY_SOURCE makes of read
enum { kinds = 20, waits = 12, limit_us = 20000 };
static double now(void) {
  struct timespec time;
  syscall(228, CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}
static void stop(int number) { _exit(number); }
int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) signal(SIGINT, stop);
  int pair[2];
  const int epoll = epoll_create1(0), semaphore = semget(IPC_PRIVATE, 1, 0600);
  const struct timeval limit = {0, limit_us};
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  int wrong[kinds] = {0}, sum = 0;
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < waits * kinds; ++i) {
    struct timeval left = limit;
    const struct timespec time = {0, 1000L * limit_us};
    struct epoll_event event;
    struct sembuf down = {0, -1, 0};
    char byte;
    struct iovec part = {&byte, 1};
    struct mmsghdr message = {{.msg_iov = &part, .msg_iovlen = 1}, 0};
    struct timespec changing = time, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += time.tv_nsec;
    end.tv_sec += end.tv_nsec / 1000000000, end.tv_nsec %= 1000000000;
    const double begin = now();
    errno = 0;
    int answer = 0, expected = 0;
    switch (i % kinds) {
      case 0: answer = poll(NULL, 0, limit_us / 1000); break;
      case 1: answer = select(0, NULL, NULL, NULL, &left); break;
      case 2: answer = epoll_wait(epoll, &event, 1, limit_us / 1000); break;
      case 3: answer = recv(pair[0], &byte, 1, 0) + 1, expected = EAGAIN; break;
      case 4: answer = sigtimedwait(&signals, NULL, &time) + 1, expected = EAGAIN; break;
      case 5: answer = semtimedop(semaphore, &down, 1, &time) + 1, expected = EAGAIN; break;
      case 6: answer = ppoll(NULL, 0, &time, NULL); break;
      case 7: answer = read(pair[0], &byte, 1) + 1, expected = EAGAIN; break;
      case 8: answer = __read_chk(pair[0], &byte, 1, 1) + 1, expected = EAGAIN; break;
      case 9: answer = readv(pair[0], &part, 1) + 1, expected = EAGAIN; break;
      case 10: answer = syscall(SYS_recvfrom, pair[0], &byte, 1, 0, NULL, NULL) + 1, expected = EAGAIN; break;
      case 11: answer = recvmmsg(pair[0], &message, 1, 0, NULL) + 1, expected = EAGAIN; break;
      case 12: answer = preadv64v2(pair[0], &part, 1, -1, 0) + 1, expected = EAGAIN; break;
      case 13: answer = syscall(SYS_pselect6, 0, NULL, NULL, NULL, &changing, NULL); break;
      case 14: answer = clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL); break;
      case 15: answer = syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL); break;
      case 16: answer = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL); break;
      case 17: answer = nanosleep(&time, NULL); break;
      case 18: answer = usleep(limit_us); break;
      case 19: answer = thrd_sleep(&time, NULL); break;
    }
    wrong[i % kinds] += answer != 0 || errno != expected || now() - begin < 0.9e-6 * limit_us;
  }
  semctl(semaphore, 0, IPC_RMID);
  for (int kind = 0; kind < kinds; ++kind) sum += wrong[kind];
  for (int kind = 0; kind < kinds && sum > 0; ++kind) printf("%d ", wrong[kind]);
  printf("%d wrong\n", sum);
}
"""


#: Of a page that no thread but the initial one has touched.
SHARED_TIMES = r"""
#include <stdio.h>
#include <threads.h>
#include <time.h>
static struct timespec time_of[4096];
int main(void) {
  enum { each = 256, calls = 3 };  // a page
  int wrong[calls] = {0};
  for (int i = 0; i < calls; ++i) time_of[(1 + i) * each].tv_nsec = 1000000;
#pragma omp parallel reduction(+ : wrong)
  {
    wrong[0] += thrd_sleep(&time_of[each], NULL) != 0;
    wrong[1] += nanosleep(&time_of[2 * each], NULL) != 0;
    wrong[2] += clock_nanosleep(CLOCK_MONOTONIC, 0, &time_of[3 * each], NULL) != 0;
    thrd_yield();
  }
  printf("%d %d %d\n", wrong[0], wrong[1], wrong[2]);
}
"""


@COMMANDS
def test_a_thread_may_sleep_for_a_time_in_memory_that_another_wrote(tmp_path, command):
    compiled(tmp_path, "times", SHARED_TIMES)
    assert done(tmp_path, command, "./times").stdout == "0 0 0\n"


FUTEXES = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <omp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int word, other, count;
static long futex(int* at, int operation, long value, const void* limit, int* second, int compared) {
  return syscall(SYS_futex, at, operation, value, limit, second, compared);
}
int main(void) {
  int wrong = 0;
  /* By its limit alone, though nobody changes the word: also where every other answer begins the wait anew. */
  for (int turn = 0; turn < 4; ++turn) {
    const struct timespec limit = {0, 20000000};
    wrong += futex(&word, turn % 2 ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0) != -1 || errno != ETIMEDOUT;
  }
  wrong += futex(&word, FUTEX_CMP_REQUEUE, 1, (void*)9l, &other, 1) != -1 || errno != EAGAIN;
  wrong += futex(&word, FUTEX_REQUEUE, 1, (void*)9l, &other, 0) != 0;
#pragma omp parallel
  if (omp_get_thread_num() != 0) {
    while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0) futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0);
    __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
  } else {
    usleep(30000);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    futex(&word, FUTEX_CMP_REQUEUE, 1, (void*)9l, &other, 1);
    futex(&other, FUTEX_WAKE, 9, NULL, NULL, 0);
  }
  wrong += count != omp_get_max_threads() - 1;
  printf("%d wrong\n", wrong);
}
"""


@COMMANDS
def test_a_futex_waits_until_its_limit_and_is_requeued(tmp_path, command):
    compiled(tmp_path, "futexes", FUTEXES)
    assert done(tmp_path, command, "./futexes").stdout == "0 wrong\n"


FUTEX_TIMES = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <omp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int word[1024] __attribute__((aligned(4096)));
static long futex(int operation, long value, const void* limit, int mask) {
  return syscall(SYS_futex, word, operation, value, limit, NULL, mask);
}
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}
int main(void) {
  int wrong = 0, lost = 0, overlooked = 0;
  double waited = 0, slept = 0;
  const struct timespec bad[] = {{-1, 0}, {0, -1}, {0, 1000000000}};
  for (int i = 0; i < 3; ++i) wrong += futex(FUTEX_WAIT, 0, &bad[i], 0) != -1 || errno != EINVAL;
#pragma omp parallel num_threads(3) reduction(+ : waited, slept, lost, overlooked)
  for (int round = 0; round < 12; ++round) {
    const int me = omp_get_thread_num();
    const struct timespec limit = {0, 300000000}, patience = {20, 0};
    struct timespec mine;
    clock_gettime(CLOCK_MONOTONIC, &mine);
    mine.tv_sec += 20;
    /* How long a limit lasts, beside a sleep of as long. */
    if (me == 0 && round < 3) {
      double begin = now();
      futex(FUTEX_WAIT, 0, &limit, 0);
      waited += now() - begin;
      begin = now();
      nanosleep(&limit, NULL);
      slept += now() - begin;
    }
#pragma omp barrier
    /* A wake ends the wait, whenever it comes, and though the word stays as it is. */
    if (me == 0) lost += futex(FUTEX_WAIT, 0, &patience, 0) != 0;
    if (me == 1) {
      usleep(20000 + round * 977);
      futex(FUTEX_WAKE, 1, NULL, 0);
    }
#pragma omp barrier
    /* A wake for some is not used up by others. */
    if (me < 2) overlooked += futex(FUTEX_WAIT_BITSET, 0, &mine, 1 << me) != 0 && me == 1;
    if (me == 2) {
      usleep(40000);
      futex(FUTEX_WAKE_BITSET, 1, NULL, 1 << 1);
      futex(FUTEX_WAKE, 9, NULL, 0);
    }
#pragma omp barrier
  }
  printf("%d wrong, %d lost, %d overlooked, %s\n", wrong, lost, overlooked, waited < 1.5 * slept ? "in time" : "too long");
}
"""


@pytest.mark.parametrize("command", [RUN, COMPANIONS], ids=["run", "companions"])
def test_a_futex_without_a_limit_from_now_ends_now_and_then_for_its_caller_to_look(tmp_path, command):
    """A semaphore of the C++ library waits for its value to change from one that it has again: nobody wakes it then (one
    of 150 runs of queues.cpp). And nobody wakes who waits for a small variable, if a copy of their number is older."""
    source = r"""
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int word;
int main(void) {
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += 1000;
  const long waited = syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
  printf("%ld %ld\n", waited, syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &limit, NULL, FUTEX_BITSET_MATCH_ANY));
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  return threads < 2;
}
"""
    compiled(tmp_path, "early", source)
    assert done(tmp_path, command, "./early").stdout == "0 0\n"


@pytest.mark.parametrize("threads", [(RUN, 3), (COMPANIONS, 4), (TRACE, 3)], ids=["run", "companions", "trace"])
def test_a_futex_lasts_as_long_as_its_limit_and_no_wake_is_lost(tmp_path, threads):
    """A wait that looks again every 5 ms lost wakes in between: 11 of 100, and lasted 2 to 10 times its limit."""
    options, number = threads
    command = tuple(number if before == "-n" else word for before, word in zip(("", *options), options, strict=False))
    compiled(tmp_path, "times", FUTEX_TIMES)
    assert done(tmp_path, command, "./times").stdout == "0 wrong, 0 lost, 0 overlooked, in time\n"


@COMMANDS
@pytest.mark.parametrize("has_handler", [False, True])
def test_a_wait_ends_by_its_limit_and_by_no_signal_of_the_run_times(tmp_path, command, has_handler):
    """The tracer's signals, by which it lets other threads go on, ended nearly every wait of 20 ms with EINTR."""
    compiled(tmp_path, "waits", LIMITED_WAITS)
    assert done(tmp_path, command, "./waits", *(["handler"] if has_handler else [])).stdout == "0 wrong\n"


@COMMANDS
def test_a_signal_of_the_programs_ends_a_wait_and_its_handler_is_what_the_program_has_set(tmp_path, command):
    source = """
#include <errno.h>
#include <omp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static int came;
static void note(int number) { came += number == SIGALRM; }
static void tell(int number, siginfo_t* info, void* context) { came += number == SIGALRM && info->si_signo == number && context; }
int main(void) {
  int wrong = 0;
  struct sigaction first = {.sa_handler = note}, second = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO | SA_RESETHAND}, old;
#pragma omp parallel
#pragma omp master
  {
    const struct itimerval timer = {.it_value = {0, 50000}};
    wrong += sigaction(SIGALRM, &first, &old) != 0 || old.sa_handler != SIG_DFL;
    setitimer(ITIMER_REAL, &timer, NULL);
    wrong += poll(NULL, 0, 20000) != -1 || errno != EINTR || came != 1;
    wrong += sigaction(SIGALRM, &second, &old) != 0 || old.sa_handler != note || (old.sa_flags & SA_SIGINFO) != 0;
    wrong += sigaction(SIGALRM, NULL, &old) != 0 || old.sa_sigaction != tell || (old.sa_flags & SA_SIGINFO) == 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    wrong += poll(NULL, 0, 20000) != -1 || errno != EINTR || came != 2;
    wrong += signal(SIGALRM, note) != SIG_DFL;
    wrong += signal(SIGALRM, SIG_IGN) != note || sigaction(SIGALRM, NULL, &old) != 0 || old.sa_handler != SIG_IGN;
    wrong += sigaction(SIGKILL, &first, NULL) != -1 || errno != EINVAL || sigaction(65, &first, NULL) != -1 || errno != EINVAL;
  }
  const struct itimerval timer = {.it_value = {0, 50000}};
  first.sa_flags = SA_RESETHAND;
  wrong += sigaction(SIGALRM, &first, NULL) != 0;
  setitimer(ITIMER_REAL, &timer, NULL);
  const double begin = omp_get_wtime();
  wrong += sleep(20) != 19 || came != 3 || omp_get_wtime() - begin > 10;
  wrong += sigaction(SIGALRM, NULL, &old) != 0 || old.sa_handler != SIG_DFL || (old.sa_flags & SA_SIGINFO) != 0;
  printf("%d wrong\\n", wrong);
}
"""
    compiled(tmp_path, "handlers", source)
    assert done(tmp_path, command, "./handlers").stdout == "0 wrong\n"


@COMMANDS
def test_the_limit_of_tasks_priorities_is_what_the_environment_says(tmp_path, command, monkeypatch):
    monkeypatch.setenv("OMP_MAX_TASK_PRIORITY", "7")
    source = """#include <omp.h>
#include <stdio.h>
int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  printf("%d\\n", omp_get_max_task_priority() * (threads > 1));
}
"""
    compiled(tmp_path, "priority", source)
    assert done(tmp_path, command, "./priority").stdout == "7\n"
