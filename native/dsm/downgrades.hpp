/// Flag mode: this process gives up pages that others want to use (models/page_sharing.hpp). The service thread gives
/// them up, so it does not matter what the application thread waits for. It puts a page off in two cases: the
/// application thread was granted the page and has not opened it yet, or somebody else uses the node's tables.
#pragma once

#include <functional>
#include <vector>

#include "native/dsm/node.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// Of this process; any thread may ask. In flag mode faults ask for the right to their pages.
SingleWriterMode single_writer_mode_here();
inline bool is_in_single_writer_mode() {
  return single_writer_mode_here() != SingleWriterMode::off;
}
/// Whether this process is in flag mode, but leaves it at the next barrier, as no thread has waited.
inline bool ends_single_writer_mode_at_barrier() {
  return single_writer_mode_here() == SingleWriterMode::until_barrier;
}
/// In which all processes are, as far as this one knows.
SingleWriterMode common_single_writer_mode() REQUIRES(application);
inline bool are_all_in_single_writer_mode() REQUIRES(application) {
  return common_single_writer_mode() != SingleWriterMode::off;
}
/// Other threads run the program too, as a team of several does, or no longer do.
void note_peers(bool has_peers) REQUIRES(application);
/// Whether this thread, which meets others, has to stop at its next touch of memory (models/page_sharing.hpp).
bool is_single_writer_mode_due() REQUIRES(application);
/// This process reports an event, and waits until all processes have the flag mode that the event wants.
void change_single_writer_mode(SingleWriterEvent event) REQUIRES(application);
/// This thread comes to a loop in which the program waits for a store. The store may be there already.
void come_to_wait() REQUIRES(application);
/// This process enters flag mode, by itself or for another one: what it has open is shut.
void shut_for_single_writer_mode() REQUIRES(handling, node().mutex);
/// Another process enters flag mode.
void receive_single_writer_mode(ProcessId from, const Head& head) REQUIRES(handling);
/// At a barrier of all threads, after the drop. All processes call it.
void end_single_writer_mode() REQUIRES(application) EXCLUDES(node().mutex);
void receive_late_done() REQUIRES(handling);
/// What another process sees of this one's own stack: `take` looks at it, and the answer goes when all is home that the
/// node had changed in others' stacks by then.
struct LateAnswer {
  Head head;
  std::vector<std::byte> content;
};
void answer_behind_stacks(ProcessId to, std::function<LateAnswer()> take) REQUIRES(handling);

/// A home wants a page back.
void receive_downgrade_request(ProcessId home, const Head& head, const std::byte* payload) REQUIRES(handling);
/// Tries again what could not be given up. False if there is nothing to try.
bool continue_downgrades() REQUIRES(handling);

/// Waits until the changes that the node's service threads have sent are at home. A release must not be heard before.
void await_late_diffs() REQUIRES(application, node().mutex);
/// A thread that uses the node's tables again and again lets service threads come to them.
void give_way() REQUIRES(application) EXCLUDES(node().mutex);

/// A page that `home` granted is in use, or no longer wanted.
void confirm_grant(ProcessId home) REQUIRES(node().mutex);
/// Whether a process of the node is still about to give up the page, or has yet to enter flag mode.
bool is_being_downgraded(std::uintptr_t page) REQUIRES(node().mutex);
/// No page is given up before that time of the clock (clock.hpp): an instruction that needs several pages finds them.
void keep_pages_until(std::uint64_t ns) REQUIRES(node().mutex);

}  // namespace sdsm::dsm
