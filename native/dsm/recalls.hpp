/// Flag mode: this process gives up pages that others want to use (models/page_sharing.hpp). The service thread does
/// it, whatever the application thread waits for. A page that the application thread was granted and has not opened
/// yet, or a page that somebody else uses the node's tables for, is given up a little later.
#pragma once

#include "native/dsm/node.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// Any thread: faults ask for the right to their pages.
bool is_in_flag_mode();
/// The same, where nobody has waited: it ends at the next barrier.
bool ends_flag_mode_at_barrier();
/// Any flag mode, as far as this process knows that all are in it.
bool are_all_in_flag_mode() REQUIRES(application);
/// Whether other threads run the program too: those of a team, while it lives.
void note_company(bool has_company) REQUIRES(application);
/// Whether this thread, which meets others, has to stop at its next touch of memory (models/page_sharing.hpp).
bool is_flag_mode_due() REQUIRES(application);
/// After an event of this process's. Returns when all processes are in flag mode as that wants it.
void change_flag_mode(FlagEvent event) REQUIRES(application);
/// This thread is where the program waits for a store, and may be in time for it without waiting.
void come_to_wait() REQUIRES(application);
/// Another process says that it enters it.
void hear_of_flags(ProcessId from, const Head& head) REQUIRES(handling);
/// At a barrier of all threads, after the drop. All processes call it.
void end_flag_mode() REQUIRES(application) EXCLUDES(node().mutex);
void hear_late_done() REQUIRES(handling);

/// A home wants a page back.
void hear_recall(ProcessId home, const Head& head, const std::byte* payload) REQUIRES(handling);
/// Tries again what could not be given up. False if there is nothing to try.
bool go_on_with_recalls() REQUIRES(handling);

/// What service threads have sent of the node's changes is at home: before anybody hears of a release.
void await_late_diffs() REQUIRES(application, node().mutex);
/// A thread that uses the node's tables again and again lets service threads come to them.
void give_way() REQUIRES(application) EXCLUDES(node().mutex);

/// A page that `home` granted is in use, or no longer wanted.
void confirm_grant(ProcessId home) REQUIRES(node().mutex);
/// Whether a process of the node is still about to give up the page, or has yet to enter flag mode.
bool is_being_given_up(std::uintptr_t page) REQUIRES(node().mutex);
/// No page is given up before that time of the clock (clock.hpp): an instruction that needs several pages finds them.
void keep_pages_until(std::uint64_t ns) REQUIRES(node().mutex);

}  // namespace sdsm::dsm
