#include "sim/page_faults.hpp"

#include "sim/cluster.hpp"

namespace sdsm::sim {

void PageFaults::take(PageId first, FaultKind kind, std::uint64_t pages, ProcessId home) {
  for (std::uint64_t i = 0; cluster_.options.page_figures && i < pages; ++i) {
    cluster_.note(thread_.id(), {first.region, first.index + i},
                  trace::figures_of(cluster_.tables.faults[static_cast<std::size_t>(kind)]));
  }
  const FaultRule& rule = rule_of(kind);
  if (rule.fetches_page) return fetch(kind, home);
  const Time each = cluster_.costs.fault_local(kind);
  if (rule.sends_request && rule.owner == Owner::remote) {
    for (std::uint64_t i = 0; i < pages; ++i) {
      // Nobody waits for it, but it takes its turn on the wire at the time at which it is sent.
      cluster_.clock.at(thread_.local_now() + static_cast<std::int64_t>(i) * each, [this, home] {
        thread_.account.count_message(cluster_.clock.now(), MessageKind::write_request, control_payload);
        cluster_.network.send(thread_.node(), cluster_.layout.node_of(home), control_payload, [] {});
      });
    }
  }
  thread_.spend_faults(spent_on(kind), pages, static_cast<std::int64_t>(pages) * each);
}

void PageFaults::take_and_show(PageId page, FaultKind kind, ProcessId home) {
  take(page, kind, 1, home);
  if (!rule_of(kind).fetches_page) return;
  thread_.catch_up_and_wait();
  cluster_.end_arrival(thread_.node(), page);
}

void PageFaults::fetch(FaultKind kind, ProcessId home) {
  const Time local = cluster_.costs.fault_local(kind);
  const Time at_home = cluster_.costs.home_part(local);
  const Time at_requester = local - at_home;
  fetch_ = {kind, home, cluster_.jittered(at_home), {}};
  thread_.catch_up([this] { issue_fetch(); });
  thread_.bell.wait();
  thread_.spend(spent_on(kind), cluster_.jittered(at_requester));
}

void PageFaults::issue_fetch() {
  fetch_.since = cluster_.clock.now();
  ++cluster_.remote_faults;
  const auto kind = static_cast<std::size_t>(fetch_.kind);
  thread_.account.count(fetch_.since, [kind](Tally& tally) { ++tally.faults[kind]; });
  thread_.account.count_message(fetch_.since, MessageKind::page_request, control_payload);
  const NodeId home_node = cluster_.layout.node_of(fetch_.home);
  cluster_.network.send(thread_.node(), home_node, control_payload, [this] {
    cluster_.service.serve(fetch_.home, fetch_.at_home, [this] {
      cluster_.thread(fetch_.home).account.count(cluster_.clock.now(), [](Tally& tally) {
        ++tally.served;
        tally.served_bytes += static_cast<std::uint64_t>(page_payload.count);
      });
      cluster_.network.send(cluster_.layout.node_of(fetch_.home), thread_.node(), page_payload, [this] {
        thread_.waited(spent_on(fetch_.kind), fetch_.since);
        thread_.bell.ring();
      });
    });
  });
}

}  // namespace sdsm::sim
