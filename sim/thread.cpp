#include "sim/thread.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sdsm::sim {

void Thread::catch_up(std::function<void()> then) {
  since_ = clock_.now();
  if (ahead_ == Time{} && charges_.empty()) return then();
  then_ = std::move(then);
  computing_ = true;
  ++processors_.computing;
  clock_.at(clock_.now() + ahead_, [this] { arrive(); });
}

void Thread::catch_up_and_wait() {
  bool waits = true;
  catch_up([this, &waits] {
    waits = false;
    bell.ring();
  });
  bell.wait();
}

void Thread::wait_for(const std::function<void(std::function<void()>)>& action) {
  catch_up([this, action] { action([this] { bell.ring(); }); });
  bell.wait();
}

void Thread::steal(Time duration) {
  const Charge now = charge_now();
  thefts_.push_back({item_of(now), 0, duration, Time{}, now.part});
  stolen_ += duration;
  taken_ += duration;
}

void Thread::cut() {
  const Time now = clock_.now();
  Time at = account.whole.total();
  const auto until = [&](Time duration) { return std::min(at + duration, now); };
  if (computing_) {
    Time undone = ahead_;
    for (const Charge& charge : charges_) {
      const Time end = until(charge.duration);
      account.charge(charge.item, at, end, charge.part);
      if (charge.item == Spent::compute)
        account.note_added_computing(at, end, charge.duration - charge.own, charge.duration);
      if (charge.faults > 0 && charge.duration > Time{}) {
        const std::size_t kind = static_cast<std::size_t>(charge.item) - static_cast<std::size_t>(Spent::fault);
        const double part = to_seconds(end - at) / to_seconds(charge.duration);
        const auto done = static_cast<std::uint64_t>(part * static_cast<double>(charge.faults));
        account.count(at, charge.part, [&](Tally& tally) { tally.faults[kind] += done; });
      }
      if (charge.item != Spent::stolen) undone -= end - at;
      at = end;
    }
    for (const Charge& theft : thefts_) {
      const Time end = until(theft.duration);
      account.charge(Spent::stolen, at, end, theft.part);
      account.note_stolen(theft.item, at, end);
      at = end;
    }
    uncontended.spend(-undone);
  }
  account.charge(Spent::idle, at, now);
  account.close();
}

Thread::Charge Thread::charge_now() {
  // No work is done during a theft.
  at_.work = std::max(at_.work, clock_.now() - since_ - taken_);
  while (at_.charge + 1 < charges_.size() && charges_[at_.charge + 1].item != Spent::stolen &&
         at_.work >= at_.before + charges_[at_.charge].duration) {
    at_.before += charges_[at_.charge++].duration;
  }
  return charges_.empty() ? Charge{Spent::compute, 0, Time{}, Time{}, account.here()} : charges_[at_.charge];
}

Spent Thread::item_of(const Charge& charge) const {
  if (trap_ == Time{} || !is_fault(charge.item)) return charge.item;
  // The trap is a fault's last part. After a fetch, a charge holds only the part behind the reply.
  const Time each = charge.duration / std::max<std::int64_t>(static_cast<std::int64_t>(charge.faults), 1);
  if (each == Time{}) return charge.item;
  return each - (at_.work - at_.before) % each <= trap_ ? Spent::compute : charge.item;
}

void Thread::arrive() {
  if (stolen_ > Time{}) {
    const Time stolen = std::exchange(stolen_, Time{});
    for (; charged_thefts_ < thefts_.size(); ++charged_thefts_) {
      const Charge& theft = thefts_[charged_thefts_];
      const bool goes_on =
          !charges_.empty() && charges_.back().item == Spent::stolen && charges_.back().part == theft.part;
      if (!goes_on) charges_.push_back({Spent::stolen, 0, Time{}, Time{}, theft.part});
      charges_.back().duration += theft.duration;
    }
    clock_.at(clock_.now() + stolen, [this] { arrive(); });
    return;
  }
  computing_ = false;
  --processors_.computing;
  Time at = since_;
  for (const Charge& charge : charges_) {
    account.charge(charge.item, at, at + charge.duration, charge.part);
    if (charge.item == Spent::compute)
      account.note_added_computing(at, at + charge.duration, charge.duration - charge.own, charge.duration);
    if (charge.faults > 0) {
      const std::size_t kind = static_cast<std::size_t>(charge.item) - static_cast<std::size_t>(Spent::fault);
      account.count(at, charge.part, [&](Tally& tally) { tally.faults[kind] += charge.faults; });
    }
    at += charge.duration;
  }
  at = since_ + ahead_;
  for (const Charge& theft : thefts_) {
    account.note_stolen(theft.item, at, at + theft.duration);
    at += theft.duration;
  }
  if (account.constructs) account.constructs->settle();
  charges_.clear();
  thefts_.clear();
  charged_thefts_ = 0;
  taken_ = Time{};
  at_ = {};
  ahead_ = Time{};
  const std::function<void()> then = std::move(then_);
  then();
}

}  // namespace sdsm::sim
