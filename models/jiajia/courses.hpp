/// The steps of a JIAJIA process at a lock, an unlock and a barrier.
#pragma once

#include <array>

#include "models/ids.hpp"
#include "models/jiajia/messages.hpp"
#include "models/protocol/course.hpp"

namespace sdsm::jiajia::courses {

using Step = protocol::Step<MessageKind>;
using enum protocol::Action;

inline constexpr std::array lock{Step{flush}, Step{ask, MessageKind::ACQ, MessageKind::ACQGRANT}, Step{apply},
                                 Step{begin_interval}};
inline constexpr std::array unlock{Step{flush}, Step{send, MessageKind::REL}, Step{begin_interval}};
inline constexpr std::array barrier{Step{flush}, Step{ask, MessageKind::BARR, MessageKind::BARRGRANT}, Step{apply},
                                    Step{begin_interval}};
/// [HY]'s fork by broadcast. The workers wait for it, and have changed nothing since the last barrier.
inline constexpr std::array fork_master{Step{flush}, Step{send, MessageKind::FORK}, Step{begin_interval}};
inline constexpr std::array fork_worker{Step{ask, MessageKind::FORK}, Step{apply}};

}  // namespace sdsm::jiajia::courses

namespace sdsm::jiajia {

/// The lock that a flush takes and releases. No program has a lock of so high a number.
inline constexpr LockId flush_lock{0xfffffff0U};

}  // namespace sdsm::jiajia
