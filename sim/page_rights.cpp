#include "sim/page_rights.hpp"

#include <algorithm>
#include <utility>

#include "sim/cluster.hpp"

namespace sdsm::sim {
PageRights::PageRights(Cluster& cluster) : cluster_(cluster), copies_(cluster.layout.nodes) {
  is_stack_.resize(cluster.homes.size());
  for (const RegionId region : cluster.unnoticed_regions) is_stack_[index_of(region)] = true;
}

/// The thread asks one process after another. A process that another thread has already asked goes on at once.
Time PageRights::enter(NodeId by) {
  if (is_on()) return {};
  mode_ = after(SingleWriterEvent::touch_after_meeting, mode_);
  changes_.enter_single_writer_mode(home_pages_of(cluster_.options.protocol));
  are_asked_ = true;
  const std::uint32_t each = cluster_.layout.threads_per_node;
  Time waits{};
  for (std::uint32_t i = 0; i < cluster_.layout.nodes; ++i) {
    const NodeId node{i};
    if (node == by) continue;
    const ProcessId first{i * each};
    NodePages& pages = cluster_.pages(node);
    for (const Twinned& diff : pages.flush(first, Sync::acquire)) {
      waits += send_late(diff.holder, diff.page, diff.home, diff_bytes(diff.change));
    }
    pages.drop(Sync::acquire);
    note_drop(node);
    waits += static_cast<std::int64_t>(each) * cluster_.idle->both_ways(by, node, control_payload);
  }
  return waits;
}

void PageRights::end(std::uint32_t team) {
  for (auto& copies : copies_) copies.barrier(cluster_.notices != nullptr);
  std::erase_if(pages_, [&](const auto& entry) { return index_of(entry.second.home) < team; });
  changes_.barrier();
  if (team == cluster_.layout.processes()) mode_ = after(SingleWriterEvent::barrier, mode_);
  are_asked_ = is_on() || !pages_.empty();
}

PageRights::Shared& PageRights::list(PageId page, ProcessId home) {
  are_asked_ = true;
  return pages_.try_emplace(page, Shared{home, PageSharing(cluster_.layout.node_of(home))}).first->second;
}

PageRights::Granted PageRights::grant(PageId page, ProcessId home, NodeId to, Access access) {
  const bool is_own = to == cluster_.layout.node_of(home);
  const auto listed = pages_.find(page);
  const bool is_listed = listed != pages_.end();
  if (!needs_list(is_of_stack(page), is_own, is_listed, is_on())) {
    return {{},
            changes_.tells(page, is_listed ? &listed->second.sharing : nullptr, is_of_stack(page), is_on(), is_on())};
  }
  Shared& shared = list(page, home);
  const Right right = right_for(access);
  const Time downgrades = take_from(page, shared, shared.sharing.losses(to, right));
  shared.sharing.grant(to, right);
  return {downgrades, changes_.tells(page, &shared.sharing, is_of_stack(page), is_on(), is_on())};
}

bool PageRights::has_to_ask(PageId page, NodeId node, Access access) const {
  const auto listed = pages_.find(page);
  return listed != pages_.end() && listed->second.sharing.right_of(node) < right_for(access);
}

Time PageRights::operate(PageId page, ProcessId home, ProcessId by) {
  if (cluster_.layout.nodes == 1) return {};
  const bool is_alone = by == home && !has_to_ask(page, cluster_.layout.node_of(home), Access::write);
  const OperationAtHome operation{
      .is_on_stack = is_of_stack(page), .is_home_alone = is_alone, .is_in_single_writer_mode = is_on()};
  const Taken taken = taken_by(operation);
  if (taken == Taken::mark) {
    changes_.operate_on_stack(page);
    are_asked_ = true;
  }
  if (taken == Taken::nothing && is_on()) note_diff(page);
  if (taken != Taken::from_all) return {};
  Shared& shared = list(page, home);
  const Time downgrades =
      take_from(page, shared,
                shared.sharing.losses_to_operation(cluster_.layout.node_of(home), cluster_.layout.node_of(by),
                                                   keeps_copy_at_operation(page)));
  shared.sharing.note_change();
  return downgrades;
}

bool PageRights::operates_in_copy(PageId page, ProcessId home, ProcessId by) const {
  if (cluster_.order || cluster_.owner_of(by, home) != Owner::remote) return false;
  return sdsm::operates_in_copy(keeps_copy_at_operation(page),
                                cluster_.pages(cluster_.layout.node_of(by)).node_permission(page, Owner::remote));
}

bool PageRights::keeps_copy_at_operation(PageId page) const {
  return sdsm::keeps_copy_at_operation(is_on(), cluster_.layout.threads_per_node, is_of_stack(page));
}

/// A word counts once until the page goes home.
void PageRights::note_change_in_copy(NodeId node, const WordOperation& operation) {
  const auto listed = pages_.find(operation.page);
  if (listed == pages_.end() || !listed->second.changed_in_copy.insert(operation.byte).second) return;
  const Change change{operation.words, static_cast<std::uint16_t>(operation.words > 0 ? 1 : 0)};
  cluster_.pages(node).changed(operation.page, Owner::remote, change, cluster_.page_words);
}

/// Asks all of them at once.
Time PageRights::take_from(PageId page, Shared& shared, const std::vector<PageSharing::Loss>& losses) {
  Time longest{};
  for (const PageSharing::Loss& loss : losses) {
    longest = std::max(longest, downgrade(page, shared, loss));
    shared.sharing.lose(loss);
    shared.changed_in_copy.clear();
  }
  return longest;
}

Time PageRights::downgrade(PageId page, Shared& shared, const PageSharing::Loss& loss) {
  const NodeId home = cluster_.layout.node_of(shared.home);
  NodePages& pages = cluster_.pages(loss.node);
  const Owner owner = loss.node == home ? Owner::home : Owner::remote;
  if (pages.node_permission(page, owner) == Permission::read_write) shared.sharing.note_change();
  if (owner == Owner::home) return {};
  const ProcessId first{index_of(loss.node) * cluster_.layout.threads_per_node};
  const std::vector<Twinned> due = pages.due(first, Sync::acquire);
  const auto twinned = std::ranges::find(due, page, &Twinned::page);
  Time asked = cluster_.costs.message_local(control_payload) + cluster_.idle->time(home, loss.node, control_payload);
  pages.downgrade(page, loss.kept == Right::read);
  // A thread that waits for the page uses it first.
  const bool is_arriving = cluster_.is_arriving(loss.node, page);
  if (is_arriving) asked += cluster_.idle->time(home, loss.node, cluster_.page_size);
  // A page with changes goes home whole.
  if (twinned != due.end() && (twinned->change || is_arriving)) {
    return asked + send_late(twinned->holder, page, shared.home, cluster_.page_size);
  }
  return asked + cluster_.idle->time(loss.node, home, control_payload);
}

Time PageRights::send_late(ProcessId from, PageId page, ProcessId home, Bytes bytes) {
  const Time now = cluster_.clock.now();
  Account& account = cluster_.thread(from).account;
  account.count_diff(now, static_cast<std::uint64_t>(bytes.count));
  account.count_message(now, MessageKind::diff, bytes);
  cluster_.note(from, page, trace::figures_of_diff(static_cast<std::uint64_t>(bytes.count)));
  note_diff(page);
  return cluster_.costs.message_local(bytes) +
         cluster_.idle->time(cluster_.layout.node_of(from), cluster_.layout.node_of(home), bytes);
}

void PageRights::drop_stack_copies(NodeId node) {
  for (const PageId page : std::exchange(copies_[index_of(node)].of_stacks, {}))
    cluster_.pages(node).downgrade(page, false);
}

}  // namespace sdsm::sim
