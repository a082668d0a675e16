#pragma once

namespace sdsm::tracer {

/// Starts a thread that finds out whether the running virtual thread waits for another in a loop of its own (reading a
/// flag, sleeping, in a lock of the C library), and lets that other one run.
void start_watchdog();

}  // namespace sdsm::tracer
