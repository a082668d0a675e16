#pragma once

#include <pthread.h>

namespace sdsm::program {

/// The C library's own function: this library interposes `pthread_create`, to refuse threads that OpenMP does not know.
int real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument);

/// Programs that this one starts have no business with the run. The command puts the run-time first in LD_PRELOAD and
/// keeps whatever the user had there behind a colon.
void leave_preload();

}  // namespace sdsm::program
