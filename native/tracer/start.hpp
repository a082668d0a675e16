#pragma once

namespace sdsm::tracer {

/// The program is through: the last events, and tracking ends. Nothing happens the second time.
void finish();

/// After fork(), in the child: it runs on without being traced.
void become_untraced_child();

}  // namespace sdsm::tracer
