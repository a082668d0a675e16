/// libatomic handles objects too large for one instruction under locks of its own, which each process has for itself. A
/// lock of all threads replaces them.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/guest/openmp/engine.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/threads/engine.hpp"

using namespace sdsm;
using program::NextFunction;

namespace {

class WholeObject {
 public:
  WholeObject(const void* object, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    const bool has_instruction = std::has_single_bit(bytes) && bytes <= 16 && address % bytes == 0;
    is_shared_ = !has_instruction && engine::has_object(object);
    if (is_shared_) engine::acquire(LockClass::atomic, nullptr);
  }
  ~WholeObject() {
    if (is_shared_) engine::release(LockClass::atomic, nullptr);
  }
  WholeObject(const WholeObject&) = delete;
  WholeObject& operator=(const WholeObject&) = delete;

  bool is_shared() const { return is_shared_; }

 private:
  bool is_shared_ = false;
};

}  // namespace

// libatomic's functions of these names, which the compiler has as its own.
SDSM_ENTRY void load_object(std::size_t bytes, const void* from, void* to, int order) asm("__atomic_load");
SDSM_ENTRY void store_object(std::size_t bytes, void* to, const void* from, int order) asm("__atomic_store");
SDSM_ENTRY void exchange_object(std::size_t bytes, void* object, const void* wanted, void* before,
                                int order) asm("__atomic_exchange");
SDSM_ENTRY bool compare_exchange_object(std::size_t bytes, void* object, void* expected, const void* wanted, int order,
                                        int order_if_different) asm("__atomic_compare_exchange");

void load_object(std::size_t bytes, const void* from, void* to, int order) {
  SDSM_NEXT_FUNCTION NextFunction<decltype(load_object)> real{"__atomic_load"};
  const WholeObject object(from, bytes);
  if (!object.is_shared()) return real(bytes, from, to, order);
  std::memcpy(to, from, bytes);
}
void store_object(std::size_t bytes, void* to, const void* from, int order) {
  SDSM_NEXT_FUNCTION NextFunction<decltype(store_object)> real{"__atomic_store"};
  const WholeObject object(to, bytes);
  if (!object.is_shared()) return real(bytes, to, from, order);
  std::memcpy(to, from, bytes);
}
void exchange_object(std::size_t bytes, void* at, const void* wanted, void* before, int order) {
  SDSM_NEXT_FUNCTION NextFunction<decltype(exchange_object)> real{"__atomic_exchange"};
  const WholeObject object(at, bytes);
  if (!object.is_shared()) return real(bytes, at, wanted, before, order);
  std::memcpy(before, at, bytes);
  std::memcpy(at, wanted, bytes);
}
bool compare_exchange_object(std::size_t bytes, void* at, void* expected, const void* wanted, int order,
                             int order_if_different) {
  SDSM_NEXT_FUNCTION NextFunction<decltype(compare_exchange_object)> real{"__atomic_compare_exchange"};
  const WholeObject object(at, bytes);
  if (!object.is_shared()) return real(bytes, at, expected, wanted, order, order_if_different);
  const bool is_equal = std::memcmp(at, expected, bytes) == 0;
  if (is_equal) {
    std::memcpy(at, wanted, bytes);
  } else {
    std::memcpy(expected, at, bytes);
  }
  return is_equal;
}
