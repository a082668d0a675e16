/// Runs a command as a user would, and collects its output.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scratch.hpp"

namespace sdsm::test {

struct Outcome {
  int status = 0;  ///< exit status; -1 if the command was killed by a signal
  std::string output;
  std::string errors;
};

template <typename Value>
std::vector<Value> read_values(const std::filesystem::path& path) {
  const std::string bytes = read_text(path);
  std::vector<Value> values(bytes.size() / sizeof(Value));
  bytes.copy(reinterpret_cast<char*>(values.data()), values.size() * sizeof(Value));
  return values;
}

/// Runs `command` (shell words) with the variables of `environment` ("A=1 B=2") added. Threads that wait sleep, as more
/// of them than processors would hold one another up.
inline Outcome run(const std::string& environment, const std::string& command) {
  const Scratch scratch;
  const auto output = scratch / "output";
  const auto errors = scratch / "errors";
  const std::string line = "env OMP_WAIT_POLICY=passive " + environment + " " + command + " >" + output.string() +
                           " 2>" + errors.string() + " </dev/null";
  const int wait_status = std::system(line.c_str());
  const int status = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) < 128 ? WEXITSTATUS(wait_status) : -1;
  return {status, read_text(output), read_text(errors)};
}

inline bool is_one_line(const std::string& text) {
  return !text.empty() && text.find('\n') == text.size() - 1;
}

inline std::string program(const std::string& name) {
  return std::string(SDSM_BINARY_DIR) + "/workloads/" + name;
}

/// Returns the file of `--output` after a run of a program whose own check passed with these words.
template <typename Value>
std::vector<Value> result_of(const std::string& name, const std::string& options, int threads,
                             const std::string& check) {
  const Scratch scratch;
  const auto file = scratch / "result";
  const Outcome outcome =
      run("OMP_NUM_THREADS=" + std::to_string(threads), program(name) + " " + options + " --output " + file.string());
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  REQUIRE(outcome.output.find("check: " + check) != std::string::npos);
  return read_values<Value>(file);
}

/// LD_PRELOAD of one of the libraries of this folder.
inline std::string preload(const std::string& library) {
  return "LD_PRELOAD=" + std::string(SDSM_BINARY_DIR) + "/tests/" + library + ".so";
}

}  // namespace sdsm::test
