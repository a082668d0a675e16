#include "sim/constructs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "models/ids.hpp"

namespace sdsm::sim {

std::string_view name_of(ConstructKind kind) {
  constexpr std::array<std::string_view, 14> names{"serial",   "region", "barrier", "loop",   "single",
                                                   "critical", "lock",   "ordered", "atomic", "doacross",
                                                   "object",   "wait",   "fence",   "flush"};
  return name_in(names, kind);
}

namespace {

ConstructKind kind_of_lock(std::uint8_t detail) {
  switch (static_cast<LockClass>(detail)) {
    case LockClass::critical: return ConstructKind::critical;
    case LockClass::atomic: return ConstructKind::atomic;
    case LockClass::ordered: return ConstructKind::ordered;
    default: return ConstructKind::lock;
  }
}

LockId lock_of(const Event& event) {
  return LockId{static_cast<std::uint32_t>(event.object)};
}

}  // namespace

ConstructAccount::ConstructAccount(SinglesOfBarriers singles) : stretches_(1), singles_(std::move(singles)) {
  idle_ = row({ConstructKind::serial, 0});
  go_on();
}

ConstructAccount::Part ConstructAccount::row(Construct construct) {
  const auto found =
      std::find_if(rows_.begin(), rows_.end(), [&](const ConstructTally& one) { return one.construct == construct; });
  if (found != rows_.end()) return static_cast<Part>(found - rows_.begin());
  rows_.push_back({construct, 0, {}});
  return rows_.size() - 1;
}

ConstructAccount::Part ConstructAccount::row_of(const Event& event, std::uint32_t call_site) {
  switch (event.kind) {
    case EventKind::fork:
    case EventKind::team_begin:
    case EventKind::join: return row({ConstructKind::region, call_site});
    case EventKind::barrier:
      if (left_loop_ && left_at_ == call_site) return *left_loop_;
      if (const auto single = singles_.find(call_site); single != singles_.end())
        return row({ConstructKind::single, single->second});
      return row({ConstructKind::barrier, call_site});
    case EventKind::single:
    case EventKind::copyprivate: return row({ConstructKind::single, call_site});
    case EventKind::loop_begin: return row({ConstructKind::loop, call_site});
    case EventKind::chunk:
    case EventKind::loop_end: return loop_ ? *loop_ : row({ConstructKind::loop, call_site});
    case EventKind::acquire: return row({kind_of_lock(event.detail), call_site});
    case EventKind::release: {
      const auto held = std::find_if(sections_.rbegin(), sections_.rend(),
                                     [&](const Section& section) { return section.lock == lock_of(event); });
      return held != sections_.rend() ? held->row : row({kind_of_lock(event.detail), call_site});
    }
    case EventKind::atomic: return row({ConstructKind::atomic, call_site});
    case EventKind::fence: return row({ConstructKind::fence, call_site});
    case EventKind::flush: return row({ConstructKind::flush, call_site});
    case EventKind::post:
    case EventKind::wait: return row({ConstructKind::doacross, call_site});
    case EventKind::take:
    case EventKind::give:
    case EventKind::meet: return row({ConstructKind::object, call_site});
    case EventKind::spin: return row({ConstructKind::wait, call_site});
    case EventKind::end: return row({ConstructKind::serial, 0});
    case EventKind::task:
    case EventKind::clock: return here_;
  }
  return here_;
}

void ConstructAccount::come_to(const Event& event, std::uint32_t call_site) {
  const Part own = row_of(event, call_site);
  switch (event.kind) {
    case EventKind::fork: end_stretch(row({ConstructKind::serial, call_site})); break;
    case EventKind::team_begin: end_stretch(idle_ = row({ConstructKind::serial, call_site})); break;
    case EventKind::single:
    case EventKind::loop_begin:
      end_stretch(regions_.empty() ? row({ConstructKind::serial, 0}) : regions_.back());
      break;
    case EventKind::join:
    case EventKind::barrier:
    case EventKind::copyprivate: end_stretch(own); break;
    case EventKind::end: end_stretch(idle_ = own); break;
    default: break;
  }
  here_ = own;
}

void ConstructAccount::pass(const Event& event, std::uint32_t call_site) {
  left_loop_.reset();
  switch (event.kind) {
    case EventKind::fork:
    case EventKind::team_begin: regions_.push_back(here_); break;
    case EventKind::join:
      if (!regions_.empty()) regions_.pop_back();
      break;
    case EventKind::loop_begin: loop_ = here_; break;
    case EventKind::loop_end:
      left_loop_ = std::exchange(loop_, std::nullopt);
      left_at_ = call_site;
      break;
    case EventKind::acquire: sections_.push_back({lock_of(event), here_}); break;
    case EventKind::release: {
      const auto held = std::find_if(sections_.rbegin(), sections_.rend(),
                                     [&](const Section& section) { return section.lock == lock_of(event); });
      if (held != sections_.rend()) sections_.erase(std::next(held).base());
      break;
    }
    default: break;
  }
  go_on();
}

void ConstructAccount::go_on() {
  if (!sections_.empty()) {
    here_ = sections_.back().row;
  } else if (loop_) {
    here_ = *loop_;
  } else {
    here_ = stretch_bit | (first_stretch_ + stretches_.size() - 1);
  }
}

void ConstructAccount::end_stretch(Part row) {
  stretches_.back().row = row;
  stretches_.emplace_back();
}

void ConstructAccount::settle() {
  for (; stretches_.size() > 1; stretches_.pop_front(), ++first_stretch_) {
    rows_[*stretches_.front().row].tally += stretches_.front().tally;
  }
}

std::vector<ConstructTally> ConstructAccount::finish() {
  end_stretch(row({ConstructKind::serial, 0}));
  settle();
  return std::move(rows_);
}

}  // namespace sdsm::sim
