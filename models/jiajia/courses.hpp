/// What a JIAJIA process does at a lock, an unlock and a barrier.
#pragma once

#include <array>

#include "models/ids.hpp"
#include "models/jiajia/messages.hpp"
#include "models/protocol/course.hpp"

namespace sdsm::jiajia::courses {

using Step = protocol::Step<Message>;
using enum protocol::Deed;

inline constexpr std::array lock{Step{flush}, Step{ask, Message::ACQ, Message::ACQGRANT}, Step{heed}, Step{settle}};
inline constexpr std::array unlock{Step{flush}, Step{tell, Message::REL}, Step{settle}};
inline constexpr std::array barrier{Step{flush}, Step{ask, Message::BARR, Message::BARRGRANT}, Step{heed},
                                    Step{settle}};
/// [HY]'s fork by broadcast. The others changed nothing since the last barrier, and wait for it.
inline constexpr std::array fork_master{Step{flush}, Step{tell, Message::FORK}, Step{settle}};
inline constexpr std::array fork_worker{Step{ask, Message::FORK}, Step{heed}};

}  // namespace sdsm::jiajia::courses

namespace sdsm::jiajia {

/// Taken and given back by a flush. No program has a lock of so high a number.
inline constexpr LockId flush_lock{0xfffffff0U};

}  // namespace sdsm::jiajia
