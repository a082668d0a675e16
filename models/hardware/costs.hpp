/// What threads of one node pay where its hardware shares memory: only for meeting each other.
#pragma once

#include <cstdint>

namespace sdsm::hardware {

/// Of a platform, by number of threads: EPCC's overheads.
enum class CostByThreads : std::uint8_t { barrier, lock };

/// Of a platform, beside.
enum class Cost : std::uint8_t { atomic };

}  // namespace sdsm::hardware
