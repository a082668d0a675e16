/* Preloaded into the command and its processes: a system that refuses. FAIL_CALL="FUNCTION ERROR COUNT" makes the
 * function fail with this errno from its COUNT-th call in a process on; SLOW_CONNECT="MILLISECONDS" makes each
 * connection take so long; LATE_RELEASES="MILLISECONDS" delivers what a process gives back a lock by so much later, as
 * a network between hosts may, and what it sends there afterwards behind it; FIRST_LAST="MILLISECONDS" has the process
 * that was made last begin first, and each before it so much later; LATE_ARRIVAL="COUNT MILLISECONDS" has each process
 * come to a barrier so much later the COUNT-th time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static char function_name[40];
static int error;
static long first = -1;

static unsigned connect_us;
static unsigned release_us;
static unsigned step_us;
static unsigned arrival_us;
static unsigned late_arrival;

/* Before the program's memory is protected, the environment's place in it, too. */
__attribute__((constructor)) static void read_plan(void) {
  if (first >= 0) return;
  first = 0;
  if (getenv("SLOW_CONNECT") != NULL) connect_us = (unsigned)atoi(getenv("SLOW_CONNECT")) * 1000;
  if (getenv("LATE_RELEASES") != NULL) release_us = (unsigned)atoi(getenv("LATE_RELEASES")) * 1000;
  if (getenv("FIRST_LAST") != NULL) step_us = (unsigned)atoi(getenv("FIRST_LAST")) * 1000;
  if (getenv("LATE_ARRIVAL") != NULL) sscanf(getenv("LATE_ARRIVAL"), "%u %u", &late_arrival, &arrival_us);
  const char* plan = getenv("FAIL_CALL");
  if (plan != NULL) sscanf(plan, "%39s %d %ld", function_name, &error, &first);
}

static int fails(const char* name) {
  static long calls;
  read_plan();
  if (strcmp(name, function_name) != 0 || ++calls < first) return 0;
  errno = error;
  return 1;
}

/* The next library's function of this name. */
#define NEXT(name) ((__typeof__(name)*)dlsym(RTLD_NEXT, #name))

pid_t fork(void) {
  return fails("fork") ? -1 : NEXT(fork)();
}

int memfd_create(const char* name, unsigned flags) {
  int (*real)(const char*, unsigned) = (int (*)(const char*, unsigned))dlsym(RTLD_NEXT, "memfd_create");
  return fails("memfd_create") ? -1 : real(name, flags);
}

int socket(int domain, int type, int protocol) {
  return fails("socket") ? -1 : NEXT(socket)(domain, type, protocol);
}

int connect(int socket, const struct sockaddr* address, socklen_t length) {
  int (*real)(int, const struct sockaddr*, socklen_t) =
      (int (*)(int, const struct sockaddr*, socklen_t))dlsym(RTLD_NEXT, "connect");
  read_plan();
  usleep(connect_us);
  return real(socket, address, length);
}

/* Messages underway on one connection. */
enum { most_sockets = 2048, most_bytes = 1 << 16 };
static struct late {
  pthread_mutex_t mutex;
  int is_underway;
  size_t bytes;
  char message[most_bytes];
} * lates[most_sockets];

static void* deliver(void* number) {
  const int socket = (int)(long)number;
  struct late* late = lates[socket];
  usleep(release_us);
  pthread_mutex_lock(&late->mutex);
  NEXT(send)(socket, late->message, late->bytes, MSG_NOSIGNAL);
  late->bytes = 0;
  late->is_underway = 0;
  pthread_mutex_unlock(&late->mutex);
  return NULL;
}

ssize_t sendmsg(int socket, const struct msghdr* message, int flags) {
  ssize_t (*real)(int, const struct msghdr*, int) =
      (ssize_t(*)(int, const struct msghdr*, int))dlsym(RTLD_NEXT, "sendmsg");
  enum { head_bytes = 32, barrier_arrive = 3, lock_release = 7 };
  size_t bytes = 0;
  for (size_t i = 0; i < message->msg_iovlen; ++i) bytes += message->msg_iov[i].iov_len;
  unsigned short kind = 0;
  if (message->msg_iov[0].iov_len == head_bytes) memcpy(&kind, message->msg_iov[0].iov_base, sizeof kind);
  static unsigned arrivals;
  if (kind == barrier_arrive && ++arrivals == late_arrival) usleep(arrival_us * 1000);
  const int is_release = release_us > 0 && bytes == head_bytes && kind == lock_release;
  if (!is_release && (socket >= most_sockets || lates[socket] == NULL)) return real(socket, message, flags);
  if (lates[socket] == NULL) {
    lates[socket] = calloc(1, sizeof *lates[socket]);
    pthread_mutex_init(&lates[socket]->mutex, NULL);
  }
  struct late* late = lates[socket];
  pthread_mutex_lock(&late->mutex);
  if (!is_release && !late->is_underway) {
    pthread_mutex_unlock(&late->mutex);
    return real(socket, message, flags);
  }
  for (size_t i = 0; i < message->msg_iovlen; ++i) {
    memcpy(late->message + late->bytes, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
    late->bytes += message->msg_iov[i].iov_len;
  }
  if (!late->is_underway) {
    late->is_underway = 1;
    /* Its own stack is in the C library's memory. */
    int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
        (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(RTLD_NEXT, "pthread_create");
    pthread_t thread;
    create(&thread, NULL, deliver, (void*)(long)socket);
    pthread_detach(thread);
  }
  pthread_mutex_unlock(&late->mutex);
  return (ssize_t)bytes;
}

ssize_t send(int socket, const void* bytes, size_t count, int flags) {
  struct iovec part = {(void*)bytes, count};
  const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  return sendmsg(socket, &message, flags);
}

int accept4(int socket, struct sockaddr* address, socklen_t* length, int flags) {
  int (*real)(int, struct sockaddr*, socklen_t*, int) =
      (int (*)(int, struct sockaddr*, socklen_t*, int))dlsym(RTLD_NEXT, "accept4");
  return fails("accept4") ? -1 : real(socket, address, length, flags);
}

int epoll_create1(int flags) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "epoll_create1");
  return fails("epoll_create1") ? -1 : real(flags);
}

/* A process first grows a file when it makes room for what its node shares. */
int ftruncate(int file, off_t bytes) {
  static int calls;
  read_plan();
  enum { most_processes = 8 };
  if (calls++ == 0) usleep(step_us * (most_processes - 1 - (unsigned)getpid() % most_processes));
  return fails("ftruncate") ? -1 : NEXT(ftruncate)(file, bytes);
}

int mprotect(void* address, size_t bytes, int protection) {
  int (*real)(void*, size_t, int) = (int (*)(void*, size_t, int))dlsym(RTLD_NEXT, "mprotect");
  return fails("mprotect") ? -1 : real(address, bytes, protection);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
  int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(RTLD_NEXT, "pthread_create");
  return fails("pthread_create") ? error : real(thread, attributes, function, argument);
}
