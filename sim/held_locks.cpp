#include "sim/held_locks.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace sdsm::sim {

void HeldLocks::take(LockId lock, bool only_tries) {
  if (!only_tries || held_.empty() || is_free(lock)) return ask(lock, only_tries);
  // Those that it has taken since it last waited for one: std::lock waits for the first, and tries the others.
  std::vector<LockId> wanted{lock};
  for (bool goes_on = true; goes_on && !held_.empty();) {
    const Held last = held_.back();
    give(last.lock);
    wanted.push_back(last.lock);
    goes_on = last.was_tried;
  }
  take_together(std::move(wanted));
}

void HeldLocks::give(LockId lock) {
  const auto last = std::find_if(held_.rbegin(), held_.rend(), [&](const Held& held) { return held.lock == lock; });
  if (last != held_.rend()) held_.erase(std::next(last).base());
  memory_.release(lock);
}

bool HeldLocks::is_free(LockId lock) {
  thread_.catch_up_and_wait();
  return memory_.is_free(lock);
}

void HeldLocks::ask(LockId lock, bool only_tries) {
  memory_.acquire(lock, std::nullopt);
  held_.push_back({lock, only_tries});
}

/// As the C++ library's std::lock: waits for the lock that it did not get, tries the others, and gives back what it has
/// if another thread has one of them.
void HeldLocks::take_together(std::vector<LockId> wanted) {
  // Chance ends such rounds on a machine. Here threads may meet for ever in the same way, but for those that take all
  // locks in one order.
  constexpr int most_rounds = 8;
  for (int round = 0; round < most_rounds; ++round) {
    ask(wanted.front(), false);
    const auto missing = std::find_if(wanted.begin() + 1, wanted.end(), [&](LockId lock) {
      if (!is_free(lock)) return true;
      ask(lock, true);
      return false;
    });
    if (missing == wanted.end()) return;
    for (auto taken = missing; taken != wanted.begin();) give(*--taken);
    std::rotate(wanted.begin(), missing, wanted.end());
  }
  std::sort(wanted.begin(), wanted.end());
  for (const LockId lock : wanted) ask(lock, lock != wanted.front());
}

}  // namespace sdsm::sim
