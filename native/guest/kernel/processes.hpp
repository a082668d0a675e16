#pragma once

#include <pthread.h>

namespace sdsm::program {

/// The C library's own function: this library interposes `pthread_create`, to refuse threads that OpenMP does not know.
int real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument);

/// Takes the run-time out of LD_PRELOAD, as programs that this one starts are no part of the run. The command puts it
/// first there, and keeps what the user had behind a colon.
void leave_preload();

}  // namespace sdsm::program
