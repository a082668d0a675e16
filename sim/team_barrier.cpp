#include "sim/team_barrier.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "commands/timelines/timeline.hpp"
#include "sim/cluster.hpp"

namespace sdsm::sim {
namespace {

/// The member of the team, by its place in the order of ids, that gets a member's messages; empty if it sends none.
std::optional<std::size_t> reports_to(ProcessId process, Layout cluster, BarrierShape shape) {
  const NodeId node = cluster.node_of(process);
  if (node == cluster.node_of(barrier_master)) return std::nullopt;
  if (shape == BarrierShape::flat) return index_of(barrier_master);
  if (index_of(process) % cluster.threads_per_node != 0) return std::nullopt;
  return std::size_t{index_of(parent_in_tree(node))} * cluster.threads_per_node;
}

/// A team is threads 0..n-1, by blocks of threads_per_node.
Layout layout_of(std::uint32_t team, Layout cluster) {
  const std::uint32_t per_node = std::min(team, cluster.threads_per_node);
  return {(team + per_node - 1) / per_node, per_node};
}

}  // namespace

void TeamBarrier::arrive(Thread& thread, std::uint32_t team, Arrival why, std::function<void()> through) {
  const Time now = cluster_.clock.now();
  RoundPtr& gathering = gathering_[team];
  if (!gathering) gathering = std::make_shared<Round>();
  gathering->members.push_back({&thread, why, now, now, 0, std::move(through)});
  if (gathering->members.size() < team) return;

  const RoundPtr round = std::move(gathering);
  gathering_.erase(team);
  // Members in the order of their ids, whatever order they came in.
  std::sort(round->members.begin(), round->members.end(),
            [](const Member& a, const Member& b) { return a.thread->id() < b.thread->id(); });
  const Layout layout = layout_of(team, cluster_.layout);
  round->synchronisations = cluster_.costs.synchronisations(layout);
  if (!cluster_.costs.barrier_is_measured(layout)) cluster_.extrapolated_barrier = true;
  proceed(round, 0);
}

void TeamBarrier::proceed(const RoundPtr& round, std::size_t phase) {
  if (phase == courses::barrier.size()) return leave(round);
  const auto next = [this, round, phase] { proceed(round, phase + 1); };
  switch (courses::barrier[phase].deed) {
    case protocol::Deed::ask: {
      const std::size_t meeting = round->meetings++;
      round->met[meeting] = cluster_.clock.now() + round->synchronisations[meeting];
      return cluster_.clock.at(round->met[meeting], next);
    }
    case protocol::Deed::flush: return flush(round, next);
    case protocol::Deed::settle: return drop(round, next);
    case protocol::Deed::tell:
    case protocol::Deed::heed: throw std::logic_error("a barrier's course has no such step");
  }
}

void TeamBarrier::flush(const RoundPtr& round, std::function<void()> done) {
  round->flushing = round->members.size();
  for (Member& member : round->members) {
    const ProcessId process = member.thread->id();
    std::vector<Twinned> diffs = cluster_.pages(member.thread->node()).flush(process, Sync::barrier);
    cluster_.flushes[index_of(process)]->start(std::move(diffs), [this, round, &member, done] {
      member.flushed = cluster_.clock.now();
      if (--round->flushing == 0) done();
    });
  }
}

void TeamBarrier::drop(const RoundPtr& round, std::function<void()> done) {
  std::uint64_t most = 0;
  std::set<NodeId> nodes;
  for (Member& member : round->members) {
    member.dirty_home_pages = cluster_.pages(member.thread->node()).take_dirty_home_pages(member.thread->id());
    most = std::max(most, member.dirty_home_pages);
    nodes.insert(member.thread->node());
  }
  for (const NodeId node : nodes) cluster_.pages(node).drop(Sync::barrier);
  if (cluster_.notices) cluster_.notices->publish();
  const Time protect = static_cast<std::int64_t>(most) * cluster_.costs.costs().dirty_home_page;
  cluster_.clock.at(cluster_.clock.now() + protect, std::move(done));
}

void TeamBarrier::leave(const RoundPtr& round) {
  const Time now = cluster_.clock.now();
  const auto [all_here, all_flushed, all_dropped] = round->met;
  std::optional<Time> forked;
  for (const Member& member : round->members) {
    if (member.why == Arrival::fork_master) forked = member.arrived;
  }
  for (const Member& member : round->members) {
    Account& account = member.thread->account;
    Time from = member.arrived;
    if (member.why == Arrival::fork_worker && forked && *forked > from) {
      account.charge(Spent::idle, from, *forked);
      from = *forked;
    }
    // What lay between was charged by the flush.
    account.charge(Spent::barrier, from, all_here);
    account.charge(Spent::barrier, member.flushed, all_flushed);
    const Time protected_at =
        all_flushed + static_cast<std::int64_t>(member.dirty_home_pages) * cluster_.costs.costs().dirty_home_page;
    account.charge(Spent::protect, all_flushed, protected_at);
    account.charge(Spent::barrier, protected_at, all_dropped);
    account.count(now, [](Tally& tally) { ++tally.barriers; });
    const std::array<Time, barrier_synchronisations> ready{member.arrived, member.flushed, protected_at};
    if (const auto to = reports_to(member.thread->id(), cluster_.layout, cluster_.costs.costs().barrier_shape)) {
      Thread& master = *round->members[*to].thread;
      Account& receiver = master.account;
      for (std::size_t synchronisation = 0; synchronisation < barrier_synchronisations; ++synchronisation) {
        account.count_message(now, courses::meet.message, control_payload);
        if (cluster_.options.timeline != nullptr) {
          // The barrier's cost is that of all of its messages together, so none has a time of its own.
          cluster_.options.timeline->message({member.thread->id(), master.id(),
                                              static_cast<std::size_t>(courses::meet.message), control_payload,
                                              ready[synchronisation], round->met[synchronisation]});
        }
        receiver.count(now, [](Tally& tally) {
          ++tally.served;
          tally.served_bytes += static_cast<std::uint64_t>(control_payload.count);
          ++tally.messages_by_kind[static_cast<std::size_t>(courses::meet.answer)];
        });
      }
    }
  }
  for (const Member& member : round->members) member.through();
}

}  // namespace sdsm::sim
