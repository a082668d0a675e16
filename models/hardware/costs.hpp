/// Costs of the threads of one node whose hardware shares memory: only of meeting each other.
#pragma once

#include <cstdint>

namespace sdsm::hardware {

/// A platform's costs by number of threads: EPCC's overheads.
enum class CostByThreads : std::uint8_t { barrier, lock };

/// A platform's further costs.
enum class Cost : std::uint8_t { atomic };

}  // namespace sdsm::hardware
