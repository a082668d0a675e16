/// Write notices under JIAJIA (scopes.hpp), at managers of locks, flags and barriers.
#pragma once

#include <cstdint>

#include "native/dsm/requests/answering.hpp"

namespace sdsm::dsm {

/// Takes the notices, if it has any, from the front of a question's payload, and returns what is behind them.
const std::byte* take_notices(ProcessId from, Head& head, const std::byte* payload) REQUIRES(handling);
void gather_scope_notices(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling);
void tell_more_of_scope(ProcessId from, const Head& head) REQUIRES(handling);
/// Answers a lock_grant, with the notices that its object has for the process.
void answer_grant(ProcessId to, const Head& head) REQUIRES(handling);
/// Answers each member of a team of that size, which has come to its barrier, with the notices for it.
void answer_team(std::uint32_t size, const Head& head) REQUIRES(handling);

}  // namespace sdsm::dsm
