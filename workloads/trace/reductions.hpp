/// Finds reductions over one variable, as gcc compiles them: each member of a team does an atomic operation between its
/// last work and the join. An `omp atomic` in that place looks the same.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/trace/reader.hpp"

namespace sdsm::trace {

/// One member's part of a reduction.
struct ReductionPart {
  std::uint64_t interval = 0;  ///< number of the thread's interval that ends with the operation
  std::uint32_t team = 0;      ///< the region's threads

  bool operator==(const ReductionPart&) const = default;
};

struct Reductions {
  std::uint64_t count = 0;                        ///< reductions in which all members have a part each
  std::vector<std::vector<ReductionPart>> parts;  ///< by thread, ascending
};

/// Longest computing between a part and the join: the end of a region takes less, and work takes more.
inline constexpr std::uint64_t most_after_reduction_ns = 100'000;

/// Reads the whole trace if it has any atomic operation. Throws as a ThreadCursor does.
Reductions find_reductions(const File& file);

}  // namespace sdsm::trace
