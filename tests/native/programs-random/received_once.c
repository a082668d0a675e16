/* What the kernel returns only once (a message, a connection, how a child ended) goes to pages which a local peer shuts
 * while the call waits: nothing may get lost. Prints "through" if all is well. Threads 0 and 1 are on one node. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { page = 4096, pages = 4, waiting_us = 30000, patience_s = 40 };
enum {
  by_recv,
  by_recvfrom,
  by_recvmsg,
  by_read,
  by_readv,
  by_accept,
  by_select,
  by_waitpid,
  by_waitid,
  by_signal,
  by_timer,
  by_sleep,
  kinds
};

extern char** environ;
static char* memory;
static omp_lock_t lock;
static struct sockaddr_un messages, connections;
static socklen_t address_bytes;
static int process, failures;

static void expect(int is_right, const char* what, int kind) {
  if (is_right) return;
  ++failures;
  printf("kind %d: %s, error %d\n", kind, what, errno);
}

static void name(struct sockaddr_un* address, const char* text) {
  address->sun_family = AF_UNIX;
  sprintf(address->sun_path + 1, "%s-%d", text, process);
  address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address->sun_path + 1));
}

static int open_socket(int type, struct sockaddr_un* address) {
  const int own = socket(AF_UNIX, type, 0);
  const struct timeval patience = {patience_s, 0};
  setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (address != NULL && bind(own, (struct sockaddr*)address, address_bytes) != 0) expect(0, "bind", -1);
  return own;
}

static pid_t child(void) {
  char* const words[] = {"sh", "-c", "sleep 0.06; exit 7", NULL};
  pid_t number;
  if (posix_spawn(&number, "/bin/sh", NULL, NULL, words, environ) != 0) expect(0, "posix_spawn", -1);
  return number;
}

static void wait_on(char* at, int kind, int inbox, int listener) {
  struct iovec* part = (struct iovec*)(at + 64);
  struct msghdr* message = (struct msghdr*)(at + 128);
  switch (kind) {
    case by_recv: expect(recv(inbox, at, 2000, 0) == 3 && strcmp(at, "hi") == 0, "recv", kind); break;
    case by_read: expect(read(inbox, at, 2000) == 3 && strcmp(at, "hi") == 0, "read", kind); break;
    case by_recvfrom: {
      socklen_t* bytes = (socklen_t*)(at + 1000);
      *bytes = 200;
      expect(recvfrom(inbox, at, 100, 0, (struct sockaddr*)(at + 1100), bytes) == 3, "recvfrom", kind);
      expect(strcmp(at, "hi") == 0 && *bytes >= 2 && at[1100] == AF_UNIX, "what recvfrom returned", kind);
      break;
    }
    case by_recvmsg:
      part[0] = (struct iovec){at, 1};
      part[1] = (struct iovec){at + 2048, 100};
      *message = (struct msghdr){.msg_iov = part, .msg_iovlen = 2, .msg_name = at + 500, .msg_namelen = 120};
      expect(recvmsg(inbox, message, 0) == 3, "recvmsg", kind);
      expect(*at == 'h' && strcmp(at + 2048, "i") == 0 && at[500] == AF_UNIX, "what the message holds", kind);
      expect(message->msg_iov == part && message->msg_namelen < 120, "the message's head", kind);
      break;
    case by_readv:
      part[0] = (struct iovec){at, 1};
      part[1] = (struct iovec){at + 2048, 100};
      expect(readv(inbox, part, 2) == 3 && *at == 'h' && strcmp(at + 2048, "i") == 0, "readv", kind);
      break;
    case by_accept: {
      socklen_t* bytes = (socklen_t*)(at + 1000);
      *bytes = 110;
      const int peer = accept(listener, (struct sockaddr*)at, bytes);
      expect(peer >= 0 && *bytes == 2 && *at == AF_UNIX, "accept", kind);
      char said = 0;
      expect(read(peer, &said, 1) == 1 && said == 'c', "what the peer says", kind);
      close(peer);
      break;
    }
    case by_select: {
      fd_set* set = (fd_set*)at;
      FD_ZERO(set);
      FD_SET(inbox, set);
      struct timeval* patience = (struct timeval*)(at + 1000);
      *patience = (struct timeval){patience_s, 0};
      expect(select(inbox + 1, set, set + 1, set + 2, patience) == 1 && FD_ISSET(inbox, set), "select", kind);
      expect(recv(inbox, at, 100, MSG_DONTWAIT) == 3, "recv after select", kind);
      break;
    }
    case by_waitpid: {
      const pid_t number = child();
      expect(waitpid(number, (int*)at, 0) == number && WEXITSTATUS(*(int*)at) == 7, "waitpid", kind);
      const pid_t other = child();
      expect(wait4(other, (int*)at, 0, (struct rusage*)(at + 64)) == other && WEXITSTATUS(*(int*)at) == 7, "wait4",
             kind);
      break;
    }
    case by_waitid: {
      siginfo_t* info = (siginfo_t*)at;
      const pid_t number = child();
      expect(waitid(P_PID, (id_t)number, info, WEXITED) == 0 && info->si_status == 7, "waitid", kind);
      break;
    }
    case by_signal: {
      siginfo_t* info = (siginfo_t*)(at + 256);
      const struct timespec patience = {patience_s, 0};
      sigaddset((sigset_t*)at, SIGUSR1);
      expect(sigtimedwait((sigset_t*)at, info, &patience) == SIGUSR1 && info->si_value.sival_int == 11, "sigtimedwait",
             kind);
      break;
    }
    case by_timer: {
      const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
      const struct itimerspec times = {{patience_s, 0}, {0, 2 * waiting_us * 1000}};
      timerfd_settime(timer, 0, &times, NULL);
      struct timespec begin, end;
      clock_gettime(CLOCK_MONOTONIC, &begin);
      expect(read(timer, at, 8) == 8 && *(long*)at == 1, "read of a timer", kind);
      clock_gettime(CLOCK_MONOTONIC, &end);
      expect((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 < 1000 * patience_s / 2,
             "its first tick", kind);
      close(timer);
      break;
    }
    case by_sleep: {
      struct timespec *left = (struct timespec*)at, wanted = {600, 0};
      expect(clock_nanosleep(CLOCK_MONOTONIC, 0, &wanted, left) == EINTR && left->tv_sec > 300, "clock_nanosleep",
             kind);
      expect(pthread_getaffinity_np(pthread_self(), 128, (cpu_set_t*)at) == 0, "pthread_getaffinity_np", kind);
      break;
    }
    default: break;
  }
}

static void interrupt(int number) {
  (void)number;
}

static void act(int kind, int outbox) {
  switch (kind) {
    case by_waitpid:
    case by_waitid:
    case by_timer: break;
    case by_accept: {
      const int own = open_socket(SOCK_STREAM, NULL);
      expect(connect(own, (struct sockaddr*)&connections, address_bytes) == 0, "connect", kind);
      expect(write(own, "c", 1) == 1, "write", kind);
      usleep(waiting_us);
      close(own);
      break;
    }
    case by_sleep: expect(kill(process, SIGUSR2) == 0, "kill", kind); break;
    case by_signal: expect(sigqueue(process, SIGUSR1, (union sigval){11}) == 0, "sigqueue", kind); break;
    default: expect(sendto(outbox, "hi", 3, 0, (struct sockaddr*)&messages, address_bytes) == 3, "sendto", kind);
  }
}

int main(void) {
  process = getpid();
  name(&messages, "messages");
  name(&connections, "connected"); /* as long a name */
  const int inbox = open_socket(SOCK_DGRAM, &messages);
  const int listener = open_socket(SOCK_STREAM, &connections);
  listen(listener, 10);
  sigset_t waited;
  sigemptyset(&waited);
  sigaddset(&waited, SIGUSR1);
  sigprocmask(SIG_BLOCK, &waited, NULL);
  signal(SIGUSR2, interrupt);
  omp_init_lock(&lock);
  memory = aligned_alloc(page, kinds * pages * page);
  if (memory == NULL) return 1;
  memset(memory, 0, kinds * pages * page);
#pragma omp parallel num_threads(2)
  {
    const int me = omp_get_thread_num();
    struct sockaddr_un own = {AF_UNIX};
    sprintf(own.sun_path + 1, "sender-%d", getpid());
    const int outbox = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (me == 1) bind(outbox, (struct sockaddr*)&own, sizeof own);
    for (int turn = 0; turn < kinds * pages; ++turn) {
#pragma omp barrier
      if (me == 0) wait_on(memory + turn * page, turn / pages, inbox, listener);
      if (me != 1) continue;
      usleep(waiting_us);
      omp_set_lock(&lock);
      omp_unset_lock(&lock);
      act(turn / pages, outbox);
    }
    close(outbox);
  }
  if (failures > 0) return 1;
  puts("through");
  return 0;
}
