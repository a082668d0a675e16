#include "sim/page_rights.hpp"

#include <algorithm>
#include <utility>

#include "sim/cluster.hpp"

namespace sdsm::sim {
PageRights::PageRights(Cluster& cluster)
    : cluster_(cluster), copies_(cluster.layout.nodes), stack_copies_(cluster.layout.nodes) {
  is_stack_.resize(cluster.homes.size());
  for (const RegionId region : cluster.untold_regions) is_stack_[index_of(region)] = true;
}

/// The thread asks one process after another. Whom another thread has asked meanwhile goes on at once.
Time PageRights::enter(NodeId by) {
  if (is_on()) return {};
  mode_ = after(FlagEvent::touch_after_meeting, mode_);
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
  // Where only changed copies are dropped, others stay.
  if (!cluster_.notices) std::ranges::fill(copies_, 0);
  for (auto& pages : stack_copies_) pages.clear();
  std::erase_if(pages_, [&](const auto& entry) { return index_of(entry.second.home) < team; });
  changed_for_good_.clear();
  diffs_.clear();
  if (team == cluster_.layout.processes()) mode_ = after(FlagEvent::barrier, mode_);
  are_asked_ = is_on() || !pages_.empty();
}

PageRights::Shared& PageRights::list(PageId page, ProcessId home) {
  are_asked_ = true;
  return pages_.try_emplace(page, Shared{home, PageSharing(cluster_.layout.node_of(home))}).first->second;
}

PageRights::Granted PageRights::grant(PageId page, ProcessId home, NodeId to, Access access) {
  if (is_of_stack(page)) return {{}, !is_on() && changed_for_good_.contains(page)};
  const bool is_own = to == cluster_.layout.node_of(home);
  const auto listed = pages_.find(page);
  if (listed == pages_.end() && (is_own || !is_on())) return {{}, is_on() && diffs_.contains(page)};
  // Outside of flag mode another node's request is that of any fault.
  if (!is_own && !is_on()) return {{}, listed->second.is_changed};
  Shared& shared = list(page, home);
  const Right right = right_for(access);
  const Time recalls = take_from(page, shared, shared.sharing.losses(to, right));
  shared.sharing.grant(to, right);
  const PageNews news{.was_recalled_written = shared.is_changed,
                      .has_diffs = diffs_.contains(page),
                      .has_unseen_changes = home_pages_of(cluster_.options.protocol) == HomePages::open,
                      .home_is_in_flag_mode = true};
  return {recalls, tells_of_stores(news, is_on())};
}

bool PageRights::has_to_ask(PageId page, NodeId node, Access access) const {
  const auto listed = pages_.find(page);
  return listed != pages_.end() && listed->second.sharing.right_of(node) < right_for(access);
}

Time PageRights::operate(PageId page, ProcessId home, ProcessId by) {
  if (cluster_.layout.nodes == 1) return {};
  if (is_of_stack(page)) {
    changed_for_good_.insert(page);
    are_asked_ = true;
    return {};
  }
  // In flag mode the home's own threads see what it does with a page that it alone may write.
  if (is_on() && by == home && !has_to_ask(page, cluster_.layout.node_of(home), Access::write)) return {};
  Shared& shared = list(page, home);
  const Time recalls = take_from(page, shared, shared.sharing.all_losses());
  shared.is_changed = true;
  return recalls;
}

/// All are asked at once.
Time PageRights::take_from(PageId page, Shared& shared, const std::vector<PageSharing::Loss>& losses) {
  Time longest{};
  for (const PageSharing::Loss& loss : losses) {
    longest = std::max(longest, give_up(page, shared, loss));
    shared.sharing.lose(loss);
  }
  return longest;
}

Time PageRights::give_up(PageId page, Shared& shared, const PageSharing::Loss& loss) {
  const NodeId home = cluster_.layout.node_of(shared.home);
  NodePages& pages = cluster_.pages(loss.node);
  const Owner owner = loss.node == home ? Owner::home : Owner::remote;
  shared.is_changed |= pages.node_permission(page, owner) == Permission::read_write;
  if (owner == Owner::home) return {};
  const ProcessId first{index_of(loss.node) * cluster_.layout.threads_per_node};
  const std::vector<Twinned> due = pages.due(first, Sync::acquire);
  const auto twinned = std::ranges::find(due, page, &Twinned::page);
  Time asked = cluster_.costs.message_local(control_payload) + cluster_.idle->time(home, loss.node, control_payload);
  pages.give_up(page, loss.kept == Right::read);
  // Whoever waits for the page uses it first.
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
  account.count(now, [payload = static_cast<std::uint64_t>(bytes.count)](Tally& tally) {
    ++tally.diffs;
    tally.diff_bytes += payload;
    tally.largest_diff = std::max(tally.largest_diff, payload);
  });
  account.count_message(now, MessageKind::diff, bytes);
  cluster_.note(from, page, trace::figures_of_diff(static_cast<std::uint64_t>(bytes.count)));
  note_diff(page);
  return cluster_.costs.message_local(bytes) +
         cluster_.idle->time(cluster_.layout.node_of(from), cluster_.layout.node_of(home), bytes);
}

void PageRights::note_drop(NodeId node) {
  copies_[index_of(node)] = 0;
  stack_copies_[index_of(node)].clear();
}

void PageRights::drop_stack_copies(NodeId node) {
  for (const PageId page : std::exchange(stack_copies_[index_of(node)], {})) cluster_.pages(node).give_up(page, false);
}

}  // namespace sdsm::sim
