#include "sim/held_locks.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

namespace sdsm::sim {

void HeldLocks::take(LockId lock, bool only_tries) {
  std::vector<LockId> wanted{lock};
  if (!only_tries || held_.empty() || claim(wanted, 0) == wanted.end()) return ask(lock, only_tries);
  // The locks since the thread last waited for one: std::lock waits for the first and tries the others.
  for (bool goes_on = true; goes_on && !held_.empty();) {
    const Held last = held_.back();
    goes_on = last.was_tried;
    if (memory_.has(last.lock)) {
      give(last.lock);
      wanted.push_back(last.lock);
    } else {
      held_.pop_back();  // another thread has released it
    }
  }
  take_together(std::move(wanted));
}

void HeldLocks::give(LockId lock) {
  const auto last = std::find_if(held_.rbegin(), held_.rend(), [&](const Held& held) { return held.lock == lock; });
  if (last != held_.rend()) held_.erase(std::next(last).base());
  memory_.release(lock);
}

void HeldLocks::give_all() {
  while (!held_.empty()) {
    const LockId last = held_.back().lock;
    if (memory_.has(last)) {
      give(last);
    } else {
      held_.pop_back();  // another thread has released it
    }
  }
}

std::vector<LockId>::const_iterator HeldLocks::claim(const std::vector<LockId>& wanted, std::size_t from) {
  thread_.catch_up_and_wait();
  const auto first = wanted.begin() + static_cast<std::ptrdiff_t>(from);
  const auto missing = std::find_if(first, wanted.end(), [&](LockId lock) { return !memory_.claim(lock); });
  if (missing != wanted.end()) std::for_each(first, missing, [&](LockId lock) { memory_.disclaim(lock); });
  return missing;
}

void HeldLocks::ask(LockId lock, bool only_tries) {
  memory_.acquire(lock, std::nullopt);
  held_.push_back({lock, only_tries});
}

/// Breaks a livelock of threads whose attempts would collide for ever. On a machine chance does that.
void HeldLocks::pause(int round) {
  constexpr int even_rounds = 8, longest = 10;
  if (round < even_rounds) return;
  constexpr std::uint32_t unit_us = 10;
  std::minstd_rand chance(index_of(thread_.id()) * 1000 + static_cast<std::uint32_t>(round) + 1);
  chance.discard(3);
  thread_.spend(Spent::lock, std::chrono::microseconds(chance() % (unit_us << std::min(round - even_rounds, longest))));
}

/// Takes the locks as std::lock does: waits for the missing lock, tries the others, releases all if one is taken.
void HeldLocks::take_together(std::vector<LockId> wanted) {
  for (int round = 0;; ++round) {
    pause(round);
    ask(wanted.front(), false);
    const auto missing = claim(wanted, 1);
    if (missing == wanted.end()) break;
    give(wanted.front());
    std::rotate(wanted.begin(), wanted.begin() + (missing - wanted.cbegin()), wanted.end());
  }
  for (std::size_t i = 1; i < wanted.size(); ++i) ask(wanted[i], true);
}

}  // namespace sdsm::sim
