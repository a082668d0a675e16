/// The order in which the processes of each node acted on their shared state in a run. It decides which of them fetched
/// a page, and what a lock's new owner found dirty. `sdsm run --order` writes it, `sdsm simulate --order` repeats it.
///
/// The text format:
///
///   sdsm-order 1 NODES THREADS_PER_NODE
///   node 0
///   PROCESS read REGION PAGE       a fault (regions are numbered as region_numbers.hpp says)
///   PROCESS write REGION PAGE
///   PROCESS barrier                comes to a barrier, or waits for the next parallel region
///   PROCESS ask                    flushes before it asks for a lock
///   PROCESS take LOCK GRANT        has got the lock, its GRANT-th since the begin of the program (from 0); flushes
///   PROCESS drop                   flushes what is left, and drops the node's copies
///   PROCESS give                   flushes before it gives a lock back
///   node 1
///   ...
///   end
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "models/ids.hpp"

namespace sdsm::trace {

enum class OrderKind : std::uint8_t { read, write, barrier, ask, take, drop, give };
inline constexpr std::size_t order_kinds = 7;

std::string_view name_of(OrderKind kind);

struct OrderEvent {
  ProcessId process{};
  OrderKind kind{};
  std::uint32_t object = 0;  ///< region, or lock
  std::uint64_t value = 0;   ///< page of the region, or grant of the lock

  bool operator==(const OrderEvent&) const = default;
};

struct Order {
  Layout layout;
  std::vector<std::vector<OrderEvent>> nodes;

  bool operator==(const Order&) const = default;
};

/// Bounds the memory of an order (1.6 GB), whatever a file says.
inline constexpr std::uint64_t most_order_events = std::uint64_t{1} << 26;

std::string order_text(const Order& order);

/// Throws std::invalid_argument with the line if the file is no such text, or std::system_error.
Order read_order(const std::filesystem::path& path);

}  // namespace sdsm::trace
