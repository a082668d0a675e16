/// Teams of virtual threads: fork, barriers and join.
#pragma once

#include "native/tracer/threads.hpp"

namespace sdsm::tracer {

/// What a thread other than the initial one does for the whole run: its part in one team after the other.
[[noreturn]] void work_in_teams(VirtualThread& self) REQUIRES(turn);

/// Ends the caller's interval with `event`, whose value is the team's size, and waits for the team.
void wait_for_team(const trace::Event& event) REQUIRES(turn);

/// The same for a gang: event.team.
void wait_for_gang(const trace::Event& event) REQUIRES(turn);

/// Size of the current team.
std::uint32_t current_team_size() REQUIRES(turn);

}  // namespace sdsm::tracer
