#pragma once

namespace sdsm::tracer {

/// The program has ended: sends the last events and ends tracking. A second call does nothing.
void finish();

/// After fork(), in the child: it runs on without being traced.
void become_untraced_child();

}  // namespace sdsm::tracer
