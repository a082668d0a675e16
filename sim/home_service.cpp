#include "sim/home_service.hpp"

#include <algorithm>

#include "commands/timelines/timeline.hpp"
#include "sim/cluster.hpp"

namespace sdsm::sim {

void HomeService::serve(ProcessId home, Time duration, std::function<void()> done) {
  Thread& thread = cluster_.thread(home);
  const Processors& processors = cluster_.processors[index_of(thread.node())];
  Time& free_at = free_at_[index_of(home)];
  Time start = std::max(cluster_.clock.now(), free_at);
  duration = cluster_.noise.stretched(home, start, duration);
  if (thread.computing()) {
    start += cluster_.costs.costs().interrupt_delay;
    if (processors.computing >= processors.cores) thread.steal(duration);
  }
  free_at = start + duration;
  if (cluster_.options.timeline != nullptr) {
    cluster_.options.timeline->serve(home, cluster_.clock.now(), start, free_at);
  }
  cluster_.clock.at(free_at, std::move(done));
}

}  // namespace sdsm::sim
