#pragma once

#include <cstddef>
#include <cstdint>

#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"

namespace sdsm::program {

/// Variables and what they held when the calling thread saw them done. What it has once seen done is done, and in its
/// memory too: it need not acquire it again. Only for variables, as other memory may be another object's later.
class SeenDone {
 public:
  bool holds(const volatile void* variable, int value) const {
    return capacity_ != 0 && entry_of(variable).variable == variable && entry_of(variable).value == value;
  }
  void add(const volatile void* variable, int value) {
    if (program_image.variables_at(reinterpret_cast<std::uintptr_t>(variable)).end == 0) return;
    if (2 * (used_ + 1) > capacity_) grow();
    Entry& entry = entry_of(variable);
    used_ += entry.variable == nullptr ? 1 : 0;
    entry = {variable, value};
  }

 private:
  struct Entry {
    const volatile void* variable;
    int value;
  };

  Entry& entry_of(const volatile void* variable) const {
    std::size_t place = (reinterpret_cast<std::uintptr_t>(variable) * 0x9e3779b97f4a7c15U) >> 32 & (capacity_ - 1);
    while (entries_[place].variable != nullptr && entries_[place].variable != variable) {
      place = (place + 1) & (capacity_ - 1);
    }
    return entries_[place];
  }
  void grow() {
    Entry* const old = entries_;
    const std::size_t old_capacity = capacity_;
    capacity_ = old_capacity == 0 ? 512 : 2 * old_capacity;
    entries_ = reserve_array<Entry>(capacity_);
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i].variable != nullptr) entry_of(old[i].variable) = old[i];
    }
  }

  Entry* entries_ = nullptr;  ///< open addressing; its size is a power of two
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};
inline constinit thread_local SeenDone seen_done;

}  // namespace sdsm::program
