#include "native/dsm/held_locks.hpp"

#include <set>

#include "native/dsm/threads.hpp"

namespace sdsm::dsm {
namespace {

constinit program::Mutex mutex;
std::set<LockId> held_locks GUARDED_BY(mutex);

}  // namespace

void set_held(LockId lock, bool is_held) {
  const Held guard(mutex);
  if (is_held) {
    held_locks.insert(lock);
  } else {
    held_locks.erase(lock);
  }
}

bool holds_lock(LockId lock) {
  const Held guard(mutex);
  return held_locks.contains(lock);
}

}  // namespace sdsm::dsm
