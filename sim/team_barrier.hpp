#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "models/scash/courses.hpp"
#include "models/units.hpp"
#include "sim/memory.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

/// The five-phase barrier of a team: synchronise, flush, synchronise, invalidate, synchronise.
class TeamBarrier {
 public:
  explicit TeamBarrier(Cluster& cluster);

  /// The thread has arrived at a barrier of threads 0 to team - 1, which include it. Calls `through` when it may go on.
  /// A worker that waits for a fork is idle until the master comes.
  void arrive(Thread& thread, std::uint32_t team, Arrival why, std::function<void()> through);
  /// The thread has arrived at a barrier of the gang's `size` threads.
  void arrive_in_gang(Thread& thread, std::uint32_t gang, std::uint32_t size, std::function<void()> through);
  /// Whether any gang had only some of a node's threads.
  bool has_split_nodes() const { return has_split_nodes_; }

 private:
  struct Member {
    Thread* thread;
    Arrival why;
    Time arrived{};
    Time flushed{};
    Time dropped{};     ///< if that took time
    Time protecting{};  ///< time to protect the thread's pages again
    std::function<void()> through;
  };
  struct Round {
    bool is_of_gang = false;
    std::vector<Member> members;
    std::vector<ProcessId> processes;  ///< of the members
    std::array<Time, barrier_synchronisations> synchronisations{};
    std::array<Time, barrier_synchronisations> met{};  ///< when each synchronisation was over
    std::size_t meetings = 0;                          ///< synchronisations so far
    std::size_t flushing = 0;                          ///< members that still flush
    std::size_t dropping = 0;                          ///< nodes that still drop copies
  };
  using RoundPtr = std::shared_ptr<Round>;

  /// Adds a member; the last one begins the barrier.
  void gather(RoundPtr& gathering, std::uint32_t size, Member member);
  /// Returns what the barrier is on a member's node.
  GangOnNode gang_on(const Round& round, NodeId node) const;
  /// Does phase number `phase` and those after it.
  void proceed(const RoundPtr& round, std::size_t phase);
  /// Call `done` when all members are done.
  void flush(const RoundPtr& round, std::function<void()> done);
  void drop(const RoundPtr& round, std::function<void()> done);
  void drop_in_gang(const RoundPtr& round, const std::function<void()>& done);
  void leave(const RoundPtr& round);

  Cluster& cluster_;
  bool has_split_nodes_ = false;
  /// Rounds that still wait for members, by team size: while a small team is at its barriers, other threads may wait
  /// for the fork of a larger one.
  std::map<std::uint32_t, RoundPtr> gathering_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, RoundPtr> gathering_gangs_;  ///< by gang and size
};

}  // namespace sdsm::sim
