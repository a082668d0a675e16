/// C11's sleep, which is no call of nanosleep() in the C library.
#pragma once

#include <cerrno>

namespace sdsm::program {

/// thrd_sleep(), by `sleep`, which is as nanosleep().
template <typename Sleep>
int as_c11_sleep(Sleep sleep) {
  const int error_before = errno;
  const bool has_slept = sleep() == 0;
  const bool is_interrupted = !has_slept && errno == EINTR;
  errno = error_before;
  if (has_slept) return 0;
  return is_interrupted ? -1 : -2;
}

}  // namespace sdsm::program
