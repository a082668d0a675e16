#pragma once

namespace sdsm::trace_command {

/// From now on SIGINT, SIGTERM and SIGHUP do not kill the process: they interrupt what it waits for.
void catch_interruptions();

/// Throws RunError if one of them has come.
void throw_if_interrupted();

}  // namespace sdsm::trace_command
