#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
  explicit TeamBarrier(Cluster& cluster) : cluster_(cluster) {}

  /// The thread has arrived at a barrier of threads 0 to team - 1, of which it must be one. Calls `through` when it may
  /// go on. A worker that waits for a fork is idle until the master comes.
  void arrive(Thread& thread, std::uint32_t team, Arrival why, std::function<void()> through);

 private:
  struct Member {
    Thread* thread;
    Arrival why;
    Time arrived{};
    Time flushed{};
    std::uint64_t dirty_home_pages = 0;
    std::function<void()> through;
  };
  struct Round {
    std::vector<Member> members;
    std::array<Time, barrier_synchronisations> synchronisations{};
    std::array<Time, barrier_synchronisations> met{};  ///< when each synchronisation was over
    std::size_t meetings = 0;                          ///< so far
    std::size_t flushing = 0;                          ///< members
  };
  using RoundPtr = std::shared_ptr<Round>;

  /// Does phase number `phase` and those after it.
  void proceed(const RoundPtr& round, std::size_t phase);
  /// Both call `done` when all members are done.
  void flush(const RoundPtr& round, std::function<void()> done);
  void drop(const RoundPtr& round, std::function<void()> done);
  void leave(const RoundPtr& round);

  Cluster& cluster_;
  /// Rounds that still wait for members, by size of the team: while a small team is at its barriers, other threads may
  /// wait for the fork of a larger one.
  std::map<std::uint32_t, RoundPtr> gathering_;
};

}  // namespace sdsm::sim
