#pragma once

#include <functional>
#include <vector>

#include "models/scash/node_pages.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

/// Sends one process's diffs home, one piece after another: a process's flushes are serial.
class Flush {
 public:
  Flush(Cluster& cluster, Thread& thread) : cluster_(cluster), thread_(thread) {}

  /// Sends the diffs, charges the time to Spent::diff, then calls `done`.
  void start(std::vector<Twinned> diffs, std::function<void()> done);

 private:
  void next_piece();

  Cluster& cluster_;
  Thread& thread_;
  std::vector<Twinned> diffs_;
  std::size_t diff_ = 0;
  Bytes rest_;  ///< payload of diffs_[diff_] not yet sent
  Time since_{};
  std::function<void()> done_;
};

}  // namespace sdsm::sim
