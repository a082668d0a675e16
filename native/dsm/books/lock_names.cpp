#include "native/dsm/books/lock_names.hpp"

#include <map>
#include <utility>

#include "native/dsm/requests/asking.hpp"

namespace sdsm::dsm {
namespace {

/// Nested and plain locks at one address are one object.
using Key = std::pair<std::uint64_t, std::uint64_t>;
std::map<Key, NamedLock> known_locks GUARDED_BY(application);

LockId number_of(LockClass lock_class, const Key& key) REQUIRES(application) {
  if (key.second == 0) return nameless_lock(lock_class);
  const Head named = ask(ProcessId{0}, {.kind = WireKind::lock_name, .address = key.second, .value = key.first});
  return LockId{static_cast<std::uint32_t>(named.value)};
}

Key key_of(LockClass lock_class, const void* address) {
  const auto number = lock_class == LockClass::nest_lock ? LockClass::lock : lock_class;
  return {static_cast<std::uint64_t>(number), reinterpret_cast<std::uint64_t>(address)};
}

}  // namespace

NamedLock& lock_named(LockClass lock_class, const void* address) {
  if (NamedLock* const lock = known_lock(lock_class, address)) return *lock;
  const Key key = key_of(lock_class, address);
  return known_locks.emplace(key, NamedLock{number_of(lock_class, key), 0}).first->second;
}

NamedLock* known_lock(LockClass lock_class, const void* address) {
  const auto place = known_locks.find(key_of(lock_class, address));
  return place == known_locks.end() ? nullptr : &place->second;
}

}  // namespace sdsm::dsm
