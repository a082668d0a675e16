// Built as locking.so with -O2 -shared -fPIC
#include <pthread.h>
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
int call(int* shared) {
  pthread_mutex_lock(&own);
  const int before = __atomic_fetch_add(shared, 1, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(shared, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&own);
  return before + 1;
}
