#pragma once

#include <pthread.h>

namespace sdsm::program {

/// The C library's own function: this library interposes `pthread_create`, to refuse threads that OpenMP does not know.
int real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument);

}  // namespace sdsm::program
