/// SCASH's faults and flushes with single-writer pages: when this process's pages are fetched, sent home and dropped.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/single_writer/since_barrier.hpp"
#include "native/dsm/memory/node.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/protocol/scash/scash.hpp"

namespace sdsm::dsm {

/// Finds the right to the page, and opens it. Returns the fault's kind; none where the page was only to be opened
/// again.
std::optional<FaultKind> find_right(const Place& place, Access access, const At& at) REQUIRES(application)
    EXCLUDES(node().mutex);

/// Sends the diffs of this process's changed pages home, as the rule of `sync` says, and returns when they are applied.
/// `granted`: the lock that this flush belongs to, for the log.
void flush(Sync sync, const Grant* granted = nullptr) REQUIRES(application) EXCLUDES(node().mutex);
/// Drops copies as the rule of `sync` says. Precondition: everything is flushed.
void drop(Sync sync) REQUIRES(application) EXCLUDES(node().mutex);

/// Drops the node's copies in mid-interval, behind what was changed in them.
void drop_copies() REQUIRES(application, node().mutex);
/// Drops the copies of others' stacks, behind what was changed in them, but for those at `kept`.
void drop_stack_copies(std::span<const std::uintptr_t> kept = {}) REQUIRES(application, node().mutex);

/// Whether this thread stops at its next touch of memory, as it has met others.
inline constinit MetOthers met GUARDED_BY(application);

/// Notes that this thread has met others by an operation of its own (models/single_writer/page_sharing.hpp).
void meet_others() REQUIRES(application) EXCLUDES(node().mutex);
/// This process's part of change_single_writer_mode() (downgrades.hpp).
void join_single_writer_mode(SingleWriterMode wanted) REQUIRES(application) EXCLUDES(node().mutex);

/// Copies of stacks in single-writer mode; their owners have them open for good (downgrades.hpp). The first function
/// sends home what was changed in them, the second drops them, and returns whether there were any.
void send_stacks_home() REQUIRES(application) EXCLUDES(node().mutex);
bool refetch_stacks() REQUIRES(application) EXCLUDES(node().mutex);

}  // namespace sdsm::dsm
