/// Teams of virtual threads: fork, barriers and join.
#pragma once

#include "native/tracer/execution/threads.hpp"

namespace sdsm::tracer {

/// Runs the part of a thread other than the initial one in one team after the other, for the whole run.
[[noreturn]] void work_in_teams(VirtualThread& self) REQUIRES(turn);

/// Whether a thread other than the initial one is a member of the team that has not run yet, or waits at its end.
bool has_yet_to_begin(const VirtualThread& member) REQUIRES(turn);
bool has_done_its_part(const VirtualThread& member) REQUIRES(turn);
/// Event: team_begin.
void begin_part(VirtualThread& member) REQUIRES(turn);

/// Ends the caller's interval with `event`, whose value is the team's size, and waits for the team.
void wait_for_team(const Event& event) REQUIRES(turn);

/// Ends the caller's interval with `event`, and waits for its gang: event.team.
void wait_for_gang(const Event& event) REQUIRES(turn);

/// Size of the current team.
std::uint32_t current_team_size() REQUIRES(turn);

}  // namespace sdsm::tracer
