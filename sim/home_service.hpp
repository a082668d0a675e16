#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Cluster;

/// Requests at each home: one after another, first come, first served.
class HomeService {
 public:
  explicit HomeService(Cluster& cluster, std::uint32_t processes) : cluster_(cluster), free_at_(processes) {}

  /// A request that costs `home` `duration` of processor time has arrived; `done` is called when it is served. On a
  /// node whose processors are all computing, the time is taken from the home's own thread; a home that computes
  /// answers only after the interrupt delay.
  void serve(ProcessId home, Time duration, std::function<void()> done);

 private:
  Cluster& cluster_;
  std::vector<Time> free_at_;
};

}  // namespace sdsm::sim
