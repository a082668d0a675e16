/// Request handlers, one file (*_requests.cpp) each: the barrier's master counts arrivals, each lock has a manager,
/// each page a home, and process 0 keeps the books of regions, heap and constructs. A handler gets one request at a
/// time, from the service thread or from this process's own application thread, and answers by answer(), now or later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "native/dsm/answering.hpp"

namespace sdsm::dsm {

/// Hands a request to its handler. `payload` has head.bytes bytes.
void handle(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

// The barrier's master.

void arrive(ProcessId from, const Head& head = {}, const std::byte* notices = nullptr) REQUIRES(handling);
/// Keeps notices of what processes wrote. All members of the team receive them at its barrier (write_notices.hpp).
void gather_notices(const Head& head, const std::byte* notices) REQUIRES(handling);
void tell_more_notices(ProcessId from, const Head& head) REQUIRES(handling);
/// A thread other than the initial one ends the program. The initial thread does so at its next barrier.
void want_end(const Head& head) REQUIRES(handling);
/// Makes threads 0 to size - 1 the team from now on.
void set_team(std::uint32_t size) REQUIRES(handling);
/// Notes that threads other than the initial one have registered exit functions.
void note_exit_functions() REQUIRES(handling);
bool others_have_exit_functions() REQUIRES(handling);
/// Answers every process that waits for work, now or later, that the program has ended at `ended_ns`. Does nothing the
/// second time. Dismissal::after_exit_functions: each runs its own in its turn, and stays until let_others_leave().
enum class Dismissal : bool { at_once, after_exit_functions };
void dismiss_all(std::uint64_t ended_ns, Dismissal dismissal) REQUIRES(handling);
void await_end_turn(ProcessId from) REQUIRES(handling);
void pass_end_turn(const Head& head) REQUIRES(handling);
std::optional<int> status_of_exit_functions() REQUIRES(handling);
void let_others_leave() REQUIRES(handling);
/// Whether a member of the team waits at its barrier.
bool waits_for_team(ProcessId member) REQUIRES(handling);
/// Whether all other processes have their answer, and have run their exit functions if they had to.
bool are_all_dismissed() REQUIRES(handling);

// A gang's first member is the master of its barrier. It ends the run where members could wait for each other for ever:
// one comes to a barrier of a gang that another has left, or that another has divided differently.

void arrive_in_gang(ProcessId from, const Head& head) REQUIRES(handling);
void note_division(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
/// Checks that all agree, when `from` comes to a barrier of this gang, or of the team.
void check_divisions(ProcessId from, std::uint64_t whole) REQUIRES(handling);
void leave_gang(const Head& head) REQUIRES(handling);

// Managers of locks. Locks of ordered regions go in the order of the loops' iterations.

void request_lock(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
void try_lock(ProcessId from, const Head& head) REQUIRES(handling);
void give_lock_back(const Head& head) REQUIRES(handling);
void serve_object(ProcessId from, const Head& head) REQUIRES(handling);
void pass_turn(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

// Flags of doacross loops.

void post_flag(const Head& head) REQUIRES(handling);
void await_flag(ProcessId from, const Head& head) REQUIRES(handling);
/// Forgets the flags of the constructs before `construct`, which all processes have left.
void forget_flags_before(std::uint64_t construct) REQUIRES(handling);

// Write notices under JIAJIA (scopes.hpp), at managers of locks, flags and barriers.

bool has_notices_in_front(WireKind kind);
/// Takes the notices from the front of a question's payload, and returns what is behind them.
const std::byte* take_notices(ProcessId from, Head& head, const std::byte* payload) REQUIRES(handling);
void gather_scope_notices(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
void tell_more_of_scope(ProcessId from, const Head& head) REQUIRES(handling);
/// Answers a lock_grant, with the notices that its object has for the process.
void answer_grant(ProcessId to, const Head& head) REQUIRES(handling);
/// Answers each member of a team of that size, which has come to its barrier, with the notices for it.
void answer_team(std::uint32_t size, const Head& head) REQUIRES(handling);

// The home of a page.

/// `held`: copies that `from` has of this process's stack.
void send_page(ProcessId from, const Head& head, bool is_changed, const std::vector<HeldCopy>& held = {})
    REQUIRES(handling);
/// Sends the page, and those that `names` asks for beside it.
void send_pages(ProcessId from, const Head& head, const std::byte* names) REQUIRES(handling);
void receive_page(ProcessId from, const Head& head, const std::byte* page) REQUIRES(handling);
void receive_diff(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
void operate_for(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

// The home of a page in single-writer mode: who may use the page (models/page_sharing.hpp).

/// Answers as soon as the process has the right that it wants.
void want_page(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
/// Changes a page of this process as soon as no other node has it.
void change_alone(std::uint64_t page, std::function<void()> change) REQUIRES(handling);
/// Whether the process's node alone has the page.
bool may_change_now(ProcessId from, std::uint64_t page) REQUIRES(handling);
/// Does an atomic operation as soon as the nodes from which it takes the page (models/page_sharing.hpp) have lost it.
/// `is_single_writer`: the process that asks for it is in single-writer mode.
void operate_when_taken(ProcessId by, std::uint64_t page, bool is_single_writer, std::function<void()> operate)
    REQUIRES(handling);
/// Whether this process's thread may do an atomic operation at once. If so, later touches of the page notice it.
bool may_operate_now(std::uint64_t page, bool is_single_writer) REQUIRES(handling);
/// Notes that a diff changes the page. In single-writer mode its next reader may know what else the sender stored.
void note_changed(std::uint64_t page) REQUIRES(handling);
/// Notes that this process enters single-writer mode.
void note_single_writer_mode() REQUIRES(handling);
/// Whether an atomic operation, or a node in single-writer mode, has changed the page since the last barrier.
bool is_changed_by_others(std::uint64_t page) REQUIRES(handling);
/// A process has downgraded the page. It sends the content if that was changed.
void receive_downgraded(const Head& head, const std::byte* content) REQUIRES(handling);
/// To be called at a barrier at which all nodes drop their copies.
void forget_rights() REQUIRES(handling);

/// Process 0: where the page was placed. Precondition: a page that is placed by first touch was touched.
ProcessId placed_home(PageId page) REQUIRES(handling);

/// Process 0 keeps the books of regions, first touches, heap, names of locks and states of work-sharing constructs.
void keep_books(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);

}  // namespace sdsm::dsm
