/// std::atomic_load, std::atomic_store and their like of a std::shared_ptr go under a lock of libstdc++'s, which each
/// process has for itself. A lock of all threads replaces it, named by the pointer's address. It is not that of atomic
/// operations: `--atomics lock` takes that one in between, for the count of owners.
#include <cstdint>

#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/threads/engine.hpp"

using namespace sdsm;
using program::NextFunction;

namespace {

/// std::_Sp_locker (bits/shared_ptr_atomic.h): the numbers of its locks, of which libstdc++ has 16.
struct Locker {
  std::uint8_t first;
  std::uint8_t second;
};
constexpr std::uint8_t of_all_threads = 255;

/// Nothing of the program runs under the lock, so a thread holds one at most.
constinit thread_local const void* held = nullptr;

bool take_shared(Locker* locker, const void* pointer) {
  if (!engine::has_object(pointer)) return false;
  engine::need_all_memory("an atomic function of std::shared_ptr");
  engine::take(pointer, engine::mutex_demand);
  held = pointer;
  *locker = {of_all_threads, of_all_threads};
  return true;
}

}  // namespace

SDSM_ENTRY void lock_pointer(Locker* locker, const void* pointer) asm("_ZNSt10_Sp_lockerC1EPKv");
SDSM_ENTRY void lock_pointer_as_base(Locker* locker, const void* pointer) asm("_ZNSt10_Sp_lockerC2EPKv");
SDSM_ENTRY void lock_pointers(Locker* locker, const void* pointer,
                              const void* expected) asm("_ZNSt10_Sp_lockerC1EPKvS1_");
SDSM_ENTRY void lock_pointers_as_base(Locker* locker, const void* pointer,
                                      const void* expected) asm("_ZNSt10_Sp_lockerC2EPKvS1_");
SDSM_ENTRY void unlock_pointers(Locker* locker) asm("_ZNSt10_Sp_lockerD1Ev");
SDSM_ENTRY void unlock_pointers_as_base(Locker* locker) asm("_ZNSt10_Sp_lockerD2Ev");

void lock_pointer(Locker* locker, const void* pointer) {
  SDSM_NEXT_FUNCTION NextFunction<void(Locker*, const void*)> real{"_ZNSt10_Sp_lockerC1EPKv"};
  if (!take_shared(locker, pointer)) real(locker, pointer);
}
void lock_pointer_as_base(Locker* locker, const void* pointer) {
  lock_pointer(locker, pointer);
}
/// Locks the pointers of a compare-exchange. Nobody else may use the expected one meanwhile: threads may share what is
/// a function's first argument ([util.smartptr.shared.atomic]).
void lock_pointers(Locker* locker, const void* pointer, const void* expected) {
  SDSM_NEXT_FUNCTION NextFunction<void(Locker*, const void*, const void*)> real{"_ZNSt10_Sp_lockerC1EPKvS1_"};
  if (!take_shared(locker, pointer)) real(locker, pointer, expected);
}
void lock_pointers_as_base(Locker* locker, const void* pointer, const void* expected) {
  lock_pointers(locker, pointer, expected);
}
void unlock_pointers(Locker* locker) {
  SDSM_NEXT_FUNCTION NextFunction<void(Locker*)> real{"_ZNSt10_Sp_lockerD1Ev"};
  if (locker->first != of_all_threads) return real(locker);
  engine::give(held, engine::mutex_demand);
}
void unlock_pointers_as_base(Locker* locker) {
  unlock_pointers(locker);
}
