/// What a thread's faults take: on its own processor, on the wire, at the page's home.
#pragma once

#include <cstdint>

#include "models/ids.hpp"
#include "models/page_state.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

class PageFaults {
 public:
  PageFaults(Cluster& cluster, Thread& thread) : cluster_(cluster), thread_(thread) {}

  /// The thread takes the fault on each of `pages` pages of one home. Blocks its actor while a page comes.
  void take(PageId first, FaultKind kind, std::uint64_t pages, ProcessId home);

  /// The same for one page that its companions see: they find it once it is installed. Precondition: a page that comes
  /// is being waited for (Cluster::begin_arrival).
  void take_and_show(PageId page, FaultKind kind, ProcessId home);

 private:
  void fetch(FaultKind kind, ProcessId home);
  void issue_fetch();

  Cluster& cluster_;
  Thread& thread_;

  /// The fetch under way.
  struct Fetch {
    FaultKind kind{};
    ProcessId home{};
    Time at_home{};  ///< processor time of the home
    Time since{};
  };
  Fetch fetch_;
};

}  // namespace sdsm::sim
