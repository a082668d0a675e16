/// The master of a gang's barrier: the gang's first member. It ends the run where members could wait for each other for
/// ever: one comes to a barrier of a gang that another has left, or that another has divided differently.
#pragma once

#include <cstdint>

#include "native/dsm/requests/answering.hpp"

namespace sdsm::dsm {

void arrive_in_gang(ProcessId from, const Head& head) REQUIRES(handling);
void note_division(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
/// Checks that all agree, when `from` comes to a barrier of this gang, or of the team.
void check_divisions(ProcessId from, std::uint64_t whole) REQUIRES(handling);
void leave_gang(const Head& head) REQUIRES(handling);

}  // namespace sdsm::dsm
