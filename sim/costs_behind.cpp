#include "sim/costs_behind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "models/protocol/tables.hpp"

namespace sdsm::sim {
namespace {

constexpr double notable_share = 0.1, shown_share = 0.01;

Time of_all_threads(Spent term, const Result& result) {
  Time sum{};
  for (const ThreadResult& thread : result.threads) sum += thread.region.time[static_cast<std::size_t>(term)];
  return sum;
}

Time shortest(Spent term, const Result& result) {
  Time least = Time::max();
  for (const ThreadResult& thread : result.threads)
    least = std::min(least, thread.region.time[static_cast<std::size_t>(term)]);
  return least;
}

/// Names of barriers or locks by layout, or by number of threads: that of this one, or else all.
std::vector<std::string> synchronisations(const std::string& form, const std::string& here, const Platform& platform) {
  std::vector<std::string> all;
  for (const std::string& id : platform.properties) {
    const char next = id.size() > form.size() && id.starts_with(form) ? id[form.size()] : '\0';
    const bool is_member = next >= '0' && next <= '9' && id.find('.', form.size()) == std::string::npos;
    if (id == here) return {id};
    if (is_member) all.push_back(id);
  }
  return all;
}

}  // namespace

std::vector<std::string> costs_behind(Spent term, const Platform& platform, ProtocolKind protocol, Layout layout) {
  const Tables& tables = tables_of(protocol);
  const std::string prefix = prefix_of(protocol);
  if (is_fault(term)) {
    if (fault_number(term) >= tables.faults.size()) return {};
    return {fmt::format("{}fault.{}", prefix, tables.faults[fault_number(term)].name)};
  }
  const auto given = [&](std::vector<std::string> names) {
    std::erase_if(names, [&](const std::string& name) {
      return std::ranges::find(platform.properties, name) == platform.properties.end();
    });
    return names;
  };
  const std::vector<std::string> messages = given({prefix + "message.fixed", prefix + "message.per-byte"});
  // Where a protocol has no costs of barriers and locks, they are messages.
  const bool are_messages = base_of(protocol) != default_protocol && tables.has_messages();
  const auto of = [&](const std::string& name) {
    if (are_messages) return messages;
    const std::string here = tables.has_messages() ? fmt::format("{}x{}", layout.nodes, layout.threads_per_node)
                                                   : std::to_string(layout.processes());
    return synchronisations(prefix + name + '.', fmt::format("{}{}.{}", prefix, name, here), platform);
  };
  switch (term) {
    case Spent::diff: {
      std::vector<std::string> all = messages;
      std::ranges::copy(given({prefix + "diff"}), std::back_inserter(all));
      return all;
    }
    case Spent::protect: return given({prefix + "protect", prefix + "invalidate"});
    case Spent::barrier: return of("barrier");
    case Spent::lock: return of("lock");
    default: return {};
  }
}

std::vector<std::string> costs_behind_atomics(const Platform& platform, ProtocolKind protocol) {
  const std::string prefix = prefix_of(protocol);
  if (base_of(protocol) != default_protocol) return {prefix + "atomic"};
  // A fault on an own page stands in for what was not measured (CostModel::atomic_own).
  const bool is_measured = std::ranges::find(platform.properties, "atomic.own") != platform.properties.end();
  return {is_measured ? "atomic.own" : "fault.WROH", "message.fixed", "message.per-byte"};
}

double share_of(Spent term, const Result& result) {
  const auto threads = static_cast<double>(result.threads.size());
  return result.makespan > Time{} ? to_seconds(of_all_threads(term, result)) / (threads * to_seconds(result.makespan))
                                  : 0;
}

std::vector<Assumed> assumed_costs(const Platform& platform, ProtocolKind protocol, Layout layout,
                                   const Result& result) {
  std::vector<Assumed> found;
  double all = 0;
  std::uint64_t locks = 0, atomics = 0;
  for (const ThreadResult& thread : result.threads) {
    locks += thread.region.locks;
    atomics += thread.region.atomics;
  }
  for (std::size_t i = 0; i < spent_terms && !platform.assumed.empty(); ++i) {
    const auto term = static_cast<Spent>(i);
    std::vector<std::string> costs = costs_behind(term, platform, protocol, layout);
    if (term == Spent::lock && atomics > 0) {
      if (locks == 0) costs.clear();
      std::ranges::copy(costs_behind_atomics(platform, protocol), std::back_inserter(costs));
    }
    std::erase_if(costs, [&](const std::string& cost) { return !platform.assumes(cost); });
    const double share = term == Spent::barrier ? to_seconds(shortest(term, result)) / to_seconds(result.makespan)
                                                : share_of(term, result);
    if (costs.empty() || !(share > 0)) continue;
    all += share;
    const auto same = std::ranges::find(found, costs, &Assumed::costs);
    if (same == found.end()) {
      found.push_back({std::move(costs), share});
    } else {
      same->share += share;
    }
  }
  if (all < notable_share) return {};
  std::erase_if(found, [](const Assumed& one) { return one.share < shown_share; });
  std::ranges::stable_sort(found, std::ranges::greater{}, &Assumed::share);
  return found;
}

}  // namespace sdsm::sim
