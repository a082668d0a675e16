/// Memory straight from the kernel, for the run-time itself. It is outside of the C library's heap, so a signal handler
/// may use it whatever it interrupted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "models/protocol/pages.hpp"

namespace sdsm::program {

constexpr std::uintptr_t page_down(std::uintptr_t address) {
  return address & ~(page_bytes - 1);
}
constexpr std::uintptr_t page_up(std::uintptr_t address) {
  return page_down(address + page_bytes - 1);
}

/// Alignment of regions of shared memory. Pages of up to as many bytes never hold parts of two.
inline constexpr std::size_t region_alignment = 64 * 1024;
constexpr std::uintptr_t region_up(std::uintptr_t address) {
  return (address + region_alignment - 1) & ~(region_alignment - 1);
}

/// Zeroed address space; the kernel gives it pages as they are used. Ends the run if there is none.
void* reserve(std::size_t bytes);

template <typename Element>
Element* reserve_array(std::size_t count) {
  return static_cast<Element*>(reserve(count * sizeof(Element)));
}

/// An array of plain data that grows by moving its pages, so that a signal handler may append. Never shrinks.
template <typename Element>
class GrowingArray {
 public:
  void push_back(const Element& element) {
    if (size_ == capacity_) grow();
    elements_[size_++] = element;
  }
  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }
  Element& operator[](std::size_t index) { return elements_[index]; }
  const Element& operator[](std::size_t index) const { return elements_[index]; }
  Element& back() { return elements_[size_ - 1]; }
  void pop_back() { --size_; }
  void insert(std::size_t index, const Element& element) {
    push_back(element);
    std::rotate(elements_ + index, end() - 1, end());
  }
  void erase(std::size_t index) {
    std::copy(elements_ + index + 1, end(), elements_ + index);
    pop_back();
  }
  Element* begin() { return elements_; }
  Element* end() { return elements_ + size_; }
  const Element* begin() const { return elements_; }
  const Element* end() const { return elements_ + size_; }

 private:
  void grow();

  Element* elements_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Changes the protection of whole pages. Returns false if there are too many mappings (vm.max_map_count); ends the run
/// if the kernel refuses for another reason.
bool set_protection(std::uintptr_t begin, std::uintptr_t end, int protection);

/// Grows a reservation from `old_bytes` to `new_bytes` and keeps its contents.
void* grow_reservation(void* memory, std::size_t old_bytes, std::size_t new_bytes);

template <typename Element>
void GrowingArray<Element>::grow() {
  const std::size_t old_bytes = (capacity_ * sizeof(Element) + page_bytes - 1) / page_bytes * page_bytes;
  const std::size_t new_bytes = old_bytes == 0 ? page_bytes : 2 * old_bytes;
  elements_ = static_cast<Element*>(grow_reservation(elements_, old_bytes, new_bytes));
  capacity_ = new_bytes / sizeof(Element);
}

}  // namespace sdsm::program
