/* System calls that fill a buffer, or read one, on heap pages that this process has not opened: none of them fails. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "expect.h"

enum { page = 4096, buffers = 40 };
static char* blocks;
static int next;

/* A page that another thread has written, where there is one, and this one has not touched since. */
static void* fresh(void) {
  return blocks + (size_t)page * next++;
}

static void* fresh_text(const char* text) {
  char* place = fresh();
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) strcpy(place, text);
  return place;
}

int main(void) {
  blocks = aligned_alloc(page, (size_t)page * buffers);
  EXPECT(blocks != NULL);
  if (!blocks) return expect_status();
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < buffers; ++i) memset(blocks + (size_t)page * i, 0, page);

  EXPECT(getentropy(fresh(), 100) == 0);
  EXPECT(fstatat(AT_FDCWD, fresh_text("/"), fresh(), 0) == 0);
  EXPECT(statx(AT_FDCWD, "/", 0, STATX_SIZE, fresh()) == 0);
  EXPECT(statfs("/", fresh()) == 0);
  EXPECT(sysinfo(fresh()) == 0);
  EXPECT(getitimer(ITIMER_REAL, fresh()) == 0);
  EXPECT(getrlimit(RLIMIT_NOFILE, fresh()) == 0);
  EXPECT(sched_getaffinity(0, sizeof(cpu_set_t), fresh()) == 0);
  EXPECT(mincore(blocks, page, fresh()) == 0);

  int* ends = fresh();
  EXPECT(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
  EXPECT(sendto(ends[0], fresh_text("word"), 5, 0, NULL, 0) == 5);
  EXPECT(ioctl(ends[1], FIONREAD, fresh()) == 0);
  fd_set* ready = fresh();
  FD_ZERO(ready);
  FD_SET(ends[1], ready);
  struct timeval* limit = fresh();
  EXPECT(select(ends[1] + 1, ready, NULL, NULL, limit) == 1);
  char* word = fresh();
  EXPECT(recvfrom(ends[1], word, 5, 0, NULL, NULL) == 5 && strcmp(word, "word") == 0);
  socklen_t* room = fresh();
  *room = 100;
  EXPECT(getsockname(ends[0], fresh(), room) == 0);
  *room = sizeof(int);
  int* type = fresh();
  EXPECT(getsockopt(ends[0], SOL_SOCKET, SO_TYPE, type, room) == 0 && *type == SOCK_DGRAM);
  int* pipe_ends = fresh();
  EXPECT(pipe2(pipe_ends, O_CLOEXEC) == 0);

  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  EXPECT(timerfd_settime(timer, 0, fresh(), fresh()) == 0);
  EXPECT(timerfd_gettime(timer, fresh()) == 0);
  EXPECT(next <= buffers);
  return expect_status();
}
