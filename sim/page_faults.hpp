/// Plays a thread's page faults: its own processor's time, the messages, the home's service.
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

  /// The thread takes a fault of this kind on each of `pages` adjacent pages of one home. Blocks its actor during a
  /// fetch. `beside` are the pages that come with a fetched one.
  void take(PageId first, FaultKind kind, std::uint64_t pages, ProcessId home, std::span<const PageId> beside = {});

  /// Takes a fault on one page, which other processes of the node find once it is installed. Precondition for a fetch:
  /// Cluster::begin_arrival() for each of its pages.
  void take_and_show(PageId page, FaultKind kind, ProcessId home, std::span<const PageId> beside);

  /// Charges the memory of pages that the thread writes on their home's node, whether or not they trap.
  void give_memory(PageId first, std::uint64_t pages);

  /// Fetches the page after a fault of that kind of the protocol. The home calls `served` when it has served the fetch.
  /// `logged` is what a log adds to a process's time for the fault and for each message that it sends.
  void fetch(PageId page, std::size_t kind, ProcessId home, std::function<void()> served = {}, Time logged = {},
             std::uint64_t beside = 0);
  /// The home's answer to the latest fetch in single-writer mode.
  const PageRights::Granted& granted() const { return fetch_.granted; }

 private:
  /// Returns the system's time to allocate pages from `first` on, or their twins, at the node's first writes.
  Time memory_of_twins(const FaultRule& rule, PageId first, std::uint64_t pages);
  template <typename GetsMemory>
  Time memory_of(PageId first, std::uint64_t pages, GetsMemory gets_memory);

  struct Payloads {
    Bytes request, reply;
  };
  /// Payloads of a fetch that brings `beside` further pages.
  Payloads payloads(std::uint64_t beside) const;
  void issue_fetch();
  /// Processor time of the home, which depends on what its thread does now.
  Time time_at_home() const;
  void reply(bool travels);
  /// The home has sent `page`, of the current fetch or beside it.
  void note_served(PageId page);

  Cluster& cluster_;
  Thread& thread_;

  /// The current fetch.
  struct Fetch {
    PageId page;
    std::size_t kind = 0;
    ProcessId home{};
    Time at_home{};          ///< processor time of the home, if its thread computes
    Time at_waiting_home{};  ///< processor time of the home, if its thread waits
    Time logged{};
    Time memory{};  ///< allocation of first copies and twins
    Time since{};
    Payloads payloads;
    std::function<void()> served;
    std::uint64_t beside = 0;
    PageRights::Granted granted{};
  };
  Fetch fetch_;
};

}  // namespace sdsm::sim
