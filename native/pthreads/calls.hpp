/// Helpers of the C library's calls.
#pragma once

#include <pthread.h>
#include <threads.h>

#include <cstdint>
#include <ctime>

namespace sdsm::pthreads {

/// The nanoseconds from now until `limit` on `clock`, 0 if it is past. False if `limit` is no valid time.
bool patience_until(clockid_t clock, const timespec* limit, std::uint64_t& patience_ns);

/// The answer of a C11 function for the error that its POSIX twin returns.
int c11_answer(int error);
/// C11's types, which are the same in the C library.
inline pthread_mutex_t* as_posix(mtx_t* mutex) {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}

}  // namespace sdsm::pthreads
