/// Locks of the C library: they work among virtual threads as they are, are no events, and are counted.
#include <pthread.h>
#include <semaphore.h>

#include "native/gomp/entry.hpp"
#include "native/program/next_function.hpp"
#include "native/program/program_image.hpp"
#include "native/program/unseen.hpp"

using namespace sdsm::program;

#define SDSM_COUNTED(counted, name, type, exceptions)      \
  SDSM_ENTRY int name(type* object) exceptions {           \
    static constinit NextFunction<int(type*)> real{#name}; \
    count_unseen(UnseenCall::counted, SDSM_CALLER);        \
    return real(object);                                   \
  }

SDSM_COUNTED(mutex_lock, pthread_mutex_lock, pthread_mutex_t, noexcept)
SDSM_COUNTED(mutex_trylock, pthread_mutex_trylock, pthread_mutex_t, noexcept)
SDSM_COUNTED(rwlock_rdlock, pthread_rwlock_rdlock, pthread_rwlock_t, noexcept)
SDSM_COUNTED(rwlock_wrlock, pthread_rwlock_wrlock, pthread_rwlock_t, noexcept)
SDSM_COUNTED(spin_lock, pthread_spin_lock, volatile pthread_spinlock_t, noexcept)
SDSM_COUNTED(barrier_wait, pthread_barrier_wait, pthread_barrier_t, noexcept)
SDSM_COUNTED(sem_wait, sem_wait, sem_t, )
