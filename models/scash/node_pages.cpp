#include "models/scash/node_pages.hpp"

#include <algorithm>
#include <stdexcept>

namespace sdsm {

WriteNotices::WriteNotices(std::pmr::memory_resource* memory) : pending_(memory), unnoticed_(memory), pages_(memory) {}

void WriteNotices::add_unnoticed(RegionId region) {
  unnoticed_.add(region);
}

std::vector<std::pair<PageId, NodeId>> WriteNotices::take() {
  std::vector<std::pair<PageId, NodeId>> taken(pending_.begin(), pending_.end());
  pending_.clear();
  return taken;
}

void WriteNotices::publish() {
  for (const auto& [page, writer] : pending_) {
    Notice& notice = pages_.get(page, [] { return Notices{}; })[pages_.slot(page)];
    if (notice.last_writer != writer) {
      notice.other = notice.last;
      notice.last_writer = writer;
    }
    notice.last = epoch_ + 1;
  }
  pending_.clear();
  ++epoch_;
}

bool WriteNotices::written_by_others(PageId page, NodeId reader, std::uint32_t since) const {
  if (unnoticed_.holds(page.region)) return epoch_ > since;
  const Notices* notices = pages_.find(page);
  if (!notices) return false;
  const Notice& notice = (*notices)[pages_.slot(page)];
  return (notice.last_writer == reader ? notice.other : notice.last) > since;
}

NodePages::NodePages(NodeId node, ProcessId first, std::uint32_t processes, WriteNotices* notices,
                     std::pmr::memory_resource* memory, HomePages home_pages)
    : node_(node),
      first_(index_of(first)),
      processes_(processes),
      notices_(notices),
      home_pages_(home_pages),
      twinned_(memory),
      dirty_home_(processes, 0, memory),
      opened_(memory),
      pages_(memory) {}

void NodePages::find_entries(PageId first) {
  Chunk& chunk = pages_.get(first, [this] {
    std::pmr::memory_resource* memory = twinned_.get_allocator().resource();
    return Chunk{std::pmr::vector<Entry>(chunk_pages, memory),
                 std::pmr::vector<Aged>(processes_ > 1 ? chunk_pages * processes_ : 0, memory)};
  });
  recent_ = first;
  recent_entries_ = chunk.entries.data();
}

const NodePages::Entry* NodePages::find(PageId page) const {
  const Chunk* chunk = pages_.find(page);
  return chunk ? &chunk->entries[pages_.slot(page)] : nullptr;
}

NodePages::Aged& NodePages::process_entry(std::uint32_t process, PageId page) {
  return pages_.find(page)->processes[pages_.slot(page) * processes_ + process];
}

Permission NodePages::node_permission(const Entry& entry, PageId page, Owner owner) const {
  const Permission permission = current(entry.node, owner);
  if (notices_ && owner == Owner::remote && permission != Permission::unmapped &&
      notices_->written_by_others(page, node_, entry.fetched)) {
    return Permission::unmapped;
  }
  return permission;
}

void NodePages::set_process(ProcessId process, PageId page, Owner owner, Permission permission) {
  if (processes_ > 1) process_entry(index_of(process) - first_, page) = {age_of(owner), permission};
}

std::optional<FaultKind> NodePages::access(ProcessId process, PageId page, ProcessId home, Owner owner, Access access) {
  if (is_open(owner)) return std::nullopt;
  return this->access(entry(page), process, page, home, owner, access);
}

NodePages::AccessedRun NodePages::access_run(ProcessId process, PageId first, std::uint64_t pages, ProcessId home,
                                             Owner owner, Access access) {
  if (is_open(owner)) return {pages, std::nullopt};
  Entry* entry = &this->entry(first);
  // Only states decide, so pages in the state of the first do as it does. Where more decides (the node's other
  // processes, notices), or more is remembered (twins, fetches), the caller comes back for each page.
  const Permission before = current(entry->node, owner);
  const std::optional<FaultKind> kind = traps(access, before) ? fault_of(access, before, owner) : std::nullopt;
  if (processes_ > 1 || notices_ || (kind && (rule_of(*kind).makes_twin || rule_of(*kind).fetches_page))) {
    return {1, this->access(*entry, process, first, home, owner, access)};
  }
  AccessedRun run{0, kind};
  const Aged after{age_of(owner), kind ? rule_of(*kind).node_after : before};
  for (;;) {
    if (kind) {
      if (entry->node.age != after.age) entry->twin = no_twin;
      entry->node = after;
    }
    if (++run.pages == pages) break;
    const std::uint64_t next = first.index + run.pages;
    entry = next % chunk_pages == 0 ? &this->entry({first.region, next}) : entry + 1;
    if (current(entry->node, owner) != before) break;
  }
  if (!kind) return run;
  if (access == Access::write && owner == Owner::home) dirty_home_[index_of(process) - first_] += run.pages;
  note_opened(process, first, run.pages, owner, access);
  return run;
}

std::optional<FaultKind> NodePages::access(Entry& entry, ProcessId process, PageId page, ProcessId home, Owner owner,
                                           Access access) {
  const Permission node = node_permission(entry, page, owner);
  Permission own = node;
  if (processes_ > 1 && own != Permission::unmapped) {
    own = current(process_entry(index_of(process) - first_, page), owner);
  }
  if (!traps(access, own)) return std::nullopt;

  const std::optional<FaultKind> kind = fault_of(access, node, owner);
  if (!kind) throw std::logic_error("broken invariant: a home or local page trapped on a read");
  const FaultRule& rule = rule_of(*kind);

  if (node == Permission::unmapped) begin_copy(entry, page);
  if (entry.node.age != age_of(owner)) entry.twin = no_twin;
  entry.node = {age_of(owner), rule.node_after};
  set_process(process, page, owner, rule.process_after);
  if (rule.makes_twin) {
    entry.twin = static_cast<std::uint32_t>(twinned_.size());
    twinned_.push_back({page, process, home, owner == Owner::local, {}});
  }
  if (access == Access::write && owner == Owner::home) ++dirty_home_[index_of(process) - first_];
  if (notices_ && access == Access::write && owner != Owner::remote) notices_->add(page, node_);
  note_opened(process, page, 1, owner, access);
  return kind;
}

void NodePages::add_opened(ProcessId process, PageId first, std::uint64_t pages, Owner owner, Access access) {
  OpenedPages& opened = opened_[index_of(process) - first_];
  for (std::uint64_t i = 0; i < pages; ++i) {
    opened.add({first.region, first.index + i}, owner == Owner::remote, access == Access::write);
  }
}

void NodePages::begin_copy(Entry& entry, PageId page) {
  entry.twin = no_twin;
  entry.fetched = notices_ ? notices_->epoch() : 0;
  // The node's other processes lost the copy, too: their permissions must not come alive again with the new one.
  if (notices_ && processes_ > 1) {
    for (std::uint32_t q = 0; q < processes_; ++q) process_entry(q, page) = {};
  }
}

bool NodePages::prefetch(ProcessId process, PageId page) {
  Entry& entry = this->entry(page);
  if (node_permission(entry, page, Owner::remote) != Permission::unmapped) return false;
  begin_copy(entry, page);
  entry.node = {copy_age_, Permission::read_only};
  set_process(process, page, Owner::remote, Permission::read_only);
  note_opened(process, page, 1, Owner::remote, Access::read);
  return true;
}

void NodePages::changed(PageId page, Owner owner, Change change, std::uint16_t page_words) {
  if (!change || twinned_.empty()) return;
  const Entry* entry = find(page);
  if (!entry || entry->node.age != age_of(owner) || entry->twin == no_twin) return;
  Twinned& twinned = twinned_[entry->twin];
  twinned.change = merge(twinned.change, change, page_words);
}

bool NodePages::is_due(const Twinned& twinned, ProcessId process, Flushes flushes) const {
  if (twinned.holder == process) return true;
  if (twinned.local || flushes == Flushes::own) return false;
  return flushes == Flushes::node || process_permission(process, twinned.page, Owner::remote) == Permission::read_write;
}

std::vector<Twinned> NodePages::due(ProcessId process, Sync sync) const {
  std::vector<Twinned> list;
  for (const Twinned& twinned : twinned_) {
    if (is_due(twinned, process, rule_of(sync).flushes)) list.push_back(twinned);
  }
  return list;
}

std::vector<Twinned> NodePages::flush(ProcessId process, Sync sync) {
  std::vector<Twinned> diffs;
  for (Twinned& twinned : twinned_) {
    if (!twinned.change || !is_due(twinned, process, rule_of(sync).flushes)) continue;
    diffs.push_back(twinned);
    twinned.change = {};
    if (notices_ && !twinned.local) notices_->add(twinned.page, node_);
  }
  return diffs;
}

/// Whether the node was at the barrier before this one, and so has its notices.
bool NodePages::receives_all_notices() {
  return std::exchange(received_, notices_->epoch() + 1) == notices_->epoch();
}

/// Copies live on until a notice of the page arrives; written ones become clean.
void NodePages::clean_copies() {
  for (const Twinned& twinned : twinned_) {
    if (twinned.local) continue;
    Entry& entry = this->entry(twinned.page);
    entry.twin = no_twin;
    entry.node.permission = Permission::read_only;
    for (std::uint32_t q = 0; processes_ > 1 && q < processes_; ++q) {
      Aged& aged = process_entry(q, twinned.page);
      if (aged.permission == Permission::read_write) aged.permission = Permission::read_only;
    }
  }
}

void NodePages::drop(Sync sync) {
  const SyncRule rule = rule_of(sync);
  if (rule.drop_copies && rule.rest_home_pages && notices_ && receives_all_notices()) {
    clean_copies();
  } else if (rule.drop_copies) {
    ++copy_age_;
  }
  if (rule.rest_home_pages) {
    ++write_age_;
    twinned_.clear();
  } else if (rule.drop_copies) {
    for (OpenedPages& pages : opened_) pages.forget_copies();
    // Twins of remote pages go with their copies; those of local pages stay, and are numbered anew.
    std::pmr::vector<Twinned> kept(twinned_.get_allocator());
    for (const Twinned& twinned : twinned_) {
      if (!twinned.local) continue;
      entry(twinned.page).twin = static_cast<std::uint32_t>(kept.size());
      kept.push_back(twinned);
    }
    twinned_ = std::move(kept);
  }
}

std::optional<std::size_t> NodePages::downgrade(PageId page, bool keeps_reading) {
  if (node_permission(page, Owner::remote) == Permission::unmapped) return std::nullopt;
  const Permission most = keeps_reading ? Permission::read_only : Permission::unmapped;
  Entry& entry = this->entry(page);
  entry.node.permission = most;
  for (std::uint32_t q = 0; processes_ > 1 && q < processes_; ++q) {
    Aged& aged = process_entry(q, page);
    aged.permission = std::min(aged.permission, most);
  }
  if (entry.twin == no_twin) return std::nullopt;
  const std::size_t twin = std::exchange(entry.twin, no_twin);
  twinned_.erase(twinned_.begin() + static_cast<std::ptrdiff_t>(twin));
  for (std::size_t i = twin; i < twinned_.size(); ++i)
    this->entry(twinned_[i].page).twin = static_cast<std::uint32_t>(i);
  return twin;
}

std::uint64_t NodePages::take_dirty_home_pages(ProcessId process) {
  return std::exchange(dirty_home_[index_of(process) - first_], 0);
}

std::uint64_t NodePages::take_further_runs(ProcessId process) {
  if (opened_.empty()) return 0;
  const auto keeps = [&](PageId page) {
    return process_permission(process, page, Owner::remote) != Permission::unmapped;
  };
  const std::uint64_t runs = opened_[index_of(process) - first_].take_runs(keeps);
  return runs - (runs > 0 ? 1 : 0);
}

Permission NodePages::node_permission(PageId page, Owner owner) const {
  const Entry* entry = find(page);
  return entry ? node_permission(*entry, page, owner) : resting(owner, home_pages_);
}

Permission NodePages::process_permission(ProcessId process, PageId page, Owner owner) const {
  const Permission node = node_permission(page, owner);
  if (processes_ == 1 || node == Permission::unmapped) return node;
  const Chunk* chunk = pages_.find(page);
  if (!chunk) return node;
  return current(chunk->processes[pages_.slot(page) * processes_ + (index_of(process) - first_)], owner);
}

}  // namespace sdsm
