/// Numbers of flags, and which process keeps a lock, a flag or a barrier.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "models/ids.hpp"
#include "models/program/events.hpp"

namespace sdsm {

/// A flag of a doacross loop: the construct's number in the upper half, in the lower one the part of the loop's
/// iterations that it counts. In a static schedule a part is a thread's share, and its own process keeps the flag.
constexpr std::uint64_t flag_number(std::uint64_t construct, std::uint64_t part) {
  return construct << 32 | part;
}
/// A library's object counts like a flag. No construct has so high a number.
constexpr std::uint64_t flag_of(LockId object) {
  return std::uint64_t{1} << 63 | index_of(object);
}
constexpr ProcessId manager_of_flag(std::uint64_t flag, std::uint32_t processes) {
  return ProcessId{static_cast<std::uint32_t>(flag & 0xffffffffU) % processes};
}

/// The process that keeps a lock's queue (docs/protocol.md).
constexpr ProcessId manager_of(LockId lock, std::uint32_t processes) {
  return ProcessId{index_of(lock) % processes};
}

inline constexpr ProcessId barrier_master{0};  ///< at which a team's threads meet

/// The locks that the initial thread keeps while it runs alone, outside of parallel regions. Nobody can want one, or
/// see what its holder stored, before the next fork, whose barrier flushes all. So the thread asks a lock's manager
/// once, and takes and releases the lock from then on without a message, a flush or a drop.
class KeptLocks {
 public:
  /// Whether a lock may stay with the thread. The manager counts the turns of ordered regions.
  static constexpr bool may_keep(LockId lock) { return lock != ordered_lock; }
  /// The thread releases the lock, and keeps it.
  void keep(LockId lock) { locks_.insert(lock); }
  /// Takes the lock. False if the thread does not keep it.
  bool take(LockId lock) { return locks_.erase(lock) > 0; }
  /// Returns the locks to give back to their managers, as the thread stops being alone.
  std::set<LockId> give_all() { return std::exchange(locks_, {}); }

 private:
  std::set<LockId> locks_;
};

}  // namespace sdsm
