#include "models/jiajia/notices.hpp"

#include <algorithm>

namespace sdsm::jiajia {

std::vector<Notice> LockNotices::grant(SyncObject object, ProcessId to) {
  Object& state = objects_.try_emplace(object).first->second;
  std::int64_t& seen = state.seen.try_emplace(to, -1).first->second;
  // The next release of a lock is that of `to`, of other objects anybody's.
  const std::int64_t known = object.kind == SyncObject::Kind::lock ? seen : seen - 1;
  std::vector<Notice> notices;
  for (const auto& [page, written] : state.pages) {
    if (rules_.scope == Scope::openmp && written.by == to) continue;
    if (written.scope > known) notices.push_back({page, written.by, written.interval});
  }
  seen = state.scope;
  return notices;
}

void LockNotices::release(SyncObject object, ProcessId by, std::span<const Notice> handed) {
  Object& state = objects_.try_emplace(object).first->second;
  // The real system compares a lock's scope with a number of barriers.
  if (rules_.quirks.lock_notices_outlive_barriers && state.seen[by] > barriers_) keeps_ = true;
  for (const Notice& notice : handed) {
    auto [known, end] = state.pages.equal_range(notice.page);
    if (rules_.scope == Scope::openmp) {
      while (known != end && known->second.by != notice.writer) ++known;
    }
    if (known == end) {
      state.pages.emplace(notice.page, Written{notice.writer, notice.interval, state.scope});
      continue;
    }
    Written& written = known->second;
    if (rules_.scope == Scope::openmp && written.interval >= notice.interval) continue;
    if (written.by != notice.writer) written.by.reset();
    written.interval = notice.interval;
    written.scope = state.scope;
  }
  ++state.scope;
}

void LockNotices::barrier() {
  barriers_ = std::max<std::int64_t>(barriers_, 0) + 1;
  if (std::exchange(keeps_, false)) return;
  for (auto& [object, state] : objects_) state.pages.clear();
}

void BarrierNotices::arrive(ProcessId from, std::span<const PageId> notes, std::span<const PageId> fetched) {
  for (const PageId page : notes) notes_.emplace_back(page, from);
  for (const PageId page : fetched) fetched_.emplace_back(page, from);
}

std::vector<Notice> BarrierNotices::single_or_several(Pairs& pairs) {
  std::sort(pairs.begin(), pairs.end());
  std::vector<Notice> notices;
  for (const auto& [page, process] : pairs) {
    if (notices.empty() || notices.back().page != page) {
      notices.push_back({page, process});
    } else if (notices.back().writer != process) {
      notices.back().writer.reset();
    }
  }
  return notices;
}

bool BarrierNotices::may_move(PageId page) {
  const auto [moves, is_first] = moves_.try_emplace(page, 1);
  return is_first || moves->second++ <= *rules_.first_touch_moves;
}

}  // namespace sdsm::jiajia
