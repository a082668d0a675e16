#pragma once

#include "native/tracer/turn.hpp"

namespace sdsm::tracer {

/// The program has ended: sends the last events and ends tracking. A second call does nothing.
void finish() REQUIRES(turn);

/// After fork(), in the child: it runs on without being traced.
void become_untraced_child() REQUIRES(turn);

}  // namespace sdsm::tracer
