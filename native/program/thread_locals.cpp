#include "native/program/thread_locals.hpp"

#include <link.h>

#include <cstring>

#include "native/program/stacks.hpp"

namespace sdsm::program {

GrowingArray<AddressRange> own_thread_locals() {
  GrowingArray<AddressRange> found;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* ranges) {
        if (!is_of_program(*object)) return 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          if (object->dlpi_phdr[i].p_type != PT_TLS || object->dlpi_tls_data == nullptr) continue;
          const auto begin = reinterpret_cast<std::uintptr_t>(object->dlpi_tls_data);
          static_cast<GrowingArray<AddressRange>*>(ranges)->push_back({begin, begin + object->dlpi_phdr[i].p_memsz});
        }
        return 0;
      },
      &found);
  return found;
}

void take_over_thread_locals(const GrowingArray<AddressRange>& constructed) {
  GrowingArray<AddressRange> own = own_thread_locals();
  std::size_t i = 0;
  for (const AddressRange& from : constructed) {
    std::memcpy(reinterpret_cast<void*>(own[i++].begin), reinterpret_cast<const void*>(from.begin),
                from.end - from.begin);
  }
}

std::uint64_t thread_locals_below_block() {
  const auto block = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  std::uint64_t farthest = 0;
  for (const AddressRange& range : own_thread_locals()) {
    // Variables of a library that are made when a thread first uses them lie elsewhere.
    if (range.begin < block && block - range.begin > farthest && block - range.begin < thread_local_bytes()) {
      farthest = block - range.begin;
    }
  }
  return farthest;
}

std::uint64_t thread_memory_bytes() {
  constexpr std::uint64_t own_stack_bytes = 1 << 20;
  // The two run-times have different variables of their own beside the program's: whole steps hide that.
  constexpr std::uint64_t step = 1 << 20;
  return (own_stack_bytes + thread_local_bytes() + step - 1) / step * step;
}

}  // namespace sdsm::program
