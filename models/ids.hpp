/// Ids of nodes, processes, regions and locks, each a type of its own: a node cannot be passed for a process.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace sdsm {

/// OpenMP thread t runs in process t (one process per thread, as on SCASH), so one id serves for both.
enum class ProcessId : std::uint32_t {};
/// A computer of the cluster.
enum class NodeId : std::uint32_t {};
/// A piece of shared memory that is one thing to the program: the globals, a heap block, the initial stack.
enum class RegionId : std::uint32_t {};
/// A lock object of the program or of the run-time (critical section, atomic, ordered, omp_lock_t).
enum class LockId : std::uint32_t {};

template <typename Id>
constexpr std::uint32_t index_of(Id id) {
  return static_cast<std::uint32_t>(id);
}

/// The enumerator's name in a list by number; "?" behind the list's end.
template <std::size_t count, typename Enum>
constexpr std::string_view name_in(const std::array<std::string_view, count>& names, Enum value) {
  const auto number = static_cast<std::size_t>(value);
  return number < count ? names[number] : "?";
}

/// A page's region and its place there, never an address: different runs agree on it.
struct PageId {
  RegionId region{};
  std::uint64_t index = 0;

  constexpr auto operator<=>(const PageId&) const = default;
};

/// Threads are laid out by blocks: threads 0..T-1 on node 0, T..2T-1 on node 1, and so on.
struct Layout {
  std::uint32_t nodes = 1;
  std::uint32_t threads_per_node = 1;

  constexpr std::uint32_t processes() const { return nodes * threads_per_node; }
  constexpr NodeId node_of(ProcessId process) const { return NodeId{index_of(process) / threads_per_node}; }
  constexpr auto operator<=>(const Layout&) const = default;
};

}  // namespace sdsm
