#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

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
  std::uintptr_t address() { return reinterpret_cast<std::uintptr_t>(find()); }

 private:
  Function* find() {
    Function* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      found_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

  const char* name_;
  std::atomic<Function*> found_ = nullptr;
};

}  // namespace sdsm::program
