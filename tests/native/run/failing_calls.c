/* Preloaded into the command and its processes: a system that refuses. FAIL_CALL="FUNCTION ERROR COUNT" makes the
 * function fail with this errno from its COUNT-th call in a process on; SLOW_CONNECT="MILLISECONDS" makes each
 * connection take so long. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static char function_name[40];
static int error;
static long first = -1;

static void read_plan(void) {
  if (first >= 0) return;
  first = 0;
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
  const char* milliseconds = getenv("SLOW_CONNECT");
  if (milliseconds != NULL) usleep((unsigned)atoi(milliseconds) * 1000);
  return real(socket, address, length);
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

int ftruncate(int file, off_t bytes) {
  return fails("ftruncate") ? -1 : NEXT(ftruncate)(file, bytes);
}

int mprotect(void* address, size_t bytes, int protection) {
  int (*real)(void*, size_t, int) = (int (*)(void*, size_t, int))dlsym(RTLD_NEXT, "mprotect");
  return fails("mprotect") ? -1 : real(address, bytes, protection);
}

int pthread_create(void* thread, const void* attributes, void* (*function)(void*), void* argument) {
  int (*real)(void*, const void*, void* (*)(void*), void*) =
      (int (*)(void*, const void*, void* (*)(void*), void*))dlsym(RTLD_NEXT, "pthread_create");
  return fails("pthread_create") ? error : real(thread, attributes, function, argument);
}
