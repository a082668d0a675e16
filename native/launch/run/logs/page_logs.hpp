/// Collects the page events that the processes of a run log (native/dsm/memory/page_log.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/protocol/tables.hpp"
#include "native/dsm/wire/control.hpp"
#include "native/launch/region_name.hpp"
#include "workloads/trace/order.hpp"
#include "workloads/trace/page_figures.hpp"

namespace sdsm::run_command {

/// Adds figures up as they come, so their memory grows with the pages, not with the run. An order grows with the run.
class PageLogs {
 public:
  PageLogs(const Layout& layout, const Tables& tables, bool keeps_order)
      : layout_(layout), tables_(tables), keeps_order_(keeps_order) {
    processes_.resize(layout.processes());
  }

  /// Takes the payload of a frame: a process's next events, or process 0's regions. Throws ProtocolError.
  void take_events(std::uint32_t process, const std::string& payload);
  void take_regions(const std::string& payload);

  /// Figures of the measured region, or of the whole run if there is none, as in dsm::Result.
  trace::PageBook figures() const;
  trace::RegionNames names(const program_start::RegionNamer& namer) const;
  trace::Order order() const;

 private:
  using Pages = std::map<PageId, trace::PageFigures>;
  struct Process {
    Pages before;          ///< the clock's first reading
    Pages between;         ///< its first and its latest
    Pages since;           ///< its latest, up to the last barrier's end
    Pages behind_barrier;  ///< and from there on
    Pages at_barrier;      ///< since it came to the next one
    bool is_at_barrier = false;
    std::uint64_t clock_calls = 0;                                   ///< dsm::with_rank()
    std::vector<std::pair<std::uint64_t, trace::OrderEvent>> order;  ///< with their turns, which ascend
  };

  void take(std::uint32_t process, const dsm::PageEvent& event);

  Layout layout_;
  Tables tables_;  ///< of the run's protocol
  bool keeps_order_;
  std::vector<Process> processes_;
  std::vector<dsm::RegionOrigin> origins_;
};

}  // namespace sdsm::run_command
