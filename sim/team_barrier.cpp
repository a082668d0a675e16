#include "sim/team_barrier.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "commands/timelines/timeline.hpp"
#include "sim/cluster.hpp"

namespace sdsm::sim {

TeamBarrier::TeamBarrier(Cluster& cluster) : cluster_(cluster) {}

void TeamBarrier::arrive(Thread& thread, std::uint32_t team, Arrival why, std::function<void()> through) {
  const Time now = cluster_.clock.now();
  gather(gathering_[team], team,
         {.thread = &thread, .why = why, .arrived = now, .flushed = now, .through = std::move(through)});
}

void TeamBarrier::arrive_in_gang(Thread& thread, std::uint32_t gang, std::uint32_t size,
                                 std::function<void()> through) {
  const Time now = cluster_.clock.now();
  RoundPtr& gathering = gathering_gangs_[{gang, size}];
  if (!gathering) gathering = std::make_shared<Round>();
  gathering->is_of_gang = true;
  gather(gathering, size,
         {.thread = &thread, .why = Arrival::inside, .arrived = now, .flushed = now, .through = std::move(through)});
}

void TeamBarrier::gather(RoundPtr& gathering, std::uint32_t size, Member member) {
  if (!gathering) gathering = std::make_shared<Round>();
  gathering->members.push_back(std::move(member));
  if (gathering->members.size() < size) return;

  const RoundPtr round = std::exchange(gathering, nullptr);
  // Order the members by id, whatever their order of arrival.
  std::sort(round->members.begin(), round->members.end(),
            [](const Member& a, const Member& b) { return a.thread->id() < b.thread->id(); });
  for (const Member& here : round->members) round->processes.push_back(here.thread->id());
  const Layout layout = layout_of(round->processes, cluster_.layout);
  round->synchronisations = cluster_.costs.synchronisations(layout);
  if (!cluster_.costs.barrier_is_measured(layout)) cluster_.extrapolated_barrier = true;
  proceed(round, 0);
}

GangOnNode TeamBarrier::gang_on(const Round& round, NodeId node) const {
  return gang_on_node(
      static_cast<std::uint32_t>(round.processes.size()), [&](std::uint32_t i) { return round.processes[i]; },
      [&](ProcessId process) { return cluster_.layout.node_of(process) == node; }, cluster_.layout.threads_per_node);
}

void TeamBarrier::proceed(const RoundPtr& round, std::size_t phase) {
  if (phase == courses::barrier.size()) return leave(round);
  const auto next = [this, round, phase] { proceed(round, phase + 1); };
  switch (courses::barrier[phase].action) {
    case protocol::Action::ask: {
      const std::size_t meeting = round->meetings++;
      meet_all(
          round->members, [](const Member& one) -> Uncontended& { return one.thread->uncontended; },
          round->synchronisations[meeting]);
      round->met[meeting] = cluster_.clock.now() + round->synchronisations[meeting];
      return cluster_.clock.at(round->met[meeting], next);
    }
    case protocol::Action::flush: return flush(round, next);
    case protocol::Action::begin_interval: return round->is_of_gang ? drop_in_gang(round, next) : drop(round, next);
    case protocol::Action::send:
    case protocol::Action::apply: throw std::logic_error("a barrier's course has no such step");
  }
}

void TeamBarrier::flush(const RoundPtr& round, std::function<void()> done) {
  round->flushing = round->members.size();
  for (Member& member : round->members) {
    const ProcessId process = member.thread->id();
    const NodeId node = member.thread->node();
    const Sync sync = round->is_of_gang ? gang_on(*round, node).sync : Sync::barrier;
    // In single-writer mode a gang's barrier is as any lock (LockManager::send_changes()).
    const bool stays = round->is_of_gang && cluster_.rights->is_on();
    std::vector<Twinned> diffs = stays ? std::vector<Twinned>() : cluster_.pages(node).flush(process, sync);
    cluster_.flushes[index_of(process)]->start(std::move(diffs), [this, round, &member, done] {
      member.flushed = cluster_.clock.now();
      if (--round->flushing == 0) done();
    });
  }
}

void TeamBarrier::drop(const RoundPtr& round, std::function<void()> done) {
  const Costs& costs = cluster_.costs.costs();
  std::set<NodeId> nodes;
  for (Member& member : round->members) {
    const std::uint64_t dirty = cluster_.pages(member.thread->node()).take_dirty_home_pages(member.thread->id());
    member.protecting = times(dirty, costs.dirty_home_page);
    nodes.insert(member.thread->node());
  }
  for (const NodeId node : nodes) cluster_.pages(node).end_interval(cluster_.rights->is_on());
  cluster_.rights->end(static_cast<std::uint32_t>(round->members.size()));
  if (cluster_.notices) cluster_.notices->publish();
  Time most{};
  for (Member& member : round->members) {
    const std::uint64_t runs = cluster_.pages(member.thread->node()).take_further_runs(member.thread->id());
    member.protecting = sum(member.protecting, times(runs, costs.further_run));
    member.thread->uncontended.spend(member.protecting);
    member.protecting = cluster_.noisy(member.thread->id(), member.protecting);
    most = std::max(most, member.protecting);
  }
  cluster_.clock.at(cluster_.clock.now() + most, std::move(done));
}

void TeamBarrier::drop_in_gang(const RoundPtr& round, const std::function<void()>& done) {
  round->dropping = 1;
  const auto dropped = [round, done] {
    if (--round->dropping == 0) done();
  };
  for (Member& member : round->members) {
    const NodeId node = member.thread->node();
    const auto [sync, drops] = gang_on(*round, node);
    if (member.thread->id() != drops) continue;
    has_split_nodes_ |= sync != Sync::gang;
    if (sync == Sync::gang && !cluster_.rights->is_on()) {
      cluster_.pages(node).drop(Sync::gang);
      continue;
    }
    ++round->dropping;
    cluster_.locks.flush(*member.thread, [this, &member, dropped] {
      member.dropped = cluster_.clock.now();
      dropped();
    });
  }
  dropped();
}

void TeamBarrier::leave(const RoundPtr& round) {
  const Time now = cluster_.clock.now();
  const auto [all_here, all_flushed, all_dropped] = round->met;
  std::optional<Time> forked;
  for (const Member& member : round->members) {
    if (member.why == Arrival::fork_master) forked = member.arrived;
  }
  for (std::size_t place = 0; place < round->members.size(); ++place) {
    const Member& member = round->members[place];
    Account& account = member.thread->account;
    const bool is_worker = member.why == Arrival::fork_worker;
    const Time from = is_worker ? member.thread->idle_until(forked, member.arrived) : member.arrived;
    // The flush has charged the time between.
    account.charge(Spent::barrier, from, all_here);
    account.charge(Spent::barrier, member.flushed, all_flushed);
    const Time protected_at = all_flushed + member.protecting;
    account.charge(Spent::protect, all_flushed, protected_at);
    // Flushes of other processes' changes on the node have charged the time between.
    const Time dropped_at = std::max(protected_at, member.dropped);
    account.charge(Spent::barrier, dropped_at, all_dropped);
    account.count_barrier(now);
    const std::array<Time, barrier_synchronisations> ready{member.arrived, member.flushed, dropped_at};
    if (const auto to = reports_to(place, round->processes, cluster_.layout, cluster_.costs.costs().barrier_shape)) {
      Thread& master = *round->members[*to].thread;
      for (std::size_t synchronisation = 0; synchronisation < barrier_synchronisations; ++synchronisation) {
        account.count_message(now, courses::meet.message, control_payload);
        if (cluster_.options.timeline != nullptr) {
          // The barrier's cost covers all of its messages together, so none has a time of its own.
          cluster_.options.timeline->message({member.thread->id(), master.id(),
                                              static_cast<std::size_t>(courses::meet.message), control_payload,
                                              ready[synchronisation], round->met[synchronisation]});
        }
        master.account.count_served(now, courses::meet.answer, control_payload);
      }
    }
  }
  for (const Member& member : round->members) member.through();
}

}  // namespace sdsm::sim
