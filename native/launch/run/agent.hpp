/// An agent runs on each host of `sdsm run --hosts`. It makes the memory of the host's nodes, starts their processes,
/// reports to the launcher how these end, and ends everything when the launcher is gone.
#pragma once

namespace sdsm::run_command {

/// Reads the request from standard input; the bytes after it are the program's input. Returns the exit status: 0 if the
/// launcher said that all is well, else 1. Throws RunError if there is no valid request or the launcher cannot be
/// reached; later errors go to the launcher.
int run_agent();

}  // namespace sdsm::run_command
