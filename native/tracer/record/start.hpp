#pragma once

#include "native/tracer/record/turn.hpp"

namespace sdsm::tracer {

/// Sends the last events and ends tracking, as the program has ended. A second call does nothing.
void finish() REQUIRES(turn);

/// To be called in the child after fork(): it runs on without being traced.
void become_untraced_child() REQUIRES(turn);

}  // namespace sdsm::tracer
