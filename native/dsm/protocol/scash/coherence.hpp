/// SCASH on this process's pages: faults, flushes, dropped copies. Here is what single-writer mode needs of it.
#pragma once

#include <cstdint>

#include "models/page_sharing.hpp"
#include "native/dsm/memory/node.hpp"

namespace sdsm::dsm {

/// Notes that this thread has met others by an operation of its own (models/page_sharing.hpp).
void meet_others() REQUIRES(application) EXCLUDES(node().mutex);
/// This process's part of change_single_writer_mode() (downgrades.hpp).
void join_single_writer_mode(SingleWriterMode wanted) REQUIRES(application) EXCLUDES(node().mutex);
/// The node's tables forget all copies. Precondition: all of its processes have shut them, and sent what they changed.
void drop_all_copies() REQUIRES(node().mutex);
/// Drops one copy, or the right to write it.
void downgrade_copy(PageId page, bool keeps_reading) REQUIRES(node().mutex);

/// Copies of stacks in single-writer mode; their owners have them open for good (downgrades.hpp). The first function
/// sends home what was changed in them, the second drops them, and returns whether there were any.
void send_stacks_home() REQUIRES(application) EXCLUDES(node().mutex);
bool refetch_stacks() REQUIRES(application) EXCLUDES(node().mutex);

}  // namespace sdsm::dsm
