/// Helpers of the C library's calls.
#pragma once

#include <pthread.h>
#include <threads.h>

#include <cstdint>
#include <ctime>

#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/threads/engine.hpp"

/// Defines the C library's function `name`. It returns `shared` for an object that the engine has, else `own`, an
/// expression of `real`, the library's function.
#define SDSM_SHARED_ENTRY(result, name, parameters, object, shared, own)           \
  SDSM_ENTRY result name parameters {                                              \
    SDSM_NEXT_FUNCTION sdsm::program::NextFunction<result parameters> real{#name}; \
    return sdsm::engine::has_object(object) ? shared : own;                        \
  }

namespace sdsm::pthreads {

/// The nanoseconds from now until `limit` on `clock`, 0 if it is past. False if `limit` is no valid time, or
/// the C library waits by no such clock.
bool patience_until(clockid_t clock, const timespec* limit, std::uint64_t& patience_ns);

/// engine::take() without a limit, and engine::give(), with the answer of the C library's functions: 0.
inline int take(const volatile void* object, engine::Demand demand) {
  engine::take(object, demand);
  return 0;
}
inline int give(const volatile void* object, engine::Demand demand) {
  engine::give(object, demand);
  return 0;
}

/// The answer of a C11 function for the error that its POSIX twin returns.
int c11_answer(int error);
/// C11's types, which are the same in the C library.
inline pthread_mutex_t* as_posix(mtx_t* mutex) {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}

}  // namespace sdsm::pthreads
