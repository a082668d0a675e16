/// Plays a thread's faults: its own processor's time, the messages, the home's service.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/ids.hpp"
#include "models/scash/page_state.hpp"
#include "models/units.hpp"
#include "sim/page_rights.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

class PageFaults {
 public:
  PageFaults(Cluster& cluster, Thread& thread) : cluster_(cluster), thread_(thread) {}

  /// The thread takes a fault of this kind on each of `pages` adjacent pages of one home. Blocks its actor while a page
  /// is fetched. `beside`: pages that come with a fetched one.
  void take(PageId first, FaultKind kind, std::uint64_t pages, ProcessId home, std::span<const PageId> beside = {});

  /// The same for one page, which companions find once it is installed. Precondition for a fetch:
  /// Cluster::begin_arrival(), for each of its pages.
  void take_and_show(PageId page, FaultKind kind, ProcessId home, std::span<const PageId> beside);

  /// The thread writes pages that are at home on its node, whether they trap or not.
  void give_memory(PageId first, std::uint64_t pages);

  /// A fault of that kind of the protocol's fetches its page. `served`: called at the home when it has served it.
  /// `logged`: what a log adds to a process's time for the fault, and for each message that it sends.
  void fetch(PageId page, std::size_t kind, ProcessId home, std::function<void()> served = {}, Time logged = {},
             std::uint64_t beside = 0);
  /// What the home said of flag mode when it served the latest fetch.
  const PageRights::Granted& granted() const { return fetch_.granted; }

 private:
  /// What the system takes to give memory to those of `pages` from `first` on, or their twins, that the node writes for
  /// the first time.
  Time memory_of_twins(const FaultRule& rule, PageId first, std::uint64_t pages);
  template <typename GetsMemory>
  Time memory_of(PageId first, std::uint64_t pages, GetsMemory gets_memory);

  struct Payloads {
    Bytes request, reply;
  };
  /// Of a fetch that brings `beside` further pages.
  Payloads payloads(std::uint64_t beside) const;
  void issue_fetch();
  /// Processor time of the home, which goes by what its thread does now.
  Time time_at_home() const;
  void reply(bool travels);
  /// The home has given `page` away: the current fetch's, or one that comes beside it.
  void note_served(PageId page);

  Cluster& cluster_;
  Thread& thread_;

  /// The current fetch.
  struct Fetch {
    PageId page;
    std::size_t kind = 0;
    ProcessId home{};
    Time at_home{};          ///< processor time of the home, if its thread computes
    Time at_waiting_home{};  ///< if not
    Time logged{};
    Time memory{};  ///< what first copies and twins take
    Time since{};
    Payloads payloads;
    std::function<void()> served;
    std::uint64_t beside = 0;
    PageRights::Granted granted{};
  };
  Fetch fetch_;
};

}  // namespace sdsm::sim
