// Built as limited_waits with -O1 -w
// Each wait is for what never comes, and ends by its limit of 20 ms. With an argument the program has a handler of
// a signal that never comes either.
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
enum { kinds = 20, waits = 3, limit_us = 20000 };
static double now(void) {
  struct timespec time;
  syscall(228, CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}
static void stop(int number) {
  _exit(number);
}
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
