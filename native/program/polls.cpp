#include "native/program/polls.hpp"

#include <bit>

#include "native/program/machine_code.hpp"
#include "native/program/memory_access.hpp"

namespace sdsm::program {
namespace {

constexpr std::uint32_t bytes_of_long_double = 10, most_polled_bytes = 8;

}  // namespace

std::optional<Poll> poll_of(const std::uint8_t* code, const greg_t* registers) {
  const Instruction found = decode(code, longest_instruction);
  constexpr std::uint8_t registers_alone = 0xc0;
  if (found.length == 0 || found.modrm == 0 || code[found.modrm] >= registers_alone) return std::nullopt;
  if (found.is_evex) return std::nullopt;
  const std::uint32_t bytes = memory_access(code, found).bytes;
  // A long double counts by its last 8 bytes: they have the exponent and most of the fraction.
  const std::uint32_t unseen = bytes == bytes_of_long_double ? bytes - most_polled_bytes : 0;
  if (bytes - unseen > most_polled_bytes || !std::has_single_bit(bytes - unseen)) return std::nullopt;
  const std::uintptr_t behind = static_cast<std::uintptr_t>(registers[REG_RIP]) + found.length;
  const std::uintptr_t address = address_of(memory_of(code, found), registers, behind);
  return Poll{address + unseen, bytes - unseen};
}

}  // namespace sdsm::program
