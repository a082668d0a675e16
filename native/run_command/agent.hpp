/// What runs on each host of `sdsm run --hosts`: the agent makes the memory of the host's nodes and their processes,
/// tells the launcher how these end, and ends everything when the launcher is gone.
#pragma once

namespace sdsm::run_command {

/// Reads the request on standard input; what follows there is the program's. Returns the exit status: 0 if the launcher
/// said that all is well, else 1. Throws RunError if the request is none or the launcher cannot be reached; what comes
/// after that is told the launcher.
int run_agent();

}  // namespace sdsm::run_command
