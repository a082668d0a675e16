#include "native/launch/tasks_note.hpp"

#include <fmt/format.h>

namespace sdsm::program_start {

std::optional<std::string> tasks_note(const std::vector<TasksRun>& threads) {
  TasksRun all;
  for (const TasksRun& thread : threads) {
    if ((all.regions & thread.regions) != 0) return std::nullopt;
    all.regions |= thread.regions;
    all.count += thread.count;
  }
  if (all.count < 2) return std::nullopt;
  return fmt::format(
      "note: one thread of each region ran all of its tasks, {} in all: a task runs on the thread that meets it, so "
      "those of one `single` or `master` share no work. Let each thread make some, or share a loop out",
      all.count);
}

}  // namespace sdsm::program_start
