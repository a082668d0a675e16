#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/own_calls.hpp"
#include "native/guest/runtime/program_image.hpp"

namespace sdsm::program {

/// The function that a call would reach if this library did not define one of that name: looked up at the first call.
/// Threads that look it up at once find the same. Aligned to its size, so that a section of them has no gaps.
class alignas(32) AnyNextFunction {
 public:
  explicit constexpr AnyNextFunction(const char* name) : name_(name) {}

  void look_up() {
    if (is_of_program()) find_in_c_library();
  }
  bool exists() { return find() != nullptr; }
  bool is_of_program() { return program_image.is_program(reinterpret_cast<std::uintptr_t>(find())); }

 protected:
  void* find() {
    void* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = dlsym(RTLD_NEXT, name_);
      found_.store(found, std::memory_order_relaxed);
    }
    return found;
  }
  void* find_in_c_library() {
    void* found = in_c_library_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = c_library_function(name_);
      in_c_library_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  const char* name_;
  std::atomic<void*> found_ = nullptr;
  std::atomic<void*> in_c_library_ = nullptr;
};
static_assert(sizeof(AnyNextFunction) == 32);

template <typename Function>
class NextFunction : public AnyNextFunction {
 public:
  using AnyNextFunction::AnyNextFunction;

  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    return reinterpret_cast<Function*>(find())(arguments...);
  }
  /// The function for this caller: the run-time takes none of the program's libraries.
  Function* for_caller(std::uintptr_t caller) {
    return is_run_time(caller) ? for_run_time() : reinterpret_cast<Function*>(find());
  }
  Function* for_run_time() { return reinterpret_cast<Function*>(is_of_program() ? find_in_c_library() : find()); }
};

/// Defines one so that look_up_functions() finds it.
#define SDSM_NEXT_FUNCTION [[gnu::section("sdsm_next_functions")]] static constinit

/// Defines an entry point that does something first, and then calls the C library's function with `arguments`.
#define SDSM_ENTRY_BEFORE(result, name, parameters, arguments, ...)                \
  SDSM_ENTRY result name parameters {                                              \
    SDSM_NEXT_FUNCTION sdsm::program::NextFunction<result parameters> real{#name}; \
    __VA_ARGS__;                                                                   \
    return real arguments;                                                         \
  }

/// Looks all of them up. A thread that calls one then never waits for the dynamic linker, where another thread may be
/// that waits for this one: in a library's constructor, say, or where a signal has interrupted it.
void look_up_functions();

}  // namespace sdsm::program
