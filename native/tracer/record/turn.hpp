#pragma once

#include "native/guest/runtime/thread_safety.hpp"

namespace sdsm::tracer {

/// The turn, which one virtual thread has at a time (threads.hpp). The initial thread has it first.
inline constinit program::Role turn{"the virtual thread that runs"};

}  // namespace sdsm::tracer
