/// The steps of a SCASH process at its synchronisations.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "models/locks.hpp"
#include "models/protocol/course.hpp"
#include "models/scash/messages.hpp"

namespace sdsm {

namespace courses {
using Step = protocol::Step<MessageKind>;
using enum protocol::Action;

/// Course of taking a lock, of waiting for a flag, and of an atomic operation that orders memory.
inline constexpr std::array acquire{Step{flush}, Step{ask, MessageKind::lock_request, MessageKind::lock_grant},
                                    Step{begin_interval}};
/// Course of releasing a lock, and of counting up a flag.
inline constexpr std::array release{Step{flush}, Step{send, MessageKind::lock_release}};
/// Courses of a thread that runs alone (KeptLocks): taking a lock that it does not keep yet, and giving one back.
inline constexpr std::array acquire_alone{Step{ask, MessageKind::lock_request, MessageKind::lock_grant}};
inline constexpr std::array give_back{Step{send, MessageKind::lock_release}};
/// A barrier's course: [WR-env]'s phases 1 to 5.
inline constexpr Step meet{ask, MessageKind::barrier_arrive, MessageKind::barrier_release};
inline constexpr std::array barrier{meet, Step{flush}, meet, Step{begin_interval}, meet};
}  // namespace courses

inline constexpr auto barrier_synchronisations =
    static_cast<std::size_t>(std::ranges::count(courses::barrier, protocol::Action::ask, &courses::Step::action));

}  // namespace sdsm
