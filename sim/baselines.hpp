/// What a prediction would be without queues: each action at its uncontended cost. What simulating adds is the rest.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/costs.hpp"
#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Topology;

/// Of a measured region.
struct Baselines {
  /// The greatest of any thread: its computing, and its faults, diffs, barriers, locks and atomic operations, each at
  /// its cost. Nobody ever waits for another thread.
  Time counts{};
  /// The longest chain of the same through the barriers, where threads wait for the last one. Locks, flags, links and
  /// homes are always free.
  Time critical_path{};
};

/// A thread's time in both baselines.
struct Uncontended {
  Time alone{};
  Time path{};

  void spend(Time duration) {
    alone += duration;
    path += duration;
  }
};

/// How long messages take on links that nobody else uses.
class IdleNetwork {
 public:
  IdleNetwork(const Topology& topology, WireModel model, const CostModel& costs)
      : topology_(topology), model_(model), costs_(costs) {}

  /// Zero within a node. Throws std::invalid_argument if there is no route.
  Time time(NodeId from, NodeId to, Bytes payload);
  /// A message and its answer.
  Time both_ways(NodeId from, NodeId to, Bytes payload) { return time(from, to, payload) + time(to, from, payload); }

 private:
  const Topology& topology_;
  WireModel model_;
  const CostModel& costs_;
  std::unordered_map<std::uint64_t, Time> known_;  ///< by nodes and payload
};

/// The threads' times at the bounds of the measured region.
class BaselineWindow {
 public:
  void begin(std::vector<Uncontended> threads) { begin_ = std::move(threads); }
  void end(std::vector<Uncontended> threads) { end_ = std::move(threads); }

  /// `last`: the threads' times when all have ended, for a region that nothing else ends. Where the initial thread's
  /// clock ends it, the critical path is that to this thread.
  Baselines between(const std::vector<Uncontended>& last) const;

 private:
  std::vector<Uncontended> begin_, end_;
};

}  // namespace sdsm::sim
