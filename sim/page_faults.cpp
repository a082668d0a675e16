#include "sim/page_faults.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "models/prefetch.hpp"
#include "sim/cluster.hpp"

namespace sdsm::sim {

void PageFaults::take(PageId first, FaultKind kind, std::uint64_t pages, ProcessId home,
                      std::span<const PageId> beside) {
  cluster_.note_faults(thread_, static_cast<std::size_t>(kind), first, pages);
  const FaultRule& rule = rule_of(kind);
  if (rule.fetches_page) {
    std::function<void()> served;
    if (!beside.empty()) {
      served = [this, pages_beside = std::vector(beside.begin(), beside.end())] {
        for (const PageId one : pages_beside) note_served(one);
      };
    }
    std::uint64_t new_copies = 0;
    const auto use = [&](PageId page) { new_copies += cluster_.gets_memory(thread_.node(), page) ? 1 : 0; };
    use(first);
    for (const PageId one : beside) use(one);
    fetch_.memory = times(new_copies, cluster_.costs.costs().first_copy) + memory_of_twins(rule, first, 1);
    return fetch(first, static_cast<std::size_t>(kind), home, std::move(served), {}, beside.size());
  }
  const Time each = cluster_.costs.fault_local(kind);
  if (rule.sends_request && rule.owner == Owner::remote) {
    for (std::uint64_t i = 0; i < pages; ++i) {
      // Nobody waits for this message, but it enters the network at the time at which it is sent.
      cluster_.clock.at(thread_.local_now() + static_cast<std::int64_t>(i) * each, [this, home] {
        constexpr MessageKind message = MessageKind::write_request;
        thread_.account.count_message(cluster_.clock.now(), message, control_payload);
        cluster_.send({thread_.id(), home, static_cast<std::size_t>(message), control_payload}, [] {});
      });
    }
  }
  const Time cold = cluster_.costs.fault_cold(kind);
  thread_.spend_faults(spent_on(kind), pages, times(pages, each - cold));
  thread_.spend(spent_on(kind), memory_of_twins(rule, first, pages));
  thread_.spend_added_computing(times(pages, cold));
}

template <typename GetsMemory>
Time PageFaults::memory_of(PageId first, std::uint64_t pages, GetsMemory gets_memory) {
  const Time each = cluster_.costs.costs().first_write;
  if (each == Time{}) return {};
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < pages; ++i) count += gets_memory({first.region, first.index + i}) ? 1 : 0;
  return times(count, each);
}

void PageFaults::give_memory(PageId first, std::uint64_t pages) {
  const auto gets_memory = [this](PageId page) { return cluster_.gets_memory(thread_.node(), page); };
  thread_.spend_added_computing(memory_of(first, pages, gets_memory));
}

Time PageFaults::memory_of_twins(const FaultRule& rule, PageId first, std::uint64_t pages) {
  const auto gets_memory = [this](PageId page) { return cluster_.first_twins.use(thread_.node(), page); };
  return rule.makes_twin ? memory_of(first, pages, gets_memory) : Time{};
}

void PageFaults::take_and_show(PageId page, FaultKind kind, ProcessId home, std::span<const PageId> beside) {
  take(page, kind, 1, home, beside);
  if (!rule_of(kind).fetches_page) return;
  thread_.catch_up_and_wait();
  cluster_.end_arrival(thread_.node(), page);
  for (const PageId one : beside) cluster_.end_arrival(thread_.node(), one);
}

void PageFaults::fetch(PageId page, std::size_t kind, ProcessId home, std::function<void()> served, Time logged,
                       std::uint64_t beside) {
  const Time local = cluster_.costs.fault_local(kind) + times(beside, cluster_.costs.costs().further_page);
  const Time at_home = cluster_.costs.computing_home_part(local);
  const Time at_waiting_home = cluster_.costs.waiting_home_part(local);
  const Time at_requester = local - at_home;
  fetch_.page = page;
  fetch_.kind = kind;
  fetch_.home = home;
  fetch_.at_home = cluster_.jittered(at_home);
  fetch_.at_waiting_home = at_waiting_home;
  // Both times get the same factor.
  if (at_home > Time{}) {
    const double factor = static_cast<double>(fetch_.at_home.count()) / static_cast<double>(at_home.count());
    fetch_.at_waiting_home = from_picoseconds(static_cast<double>(at_waiting_home.count()) * factor);
  }
  fetch_.logged = logged;
  fetch_.payloads = payloads(beside);
  fetch_.served = std::move(served);
  fetch_.beside = beside;
  fetch_.granted = {};
  thread_.catch_up([this] { issue_fetch(); });
  thread_.bell.wait();
  const Time own = cluster_.jittered(at_requester) + 2 * logged;
  thread_.spend(spent_on(kind), own);
  thread_.spend(spent_on(kind), std::exchange(fetch_.memory, Time{}));
  const auto [request, reply] = fetch_.payloads;
  const NodeId home_node = cluster_.layout.node_of(home);
  // The lower bound takes the home's shorter time.
  thread_.uncontended.spend(at_requester + std::min(at_home, at_waiting_home) + 3 * logged - own +
                            cluster_.idle->time(thread_.node(), home_node, request) +
                            cluster_.idle->time(home_node, thread_.node(), reply));
}

PageFaults::Payloads PageFaults::payloads(std::uint64_t beside) const {
  const Bytes pages{static_cast<std::int64_t>(1 + beside) * cluster_.page_size.count};
  return {cluster_.tables.request_payload + bytes_of_names(beside), cluster_.tables.reply_beside_page + pages};
}

void PageFaults::issue_fetch() {
  fetch_.since = cluster_.clock.now();
  ++cluster_.remote_faults;
  thread_.account.count(fetch_.since, [kind = fetch_.kind, beside = fetch_.beside](Tally& tally) {
    ++tally.faults[kind];
    tally.prefetched += beside;
  });
  const NodeId home_node = cluster_.layout.node_of(fetch_.home);
  const bool travels = home_node != thread_.node();
  const Tables& tables = cluster_.tables;
  const Bytes request = fetch_.payloads.request;
  if (travels) thread_.account.count_message(fetch_.since, tables.request, request);
  cluster_.send({thread_.id(), fetch_.home, tables.request, request}, [this, travels] {
    cluster_.service.serve(fetch_.home, time_at_home(), [this, travels] {
      PageRights& rights = *cluster_.rights;
      if (rights.are_asked()) {
        const Access access = rule_of(static_cast<FaultKind>(fetch_.kind)).access;
        fetch_.granted = rights.grant(fetch_.page, fetch_.home, thread_.node(), access);
      }
      const Time downgrades = fetch_.granted.downgrades;
      if (downgrades == Time{}) return reply(travels);
      thread_.uncontended.spend(downgrades);
      cluster_.clock.at(cluster_.clock.now() + downgrades, [this, travels] { reply(travels); });
    });
  });
}

Time PageFaults::time_at_home() const {
  Thread& home = cluster_.thread(fetch_.home);
  const bool interrupts = home.computing() && interrupted_by_service(home.doing(), cluster_.tables);
  return fetch_.logged + (interrupts ? fetch_.at_home : fetch_.at_waiting_home);
}

void PageFaults::note_served(PageId page) {
  cluster_.compared.copy(thread_.node(), page);
  cluster_.first_uses.use(cluster_.layout.node_of(fetch_.home), page);
}

void PageFaults::reply(bool travels) {
  if (fetch_.served) fetch_.served();
  note_served(fetch_.page);
  const Tables& kinds = cluster_.tables;
  const Bytes reply = fetch_.payloads.reply;
  if (travels) cluster_.thread(fetch_.home).account.count_served(cluster_.clock.now(), kinds.reply, reply);
  cluster_.send({fetch_.home, thread_.id(), kinds.reply, reply}, [this] {
    thread_.waited(spent_on(fetch_.kind), fetch_.since);
    thread_.bell.ring();
  });
}

}  // namespace sdsm::sim
