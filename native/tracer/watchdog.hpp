#pragma once

namespace sdsm::tracer {

/// Starts the thread that looks whether the running virtual thread waits for another in a loop of its own (reading a
/// flag, sleeping, in a lock of the C library) and then lets that other one run.
void start_watchdog();

}  // namespace sdsm::tracer
