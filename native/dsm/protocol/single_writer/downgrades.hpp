/// Downgrades pages of this process that others want to use, in single-writer mode
/// (models/single_writer/page_sharing.hpp). The service thread does so, whatever the application thread waits for. It
/// puts a page off in two cases: the application thread was granted the page and has not opened it yet, or somebody
/// else uses the node's tables.
#pragma once

#include <functional>
#include <vector>

#include "native/dsm/memory/node.hpp"
#include "native/dsm/memory/single_writer_mode.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

/// The mode of all processes, as far as this one knows.
SingleWriterMode common_single_writer_mode() REQUIRES(application);
inline bool are_all_in_single_writer_mode() REQUIRES(application) {
  return common_single_writer_mode() != SingleWriterMode::off;
}
/// Whether this thread, when it meets others, has to stop at its next touch of memory
/// (models/single_writer/page_sharing.hpp).
bool is_single_writer_mode_due() REQUIRES(application);
/// Reports an event, and waits until all processes have the mode that it wants.
void change_single_writer_mode(SingleWriterEvent event) REQUIRES(application);
/// Shuts what this process has open, as it enters single-writer mode, by itself or for another process.
void shut_for_single_writer_mode() REQUIRES(handling, node().mutex);
/// Another process enters single-writer mode.
void receive_single_writer_mode(ProcessId from, const Head& head) REQUIRES(handling);
/// To be called by all processes at a barrier of all threads, after the drop.
void end_single_writer_mode() REQUIRES(application) EXCLUDES(node().mutex);
void receive_late_done() REQUIRES(handling);
/// An answer that shows this process's own stack. `take` reads the stack; the answer goes when everything that the node
/// had changed in others' stacks by then is home.
struct LateAnswer {
  Head head;
  std::vector<std::byte> content;
};
void answer_behind_stacks(ProcessId to, std::function<LateAnswer()> take) REQUIRES(handling);

/// Downgrades a page for its home, now or later.
void receive_downgrade_request(ProcessId home, const Head& head, const std::byte* payload) REQUIRES(handling);
/// Tries again the downgrades that were put off. False if there are none.
bool continue_downgrades() REQUIRES(handling);

/// Waits until the changes that the node's service threads have sent are at home. No release may be known before.
void await_late_diffs() REQUIRES(application, node().mutex);
/// Lets service threads come to the node's tables, in a thread that uses them again and again.
void give_way() REQUIRES(application) EXCLUDES(node().mutex);

/// Notes that a page that `home` granted is in use, or no longer wanted.
void confirm_grant(ProcessId home) REQUIRES(node().mutex);
/// Whether a process of the node has yet to downgrade the page, or to enter single-writer mode.
bool is_being_downgraded(std::uintptr_t page) REQUIRES(node().mutex);
/// Puts downgrades off for so long, for an instruction that needs several pages; 0: it does not need them any more.
/// Returns until when by the clock (clock.hpp); 0 if it may not now, as downgrades are due in between.
std::uint64_t keep_pages_for(std::uint64_t ns) REQUIRES(node().mutex);

}  // namespace sdsm::dsm
