#include <array>

#include "models/hardware/costs.hpp"
#include "models/protocol/tables.hpp"

namespace sdsm::hardware {
namespace {

/// Rows by Cost.
constexpr std::array<CostRow, 1> further_costs{{
    {"atomic", "time of an atomic operation beside its instruction (default: a lock's hand-off)", false},
}};

/// Rows by CostByThreads.
constexpr std::array<CostRow, 2> costs_by_threads{{
    {"barrier", "EPCC overhead of a barrier of T threads (at least one, for hardware)", true},
    {"lock", "EPCC overhead of LOCK/UNLOCK of T threads (at least one, for hardware)", true},
}};

static_assert(further_costs.size() <= most_further_costs && costs_by_threads.size() <= most_costs_by_threads);

constexpr Tables table{.further_costs = further_costs, .costs_by_threads = costs_by_threads};

}  // namespace

const Tables& tables() {
  return table;
}

}  // namespace sdsm::hardware
