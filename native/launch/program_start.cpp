#include "native/launch/program_start.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "commands/descriptor.hpp"
#include "commands/errors.hpp"
#include "commands/standard_streams.hpp"
#include "commands/version.hpp"

namespace sdsm::program_start {

using namespace commands;

void Environment::set(const std::string& name, const std::string& value) {
  const std::string prefix = name + "=";
  std::erase_if(entries_, [&](const std::string& entry) { return entry.starts_with(prefix); });
  entries_.push_back(prefix + value);
}

void Environment::preload(const std::filesystem::path& runtime) {
  const std::string path = runtime.string();
  if (path.find_first_of(" :\t\n") != std::string::npos) {
    throw BadInput(
        fmt::format("{}: blanks or colons in its path keep the run-time from being loaded. Move the build "
                    "folder to a path without them.",
                    path));
  }
  const char* others = std::getenv("LD_PRELOAD");
  set("LD_PRELOAD", others && *others != '\0' ? path + ":" + others : path);
}

std::filesystem::path runtime_library(const std::string& file, const std::string& target) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const auto& candidate : {folder / file, folder.parent_path() / "lib" / file}) {
    if (!std::filesystem::exists(candidate)) continue;
    std::ifstream library(candidate, std::ios::binary);
    const std::string contents{std::istreambuf_iterator<char>(library), {}};
    const std::string mark = fmt::format("sdsm run-time of version {}.", commands::version());
    if (contents.find(mark + '\0') != std::string::npos) return candidate;
    throw RunError(fmt::format("{} is of another version than this sdsm, {}. Install all parts from one version",
                               candidate.string(), commands::version()));
  }
  throw RunError(fmt::format("{}: {} is not beside the command. Build the target {}.", folder.string(), file, target));
}

std::string output_of(const std::vector<std::string>& words, bool shows_errors) {
  Pipe pipe = make_pipe();
  const Descriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  Child child = execute({.file = words.front(),
                         .arguments = words,
                         .environment = own_environment(),
                         .files = {{nothing.get(), STDIN_FILENO},
                                   {pipe.write_end.get(), STDOUT_FILENO},
                                   {shows_errors ? STDERR_FILENO : nothing.get(), STDERR_FILENO}}});
  pipe.write_end.reset();
  std::string output = read_all(pipe.read_end.get());
  child.wait();
  return output;
}

std::string addr2line(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"addr2line"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  try {
    return output_of(words, false);
  } catch (const BadInput&) {
    return {};
  }
}

void warn_of_cancellation() {
  const char* const asked = std::getenv("OMP_CANCELLATION");
  if (asked == nullptr || strcasecmp(asked, "true") != 0) return;
  say("warning: OMP_CANCELLATION is true, but nothing is cancelled here: `omp cancel` does nothing, as without the "
      "variable");
}

}  // namespace sdsm::program_start
