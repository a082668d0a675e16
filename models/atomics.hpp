/// Where the program's inline atomic operations on shared memory are done. Each node has its own copy of a page: an
/// operation that is atomic on one copy is a plain write for the other nodes. So by default the page's home does it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sdsm {

/// How operations are done. A fence alone (`omp flush`) orders memory whatever operations do.
enum class Atomics : std::uint32_t {
  home,     ///< at the page's home; operations that order memory flush before it and drop copies after it
  lock,     ///< on the page as the program would, between a lock's acquire and release, as Omni has it
  relaxed,  ///< as home, but other memory is not ordered
  refuse,   ///< programs that have any are not started
};

/// Names, as on the command line and in results.
inline constexpr std::array<std::string_view, 4> atomics_names{"home", "lock", "relaxed", "refuse"};
constexpr std::string_view name_of(Atomics atomics) {
  return atomics_names[static_cast<std::size_t>(atomics)];
}

/// Precondition: `name` is one of atomics_names.
constexpr Atomics atomics_named(std::string_view name) {
  return static_cast<Atomics>(std::ranges::find(atomics_names, name) - atomics_names.begin());
}

}  // namespace sdsm
