/// Which processors a process runs on, and whether processes that wait may keep one busy.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "native/dsm/wire/identity.hpp"

namespace sdsm::dsm {

/// Processors that this host's processes of the run may use; 0 until they have been counted.
inline constinit std::atomic<std::uint32_t> processors_counted = 0;

inline std::uint32_t usable_processors() {
  if (processors_counted == 0) {
    cpu_set_t set;
    processors_counted = sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&set)) : 1;
  }
  return processors_counted;
}

/// Whether this process may run on at least `for_each` processors for each of the run's processes on this host.
inline bool has_processors(std::uint32_t for_each) {
  return usable_processors() >= for_each * self.processes_on_host;
}

/// Binds this process's threads, also those to come, to one of the processors that it may use: the one with this place
/// among them, counted round. Where the system does not allow it, nothing changes.
inline void bind_to_processor(std::uint32_t place) {
  const std::uint32_t usable = usable_processors();
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  std::uint32_t before = place % usable;
  for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &set) || before-- > 0) continue;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
    return;
  }
}

}  // namespace sdsm::dsm
