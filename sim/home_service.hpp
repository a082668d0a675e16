#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Cluster;

/// Serves the requests at each home in order of arrival, one after another.
class HomeService {
 public:
  explicit HomeService(Cluster& cluster, std::uint32_t processes) : cluster_(cluster), free_at_(processes) {}

  /// Serves a request of `duration` processor time at `home`, then calls `done`. If all processors of the node compute,
  /// the home's own thread loses the time. A home that computes answers only after the interrupt delay.
  void serve(ProcessId home, Time duration, std::function<void()> done);

 private:
  Cluster& cluster_;
  std::vector<Time> free_at_;
};

}  // namespace sdsm::sim
