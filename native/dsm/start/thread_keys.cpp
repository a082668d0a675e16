/// Keys of values that each thread has for itself: of POSIX, and of C11. Process 0 numbers those whose key is in shared
/// memory, so that they are the same everywhere. No thread ends before the program, so destructors are never called.
#include <pthread.h>
#include <threads.h>

#include <unordered_map>

#include "native/dsm/openmp/library_objects.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"

using namespace sdsm::dsm;
using sdsm::ProcessId;

namespace {

constexpr pthread_key_t first_key = 1U << 16;  // above the C library's (PTHREAD_KEYS_MAX)
std::unordered_map<pthread_key_t, const void*> values GUARDED_BY(application);

}  // namespace

SDSM_ENTRY int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  SDSM_NEXT_FUNCTION sdsm::program::NextFunction<int(pthread_key_t*, void (*)(void*))> real{"pthread_key_create"};
  if (!is_shared(key)) return real(key, destructor);
  application.check();
  *key = first_key + static_cast<pthread_key_t>(ask(ProcessId{0}, {.kind = WireKind::make_key}).value);
  return 0;
}
SDSM_ENTRY int pthread_key_delete(pthread_key_t key) noexcept {
  SDSM_NEXT_FUNCTION sdsm::program::NextFunction<int(pthread_key_t)> real{"pthread_key_delete"};
  return key < first_key ? real(key) : 0;
}
SDSM_ENTRY void* pthread_getspecific(pthread_key_t key) noexcept {
  SDSM_NEXT_FUNCTION sdsm::program::NextFunction<void*(pthread_key_t)> real{"pthread_getspecific"};
  if (key < first_key) return real(key);
  application.check();
  const auto value = values.find(key);
  return value == values.end() ? nullptr : const_cast<void*>(value->second);
}
SDSM_ENTRY int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
  SDSM_NEXT_FUNCTION sdsm::program::NextFunction<int(pthread_key_t, const void*)> real{"pthread_setspecific"};
  if (key < first_key) return real(key, value);
  application.check();
  values[key] = value;
  return 0;
}

// C11's, which are the same in the C library.
SDSM_ENTRY_AS(int, tss_create, (tss_t * key, tss_dtor_t destructor),
              pthread_key_create(key, destructor) == 0 ? thrd_success : thrd_error)
SDSM_ENTRY void tss_delete(tss_t key) {
  pthread_key_delete(key);
}
SDSM_ENTRY_AS(void*, tss_get, (tss_t key), pthread_getspecific(key))
SDSM_ENTRY_AS(int, tss_set, (tss_t key, void* value), pthread_setspecific(key, value) == 0 ? thrd_success : thrd_error)
