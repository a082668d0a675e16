#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "native/program/own_calls.hpp"
#include "native/program/program_image.hpp"

namespace sdsm::program {

/// The function that a call would reach if this library did not define one of that name: looked up at the first call.
/// Threads that look it up at once find the same.
template <typename Function>
class NextFunction {
 public:
  explicit constexpr NextFunction(const char* name) : name_(name) {}

  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    return find()(arguments...);
  }
  bool exists() { return find() != nullptr; }
  bool is_of_program() { return program_image.is_program(reinterpret_cast<std::uintptr_t>(find())); }
  /// A function of one of the program's libraries is none for the run-time.
  Function* for_caller(std::uintptr_t caller) { return is_run_time(caller) ? for_run_time() : find(); }
  Function* for_run_time() { return is_of_program() ? find_in_c_library() : find(); }

 private:
  Function* find() {
    Function* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      found_.store(found, std::memory_order_relaxed);
    }
    return found;
  }
  Function* find_in_c_library() {
    Function* found = in_c_library_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = reinterpret_cast<Function*>(c_library_function(name_));
      in_c_library_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

  const char* name_;
  std::atomic<Function*> found_ = nullptr;
  std::atomic<Function*> in_c_library_ = nullptr;
};

}  // namespace sdsm::program
