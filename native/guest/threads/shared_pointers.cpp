/// std::atomic_load, std::atomic_store and their like of a std::shared_ptr go under a lock of libstdc++'s, which each
/// process has for itself: they are refused where the pointer is shared.
#include "native/guest/runtime/engine.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/threads/engine.hpp"

using namespace sdsm;
using program::NextFunction;

namespace {

void refuse_if_shared(const void* pointer) {
  if (!engine::has_object(pointer)) return;
  engine::refuse("an atomic function of std::shared_ptr",
                 "C++20 deprecates them. Use std::atomic<std::shared_ptr<T>>, or a lock");
}

}  // namespace

// Constructors of std::_Sp_locker (bits/shared_ptr_atomic.h), the lock.
SDSM_ENTRY void lock_pointer(void* locker, const void* pointer) asm("_ZNSt10_Sp_lockerC1EPKv");
SDSM_ENTRY void lock_pointers(void* locker, const void* pointer, const void* other) asm("_ZNSt10_Sp_lockerC1EPKvS1_");

void lock_pointer(void* locker, const void* pointer) {
  SDSM_NEXT_FUNCTION NextFunction<void(void*, const void*)> real{"_ZNSt10_Sp_lockerC1EPKv"};
  refuse_if_shared(pointer);
  real(locker, pointer);
}
void lock_pointers(void* locker, const void* pointer, const void* other) {
  SDSM_NEXT_FUNCTION NextFunction<void(void*, const void*, const void*)> real{"_ZNSt10_Sp_lockerC1EPKvS1_"};
  refuse_if_shared(pointer);
  real(locker, pointer, other);
}
