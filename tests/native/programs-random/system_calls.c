/* System calls whose buffers lie in pages that this process has no right to, as another thread wrote them last: by the
 * C library's functions and by syscall(). Says "through" if none fails. With an argument: one that nobody serves. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <omp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { page = 4096, pages = 256 };

static char* memory;
static int used;
static int failures;

/* A page of zeros that the other thread wrote. */
static void* fresh(void) {
  if (used == pages) abort();
  return memory + page * used++;
}

/* One that the other thread wrote `text` into. */
static void* fresh_text(const char* text) {
  char* place = fresh();
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) strcpy(place, text);
  return place;
}

static void expect(long answer, const char* call) {
  if (answer >= 0) return;
  ++failures;
  printf("%s: %s\n", call, strerror(errno));
}
#define EXPECT(call) expect((long)(call), #call)
/* It may fail, but not for its address. */
#define NO_FAULT(call) expect((long)(call) >= 0 || errno != EFAULT ? 0 : -1, #call)

static void files(void) {
  const int passwd = open("/etc/passwd", O_RDONLY);
  const int null = open("/dev/null", O_RDWR);
  EXPECT(read(passwd, fresh(), 100));
  EXPECT(pread(passwd, fresh(), 100, 0));
  EXPECT(write(null, fresh(), 100));
  EXPECT(pwrite(null, fresh(), 100, 0));
  struct iovec parts = {fresh(), 50};
  EXPECT(readv(passwd, &parts, 1));
  parts.iov_base = fresh();
  EXPECT(preadv(passwd, &parts, 1, 0));
  parts.iov_base = fresh();
  EXPECT(writev(null, &parts, 1));
  parts.iov_base = fresh();
  EXPECT(preadv2(passwd, &parts, 1, 0, 0));
  EXPECT(openat(AT_FDCWD, fresh_text("/etc/passwd"), O_RDONLY));
  EXPECT(open(fresh_text("/etc/passwd"), O_RDONLY));
  EXPECT(access(fresh_text("/etc/passwd"), R_OK));
  EXPECT(faccessat(AT_FDCWD, fresh_text("/etc/passwd"), R_OK, 0));
  EXPECT(stat("/etc", fresh()));
  EXPECT(lstat(fresh_text("/etc"), fresh()));
  EXPECT(fstat(passwd, fresh()));
  EXPECT(fstatat(AT_FDCWD, fresh_text("/etc"), fresh(), 0));
  EXPECT(statx(AT_FDCWD, fresh_text("/etc"), 0, STATX_ALL, fresh()));
  EXPECT(statfs("/", fresh()));
  EXPECT(fstatfs(passwd, fresh()));
  EXPECT(statvfs(fresh_text("/"), fresh()));
  EXPECT(getcwd(fresh(), page) == NULL ? -1 : 0);
  EXPECT(readlink("/proc/self/exe", fresh(), 1000));
  EXPECT(readlinkat(AT_FDCWD, fresh_text("/proc/self/exe"), fresh(), 1000));
  NO_FAULT(mknod(fresh_text("/etc/passwd"), 0, 0));
  NO_FAULT(symlink(fresh_text("/nowhere"), fresh_text("/etc/passwd")));
  NO_FAULT(rename(fresh_text("/nowhere/a"), fresh_text("/nowhere/b")));
  NO_FAULT(utimensat(AT_FDCWD, "/nowhere", fresh(), 0));
  off_t* at = fresh();
  EXPECT(sendfile(null, passwd, at, 10));
  struct flock* lock = fresh();
  EXPECT(fcntl(passwd, F_GETLK, lock));
  /* More than there is, negative, or nothing at all. */
  EXPECT(readlink("/proc/self/exe", fresh(), 0x7fffffff));
  EXPECT(read(passwd, fresh(), 0x7fffffff));
  EXPECT(fcntl(passwd, F_GETFL));
  NO_FAULT(syscall(SYS_set_mempolicy, 0, NULL, 0));
  EXPECT(syscall(SYS_munmap, mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page));
  EXPECT(memfd_create(fresh_text("x"), 0));
  EXPECT(fclose(fopen(fresh_text("/etc/passwd"), "r")));
  EXPECT(syscall(SYS_pread64, passwd, fresh(), 10, 0));
  EXPECT(syscall(SYS_getdents64, open("/", O_RDONLY), fresh(), 1000));
  EXPECT(syscall(SYS_openat, AT_FDCWD, fresh_text("/etc/passwd"), O_RDONLY));
}

static void sockets(void) {
  int* ends = fresh();
  EXPECT(pipe(ends));
  EXPECT(pipe2(fresh(), O_CLOEXEC));
  int* pair = fresh();
  EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  EXPECT(send(pair[0], fresh(), 3, 0));
  EXPECT(recv(pair[1], fresh(), 3, 0));
  EXPECT(sendto(pair[0], fresh(), 3, 0, NULL, 0));
  socklen_t* bytes = fresh();
  *bytes = 100;
  EXPECT(recvfrom(pair[1], fresh(), 3, 0, fresh(), bytes));
  struct iovec part = {fresh(), 3};
  struct msghdr* message = fresh();
  message->msg_iov = &part;
  message->msg_iovlen = 1;
  EXPECT(sendmsg(pair[0], message, 0));
  part.iov_base = fresh();
  EXPECT(recvmsg(pair[1], message, 0));
  *bytes = 100;
  EXPECT(getsockname(pair[0], fresh(), bytes));
  EXPECT(getpeername(pair[0], fresh(), bytes));
  *bytes = 4;
  EXPECT(getsockopt(pair[0], SOL_SOCKET, SO_TYPE, fresh(), bytes));
  EXPECT(setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, fresh(), 4));
  NO_FAULT(bind(pair[0], fresh(), 100));
  NO_FAULT(connect(pair[0], fresh(), 100));
  NO_FAULT(accept(pair[0], fresh(), bytes));
  EXPECT(ioctl(pair[1], FIONREAD, fresh()));
  EXPECT(poll(fresh(), 1, 0));
  EXPECT(ppoll(fresh(), 1, fresh(), fresh()));
  EXPECT(select(pair[1] + 1, fresh(), fresh(), fresh(), fresh()));
  EXPECT(pselect(pair[1] + 1, fresh(), fresh(), fresh(), fresh(), fresh()));
  const int watch = epoll_create1(0);
  EXPECT(epoll_ctl(watch, EPOLL_CTL_ADD, pair[1], fresh()));
  EXPECT(epoll_wait(watch, fresh(), 1, 0));
  EXPECT(epoll_pwait(watch, fresh(), 1, 0, fresh()));
}

static void clocks(void) {
  EXPECT(gettimeofday(fresh(), NULL));
  EXPECT(clock_gettime(CLOCK_REALTIME, fresh()));
  EXPECT(clock_getres(CLOCK_REALTIME, fresh()));
  EXPECT(nanosleep(fresh(), fresh()));
  EXPECT(clock_nanosleep(CLOCK_MONOTONIC, 0, fresh(), fresh()));
  EXPECT(getitimer(ITIMER_REAL, fresh()));
  EXPECT(setitimer(ITIMER_REAL, fresh(), fresh()));
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  EXPECT(timerfd_settime(timer, 0, fresh(), fresh()));
  EXPECT(timerfd_gettime(timer, fresh()));
  EXPECT(times(fresh()));
  EXPECT(syscall(SYS_clock_gettime, CLOCK_REALTIME, fresh()));
}

static void process(void) {
  EXPECT(getrandom(fresh(), 100, 0));
  EXPECT(getentropy(fresh(), 100));
  EXPECT(uname(fresh()));
  EXPECT(gethostname(fresh(), 100));
  EXPECT(sysinfo(fresh()));
  EXPECT(getrusage(RUSAGE_SELF, fresh()));
  struct rlimit* limit = fresh();
  EXPECT(getrlimit(RLIMIT_NOFILE, limit));
  EXPECT(setrlimit(RLIMIT_NOFILE, limit));
  EXPECT(prlimit(0, RLIMIT_NOFILE, NULL, fresh()));
  EXPECT(sched_rr_get_interval(0, fresh()));
  EXPECT(sched_getaffinity(0, 128, fresh()));
  EXPECT(getcpu(fresh(), fresh()));
  EXPECT(sigpending(fresh()));
  struct timespec* at_once = fresh();
  NO_FAULT(sigtimedwait(fresh(), fresh(), at_once));
  sigset_t* none = fresh();
  EXPECT(sigprocmask(SIG_BLOCK, none, fresh()));
  EXPECT(sigaction(SIGUSR1, NULL, fresh()));
  EXPECT(signalfd(-1, fresh(), 0));
  NO_FAULT(waitid(P_ALL, 0, fresh(), WEXITED | WNOHANG));
  NO_FAULT(wait4(-1, fresh(), WNOHANG, fresh()));
  EXPECT(syscall(SYS_getrandom, fresh(), 10, 0));
  EXPECT(syscall(SYS_uname, fresh()));
  EXPECT(syscall(SYS_gettid));
}

static void between_processes(void) {
  const int semaphores = semget(IPC_PRIVATE, 1, 0600);
  if (semaphores >= 0) EXPECT(semop(semaphores, fresh(), 1));
  semctl(semaphores, 0, IPC_RMID);
}

int main(int argc, char** argv) {
  (void)argv;
  memory = aligned_alloc(page, pages * page);
  if (memory == NULL) return 1;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    memset(memory, 1, pages * page);
    memset(memory, 0, pages * page);
  }
  if (argc > 1) {
    syscall(SYS_io_setup, 1, memory);
    return 0;
  }
  files();
  sockets();
  clocks();
  process();
  between_processes();
  if (failures == 0) printf("through, %d pages\n", used);
  return failures == 0 ? 0 : 1;
}
