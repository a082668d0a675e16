// Built as tool.so with -O1 -shared -fPIC
// Counts the run-time's own calls, in each of its threads and within its handlers.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
static long calls;
ssize_t send(int descriptor, const void* bytes, size_t count, int flags) {
  ssize_t (*real)(int, const void*, size_t, int) = (ssize_t(*)(int, const void*, size_t, int))dlsym(RTLD_NEXT, "send");
  __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
  __sync_synchronize();
  return real(descriptor, bytes, count, flags);
}
int epoll_wait(int descriptor, void* events, int most, int limit) {
  int (*real)(int, void*, int, int) = (int (*)(int, void*, int, int))dlsym(RTLD_NEXT, "epoll_wait");
  __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
  __sync_synchronize();
  return real(descriptor, events, most, limit);
}
