#pragma once

#include <string>
#include <vector>

#include "commands/timelines/options.hpp"
#include "native/launch/run/cluster.hpp"

namespace sdsm::run_command {

struct RunRequest {
  std::vector<std::string> program;  ///< name and arguments
  ClusterOptions cluster;
  unsigned repeat = 1;
  std::string json;   ///< file, "-" for stdout, "" for none
  std::string pages;  ///< the same, for page figures
  std::string order;  ///< the same, for the order
  timelines::Request timeline;
  bool is_quiet = false;
  std::vector<std::string> exported;  ///< with hosts: environment variables, beside the usual ones
};

/// Runs the program as often as requested, prints a report on stderr and writes the results. Returns the command's exit
/// status: 0, or 1 (with the reason on stderr) if the program itself ended with another status than 0. It is not
/// repeated then, and nothing is written. Throws BadInput, RunError, std::invalid_argument or std::system_error.
int run_program(const RunRequest& request);

}  // namespace sdsm::run_command
