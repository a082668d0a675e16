/// The options by which a command writes a timeline of its run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/timelines/timeline.hpp"

namespace sdsm::commands {
class CommandLine;
}

namespace sdsm::timelines {

struct Request {
  std::string file;  ///< "": none is wanted
  std::string format;
  std::string window;
  std::string threads;
  std::optional<std::uint64_t> events;
};

void add_options(commands::CommandLine& app, Request& request);

/// Returns the files that will be written; Paraver's are three.
std::vector<std::string> files_of(const Request& request);

/// Throws BadInput if an option is given without --timeline, names what `threads` threads have not, or the file's
/// ending does not say which format it has.
Selection selection_of(const Request& request, std::uint32_t threads);

/// Writes the file, and says on stderr what it cut. Call Timeline::end() before. Throws BadInput if the run has nothing
/// in the window, and what commands::write_output() throws.
void write(const Request& request, const Timeline& timeline, const Labels& labels);

}  // namespace sdsm::timelines
