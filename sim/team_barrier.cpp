#include <algorithm>
#include <set>

#include "sim/cluster.hpp"

namespace sdsm::sim {

Layout TeamBarrier::layout() const {
  // A team is threads 0..n-1, by blocks of threads_per_node.
  const auto team = static_cast<std::uint32_t>(members_.size());
  const std::uint32_t per_node = std::min(team, cluster_.layout.threads_per_node);
  return {(team + per_node - 1) / per_node, per_node};
}

void TeamBarrier::arrive(Thread& thread, std::uint32_t team, Kind kind, std::function<void()> through) {
  const Time now = cluster_.clock.now();
  if (kind == Kind::fork_master) forked_ = now;
  members_.push_back({&thread, kind, now, now, 0, std::move(through)});
  if (members_.size() < team) return;

  // Members in the order of their ids, whatever order they came in.
  std::sort(members_.begin(), members_.end(),
            [](const Member& a, const Member& b) { return a.thread->id() < b.thread->id(); });
  synchronisations_ = cluster_.costs.synchronisations(layout());
  if (!cluster_.costs.barrier_is_measured(layout())) cluster_.extrapolated_barrier = true;
  cluster_.clock.at(now + synchronisations_[0], [this] { flush(); });
}

void TeamBarrier::flush() {
  flushing_ = members_.size();
  for (Member& member : members_) {
    const ProcessId process = member.thread->id();
    std::vector<Twinned> diffs = cluster_.single_process()
                                     ? std::vector<Twinned>{}
                                     : cluster_.pages(member.thread->node()).flush(process, Sync::barrier);
    cluster_.flushes[index_of(process)]->start(std::move(diffs), [this, &member] {
      member.flushed = cluster_.clock.now();
      if (--flushing_ == 0) {
        cluster_.clock.at(cluster_.clock.now() + synchronisations_[1], [this] { invalidate(); });
      }
    });
  }
}

void TeamBarrier::invalidate() {
  synchronised_ = cluster_.clock.now();
  std::uint64_t most = 0;
  std::set<NodeId> nodes;
  for (Member& member : members_) {
    if (cluster_.single_process()) break;
    member.dirty_home_pages = cluster_.pages(member.thread->node()).take_dirty_home_pages(member.thread->id());
    most = std::max(most, member.dirty_home_pages);
    nodes.insert(member.thread->node());
  }
  for (const NodeId node : nodes) cluster_.pages(node).drop(Sync::barrier);
  if (cluster_.notices) cluster_.notices->publish();
  const Time protect = static_cast<std::int64_t>(most) * cluster_.costs.costs().dirty_home_page;
  cluster_.clock.at(synchronised_ + protect + synchronisations_[2], [this] { leave(); });
}

void TeamBarrier::leave() {
  const Time now = cluster_.clock.now();
  const Time first_synchronised = [&] {
    Time last{};
    for (const Member& member : members_) last = std::max(last, member.arrived);
    return last + synchronisations_[0];
  }();
  for (const Member& member : members_) {
    Account& account = member.thread->account;
    Time from = member.arrived;
    if (member.kind == Kind::fork_worker && forked_ && *forked_ > from) {
      account.charge(Spent::idle, from, *forked_);
      from = *forked_;
    }
    // What lay between was charged by the flush.
    account.charge(Spent::barrier, from, first_synchronised);
    account.charge(Spent::barrier, member.flushed, synchronised_);
    const Time protected_at = synchronised_ + static_cast<std::int64_t>(member.dirty_home_pages) *
                                                  cluster_.costs.costs().dirty_home_page;
    account.charge(Spent::protect, synchronised_, protected_at);
    account.charge(Spent::barrier, protected_at, now);
    account.count(now, [](Tally& tally) { ++tally.barriers; });
    if (member.thread->node() != NodeId{0}) {
      Account& master = members_.front().thread->account;
      for (int synchronisation = 0; synchronisation < 3; ++synchronisation) {
        account.count_message(now, MessageKind::barrier_arrive, control_payload);
        master.count(now, [](Tally& tally) {
          ++tally.served;
          tally.served_bytes += static_cast<std::uint64_t>(control_payload.count);
          ++tally.messages_by_kind[static_cast<std::size_t>(MessageKind::barrier_release)];
        });
      }
    }
  }
  forked_.reset();
  const std::vector<Member> leaving = std::move(members_);
  members_.clear();
  for (const Member& member : leaving) member.through();
}

}  // namespace sdsm::sim
