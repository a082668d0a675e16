/// Whether processes that wait may keep a processor busy.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "native/dsm/identity.hpp"

namespace sdsm::dsm {

/// Whether this process may run on at least `for_each` processors for each process of the run: all may be on this host.
inline bool has_processors(std::uint32_t for_each) {
  static constinit std::atomic<std::uint32_t> allowed = 0;
  if (allowed == 0) {
    cpu_set_t set;
    allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&set)) : 1;
  }
  return allowed >= for_each * processes();
}

}  // namespace sdsm::dsm
