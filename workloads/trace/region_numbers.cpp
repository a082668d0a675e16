#include "workloads/trace/region_numbers.hpp"

#include <fmt/format.h>

#include <set>

namespace sdsm::trace {

std::vector<std::uint32_t> running_regions(const std::vector<Region>& regions, std::uint32_t processes) {
  std::vector<std::uint32_t> numbers;
  std::uint32_t made = 0;
  bool is_first = true;
  std::set<std::uint32_t> with_stack;
  for (const Region& region : regions) {
    switch (region.kind) {
      case RegionKind::globals:  // the program's own globals come first
        numbers.push_back(is_first ? globals_region : first_made_region(processes) + made++);
        is_first = false;
        break;
      case RegionKind::initial_stack:
        numbers.push_back(stack_region(0));
        with_stack.insert(0);
        break;
      case RegionKind::thread_stack: {
        const bool is_stack = with_stack.insert(region.owner).second;
        numbers.push_back(is_stack ? stack_region(region.owner) : control_region(region.owner));
        break;
      }
      default: numbers.push_back(first_made_region(processes) + made++);
    }
  }
  return numbers;
}

std::string fixed_region_name(std::uint32_t number) {
  if (number == globals_region) return "globals";
  if (number == administrative_region) return "administrative pages";
  if (number == stack_region(0)) return "initial stack";
  const std::uint32_t process = (number - 3) / 2;
  return number == stack_region(process) ? fmt::format("stack of thread {}", process)
                                         : fmt::format("thread-local variables of thread {}", process);
}

}  // namespace sdsm::trace
