#include "models/jiajia/notices.hpp"

#include <algorithm>

namespace sdsm::jiajia {

std::vector<Notice> LockNotices::grant(LockId lock, ProcessId to) {
  Lock& state = locks_.try_emplace(lock).first->second;
  std::int64_t& seen = state.seen.try_emplace(to, -1).first->second;
  std::vector<Notice> notices;
  for (const auto& [page, written] : state.pages) {
    if (written.scope > seen) notices.push_back({page, written.writer});
  }
  seen = state.scope;
  return notices;
}

void LockNotices::release(LockId lock, ProcessId by, std::span<const Notice> handed) {
  Lock& state = locks_.try_emplace(lock).first->second;
  // The real system compares a lock's scope with a number of barriers.
  if (quirks_.lock_notices_outlive_barriers && state.seen[by] > barriers_) keeps_ = true;
  for (const Notice& notice : handed) {
    const auto [known, is_new] = state.pages.try_emplace(notice.page, Written{notice.writer, 0});
    if (!is_new && known->second.writer != notice.writer) known->second.writer.reset();
    known->second.scope = state.scope;
  }
  ++state.scope;
}

void LockNotices::barrier() {
  barriers_ = std::max<std::int64_t>(barriers_, 0) + 1;
  if (std::exchange(keeps_, false)) return;
  for (auto& [lock, state] : locks_) state.pages.clear();
}

void BarrierNotices::arrive(ProcessId from, std::span<const PageId> notes) {
  for (const PageId page : notes) notes_.emplace_back(page, from);
}

std::vector<Notice> BarrierNotices::take() {
  std::sort(notes_.begin(), notes_.end());
  std::vector<Notice> notices;
  for (const auto& [page, writer] : notes_) {
    if (notices.empty() || notices.back().page != page) {
      notices.push_back({page, writer});
    } else if (notices.back().writer != writer) {
      notices.back().writer.reset();
    }
  }
  notes_.clear();
  return notices;
}

}  // namespace sdsm::jiajia
