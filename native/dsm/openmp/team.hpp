/// Parallel regions: a team starts from what the initial thread wrote on an administrative page.
#pragma once

#include <cstdint>

#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// Runs the part of every process but the initial one in one team after the other, for the whole run.
[[noreturn]] void work_in_teams() REQUIRES(application);

/// The barrier of a team of so many threads.
void wait_for_team(std::uint32_t team_size) REQUIRES(application);

}  // namespace sdsm::dsm
