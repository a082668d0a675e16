#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sdsm::program_start {

/// What a thread ran in teams of several threads.
struct TasksRun {
  std::uint64_t count = 0;
  std::uint64_t regions = 0;  ///< bit n: some of them in a region whose number is n modulo 64
};

/// What to say if in each region one thread ran all tasks.
std::optional<std::string> tasks_note(const std::vector<TasksRun>& threads);

}  // namespace sdsm::program_start
