/// Parallel regions: how a team starts on what the initial thread left on an administrative page.
#pragma once

namespace sdsm::dsm {

/// What every process but the initial one does for the whole run: its part in one team after the other.
[[noreturn]] void work_in_teams();

}  // namespace sdsm::dsm
