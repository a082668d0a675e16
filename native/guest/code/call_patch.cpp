#include "native/guest/code/call_patch.hpp"

#include <link.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"

namespace sdsm::program {
namespace {

/// Relocations of the table's entries, all bound at start (LD_BIND_NOW).
struct JumpSlots {
  const ElfW(Rela) * first = nullptr;
  std::size_t count = 0;
};

JumpSlots find_jump_slots(const ObjectImage& object) {
  const ElfW(Dyn)* entry = object.dynamic;
  JumpSlots slots;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_JMPREL) slots.first = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_PLTRELSZ) slots.count = entry->d_un.d_val / sizeof(ElfW(Rela));
  }
  if (slots.first == nullptr) slots.count = 0;
  return slots;
}

/// Memory within reach of the object's instructions (2 GiB); null if there is none.
std::uintptr_t* reserve_near(const ObjectImage& object, std::size_t bytes) {
  constexpr std::uintptr_t step = 16 << 20;
  constexpr int tries = 64;
  std::uintptr_t wanted = (object.whole.end + step) & ~(step - 1);
  for (int i = 0; i < tries; ++i, wanted += step) {
    void* memory = mmap(reinterpret_cast<void*>(wanted), bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == reinterpret_cast<void*>(wanted)) return static_cast<std::uintptr_t*>(memory);
    if (memory != MAP_FAILED) munmap(memory, bytes);  // a kernel that does not know the flag
  }
  return nullptr;
}

/// `jmp *distance(%rip)`, the instruction that every entry of the procedure linkage table has.
constexpr unsigned char indirect_jump[] = {0xff, 0x25};
constexpr std::size_t jump_bytes = sizeof indirect_jump + sizeof(std::int32_t);

void patch_calls_of(const ObjectImage& object) {
  const JumpSlots slots = find_jump_slots(object);
  if (slots.count == 0 || !object.variables.holds(object.load_offset + slots.first->r_offset)) return;
  std::uintptr_t* table = reserve_near(object, slots.count * sizeof(std::uintptr_t));
  if (table == nullptr) return;
  std::uintptr_t low = std::numeric_limits<std::uintptr_t>::max();
  std::uintptr_t high = 0;
  for (std::size_t i = 0; i < slots.count; ++i) {
    const std::uintptr_t slot = object.load_offset + slots.first[i].r_offset;
    if (slot < low) low = slot;
    if (slot > high) high = slot;
    std::memcpy(&table[i], reinterpret_cast<const void*>(slot), sizeof table[i]);
  }
  const auto number_of = [&](std::uintptr_t slot) {
    std::size_t i = 0;
    while (i < slots.count && object.load_offset + slots.first[i].r_offset != slot) ++i;
    return i;
  };

  const AddressRange code = object.code;
  const std::uintptr_t begin = code.begin & ~(page_bytes - 1);
  const std::uintptr_t end = (code.end + page_bytes - 1) & ~(page_bytes - 1);
  set_protection(begin, end, PROT_READ | PROT_WRITE | PROT_EXEC);
  for (std::uintptr_t at = code.begin; at + jump_bytes <= code.end; ++at) {
    auto* bytes = reinterpret_cast<unsigned char*>(at);
    if (std::memcmp(bytes, indirect_jump, sizeof indirect_jump) != 0) continue;
    std::int32_t distance = 0;
    std::memcpy(&distance, bytes + sizeof indirect_jump, sizeof distance);
    const std::uintptr_t next = at + jump_bytes;
    const std::uintptr_t slot = next + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(distance));
    if (slot < low || slot > high) continue;
    const std::size_t number = number_of(slot);
    if (number == slots.count) continue;
    distance = static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(&table[number]) - next);
    std::memcpy(bytes + sizeof indirect_jump, &distance, sizeof distance);
  }
  set_protection(begin, end, PROT_READ | PROT_EXEC);
}

}  // namespace

void patch_calls() {
  patch_calls_of(program_image.program);
  for (const ObjectImage& library : program_image.libraries) patch_calls_of(library);
}

}  // namespace sdsm::program
