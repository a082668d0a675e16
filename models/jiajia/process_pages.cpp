#include "models/jiajia/process_pages.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace sdsm::jiajia {

ProcessPages::ProcessPages(ProcessId self, const Rules& rules, std::pmr::memory_resource* memory)
    : self_(self),
      rules_(rules),
      twinned_(memory),
      written_(memory),
      marked_(memory),
      unnoticed_copies_(memory),
      unnoticed_(memory),
      fetched_(memory),
      held_(memory),
      scopes_(1, memory),
      known_(memory),
      latest_(memory),
      handed_on_(memory),
      pages_(memory) {}

void ProcessPages::add_unnoticed(RegionId region) {
  unnoticed_.add(region);
}

std::uint64_t ProcessPages::expire_unnoticed() {
  std::uint64_t invalid = 0;
  for (const PageId page : unnoticed_copies_) invalid += invalidate(page) ? 1 : 0;
  unnoticed_copies_.clear();
  return invalid;
}

ProcessPages::Entry& ProcessPages::entry(PageId page) {
  return pages_.get(page, [] { return Chunk{}; })[pages_.slot(page)];
}

State ProcessPages::state(const Entry& entry, ProcessId home) const {
  if (home != self_) return entry.copy;
  return entry.written ? State::read_write : State::read_only;
}

State ProcessPages::state(PageId page, ProcessId home) const {
  const Chunk* const chunk = pages_.find(page);
  return state(chunk ? (*chunk)[pages_.slot(page)] : Entry{}, home);
}

void ProcessPages::mark(PageId page, Entry& entry) {
  if (!std::exchange(entry.is_marked, true)) marked_.push_back(page);
}

void ProcessPages::mark_written(PageId page, Entry& entry) {
  if (!entry.written) written_.push_back(page);
  mark(page, entry);
  entry.written = entry.written_before = true;
}

ProcessPages::AccessedRun ProcessPages::access_run(PageId first, std::uint64_t pages, ProcessId home, Access access) {
  Entry* entry = &this->entry(first);
  const Place place = home == self_ ? Place::home : Place::elsewhere;
  const State before = state(*entry, home);
  const auto kind = fault_of(access, before, place, rules_.quirks);
  if (kind && place == Place::elsewhere) {
    const FaultRule& rule = rule_of(*kind);
    entry->copy = rule.after;
    if (rule.fetches_page && rules_.first_touch_moves) fetched_.push_back(first);
    if (rule.fetches_page && unnoticed_.holds(first.region)) unnoticed_copies_.push_back(first);
    if (rule.makes_twin) {
      entry->twin = static_cast<std::uint32_t>(twinned_.size());
      twinned_.push_back({first, home, {}});
    }
    return {1, kind};
  }
  AccessedRun run{0, kind};
  PageId page = first;
  do {
    if (kind) mark_written(page, *entry);
    if (++run.pages == pages) break;
    ++page.index;
    entry = page.index % chunk_pages == 0 ? &this->entry(page) : entry + 1;
  } while (state(*entry, home) == before);
  return run;
}

void ProcessPages::changed(PageId page, Change change, std::uint16_t page_words) {
  const Entry& entry = this->entry(page);
  if (entry.copy != State::read_write) return;
  Diff& diff = twinned_[entry.twin];
  diff.change = merge(diff.change, change, page_words);
}

bool ProcessPages::prefetch(PageId page) {
  State& copy = entry(page).copy;
  if (copy == State::read_only || copy == State::read_write) return false;
  copy = State::read_only;
  return true;
}

void ProcessPages::give(PageId page) {
  entry(page).given = true;
}

std::vector<Diff> ProcessPages::end_interval(Sync sync) {
  Pages& notes = scopes_.back();
  std::vector<Diff> diffs;
  for (Diff& diff : twinned_) {
    if (!diff.change && !rules_.quirks.empty_diffs_travel) continue;
    diffs.push_back(diff);
    notes.push_back(diff.page);
    diff.change = {};
  }
  for (const PageId page : written_) {
    Entry& entry = this->entry(page);
    if (!entry.written || (rules_.quirks.unread_homes_keep_silent && !entry.given)) continue;
    notes.push_back(page);
    if (sync == Sync::barrier) entry.given = false;
  }
  return diffs;
}

std::uint64_t ProcessPages::begin_interval(Sync sync) {
  std::uint64_t rested = 0;
  for (const Diff& diff : twinned_) {
    Entry& entry = this->entry(diff.page);
    if (entry.copy != State::read_write) continue;  // invalid since, or at home here now
    entry.copy = State::read_only;
    ++rested;
  }
  twinned_.clear();
  if (sync == Sync::barrier && rules_.adaptive_write_detection) return rested + detect_writes();
  for (const PageId page : written_) rested += std::exchange(entry(page).written, false) ? 1 : 0;
  written_.clear();
  return rested;
}

/// Pages that the home alone wrote are taken as written in the interval that begins, until another process writes them.
std::uint64_t ProcessPages::detect_writes() {
  std::uint64_t rested = 0;
  written_.clear();
  std::erase_if(marked_, [&](PageId page) {
    Entry& entry = this->entry(page);
    const bool stays_writable = entry.written_before && !entry.others_wrote;
    if (stays_writable) {
      written_.push_back(page);
    } else if (entry.written) {
      ++rested;
    }
    entry.written = entry.written_before = entry.is_marked = stays_writable;
    entry.others_wrote = false;
    return !stays_writable;
  });
  return rested;
}

void ProcessPages::put_in_order(Pages& pages) {
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
}

void ProcessPages::enter_scope(LockId lock) {
  held_.push_back(lock);
  if (rules_.scope == Scope::lock) scopes_.emplace_back();
}

std::vector<Notice> ProcessPages::leave_scope(LockId lock) {
  const auto held = std::find(held_.rbegin(), held_.rend(), lock);
  if (held == held_.rend())
    throw std::logic_error("broken invariant: a process gives back a lock that it does not have");
  const std::ptrdiff_t scope = held_.rend() - held;  // held_ has no entry for the barrier's
  held_.erase(std::next(held).base());
  if (rules_.scope == Scope::openmp) return hand_on(object_of(lock));
  // Scopes further in, if they stay: what was noted there was written under this lock too.
  Pages notes(scopes_.get_allocator());
  for (auto one = scopes_.begin() + scope; one != scopes_.end(); ++one) {
    notes.insert(notes.end(), one->begin(), one->end());
  }
  put_in_order(notes);
  const auto left = scopes_.begin() + scope;
  std::prev(left)->insert(std::prev(left)->end(), left->begin(), left->end());
  scopes_.erase(left);
  std::vector<Notice> handed;
  for (const PageId page : notes) handed.push_back({page, self_});
  return handed;
}

void ProcessPages::learn_own_notes() {
  const Pages& notes = scopes_.front();
  if (noted_ < notes.size()) ++interval_;
  for (; noted_ < notes.size(); ++noted_) learn({notes[noted_], self_, interval_}, std::nullopt);
}

std::vector<Notice> ProcessPages::all_known() {
  learn_own_notes();
  std::vector<Notice> known;
  for (const auto& [key, at] : latest_) known.push_back(known_[at].notice);
  return known;
}

std::vector<Notice> ProcessPages::hand_on(SyncObject object) {
  learn_own_notes();
  std::vector<Notice> handed;
  std::size_t& done = handed_on_[object];
  for (; done < known_.size(); ++done) {
    const auto& [notice, from] = known_[done];
    const bool is_latest = latest_.at({notice.page, *notice.writer}) == done;
    if (is_latest && from != object) handed.push_back(notice);
  }
  return handed;
}

/// Returns whether it was new.
bool ProcessPages::learn(const Notice& notice, std::optional<SyncObject> from) {
  const auto [latest, is_first] = latest_.try_emplace({notice.page, *notice.writer}, known_.size());
  if (!is_first && known_[latest->second].notice.interval >= notice.interval) return false;
  latest->second = known_.size();
  known_.push_back({notice, from});
  return true;
}

std::vector<PageId> ProcessPages::take_notes() {
  Pages& notes = scopes_.front();
  put_in_order(notes);
  std::vector<PageId> taken(notes.begin(), notes.end());
  notes.clear();
  noted_ = 0;
  known_.clear();
  latest_.clear();
  handed_on_.clear();
  return taken;
}

std::vector<PageId> ProcessPages::take_fetched(const std::vector<PageId>& notes) {
  put_in_order(fetched_);
  std::vector<PageId> taken;
  std::set_difference(fetched_.begin(), fetched_.end(), notes.begin(), notes.end(), std::back_inserter(taken));
  fetched_.clear();
  return taken;
}

bool ProcessPages::invalidate(PageId page) {
  Entry& entry = this->entry(page);
  if (entry.copy != State::read_only && entry.copy != State::read_write) return false;
  entry.copy = State::invalid;
  return true;
}

bool ProcessPages::apply_grant_notice(const Notice& notice, ProcessId home, SyncObject from) {
  // Kept at home, too, to be handed on from here.
  if (rules_.scope == Scope::openmp && !learn(notice, from)) return false;
  return notice.writer != self_ && home != self_ && invalidate(notice.page);
}

bool ProcessPages::apply_barrier_notice(const BarrierNotice& one) {
  const auto& [notice, is_written, home, next] = one;
  const bool invalidates = is_written && notice.writer != self_ && home != self_ && invalidate(notice.page);
  if (next != home) {
    if (next == self_) become_home(notice.page, is_written);
    if (home == self_) stop_being_home(notice.page);
  } else if (home == self_ && notice.writer != self_ && rules_.adaptive_write_detection) {
    Entry& entry = this->entry(notice.page);
    mark(notice.page, entry);
    entry.others_wrote = true;
  }
  return invalidates;
}

/// Makes the process the home. As the page's only writer, or its only reader without a writer, it has the content.
void ProcessPages::become_home(PageId page, bool has_written) {
  Entry& entry = this->entry(page);
  const bool is_twinned = entry.copy == State::read_write;
  entry = {.given = true, .is_marked = entry.is_marked};
  if (!has_written) return;
  mark_written(page, entry);
  entry.written = is_twinned;
}

void ProcessPages::stop_being_home(PageId page) {
  Entry& entry = this->entry(page);
  entry = {.copy = State::read_only, .is_marked = entry.is_marked};
}

}  // namespace sdsm::jiajia
