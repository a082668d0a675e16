#pragma once

namespace sdsm::commands {

/// From now on SIGINT, SIGTERM and SIGHUP do not kill the process: they interrupt what it waits for. One that is
/// ignored, as under nohup, stays ignored.
void catch_interruptions();

/// The signal that has come, or 0.
int interruption();

/// Throws RunError with this text if one of them has come.
void throw_if_interrupted(const char* text);

}  // namespace sdsm::commands
