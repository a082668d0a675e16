#include "native/launch/run/cluster_process.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

namespace sdsm::run_command {

commands::Child start_process(const ProgramStart& start, int input, int control, const InheritedFiles& files) {
  return commands::execute({.file = start.file,
                            .arguments = start.arguments,
                            .environment = start.environment.entries(),
                            .files = {{input, 0},
                                      {control, control_descriptor},
                                      {files.node_memory, memory_descriptor},
                                      {files.wires, wires_descriptor},
                                      {files.schedule, schedule_descriptor},
                                      {files.files, files_descriptor}},
                            .addresses = commands::Execution::Addresses::fixed});
}

namespace {

/// Empty where the system does not list them.
std::set<pid_t> children() {
  std::set<pid_t> found;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) found.insert(child);
  }
  return found;
}

}  // namespace

Descendants::Descendants() : others_(children()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void Descendants::kill_all() const {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500)) {
    bool is_any_left = false;
    // A killed one's own children come up in the next round.
    for (const pid_t child : children()) {
      if (others_.contains(child)) continue;
      is_any_left = true;
      kill(child, SIGKILL);
      waitpid(child, nullptr, WNOHANG);
    }
    if (!is_any_left) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace sdsm::run_command
