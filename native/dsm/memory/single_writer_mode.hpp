/// Whether this process's pages have a single writer each (models/single_writer/page_sharing.hpp). Any thread may ask.
#pragma once

#include <atomic>

#include "models/single_writer/page_sharing.hpp"

namespace sdsm::dsm {

inline constinit std::atomic<SingleWriterMode> single_writer_mode = SingleWriterMode::off;

inline SingleWriterMode single_writer_mode_here() {
  return single_writer_mode.load(std::memory_order_acquire);
}
/// In single-writer mode faults ask for the right to their pages.
inline bool is_in_single_writer_mode() {
  return single_writer_mode_here() != SingleWriterMode::off;
}
/// Whether this process is in single-writer mode, but leaves it at the next barrier, as no thread has waited.
inline bool ends_single_writer_mode_at_barrier() {
  return single_writer_mode_here() == SingleWriterMode::until_barrier;
}

}  // namespace sdsm::dsm
