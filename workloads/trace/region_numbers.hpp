/// Numbers of regions in a running program, equal in all processes. A trace numbers them in the order in which the
/// tracer met them; page figures and orders use the run's numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace {

// Region 0 does not exist.
inline constexpr std::uint32_t globals_region = 1;
inline constexpr std::uint32_t administrative_region = 2;
constexpr std::uint32_t stack_region(std::uint32_t process) {
  return 3 + 2 * process;
}
/// The region of the process's thread-local variables: in a trace the thread's second `thread_stack`.
constexpr std::uint32_t control_region(std::uint32_t process) {
  return 4 + 2 * process;
}
/// Number of the first region that the program creates; others follow in order of creation.
constexpr std::uint32_t first_made_region(std::uint32_t processes) {
  return stack_region(processes);
}

/// Returns a run's numbers of a trace's regions, in the trace's order.
std::vector<std::uint32_t> running_regions(const std::vector<Region>& regions, std::uint32_t processes);

/// Returns the name of a region that exists from the start.
std::string fixed_region_name(std::uint32_t number);

}  // namespace sdsm::trace
