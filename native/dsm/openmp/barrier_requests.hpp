/// The barrier's master: process 0, which counts arrivals.
#pragma once

#include <cstdint>
#include <optional>

#include "native/dsm/process/ending.hpp"
#include "native/dsm/requests/answering.hpp"

namespace sdsm::dsm {

void arrive(ProcessId from, const Head& head = {}, const std::byte* notices = nullptr) REQUIRES(handling);
/// A thread other than the initial one ends the program. The initial thread does so at its next barrier.
void want_end(const Head& head) REQUIRES(handling);
/// Makes threads 0 to size - 1 the team from now on.
void set_team(std::uint32_t size) REQUIRES(handling);
/// Notes that threads other than the initial one have registered exit functions.
void note_exit_functions() REQUIRES(handling);
bool others_have_exit_functions() REQUIRES(handling);
/// Answers every process that waits for work, now or later, that the program has ended at `ended_ns`. Does nothing the
/// second time. Dismissal::after_exit_functions: each runs its own in its turn, and stays until let_others_leave().
void dismiss_all(std::uint64_t ended_ns, Dismissal dismissal) REQUIRES(handling);
void await_end_turn(ProcessId from) REQUIRES(handling);
void pass_end_turn(const Head& head) REQUIRES(handling);
std::optional<int> status_of_exit_functions() REQUIRES(handling);
void let_others_leave() REQUIRES(handling);
/// Whether a member of the team waits at its barrier.
bool waits_for_team(ProcessId member) REQUIRES(handling);
/// Whether all other processes have their answer, and have run their exit functions if they had to.
bool are_all_dismissed() REQUIRES(handling);

}  // namespace sdsm::dsm
