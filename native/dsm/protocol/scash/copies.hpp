/// SCASH on this process's pages: faults (page_faults.cpp) and flushes (flushes.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/page_sharing.hpp"
#include "models/scash/page_state.hpp"
#include "native/dsm/memory/node.hpp"
#include "native/dsm/protocol/protocol.hpp"

namespace sdsm::dsm {

/// Finds the right to the page, and opens it. Returns the fault's kind; none where the page was only to be opened
/// again.
std::optional<FaultKind> find_right(const Place& place, Access access, const At& at) REQUIRES(application)
    EXCLUDES(node().mutex);

/// A lock that this process has just got, and how often it was granted before.
struct Grant {
  LockId lock{};
  std::uint64_t number = 0;
};

/// Sends the diffs of this process's changed pages home, as the rule of `sync` says, and returns when they are applied.
/// `granted`: the lock that this flush belongs to, for the log.
void flush(Sync sync, const Grant* granted = nullptr) REQUIRES(application) EXCLUDES(node().mutex);
/// Flushes some pages; the diffs count at the next flush.
void flush_early(const AddressRange& pages) REQUIRES(application, node().mutex);
/// Drops copies as the rule of `sync` says. Precondition: everything is flushed.
void drop(Sync sync) REQUIRES(application) EXCLUDES(node().mutex);

/// Drops the node's copies in mid-interval, behind what was changed in them.
void drop_copies() REQUIRES(application, node().mutex);
/// Drops the copies of others' stacks, behind what was changed in them, but for those at `kept`.
void drop_stack_copies(std::span<const std::uintptr_t> kept = {}) REQUIRES(application, node().mutex);

/// Whether a page is on its way to the node.
bool is_arriving(std::uintptr_t address) REQUIRES(node().mutex);

/// Whether this thread stops at its next touch of memory, as it has met others.
inline constinit MetOthers met GUARDED_BY(application);

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
