/// What a SCASH process does at its synchronisations.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "models/ids.hpp"
#include "models/protocol/course.hpp"
#include "models/scash/messages.hpp"

namespace sdsm {

namespace courses {
using Step = protocol::Step<MessageKind>;
using enum protocol::Action;

/// Taking a lock, waiting for a flag, an atomic operation that orders memory.
inline constexpr std::array acquire{Step{flush}, Step{ask, MessageKind::lock_request, MessageKind::lock_grant},
                                    Step{begin_interval}};
/// Giving a lock back, counting up a flag.
inline constexpr std::array release{Step{flush}, Step{send, MessageKind::lock_release}};
/// [WR-env]'s phases 1 to 5.
inline constexpr Step meet{ask, MessageKind::barrier_arrive, MessageKind::barrier_release};
inline constexpr std::array barrier{meet, Step{flush}, meet, Step{begin_interval}, meet};
}  // namespace courses

inline constexpr ProcessId barrier_master{0};
inline constexpr auto barrier_synchronisations =
    static_cast<std::size_t>(std::ranges::count(courses::barrier, protocol::Action::ask, &courses::Step::action));

}  // namespace sdsm
