/// Predicts a run without queues, in which each action has its uncontended cost.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/costs.hpp"
#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Topology;

/// Lower bounds of a measured region's time.
struct Baselines {
  /// Largest sum over the threads: a thread's computing, faults, diffs, barriers, locks and atomic operations at their
  /// costs, without any wait for another thread. Where the initial thread's clock ends the region, the other threads'
  /// sums end with their last barrier.
  Time counts{};
  /// Longest chain of the same actions through the barriers. Locks, flags, links and homes are always free.
  Time critical_path{};
};

/// A thread's time in both baselines.
struct Uncontended {
  Time alone{};
  Time lead{};  ///< of path() over `alone`; may be negative
  Time met{};   ///< `alone` when the thread last met others

  Time path() const { return alone + lead; }
  void spend(Time duration) { alone += duration; }
  /// Meets others. `last` is the longest path among them; each spends `synchronisation`.
  void meet(Time last, Time synchronisation = {}) {
    lead = last - alone;
    spend(synchronisation);
    met = alone;
  }
  /// Receives a message that its sender sent when its path was `sent`; `way` is the message's time.
  void receive(Time sent, Time way) {
    const Time received = std::max(path(), sent + way);
    spend(way);
    lead = received - alone;
  }
};

/// Lets threads meet: all go on when the last one has come. `uncontended_of(member)` returns a member's time.
template <typename Members, typename UncontendedOf>
void meet_all(const Members& members, UncontendedOf uncontended_of, Time synchronisation = {}) {
  Time last{};
  for (const auto& member : members) last = std::max(last, uncontended_of(member).path());
  for (const auto& member : members) uncontended_of(member).meet(last, synchronisation);
}

/// Computes how long messages take on links that nobody else uses.
class IdleNetwork {
 public:
  IdleNetwork(const Topology& topology, WireModel model, const CostModel& costs)
      : topology_(topology), model_(model), costs_(costs) {}

  /// Returns zero within a node. Throws std::invalid_argument if there is no route.
  Time time(NodeId from, NodeId to, Bytes payload) {
    if (from == to) return {};
    const Bytes bytes = costs_.on_wire(payload);
    // A payload is a few pages at most, and there are at most 65536 nodes.
    const std::uint64_t key =
        (std::uint64_t{index_of(from)} << 16 | index_of(to)) << 32 | static_cast<std::uint32_t>(bytes.count);
    Recent& recent =
        recent_[key * 0x9e3779b97f4a7c15 >> 56];  // 2^64 / golden ratio, as Knuth's hashing by multiplication
    if (recent.key != key) recent = {key, look_up(key, from, to, bytes)};
    return recent.time;
  }
  /// Time of a message and its answer.
  Time both_ways(NodeId from, NodeId to, Bytes payload) { return time(from, to, payload) + time(to, from, payload); }

 private:
  Time look_up(std::uint64_t key, NodeId from, NodeId to, Bytes bytes);

  const Topology& topology_;
  WireModel model_;
  const CostModel& costs_;
  std::unordered_map<std::uint64_t, Time> known_;  ///< by nodes and payload
  struct Recent {
    std::uint64_t key = 0;  ///< 0 marks an empty entry: no message goes from node 0 to itself
    Time time{};
  };
  std::array<Recent, 256> recent_{};
};

/// Holds the threads' times at the bounds of the measured region.
class BaselineWindow {
 public:
  void begin(std::vector<Uncontended> threads) { begin_ = std::move(threads); }
  void end(std::vector<Uncontended> threads) { end_ = std::move(threads); }

  /// `last` are the threads' times at the end of the run, for a region without another end. Where the initial thread's
  /// clock ends the region, the critical path leads to this thread.
  Baselines between(const std::vector<Uncontended>& last) const;

 private:
  std::vector<Uncontended> begin_, end_;
};

}  // namespace sdsm::sim
