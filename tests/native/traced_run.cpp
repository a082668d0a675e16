#include "tests/native/traced_run.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "tests/catch.hpp"

namespace sdsm::tests {
namespace {

std::string region_name(const trace::Region& region) {
  // A heap block's name says where it was allocated, which changes with the compiler.
  return region.name.substr(0, region.name.find(" ("));
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& command, const std::string& input) {
  const TemporaryFolder folder;
  std::ofstream(folder / "in") << input;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, (folder / "in").c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, (folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (folder / "err").c_str(), O_WRONLY | O_CREAT, 0600);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = -1;
  const int error = posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + command[0]);
  int status = 0;
  waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), test::read_text(folder / "out"),
          test::read_text(folder / "err")};
}

CommandResult run_with(const std::string& script, const std::vector<std::string>& command) {
  std::vector<std::string> words{"/bin/sh", "-c", script, "sh"};
  words.insert(words.end(), command.begin(), command.end());
  return run_command(words);
}

std::string program(const std::string& name) {
  return std::string(TRACED_PROGRAMS) + "/" + name;
}

std::vector<std::string> tracing(unsigned threads, const std::filesystem::path& output,
                                 const std::vector<std::string>& traced_program) {
  std::vector<std::string> command{std::string(SDSM_BINARY_DIR) + "/sdsm-trace",
                                   "--quiet",
                                   "-n",
                                   std::to_string(threads),
                                   "-o",
                                   output.string(),
                                   "--"};
  command.insert(command.end(), traced_program.begin(), traced_program.end());
  return command;
}

std::ostream& operator<<(std::ostream& out, const PageTouch& touch) {
  out << name_of(touch.access) << ' ' << touch.region << '[' << touch.page << ']';
  if (touch.access == Access::write) out << ' ' << touch.change.words << '/' << touch.change.runs;
  return out;
}

TraceContent read_trace(const std::filesystem::path& path) {
  const trace::File file(path);
  TraceContent content;
  content.header = file.header();
  content.regions = file.regions();
  for (std::uint32_t thread = 0; thread < file.header().threads; ++thread) {
    auto& steps = content.threads.emplace_back();
    auto cursor = file.thread(thread);
    while (const trace::Interval* interval = cursor.next()) {
      Step& step = steps.emplace_back();
      step.end = interval->end;
      for (const trace::TouchRun& run : interval->touches) {
        for (std::uint64_t page = run.first; page < run.first + run.pages; ++page) {
          step.touches.push_back({region_name(content.regions.at(index_of(run.region))), page, run.access, run.change});
        }
      }
    }
  }
  return content;
}

std::vector<Step> TraceContent::in_region(std::uint32_t thread, std::uint64_t region) const {
  std::vector<Step> steps;
  bool is_inside = false;
  for (const Step& step : threads.at(thread)) {
    const bool is_of_region = step.end.object == region;
    if (is_inside) steps.push_back(step);
    if (is_of_region && (step.end.kind == EventKind::fork || step.end.kind == EventKind::team_begin)) {
      is_inside = true;
    }
    if (is_of_region && step.end.kind == EventKind::join) is_inside = false;
  }
  return steps;
}

std::vector<EventKind> TraceContent::events(std::uint32_t thread) const {
  std::vector<EventKind> kinds;
  for (const Step& step : threads.at(thread)) kinds.push_back(step.end.kind);
  return kinds;
}

TraceContent trace_of(const std::string& name, unsigned threads, const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  std::vector<std::string> command{program(name)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const CommandResult result = run_command(tracing(threads, folder / "t.trace", command));
  INFO(result.errors);
  REQUIRE(result.status == 0);
  return read_trace(folder / "t.trace");
}

}  // namespace sdsm::tests
